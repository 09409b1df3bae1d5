//! `bon_bombs`: after the trick, you may put one other card of it into the stash of any player but
//! the winner, yourself included if you did not win.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::{SeatSet, Sink};

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    let mut to = SeatSet::all(game.seats);
    if let Some(winner) = game.trick.winner {
        to.remove(winner);
    }
    Turn::may(me.seat, me.card, Choice::Give { cards: game.trick.others(me.card), to })
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Give { card, seat } = answer {
        game.moves(asked.card, card, Spot::Trick, Spot::Stash(seat), sink);
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn one_other_card_may_go_to_anyone_but_the_winner() {
        Scene::new(&["bon-bombs", "egged-house", "tropical-nougat-bar"]).plays(
            "
            0 plays bon-bombs
            1 plays egged-house
            2 plays tropical-nougat-bar -> bon-bombs asks 0
            0 gives bon-bombs to 1: not_a_choice
            0 gives egged-house to 2: not_a_choice
            0 gives egged-house to 1
                -> egged-house to stash 1; bon-bombs works;
                   2 takes [tropical-nougat-bar bon-bombs]; 1 leads
        ",
        );
        Scene::new(&["bon-bombs", "egged-house", "tropical-nougat-bar"]).plays(
            "
            0 plays bon-bombs
            1 plays egged-house
            2 plays tropical-nougat-bar
            0 gives tropical-nougat-bar to 0
                -> tropical-nougat-bar to stash 0; bon-bombs works;
                   2 takes [egged-house bon-bombs]; 1 leads
        ",
        );
    }

    #[test]
    fn it_can_be_declined_and_finds_nothing_without_another_card() {
        Scene::new(&["bon-bombs", "egged-house"]).plays(
            "
            0 plays bon-bombs
            1 plays egged-house
            0 gives egged-house to 0: not_a_choice
            0 declines -> bon-bombs declined; 0 takes [egged-house bon-bombs]; 1 leads
        ",
        );
        Scene::new(&["bon-bombs", "known-allergens"]).plays(
            "
            0 plays bon-bombs
            1 plays known-allergens
            0 picks known-allergens
            1 names peanut
                -> known-allergens to leftovers; known-allergens works; bon-bombs finds nothing;
                   0 takes [bon-bombs]; 0 leads
        ",
        );
    }

    #[test]
    fn beside_a_candy_check_the_order_matters() {
        Scene::new(&["bon-bombs", "egged-house", "candy-check"]).plays(
            "
            0 plays bon-bombs
            1 plays egged-house
            2 plays candy-check
            2 picks bon-bombs
            0 gives egged-house to 1
                -> egged-house to stash 1; bon-bombs works; candy-check finds nothing;
                   2 takes [candy-check bon-bombs]; 1 leads
        ",
        );
        Scene::new(&["bon-bombs", "egged-house", "candy-check"]).plays(
            "
            0 plays bon-bombs
            1 plays egged-house
            2 plays candy-check
            2 picks candy-check -> egged-house to leftovers; candy-check works; bon-bombs asks 0
            0 gives egged-house to 1: not_a_choice
            0 gives candy-check to 1
                -> candy-check to stash 1; bon-bombs works; 2 takes [bon-bombs]; 1 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_in_the_last_trick_too() {
        Scene::new(&["flashlight-tag", "bon-bombs", "egged-house"]).last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays bon-bombs
            2 plays egged-house
                -> face down; bon-bombs revealed; egged-house revealed; bon-bombs asks 1
            1 gives egged-house to 2
                -> egged-house to stash 2; bon-bombs works; 1 takes [flashlight-tag bon-bombs];
                   points 0 1 0; dealt
        ",
        );
    }
}
