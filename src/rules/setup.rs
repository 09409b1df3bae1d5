//! What a match is played with: options that were judged once, and the number of seats.

use serde::{Deserialize, Serialize};

use crate::rules::{Game, SeatCount};

/// One option that cannot be, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOption {
    /// The option's name in the game's options message; `seats` for the number of seats.
    pub field: &'static str,
    /// What is wrong, with the numbers or names at fault.
    pub why: String,
}

impl BadOption {
    /// This option, and why it cannot be.
    pub fn new(field: &'static str, why: impl Into<String>) -> Self {
        Self { field, why: why.into() }
    }
}

/// Options and seats that fit together. Only [`Setup::new`] makes one, so a game need not judge
/// them again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup<O> {
    options: O,
    seats: SeatCount,
}

impl<O: Clone> Setup<O> {
    /// Judges the options for a table of so many seats.
    ///
    /// # Errors
    /// All that is wrong with them, not only the first thing.
    pub fn new<G: Game<Options = O>>(options: O, seats: SeatCount) -> Result<Self, Vec<BadOption>> {
        let bad = G::check(&options, seats);
        if bad.is_empty() { Ok(Self { options, seats }) } else { Err(bad) }
    }

    /// The options.
    pub const fn options(&self) -> &O {
        &self.options
    }

    /// The number of seats.
    pub const fn seats(&self) -> SeatCount {
        self.seats
    }

    /// The same table for the options inside a sum of games, which were judged with it.
    pub(crate) fn inner<P>(&self, options: P) -> Setup<P> {
        Setup { options, seats: self.seats }
    }
}
