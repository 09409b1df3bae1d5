//! `sweet_tooth`: after the trick, you may move one other card of it to your stash; nothing if you
//! won.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    if game.trick.is_won_by(me.seat) {
        return Turn::Nothing;
    }
    Turn::may(me.seat, me.card, Choice::Card(game.trick.others(me.card)))
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
