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
