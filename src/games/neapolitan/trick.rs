//! One trick: the cards on the table, which flavor has to be followed, and who wins.

use std::fmt;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::cards::Card;
use super::sequence::{Flavor, Sequence};
use crate::rules::{Seat, SeatCount};

/// A card on the table, and who played it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Play {
    /// Who played.
    pub seat: Seat,
    /// The card.
    pub card: Card,
}

/// The seat's number and the card, as in `2 V4`.
impl fmt::Debug for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.seat, self.card)
    }
}

/// The cards of a trick, in the order in which they were played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trick {
    leader: Seat,
    cards: ArrayVec<Card, 5>,
}

impl Trick {
    /// A trick in which nothing was played yet.
    pub(super) fn led_by(leader: Seat) -> Self {
        Self { leader, cards: ArrayVec::new() }
    }

    pub(super) fn leader(&self) -> Seat {
        self.leader
    }

    pub(super) fn cards(&self) -> impl Iterator<Item = Card> {
        self.cards.iter().copied()
    }

    /// The cards with who played them.
    pub(super) fn plays(&self, seats: SeatCount) -> impl Iterator<Item = Play> {
        let players = seats.clockwise_from(self.leader);
        players.zip(self.cards()).map(|(seat, card)| Play { seat, card })
    }

    /// Whose turn it is, as long as the trick is not complete.
    pub(super) fn player(&self, seats: SeatCount) -> Seat {
        seats.steps_left(self.leader, self.cards.len() as u8)
    }

    pub(super) fn is_complete(&self, seats: SeatCount) -> bool {
        self.cards.len() == seats.size()
    }

    pub(super) fn push(&mut self, card: Card) {
        self.cards.push(card);
    }

    /// The flavor that has to be followed: that of the first card that is not a Pass.
    pub(super) fn lead_suit(&self) -> Option<Flavor> {
        self.cards().find_map(Card::flavor)
    }

    /// Which play wins under the stack that the trick is played with. No deck has so many Pass
    /// cards that a trick could have no other.
    pub(super) fn winner(&self, seats: SeatCount, stack: Sequence) -> Play {
        let strength = |place: &usize| self.cards[*place].strength(stack);
        let best = (0..self.cards.len()).max_by_key(strength).unwrap_or_default();
        Play { seat: seats.steps_left(self.leader, best as u8), card: self.cards[best] }
    }
}

/// A trick that was won.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WonTrick {
    pub(super) trick: Trick,
    /// The flavor stack as it stood while the trick was played.
    pub(super) stack: Sequence,
    pub(super) winner: Seat,
}
