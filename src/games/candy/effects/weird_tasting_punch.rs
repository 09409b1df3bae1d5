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
