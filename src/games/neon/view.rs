//! What lies before a viewer in a match of NeoN.

use super::cards::Cards;
use super::{Neon, Phase, Play, SeatResult};
use crate::rules::{BySeat, Seat, Viewer};

/// The table as one viewer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The round, from 1.
    pub round: u8,
    /// What is going on.
    pub phase: Phase,
    /// Who plays first in this round.
    pub first: Seat,
    /// The victory point cards that can be chosen.
    pub table: Cards,
    /// What was played in this round, in order; at the end of the match nothing, as the last plays
    /// have become victory point cards.
    pub plays: Vec<Play>,
    /// Who still chooses in this round, in order; a seat with two plays can stand here twice.
    pub choosers: Vec<Seat>,
    /// What is public about each seat.
    pub seats: BySeat<SeatView>,
    /// The viewer's own cards; a spectator has none.
    pub own: Option<Own>,
}

/// What everyone sees of a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatView {
    /// Cards in its hand.
    pub hand_size: u8,
    /// Cards in its second hand, face down.
    pub second_hand_size: u8,
    /// Cards in its victory point pile.
    pub pile_size: u8,
    /// What it ended with, once the match is over.
    pub result: Option<SeatResult>,
}

/// What a player sees alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// The cards in the hand.
    pub hand: Cards,
    /// The cards in the victory point pile.
    pub pile: Cards,
}

impl View {
    /// What the viewer sees of the table.
    #[must_use]
    pub fn of(game: &Neon, viewer: Viewer) -> Self {
        let over = game.phase == Phase::Over;
        Self {
            round: game.round,
            phase: game.phase,
            first: game.first,
            table: game.table,
            plays: game.plays.clone().into_iter().collect(),
            choosers: game.choosers().collect(),
            seats: BySeat::from_fn(game.seats, |seat| SeatView {
                hand_size: game.hands[seat].len(),
                second_hand_size: game.second_hands[seat].len(),
                pile_size: game.piles[seat].len(),
                result: over.then(|| game.result(seat)),
            }),
            own: viewer.seat().map(|seat| Own { hand: game.hands[seat], pile: game.piles[seat] }),
        }
    }
}
