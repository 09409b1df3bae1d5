//! `banana`: after the trick, you put the card set aside for this one, the Banana Peel, into another
//! player's stash; nothing if it is out already this hand.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::{SeatSet, Sink};

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    if !me.card.sets_aside().is_some_and(|peel| game.aside.contains(peel)) {
        return Turn::Nothing;
    }
    let mut others = SeatSet::all(game.seats);
    others.remove(me.seat);
    Turn::must(me.seat, me.card, Choice::Seat(others))
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let (Action::ChooseSeat(seat), Some(peel)) = (answer, asked.card.sets_aside()) {
        game.moves(asked.card, peel, Spot::Aside, Spot::Stash(seat), sink);
    }
}
