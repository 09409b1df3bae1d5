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
