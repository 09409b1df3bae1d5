//! What depends on the number of players: the charts in "Setup" and "Gameplay" of the rulebook.

use crate::rules::SeatCount;

/// Tricks in a round, and cards in a hand.
pub const TRICKS: u8 = 7;
/// Cards that nobody is dealt.
pub const LEFTOVERS: usize = 2;

/// The numbers of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The highest number of the Monsters in the deck.
    pub highest: u8,
    /// Pass cards in the deck, standard or variant.
    pub passes: u8,
    /// The number of tricks, beside none, that scores.
    pub trick_goal: u8,
    /// The score of the last space of the track.
    pub points_goal: i8,
}

impl Numbers {
    /// The numbers of a table with so many seats.
    #[must_use]
    pub const fn of(seats: SeatCount) -> Self {
        match seats.get() {
            ..=3 => Self { highest: 7, passes: 2, trick_goal: 3, points_goal: 3 },
            4 => Self { highest: 9, passes: 3, trick_goal: 2, points_goal: 4 },
            5.. => Self { highest: 11, passes: 4, trick_goal: 1, points_goal: 5 },
        }
    }
}
