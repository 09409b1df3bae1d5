//! `candy_check`: after the trick, every Prank in it goes to the bottom of the leftover stash, in
//! playing order.

use super::super::printed::Kind;
use super::super::question::{Source, Turn};
use super::super::{Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &mut Candy, me: Source, sink: &mut impl Sink<Event>) -> Turn {
    let any = game.buries(me.card, |card| card.kind() == Kind::Prank, sink);
    if any { Turn::Done } else { Turn::Nothing }
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn every_prank_goes_to_the_bottom_of_the_leftovers_in_playing_order() {
        let scene = Scene::new(&["toilet-paper", "candy-check", "egged-house"])
            .leftover("fruit-chew")
            .plays(
                "
            0 plays toilet-paper
            1 plays candy-check
            2 plays egged-house
                -> toilet-paper to leftovers; egged-house to leftovers; candy-check works;
                   1 takes [candy-check]; 0 leads
        ",
            );
        assert_eq!(scene.leftovers(), "fruit-chew toilet-paper egged-house");
    }

    #[test]
    fn it_finds_nothing_without_a_prank() {
        Scene::new(&["toothbrush", "candy-check"]).plays(
            "
            0 plays toothbrush
            1 plays candy-check
                -> candy-check finds nothing; 1 takes [toothbrush candy-check]; 1 leads
        ",
        );
    }

    #[test]
    fn beside_a_sweet_tooth_the_order_matters() {
        Scene::new(&["sweet-tooth", "candy-check", "egged-house"]).plays(
            "
            0 plays sweet-tooth
            1 plays candy-check
            2 plays egged-house -> 1 picks
            1 picks sweet-tooth -> sweet-tooth asks 0
            0 chooses egged-house
                -> egged-house to stash 0; sweet-tooth works; candy-check finds nothing;
                   1 takes [sweet-tooth candy-check]; 0 leads
        ",
        );
        Scene::new(&["sweet-tooth", "candy-check", "egged-house"]).plays(
            "
            0 plays sweet-tooth
            1 plays candy-check
            2 plays egged-house
            1 picks candy-check -> egged-house to leftovers; candy-check works; sweet-tooth asks 0
            0 chooses egged-house: not_a_choice
            0 chooses candy-check
                -> candy-check to stash 0; sweet-tooth works; 1 takes [sweet-tooth]; 0 leads
        ",
        );
    }

    #[test]
    fn face_down_it_works_in_the_last_trick_too() {
        Scene::new(&["flashlight-tag", "egged-house", "candy-check"]).last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays egged-house
            2 plays candy-check
                -> face down; egged-house revealed; candy-check revealed; egged-house to leftovers;
                   candy-check works; 2 takes [candy-check flashlight-tag]; points 0 0 1; dealt
        ",
        );
    }
}
