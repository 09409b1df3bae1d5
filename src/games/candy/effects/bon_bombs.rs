//! `bon_bombs`: after the trick, you may put one other card of it into the stash of any player but
//! the winner, yourself included if you did not win.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::{SeatSet, Sink};

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    let mut to = SeatSet::all(game.seats);
    if let Some(winner) = game.trick.winner {
        to.remove(winner);
    }
    Turn::may(me.seat, me.card, Choice::Give { cards: game.trick.others(me.card), to })
}

pub(super) fn works(
    game: &mut Candy,
    asked: Question,
    answer: Action,
    sink: &mut impl Sink<Event>,
) {
    if let Action::Give { card, seat } = answer {
        game.moves(asked.card, card, Spot::Trick, Spot::Stash(seat), sink);
    }
}
