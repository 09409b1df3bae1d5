//! What every game shares, and nothing that any one of them needs alone.
//!
//! The layer is pure: no clock, no environment, no randomness but what a [`Seed`] holds, no async.
//! A game is a value that implements [`Game`]; the same setup, seed and actions give the same match
//! on any machine, for ever.
//!
//! To see a game from a player's side, start at [`Game::view`]; to see how a match moves, at
//! [`Game::play`].

mod catalog;
mod game;
mod outcome;
mod refusal;
mod seat;
mod seed;
mod setup;
mod sink;
mod viewer;

pub use catalog::{Catalog, CatalogAction, CatalogCard, CatalogItem, CatalogOption, OptionKind};
pub use game::{ACTION_LIMIT, Game};
pub use outcome::Outcome;
pub use refusal::Refusal;
pub use seat::{BySeat, MAX_SEATS, Seat, SeatCount, SeatSet};
pub use seed::{Entropy, Seed, Shuffle};
pub use setup::{BadOption, Setup};
pub use sink::{Mapped, NoEvents, Sink};
pub use viewer::Viewer;
