//! `leftover_candy`: at once, draw the top card of the leftover stash, then put any card of your
//! hand, the drawn one included, on its bottom, face down. Nothing if either is empty.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &mut Candy, me: Source, sink: &mut impl Sink<Event>) -> Turn {
    if game.hands[me.seat].is_empty() {
        return Turn::Nothing;
    }
    match game.draws(me.card, Spot::Hand(me.seat), sink) {
        Some(_) => Turn::must(me.seat, me.card, Choice::Hand),
        None => Turn::Nothing,
    }
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Choose(card) = answer {
        game.moves(asked.card, card, Spot::Hand(asked.seat), Spot::Leftover, sink);
    }
}
