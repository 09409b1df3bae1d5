//! `hole_in_the_bag`: after the trick, you put one other card of it on the bottom of the leftover
//! stash.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    Turn::must(me.seat, me.card, Choice::Card(game.trick.others(me.card)))
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Choose(card) = answer {
        game.moves(asked.card, card, Spot::Trick, Spot::Leftover, sink);
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn one_other_card_must_go_to_the_bottom_of_the_leftovers() {
        let hands = ["hole-in-the-bag", "peanut-chew", "tropical-nougat-bar"];
        let scene = Scene::new(&hands).leftover("fruit-chew").plays(
            "
            0 plays hole-in-the-bag
            1 plays peanut-chew
            2 plays tropical-nougat-bar -> hole-in-the-bag asks 0
            0 declines: must_choose
            0 chooses hole-in-the-bag: not_a_choice
            0 chooses tropical-nougat-bar
                -> tropical-nougat-bar to leftovers; hole-in-the-bag works;
                   2 takes [peanut-chew hole-in-the-bag]; 2 leads
        ",
        );
        assert_eq!(scene.leftovers(), "fruit-chew tropical-nougat-bar");
        Scene::new(&["hole-in-the-bag", "peanut-chew"]).plays(
            "
            0 plays hole-in-the-bag
            1 plays peanut-chew
                -> peanut-chew to leftovers; hole-in-the-bag works; 0 takes [hole-in-the-bag];
                   0 leads
        ",
        );
    }

    #[test]
    fn beside_known_allergens_either_can_leave_the_other_nothing() {
        Scene::new(&["hole-in-the-bag", "known-allergens"]).plays(
            "
            0 plays hole-in-the-bag
            1 plays known-allergens -> 0 picks
            0 picks known-allergens -> known-allergens asks 1
            1 names peanut
                -> known-allergens to leftovers; known-allergens works;
                   hole-in-the-bag finds nothing; 0 takes [hole-in-the-bag]; 0 leads
        ",
        );
        Scene::new(&["hole-in-the-bag", "known-allergens"]).plays(
            "
            0 plays hole-in-the-bag
            1 plays known-allergens
            0 picks hole-in-the-bag
                -> known-allergens to leftovers; hole-in-the-bag works;
                   known-allergens finds nothing; 0 takes [hole-in-the-bag]; 0 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_in_the_last_trick_too() {
        Scene::new(&["flashlight-tag", "hole-in-the-bag"]).last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays hole-in-the-bag
                -> face down; hole-in-the-bag revealed; flashlight-tag to leftovers;
                   hole-in-the-bag works; 1 takes [hole-in-the-bag]; points 0 1; dealt
        ",
        );
    }
}
