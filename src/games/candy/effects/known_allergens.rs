//! `known_allergens`: after the trick, you name any of the ten suits; every card in the trick with it
//! goes to the bottom of the leftover stash, in playing order. Skipped if no card in the trick has a
//! suit.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    if game.trick.suits().is_empty() {
        return Turn::Nothing;
    }
    Turn::must(me.seat, me.card, Choice::Suit)
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Name(suit) = answer {
        sink.report(|| Event::Named { card: asked.card, suit });
        game.buries(asked.card, |card| card.suits().contains(suit), sink);
    }
}
