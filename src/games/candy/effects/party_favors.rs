//! `party_favors`: after the trick, from the winner's left round, each seat but the winner adds the
//! top leftover card to its stash, while they last.

use super::super::question::{Source, Turn};
use super::super::spots::Spot;
use super::super::{Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &mut Candy, me: Source, sink: &mut impl Sink<Event>) -> Turn {
    let Some(winner) = game.trick.winner.filter(|_| !game.leftover.is_empty()) else {
        return Turn::Nothing;
    };
    for seat in game.seats.clockwise_from(winner).skip(1) {
        game.draws(me.card, Spot::Stash(seat), sink);
    }
    Turn::Done
}

#[cfg(test)]
mod tests {
    use crate::games::candy::tests::scene::Scene;

    #[test]
    fn everyone_but_the_winner_adds_a_leftover_from_the_winners_left_round() {
        let hands = ["party-favors", "tropical-nougat-bar", "fruit-chew"];
        let scene = Scene::new(&hands).leftover("mint-cookie gummy-bats coconut-kiss").plays(
            "
            0 plays party-favors
            1 plays tropical-nougat-bar
            2 plays fruit-chew
                -> mint-cookie to stash 2; gummy-bats to stash 0; party-favors works;
                   1 takes [fruit-chew tropical-nougat-bar party-favors]; 1 leads
        ",
        );
        assert_eq!(scene.leftovers(), "coconut-kiss");
    }

    #[test]
    fn it_goes_on_while_there_are_leftovers() {
        Scene::new(&["party-favors", "coconut-bar", "fruit-chew"]).leftover("mint-cookie").plays(
            "
            0 plays party-favors
            1 plays coconut-bar
            2 plays fruit-chew
                -> mint-cookie to stash 1; party-favors works;
                   0 takes [fruit-chew coconut-bar party-favors]; 0 leads
        ",
        );
        Scene::new(&["party-favors", "coconut-bar"]).plays(
            "
            0 plays party-favors
            1 plays coconut-bar
                -> party-favors finds nothing; 0 takes [coconut-bar party-favors]; 0 leads
        ",
        );
    }

    #[test]
    fn a_hole_in_the_bag_before_it_fills_the_leftovers() {
        Scene::new(&["party-favors", "hole-in-the-bag", "fruit-chew"]).plays(
            "
            0 plays party-favors
            1 plays hole-in-the-bag
            2 plays fruit-chew -> 0 picks
            0 picks hole-in-the-bag -> hole-in-the-bag asks 1
            1 chooses fruit-chew
                -> fruit-chew to leftovers; hole-in-the-bag works; fruit-chew to stash 1;
                   party-favors works; 0 takes [hole-in-the-bag party-favors]; 0 leads
        ",
        );
        Scene::new(&["party-favors", "hole-in-the-bag", "fruit-chew"]).plays(
            "
            0 plays party-favors
            1 plays hole-in-the-bag
            2 plays fruit-chew
            0 picks party-favors -> party-favors finds nothing; hole-in-the-bag asks 1
        ",
        );
    }

    #[test]
    fn face_down_it_works_in_the_last_trick_too() {
        Scene::new(&["flashlight-tag", "party-favors"]).leftover("egged-house").last_trick().plays(
            "
            0 plays flashlight-tag
            1 plays party-favors
                -> face down; party-favors revealed; egged-house to stash 0; party-favors works;
                   1 takes [party-favors flashlight-tag]; points 0 1; dealt
        ",
        );
    }
}
