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
