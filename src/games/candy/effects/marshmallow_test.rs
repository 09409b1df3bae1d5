//! `marshmallow_test`: after the trick, you may set this card and one other card of it aside; the
//! winner of the next trick takes both. Nothing in the last trick, or if this card is not in the
//! trick any more.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    if game.is_last_trick() || !game.trick.cards().contains(me.card) {
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
        game.moves(asked.card, asked.card, Spot::Trick, Spot::Held, sink);
        game.moves(asked.card, card, Spot::Trick, Spot::Held, sink);
    }
}
