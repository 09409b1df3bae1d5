//! `leftover_candy`: at once, draw the top card of the leftover stash, then put any card of your
//! hand, the drawn one included, on its bottom, face down. Nothing if either is empty.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &mut Candy, me: Source, sink: &mut impl Sink<Event>) -> Turn {
    if game.hands[me.seat].is_empty() {
        return Turn::Nothing;
    }
    match game.draws(me.card, Spot::Hand(me.seat), sink) {
        Some(_) => Turn::must(me.seat, me.card, Choice::Hand),
        None => Turn::Nothing,
    }
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Choose(card) = answer {
        game.moves(asked.card, card, Spot::Hand(asked.seat), Spot::Leftover, sink);
    }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::{Scene, cards, seat};

    #[test]
    fn the_drawn_card_or_another_goes_to_the_bottom() {
        let hands = ["leftover-candy coconut-bar", "peanut-chew fruit-chew"];
        let scene = Scene::new(&hands).leftover("mint-cookie gummy-bats").plays(
            "
            0 plays leftover-candy -> mint-cookie to hand 0; leftover-candy asks 0
            0 declines: must_choose
            0 chooses peanut-chew: not_a_choice
            1 plays peanut-chew: not_to_act
            0 chooses mint-cookie -> mint-cookie to leftovers; leftover-candy works
            1 plays peanut-chew -> 1 takes [peanut-chew leftover-candy]; 1 leads
        ",
        );
        assert_eq!(scene.leftovers(), "gummy-bats mint-cookie");
        let scene = Scene::new(&["leftover-candy coconut-bar", "peanut-chew"])
            .leftover("mint-cookie")
            .plays(
                "
            0 plays leftover-candy -> mint-cookie to hand 0; leftover-candy asks 0
            0 chooses coconut-bar -> coconut-bar to leftovers; leftover-candy works
        ",
            );
        assert_eq!(scene.game.hands[seat(0)], cards("mint-cookie"));
    }

    #[test]
    fn it_finds_nothing_without_leftovers_or_with_an_empty_hand() {
        Scene::new(&["leftover-candy coconut-bar", "peanut-chew"]).plays(
            "
            0 plays leftover-candy -> leftover-candy finds nothing
        ",
        );
        Scene::new(&["leftover-candy", "peanut-chew"]).leftover("mint-cookie").last_trick().plays(
            "
            0 plays leftover-candy -> leftover-candy finds nothing
            1 plays peanut-chew -> 1 takes [peanut-chew leftover-candy]; points 0 1; dealt
        ",
        );
    }

    #[test]
    fn face_down_it_works_as_it_is_revealed() {
        let hands = ["flashlight-tag", "leftover-candy coconut-bar", "chocolate-coin"];
        Scene::new(&hands).leftover("mint-cookie").plays(
            "
            0 plays flashlight-tag
            1 plays leftover-candy -> face down
            2 plays chocolate-coin
                -> face down; leftover-candy revealed; mint-cookie to hand 1;
                   leftover-candy asks 1
            1 chooses coconut-bar
                -> coconut-bar to leftovers; leftover-candy works; chocolate-coin revealed;
                   2 takes [chocolate-coin leftover-candy flashlight-tag]; 2 leads
        ",
        );
    }

    #[test]
    fn before_or_after_a_punch_it_draws_another_card() {
        let hands = ["leftover-candy coconut-bar", "weird-tasting-punch"];
        Scene::new(&hands).leftover("mint-cookie gummy-bats").plays(
            "
            0 plays leftover-candy -> mint-cookie to hand 0; leftover-candy asks 0
            0 chooses mint-cookie -> mint-cookie to leftovers; leftover-candy works
            1 plays weird-tasting-punch
                -> gummy-bats beside; weird-tasting-punch works;
                   0 takes [gummy-bats leftover-candy weird-tasting-punch]; 0 leads
        ",
        );
        let hands = ["weird-tasting-punch", "leftover-candy coconut-bar"];
        Scene::new(&hands).leftover("mint-cookie gummy-bats").plays(
            "
            0 plays weird-tasting-punch -> mint-cookie beside; weird-tasting-punch works
            1 plays leftover-candy -> gummy-bats to hand 1; leftover-candy asks 1
        ",
        );
    }
}
