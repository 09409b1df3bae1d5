//! `sticky_fingers`: after the trick, you may move one card that was in the winner's stash when this
//! trick began, and still is, to yours; nothing if you won.

use super::super::question::{Choice, Question, Source, Turn};
use super::super::spots::Spot;
use super::super::{Action, Candy, Event};
use crate::rules::Sink;

pub(super) fn begins(game: &Candy, me: Source) -> Turn {
    match game.trick.winner {
        Some(winner) if winner != me.seat => {
            let old = game.stashes[winner] - game.trick.fresh;
            Turn::may(me.seat, me.card, Choice::Card(old))
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
    if let (Action::Choose(card), Some(winner)) = (answer, game.trick.winner) {
        game.moves(asked.card, card, Spot::Stash(winner), Spot::Stash(asked.seat), sink);
    }
}
