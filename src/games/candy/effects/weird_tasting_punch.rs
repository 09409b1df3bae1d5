//! `weird_tasting_punch`: at once, turn up the top leftover card beside the trick. It goes to the
//! trick's winner, but was not played, and no effect can touch it.

use super::super::question::{Source, Turn};
use super::super::spots::Spot;
use super::super::{Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &mut Candy, me: Source, sink: &mut impl Sink<Event>) -> Turn {
    match game.draws(me.card, Spot::Beside, sink) {
        Some(_) => Turn::Done,
        None => Turn::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn a_leftover_lies_beside_the_trick_for_its_winner() {
        let hands = ["weird-tasting-punch", "peanut-chew"];
        Scene::new(&hands).leftover("king-size-bar mint-cookie").plays(
            "
            0 plays weird-tasting-punch -> king-size-bar beside; weird-tasting-punch works
            1 plays peanut-chew
                -> 1 takes [peanut-chew king-size-bar weird-tasting-punch]; 1 leads
        ",
        );
    }

    #[test]
    fn the_card_beside_the_trick_has_no_suit_and_no_effect_touches_it() {
        let hands =
            ["weird-tasting-punch", "peanut-chew coconut-kiss", "known-allergens", "candy-check"];
        Scene::new(&hands).leftover("coconut-bar egged-house").plays(
            "
            0 plays weird-tasting-punch -> coconut-bar beside; weird-tasting-punch works
            1 plays peanut-chew
            2 plays known-allergens
            3 plays candy-check
            3 picks candy-check -> candy-check finds nothing; known-allergens asks 2
            2 names coconut
                -> known-allergens works;
                   3 takes [peanut-chew coconut-bar candy-check weird-tasting-punch known-allergens];
                   3 leads
        ",
        );
    }

    #[test]
    fn a_prank_beside_the_trick_passes_the_lead_to_nobody() {
        let hands = ["weird-tasting-punch", "peanut-chew", "fruit-chew"];
        Scene::new(&hands).leftover("egged-house").plays(
            "
            0 plays weird-tasting-punch -> egged-house beside; weird-tasting-punch works
            1 plays peanut-chew
            2 plays fruit-chew
                -> 1 takes [fruit-chew peanut-chew egged-house weird-tasting-punch]; 1 leads
        ",
        );
    }

    #[test]
    fn it_finds_nothing_without_leftovers() {
        Scene::new(&["weird-tasting-punch", "peanut-chew"]).plays(
            "
            0 plays weird-tasting-punch -> weird-tasting-punch finds nothing
        ",
        );
    }

    #[test]
    fn face_down_it_works_as_it_is_revealed_and_mute_not_at_all() {
        let hands = ["flashlight-tag", "weird-tasting-punch", "peanut-chew"];
        Scene::new(&hands).leftover("egged-house").last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays weird-tasting-punch
            2 plays peanut-chew
                -> face down; weird-tasting-punch revealed; egged-house beside;
                   weird-tasting-punch works; peanut-chew revealed;
                   2 takes [peanut-chew egged-house flashlight-tag weird-tasting-punch];
                   points 0 0 0; dealt
        ",
        );
        Scene::new(&["candy-lockjaw", "weird-tasting-punch"]).leftover("egged-house").plays(
            "
            0 plays candy-lockjaw
            1 plays weird-tasting-punch
                -> mute; weird-tasting-punch revealed; weird-tasting-punch is mute;
                   0 takes [weird-tasting-punch candy-lockjaw]; 0 leads
        ",
        );
    }
}
