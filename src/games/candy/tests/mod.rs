//! The rulings and worked examples that are no single effect's: those have their tests beside them.

mod decks;
mod hands;
mod often;
pub(super) mod scene;
mod tricks;
mod views;
mod wire;
