//! `possible_allergens`: after the trick, turn up the top leftover card; every card in the trick that
//! shares a suit with it goes to the bottom of the leftover stash, in playing order, then that card
//! too. Skipped if the leftover stash or the trick is empty.

use super::super::question::{Source, Turn};
use super::super::spots::Spot;
use super::super::{Candy, Event};
use super::Effect;
use crate::rules::Sink;

/// Of the two kinds of allergens, the known ones come first.
pub(super) const WAITS_FOR: Effect = Effect::KnownAllergens;

pub(super) fn begins(game: &mut Candy, me: Source, sink: &mut impl Sink<Event>) -> Turn {
    let top = game.leftover.first().copied();
    let Some(top) = top.filter(|_| !game.trick.cards().is_empty()) else {
        return Turn::Nothing;
    };
    sink.report(|| Event::TurnedUp { by: me.card, card: top });
    game.buries(me.card, |card| card.suits().shares(top.suits()), sink);
    game.moves(me.card, top, Spot::Leftover, Spot::Leftover, sink);
    Turn::Done
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn cards_that_share_a_suit_with_the_top_leftover_go_to_the_bottom_before_it() {
        let hands = ["possible-allergens", "wafer-stick", "coconut-bar"];
        let scene = Scene::new(&hands).leftover("chocolate-wafer fruit-chew").plays(
            "
            0 plays possible-allergens
            1 plays wafer-stick
            2 plays coconut-bar
                -> chocolate-wafer turned up; possible-allergens to leftovers;
                   wafer-stick to leftovers; coconut-bar to leftovers;
                   chocolate-wafer to leftovers; possible-allergens works; 2 takes []; 2 leads
        ",
        );
        assert_eq!(
            scene.leftovers(),
            "fruit-chew possible-allergens wafer-stick coconut-bar chocolate-wafer"
        );
        let scene = Scene::new(&["possible-allergens", "coconut-bar"])
            .leftover("egged-house fruit-chew")
            .plays(
                "
            0 plays possible-allergens
            1 plays coconut-bar
                -> egged-house turned up; egged-house to leftovers; possible-allergens works;
                   1 takes [coconut-bar possible-allergens]; 1 leads
        ",
            );
        assert_eq!(scene.leftovers(), "fruit-chew egged-house");
    }

    #[test]
    fn it_finds_nothing_without_leftovers_or_in_an_emptied_trick() {
        Scene::new(&["possible-allergens", "coconut-bar"]).last_trick().plays(
            "
            0 plays possible-allergens
            1 plays coconut-bar
                -> possible-allergens finds nothing; 1 takes [coconut-bar possible-allergens];
                   points 0 1; dealt
        ",
        );
        Scene::new(&["possible-allergens", "marshmallow-test"]).leftover("fruit-chew").plays(
            "
            0 plays possible-allergens
            1 plays marshmallow-test
            1 picks marshmallow-test
            1 chooses possible-allergens
                -> marshmallow-test held; possible-allergens held; marshmallow-test works;
                   possible-allergens finds nothing; 1 takes []; 1 leads
        ",
        );
    }

    #[test]
    fn the_known_ones_come_first() {
        let hands = ["possible-allergens", "known-allergens", "candy-check"];
        Scene::new(&hands).leftover("wafer-stick").plays(
            "
            0 plays possible-allergens
            1 plays known-allergens
            2 plays candy-check -> 2 picks
            2 picks possible-allergens: other_first
            2 picks candy-check -> candy-check finds nothing; known-allergens asks 1
            1 names cookie
                -> possible-allergens to leftovers; known-allergens works; wafer-stick turned up;
                   wafer-stick to leftovers; possible-allergens works;
                   2 takes [candy-check known-allergens]; 2 leads
        ",
        );
        let hands = ["possible-allergens", "known-allergens", "candy-check"];
        Scene::new(&hands).leftover("wafer-stick").plays(
            "
            0 plays possible-allergens
            1 plays known-allergens
            2 plays candy-check
            2 picks known-allergens -> known-allergens asks 1
            1 names mint -> known-allergens works; 2 picks
            2 picks known-allergens: not_waiting
            2 picks possible-allergens
                -> wafer-stick turned up; possible-allergens to leftovers;
                   wafer-stick to leftovers; possible-allergens works; candy-check finds nothing;
                   2 takes [candy-check known-allergens]; 2 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_once_all_is_revealed() {
        Scene::new(&["flashlight-tag", "possible-allergens"]).leftover("wafer-stick").plays(
            "
            0 plays flashlight-tag
            1 plays possible-allergens
                -> face down; possible-allergens revealed; wafer-stick turned up;
                   possible-allergens to leftovers; wafer-stick to leftovers;
                   possible-allergens works; 1 takes [flashlight-tag]; 1 leads
        ",
        );
    }
}
