//! `sweet_tooth`: after the trick, you may move one other card of it to your stash; nothing if you
//! won.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    if game.trick.is_won_by(me.seat) {
        return Turn::Nothing;
    }
    Turn::may(me.seat, me.card, Choice::Card(game.trick.others(me.card)))
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Choose(card) = answer {
        game.moves(asked.card, card, Spot::Trick, Spot::Stash(asked.seat), sink);
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn one_other_card_of_the_trick_may_go_to_the_own_stash() {
        Scene::new(&["sweet-tooth", "peanut-chew", "coconut-bar"]).plays(
            "
            0 plays sweet-tooth
            1 plays peanut-chew
            2 plays coconut-bar -> sweet-tooth asks 0
            1 chooses peanut-chew: not_to_act
            0 chooses sweet-tooth: not_a_choice
            0 plays peanut-chew: time_to_answer
            0 chooses peanut-chew
                -> peanut-chew to stash 0; sweet-tooth works; 2 takes [coconut-bar sweet-tooth];
                   2 leads
        ",
        );
    }

    #[test]
    fn it_can_be_declined() {
        Scene::new(&["sweet-tooth", "peanut-chew"]).plays(
            "
            0 plays sweet-tooth
            1 plays peanut-chew -> sweet-tooth asks 0
            0 declines -> sweet-tooth declined; 1 takes [peanut-chew sweet-tooth]; 1 leads
        ",
        );
    }

    #[test]
    fn it_does_nothing_for_the_winner_or_without_another_card() {
        Scene::new(&["sweet-tooth", "fruit-chew"]).plays(
            "
            0 plays sweet-tooth
            1 plays fruit-chew
                -> sweet-tooth finds nothing; 0 takes [fruit-chew sweet-tooth]; 0 leads
        ",
        );
        Scene::new(&["sweet-tooth", "known-allergens"]).plays(
            "
            0 plays sweet-tooth
            1 plays known-allergens -> 1 picks
            1 picks known-allergens -> known-allergens asks 1
            1 names peanut
                -> known-allergens to leftovers; known-allergens works; sweet-tooth finds nothing;
                   1 takes [sweet-tooth]; 1 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_once_all_is_revealed() {
        Scene::new(&["flashlight-tag", "sweet-tooth", "peanut-chew"]).plays(
            "
            0 plays flashlight-tag -> flashlight-tag works
            1 plays sweet-tooth -> face down
            2 plays peanut-chew
                -> face down; sweet-tooth revealed; peanut-chew revealed; sweet-tooth asks 1
            1 chooses peanut-chew
                -> peanut-chew to stash 1; sweet-tooth works; 2 takes [sweet-tooth flashlight-tag];
                   2 leads
        ",
        );
    }

    #[test]
    fn beside_a_hole_in_the_bag_the_order_matters() {
        Scene::new(&["sweet-tooth", "hole-in-the-bag", "tropical-nougat-bar"]).plays(
            "
            0 plays sweet-tooth
            1 plays hole-in-the-bag
            2 plays tropical-nougat-bar -> 2 picks
            2 picks sweet-tooth -> sweet-tooth asks 0
            0 chooses tropical-nougat-bar
                -> tropical-nougat-bar to stash 0; sweet-tooth works; sweet-tooth to leftovers;
                   hole-in-the-bag works; 2 takes [hole-in-the-bag]; 2 leads
        ",
        );
        Scene::new(&["sweet-tooth", "hole-in-the-bag", "tropical-nougat-bar"]).plays(
            "
            0 plays sweet-tooth
            1 plays hole-in-the-bag
            2 plays tropical-nougat-bar -> 2 picks
            2 picks hole-in-the-bag -> hole-in-the-bag asks 1
            1 chooses sweet-tooth
                -> sweet-tooth to leftovers; hole-in-the-bag works; sweet-tooth asks 0
            0 chooses hole-in-the-bag
                -> hole-in-the-bag to stash 0; sweet-tooth works; 2 takes [tropical-nougat-bar];
                   2 leads
        ",
        );
    }

    #[test]
    fn in_the_last_trick_what_was_moved_counts_for_its_new_owner() {
        Scene::new(&["sweet-tooth", "lollipops", "peanut-chew"]).last_trick().plays(
            "
            0 plays sweet-tooth
            1 plays lollipops
            2 plays peanut-chew -> sweet-tooth asks 0
            0 chooses lollipops
                -> lollipops to stash 0; sweet-tooth works; 2 takes [peanut-chew sweet-tooth];
                   lollipops works; points 2 0 1; dealt
        ",
        );
    }
}
