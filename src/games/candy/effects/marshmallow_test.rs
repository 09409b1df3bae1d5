//! `marshmallow_test`: after the trick, you may set this card and one other card of it aside; the
//! winner of the next trick takes both. Nothing in the last trick, or if this card is not in the
//! trick any more.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    if game.is_last_trick() || !game.trick.cards().contains(me.card) {
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
        game.moves(asked.card, asked.card, Spot::Trick, Spot::Held, sink);
        game.moves(asked.card, card, Spot::Trick, Spot::Held, sink);
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn two_cards_may_wait_for_the_winner_of_the_next_trick() {
        let hands = [
            "marshmallow-test fruit-chew",
            "tropical-nougat-bar egged-house",
            "toothbrush coconut-bar",
        ];
        Scene::new(&hands).plays(
            "
            0 plays marshmallow-test
            1 plays tropical-nougat-bar
            2 plays toothbrush -> marshmallow-test asks 0
            0 chooses marshmallow-test: not_a_choice
            0 chooses tropical-nougat-bar
                -> marshmallow-test held; tropical-nougat-bar held; marshmallow-test works;
                   1 takes [toothbrush]; 1 leads
            1 plays egged-house
            2 plays coconut-bar
            0 plays fruit-chew
                -> 2 takes [fruit-chew coconut-bar tropical-nougat-bar egged-house marshmallow-test];
                   1 leads
        ",
        );
    }

    #[test]
    fn it_can_be_declined() {
        Scene::new(&["marshmallow-test", "egged-house"]).plays(
            "
            0 plays marshmallow-test
            1 plays egged-house -> marshmallow-test asks 0
            0 declines
                -> marshmallow-test declined; 0 takes [egged-house marshmallow-test]; 1 leads
        ",
        );
    }

    #[test]
    fn it_finds_nothing_in_the_last_trick_or_once_its_card_is_gone() {
        Scene::new(&["marshmallow-test", "egged-house"]).last_trick().plays(
            "
            0 plays marshmallow-test
            1 plays egged-house
                -> marshmallow-test finds nothing; 0 takes [egged-house marshmallow-test];
                   points 0 0; dealt
        ",
        );
        Scene::new(&["marshmallow-test", "hole-in-the-bag", "fruit-chew"]).plays(
            "
            0 plays marshmallow-test
            1 plays hole-in-the-bag
            2 plays fruit-chew
            1 picks hole-in-the-bag
            1 chooses marshmallow-test
                -> marshmallow-test to leftovers; hole-in-the-bag works;
                   marshmallow-test finds nothing; 1 takes [fruit-chew hole-in-the-bag]; 1 leads
        ",
        );
    }

    #[test]
    fn before_a_hole_in_the_bag_both_cards_are_safe() {
        Scene::new(&["marshmallow-test", "hole-in-the-bag", "fruit-chew"]).plays(
            "
            0 plays marshmallow-test
            1 plays hole-in-the-bag
            2 plays fruit-chew
            1 picks marshmallow-test
            0 chooses fruit-chew
                -> marshmallow-test held; fruit-chew held; marshmallow-test works;
                   hole-in-the-bag finds nothing; 1 takes [hole-in-the-bag]; 1 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_once_all_is_revealed() {
        Scene::new(&["flashlight-tag", "marshmallow-test"]).plays(
            "
            0 plays flashlight-tag
            1 plays marshmallow-test
                -> face down; marshmallow-test revealed; marshmallow-test asks 1
            1 chooses flashlight-tag
                -> marshmallow-test held; flashlight-tag held; marshmallow-test works; 1 takes [];
                   1 leads
        ",
        );
    }
}
