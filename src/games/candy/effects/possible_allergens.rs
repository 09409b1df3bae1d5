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
