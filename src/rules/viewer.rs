//! Who looks at a match.

use std::fmt;

use crate::rules::Seat;

/// Who looks at a match. There is no viewer who sees everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Viewer {
    /// The player at this seat.
    Seat(Seat),
    /// Someone who watches and sees only what lies open to the whole table.
    Spectator,
}

impl Viewer {
    /// Whether the viewer sits at this seat.
    #[must_use]
    pub fn is(self, seat: Seat) -> bool {
        self == Self::Seat(seat)
    }

    /// The viewer's own seat; a spectator has none.
    #[must_use]
    pub const fn seat(self) -> Option<Seat> {
        match self {
            Self::Seat(seat) => Some(seat),
            Self::Spectator => None,
        }
    }
}

impl fmt::Display for Viewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seat(seat) => write!(f, "seat {seat}"),
            Self::Spectator => f.write_str("spectator"),
        }
    }
}
