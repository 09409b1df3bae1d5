//! `share_size`: after the trick, whoever played the lowest rank of all cards played to it, the first
//! of equal ones, may move any card of the trick but this one to their stash; nothing if they won.
//! Ranks −1 and 0 count, and so do cards that have left the trick.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    // Of equal keys, `min_by_key` finds the first.
    match game.trick.plays.iter().min_by_key(|play| play.card.rank()) {
        Some(lowest) if !game.trick.is_won_by(lowest.seat) => {
            Turn::may(lowest.seat, me.card, Choice::Card(game.trick.others(me.card)))
        }
        _ => Turn::Nothing,
    }
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Choose(card) = answer {
        game.moves(asked.card, card, Spot::Trick, Spot::Stash(asked.seat), sink);
    }
}
