//! `hole_in_the_bag`: after the trick, you put one other card of it on the bottom of the leftover
//! stash.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    Turn::must(me.seat, me.card, Choice::Card(game.trick.others(me.card)))
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Choose(card) = answer {
        game.moves(asked.card, card, Spot::Trick, Spot::Leftover, sink);
    }
}
