//! `share_size`: after the trick, whoever played the lowest rank of all cards played to it, the first
//! of equal ones, may move any card of the trick but this one to their stash; nothing if they won.
//! Ranks −1 and 0 count, and so do cards that have left the trick.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    // Of equal keys, `min_by_key` finds the first.
    match game.trick.plays.iter().min_by_key(|play| play.card.rank()) {
        Some(lowest) if !game.trick.is_won_by(lowest.seat) => {
            Turn::may(lowest.seat, me.card, Choice::Card(game.trick.others(me.card)))
        }
        _ => Turn::Nothing,
    }
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
    fn who_played_the_lowest_rank_may_move_a_card() {
        Scene::new(&["king-size-bar-alternate", "toilet-paper", "fruit-chew"]).plays(
            "
            0 plays king-size-bar-alternate
            1 plays toilet-paper
            2 plays fruit-chew -> king-size-bar-alternate asks 1
            1 chooses king-size-bar-alternate: not_a_choice
            1 chooses fruit-chew
                -> fruit-chew to stash 1; king-size-bar-alternate works;
                   0 takes [toilet-paper king-size-bar-alternate]; 2 leads
        ",
        );
        Scene::new(&["fruit-chew", "king-size-bar-alternate", "coconut-kiss"]).plays(
            "
            0 plays fruit-chew
            1 plays king-size-bar-alternate
            2 plays coconut-kiss -> king-size-bar-alternate asks 0
            0 declines
                -> king-size-bar-alternate declined;
                   1 takes [fruit-chew coconut-kiss king-size-bar-alternate]; 1 leads
        ",
        );
    }

    #[test]
    fn it_does_nothing_if_the_lowest_rank_won() {
        Scene::new(&["king-size-bar-alternate", "pin-the-tail-on-the-black-cat"]).plays(
            "
            0 plays king-size-bar-alternate
            1 plays pin-the-tail-on-the-black-cat
                -> pin-the-tail-on-the-black-cat works; king-size-bar-alternate finds nothing;
                   1 takes [pin-the-tail-on-the-black-cat king-size-bar-alternate]; 1 leads
        ",
        );
    }

    #[test]
    fn the_lowest_rank_counts_even_if_its_card_has_left_the_trick() {
        Scene::new(&["king-size-bar-alternate", "candy-check", "egged-house"]).plays(
            "
            0 plays king-size-bar-alternate
            1 plays candy-check
            2 plays egged-house
            0 picks candy-check
                -> egged-house to leftovers; candy-check works; king-size-bar-alternate asks 2
            2 chooses candy-check
                -> candy-check to stash 2; king-size-bar-alternate works;
                   0 takes [king-size-bar-alternate]; 2 leads
        ",
        );
        Scene::new(&["king-size-bar-alternate", "candy-check", "egged-house"]).plays(
            "
            0 plays king-size-bar-alternate
            1 plays candy-check
            2 plays egged-house
            0 picks king-size-bar-alternate -> king-size-bar-alternate asks 2
            2 chooses egged-house
                -> egged-house to stash 2; king-size-bar-alternate works;
                   candy-check finds nothing; 0 takes [candy-check king-size-bar-alternate];
                   2 leads
        ",
        );
    }

    #[test]
    fn a_card_that_was_traded_in_is_not_the_lowest() {
        let hands = ["king-size-bar-alternate", "fair-trade", "gummy-bats"];
        Scene::new(&hands).stash(1, "egged-house").plays(
            "
            0 plays king-size-bar-alternate
            1 plays fair-trade
            2 plays gummy-bats
            0 picks fair-trade
            1 swaps gummy-bats for egged-house
                -> gummy-bats to stash 1; egged-house into the trick; fair-trade works;
                   king-size-bar-alternate asks 1
        ",
        );
    }

    #[test]
    fn face_down_it_works_in_the_last_trick_too() {
        Scene::new(&["flashlight-tag", "king-size-bar-alternate", "lollipops"]).last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays king-size-bar-alternate
            2 plays lollipops
                -> face down; king-size-bar-alternate revealed; lollipops revealed;
                   king-size-bar-alternate asks 0
            0 chooses lollipops
                -> lollipops to stash 0; king-size-bar-alternate works;
                   1 takes [flashlight-tag king-size-bar-alternate]; lollipops works; points 2 1 0;
                   dealt
        ",
        );
    }
}
