//! The rulings and worked examples that are no single effect's: those have their tests beside them.

mod decks;
mod hands;
mod often;
mod tricks;
mod views;
mod wire;
