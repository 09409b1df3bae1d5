//! What happens in a match of NeoN, and what a viewer sees of it.

use super::cards::Cards;
use super::{Play, SeatResult};
use crate::rules::{BySeat, Seat, Viewer};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The table was set up.
    Dealt {
        /// The cards laid out as victory points.
        table: Cards,
        /// Each seat's hand.
        hands: BySeat<Cards>,
        /// Each seat's second hand; empty with more than two players.
        second_hands: BySeat<Cards>,
    },
    /// The seat that plays first in a round.
    RoundBegan {
        /// The round, from 1.
        round: u8,
        /// Who plays first.
        first: Seat,
    },
    /// A seat played cards.
    Played(Play),
    /// A seat played the last card of its first hand and took up the second.
    SecondHandTaken {
        /// Whose hand it is.
        seat: Seat,
        /// The cards in it.
        cards: Cards,
    },
    /// A seat chose victory point cards.
    Chose {
        /// Who chose.
        seat: Seat,
        /// What it put on its pile.
        cards: Cards,
    },
    /// All choices are made: what nobody wanted left the game, and what was played takes its place.
    RoundEnded {
        /// The victory point cards that are out of the game.
        removed: Cards,
        /// The next victory point cards.
        table: Cards,
    },
    /// The match is over.
    Ended {
        /// What each seat ended with.
        results: BySeat<SeatResult>,
    },
}

/// What one viewer sees of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The table was set up.
    Dealt {
        /// The cards laid out as victory points.
        table: Cards,
        /// The viewer's own hand; a spectator has none.
        hand: Option<Cards>,
        /// The number of cards in each hand.
        hand_size: u8,
        /// The number of cards in each second hand.
        second_hand_size: u8,
    },
    /// See [`Event::RoundBegan`].
    RoundBegan {
        /// The round, from 1.
        round: u8,
        /// Who plays first.
        first: Seat,
    },
    /// See [`Event::Played`].
    Played(Play),
    /// See [`Event::SecondHandTaken`].
    SecondHandTaken {
        /// Whose hand it is.
        seat: Seat,
        /// The cards in it, for their owner alone.
        cards: Option<Cards>,
    },
    /// See [`Event::Chose`].
    Chose {
        /// Who chose.
        seat: Seat,
        /// What it put on its pile.
        cards: Cards,
    },
    /// See [`Event::RoundEnded`].
    RoundEnded {
        /// The victory point cards that are out of the game.
        removed: Cards,
        /// The next victory point cards.
        table: Cards,
    },
    /// See [`Event::Ended`].
    Ended {
        /// What each seat ended with.
        results: BySeat<SeatResult>,
    },
}

impl Event {
    /// What the viewer sees. Nothing in NeoN happens unnoticed: only cards are hidden.
    #[must_use]
    pub fn seen_by(&self, viewer: Viewer) -> Seen {
        match self {
            Self::Dealt { table, hands, second_hands } => Seen::Dealt {
                table: *table,
                hand: viewer.seat().map(|seat| hands[seat]),
                hand_size: hands.values().next().map_or(0, |hand| hand.len()),
                second_hand_size: second_hands.values().next().map_or(0, |hand| hand.len()),
            },
            &Self::RoundBegan { round, first } => Seen::RoundBegan { round, first },
            &Self::Played(play) => Seen::Played(play),
            &Self::SecondHandTaken { seat, cards } => {
                Seen::SecondHandTaken { seat, cards: viewer.is(seat).then_some(cards) }
            }
            &Self::Chose { seat, cards } => Seen::Chose { seat, cards },
            &Self::RoundEnded { removed, table } => Seen::RoundEnded { removed, table },
            &Self::Ended { results } => Seen::Ended { results },
        }
    }
}
