//! `fair_trade`: after the trick, you may swap one other card of it with one card of your stash as it
//! is now. The card traded in takes the other's place in playing order, but was not played.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    let (trick, stash) = (game.trick.others(me.card), game.stashes[me.seat]);
    Turn::may(me.seat, me.card, Choice::Swap { trick, stash })
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Swap { take, give } = answer {
        game.swaps(asked.card, asked.seat, (take, give), sink);
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn a_card_of_the_trick_may_change_places_with_one_of_the_own_stash() {
        let hands = ["fair-trade", "peanut-chew", "tropical-nougat-bar"];
        Scene::new(&hands).stash(0, "egged-house sugar-rush").plays(
            "
            0 plays fair-trade
            1 plays peanut-chew
            2 plays tropical-nougat-bar -> fair-trade asks 0
            0 swaps fair-trade for sugar-rush: not_a_choice
            0 swaps sugar-rush for peanut-chew: not_a_choice
            0 swaps tropical-nougat-bar for egged-house
                -> tropical-nougat-bar to stash 0; egged-house into the trick; fair-trade works;
                   2 takes [peanut-chew egged-house fair-trade]; 2 leads
        ",
        );
        let hands = ["fair-trade", "peanut-chew", "tropical-nougat-bar"];
        Scene::new(&hands).stash(0, "sugar-rush").plays(
            "
            0 plays fair-trade
            1 plays peanut-chew
            2 plays tropical-nougat-bar
            0 swaps peanut-chew for sugar-rush
                -> peanut-chew to stash 0; sugar-rush into the trick; fair-trade works;
                   2 takes [tropical-nougat-bar fair-trade sugar-rush]; 2 leads
        ",
        );
    }

    #[test]
    fn it_can_be_declined_and_finds_nothing_with_an_empty_stash() {
        Scene::new(&["fair-trade", "peanut-chew"]).stash(0, "fruit-chew").plays(
            "
            0 plays fair-trade
            1 plays peanut-chew -> fair-trade asks 0
            0 declines -> fair-trade declined; 0 takes [peanut-chew fair-trade]; 0 leads
        ",
        );
        Scene::new(&["fair-trade", "peanut-chew"]).stash(1, "fruit-chew").plays(
            "
            0 plays fair-trade
            1 plays peanut-chew
                -> fair-trade finds nothing; 0 takes [peanut-chew fair-trade]; 0 leads
        ",
        );
    }

    #[test]
    fn a_prank_traded_in_counts_for_a_later_candy_check() {
        Scene::new(&["fair-trade", "candy-check"]).stash(0, "egged-house").plays(
            "
            0 plays fair-trade
            1 plays candy-check -> 1 picks
            1 picks fair-trade -> fair-trade asks 0
            0 swaps candy-check for egged-house
                -> candy-check to stash 0; egged-house into the trick; fair-trade works;
                   egged-house to leftovers; candy-check works; 1 takes [fair-trade]; 1 leads
        ",
        );
        Scene::new(&["fair-trade", "candy-check"]).stash(0, "egged-house").plays(
            "
            0 plays fair-trade
            1 plays candy-check
            1 picks candy-check -> candy-check finds nothing; fair-trade asks 0
            0 swaps candy-check for egged-house
                -> candy-check to stash 0; egged-house into the trick; fair-trade works;
                   1 takes [egged-house fair-trade]; 1 leads
        ",
        );
    }

    #[test]
    fn a_card_traded_in_takes_the_place_of_the_other_in_playing_order() {
        let hands = ["coconut-bar", "fair-trade", "toilet-paper", "candy-check"];
        Scene::new(&hands).stash(1, "egged-house").plays(
            "
            0 plays coconut-bar
            1 plays fair-trade
            2 plays toilet-paper
            3 plays candy-check
            3 picks fair-trade
            1 swaps coconut-bar for egged-house
                -> coconut-bar to stash 1; egged-house into the trick; fair-trade works;
                   egged-house to leftovers; toilet-paper to leftovers; candy-check works;
                   3 takes [fair-trade candy-check]; 2 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_in_the_last_trick_too() {
        let hands = ["flashlight-tag", "fair-trade", "tropical-nougat-bar"];
        Scene::new(&hands).stash(1, "egged-house").last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays fair-trade
            2 plays tropical-nougat-bar
                -> face down; fair-trade revealed; tropical-nougat-bar revealed; fair-trade asks 1
            1 swaps flashlight-tag for egged-house
                -> flashlight-tag to stash 1; egged-house into the trick; fair-trade works;
                   2 takes [tropical-nougat-bar egged-house fair-trade]; points 0 0 0; dealt
        ",
        );
    }
}
