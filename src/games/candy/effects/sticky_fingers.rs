//! `sticky_fingers`: after the trick, you may move one card that was in the winner's stash when this
//! trick began, and still is, to yours; nothing if you won.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    match game.trick.winner {
        Some(winner) if winner != me.seat => {
            let old = game.stashes[winner] - game.trick.fresh;
            Turn::may(me.seat, me.card, Choice::Card(old))
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
    if let (Action::Choose(card), Some(winner)) = (answer, game.trick.winner) {
        game.moves(asked.card, card, Spot::Stash(winner), Spot::Stash(asked.seat), sink);
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn a_card_of_the_winners_stash_may_go_to_the_own() {
        Scene::new(&["sticky-fingers", "chocolate-coin"]).stash(1, "fruit-chew gummy-bats").plays(
            "
            0 plays sticky-fingers
            1 plays chocolate-coin -> sticky-fingers asks 0
            0 chooses chocolate-coin: not_a_choice
            0 chooses gummy-bats
                -> gummy-bats to stash 0; sticky-fingers works;
                   1 takes [chocolate-coin sticky-fingers]; 1 leads
        ",
        );
        Scene::new(&["sticky-fingers", "chocolate-coin"]).stash(1, "fruit-chew").plays(
            "
            0 plays sticky-fingers
            1 plays chocolate-coin -> sticky-fingers asks 0
            0 declines
                -> sticky-fingers declined; 1 takes [chocolate-coin sticky-fingers]; 1 leads
        ",
        );
    }

    #[test]
    fn it_does_nothing_for_the_winner_or_with_an_empty_stash() {
        let hands = ["sticky-fingers", "fruit-chew"];
        Scene::new(&hands).stash(0, "peanut-chew").stash(1, "gummy-bats").plays(
            "
            0 plays sticky-fingers
            1 plays fruit-chew
                -> sticky-fingers finds nothing; 0 takes [fruit-chew sticky-fingers]; 0 leads
        ",
        );
        Scene::new(&["sticky-fingers", "chocolate-coin"]).stash(0, "peanut-chew").plays(
            "
            0 plays sticky-fingers
            1 plays chocolate-coin
                -> sticky-fingers finds nothing; 1 takes [chocolate-coin sticky-fingers]; 1 leads
        ",
        );
    }

    #[test]
    fn what_came_into_the_stash_in_this_trick_cannot_be_taken() {
        let hands = ["sticky-fingers", "banana", "tropical-nougat-bar"];
        Scene::new(&hands).stash(2, "fruit-chew").plays(
            "
            0 plays sticky-fingers
            1 plays banana
            2 plays tropical-nougat-bar -> 2 picks
            2 picks banana -> banana asks 1
            1 chooses seat 2 -> banana-peel to stash 2; banana works; sticky-fingers asks 0
            0 chooses banana-peel: not_a_choice
            0 chooses fruit-chew
                -> fruit-chew to stash 0; sticky-fingers works;
                   2 takes [tropical-nougat-bar sticky-fingers banana]; 2 leads
        ",
        );
    }

    #[test]
    fn beside_the_winners_fair_trade_the_order_matters() {
        Scene::new(&["sticky-fingers", "fair-trade"]).stash(1, "fruit-chew").plays(
            "
            0 plays sticky-fingers
            1 plays fair-trade -> 1 picks
            1 picks fair-trade -> fair-trade asks 1
            1 swaps sticky-fingers for fruit-chew
                -> sticky-fingers to stash 1; fruit-chew into the trick; fair-trade works;
                   sticky-fingers finds nothing; 1 takes [fruit-chew fair-trade]; 1 leads
        ",
        );
        Scene::new(&["sticky-fingers", "fair-trade"]).stash(1, "fruit-chew").plays(
            "
            0 plays sticky-fingers
            1 plays fair-trade -> 1 picks
            1 picks sticky-fingers -> sticky-fingers asks 0
            0 chooses fruit-chew
                -> fruit-chew to stash 0; sticky-fingers works; fair-trade finds nothing;
                   1 takes [sticky-fingers fair-trade]; 1 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_in_the_last_trick_too() {
        let hands = ["flashlight-tag", "sticky-fingers", "chocolate-coin"];
        Scene::new(&hands).stash(2, "lollipops").last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays sticky-fingers
            2 plays chocolate-coin
                -> face down; sticky-fingers revealed; chocolate-coin revealed;
                   sticky-fingers asks 1
            1 chooses lollipops
                -> lollipops to stash 1; sticky-fingers works;
                   2 takes [chocolate-coin sticky-fingers flashlight-tag]; lollipops works;
                   points 0 2 1; dealt
        ",
        );
    }
}
