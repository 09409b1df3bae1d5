//! How a game's values travel: the contract of a game's conversions.

use std::fmt::Debug;

use crate::rules::{Game, Seat, SeatCount};

/// A field of a message that cannot be read as what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadField {
    /// The path of the field, as in `play.values[2]`.
    pub field: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl BadField {
    /// This field, and what is wrong with it.
    pub fn new(field: impl Into<String>, why: &'static str) -> Self {
        Self { field: field.into(), why }
    }

    /// The same field, seen from the message around it.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.field.insert(0, '.');
        self.field.insert_str(0, outer);
        self
    }
}

/// A game whose values can be written to and read from generated messages.
///
/// Reading judges only whether a message is well formed; whether an action is legal, the game says.
pub trait Wire: Game {
    /// The message of [`Game::Options`].
    type OptionsMessage: prost::Message + Default;
    /// The message of [`Game::Action`].
    type ActionMessage: prost::Message + Default;
    /// The message of [`Game::Seen`].
    type EventMessage: prost::Message + Default + Debug + PartialEq;
    /// The message of [`Game::View`].
    type ViewMessage: prost::Message + Default;

    /// Reads options.
    ///
    /// # Errors
    /// The first field that cannot be read.
    fn read_options(message: &Self::OptionsMessage) -> Result<Self::Options, BadField>;

    /// Writes options, so that reading them gives the same.
    fn write_options(options: &Self::Options) -> Self::OptionsMessage;

    /// Reads an action.
    ///
    /// # Errors
    /// The first field that cannot be read.
    fn read_action(message: &Self::ActionMessage) -> Result<Self::Action, BadField>;

    /// Writes an action, so that reading it gives the same.
    fn write_action(action: &Self::Action) -> Self::ActionMessage;

    /// Writes what a viewer sees of an event.
    fn write_event(seen: &Self::Seen) -> Self::EventMessage;

    /// Whether an event is one of those that [`Game::redeal`] reports.
    fn is_deal(event: &Self::EventMessage) -> bool;

    /// Writes what a viewer sees.
    fn write_view(view: &Self::View) -> Self::ViewMessage;
}

/// Reads a seat number that may be left out.
///
/// # Errors
/// The field, for a number that no table has.
pub fn read_seat(number: Option<u32>, field: &'static str) -> Result<Option<Seat>, BadField> {
    let Some(number) = number else { return Ok(None) };
    let seat = u8::try_from(number).ok().and_then(Seat::new);
    seat.map(Some).ok_or_else(|| BadField::new(field, "no table has such a seat"))
}

/// Writes a seat as its number.
#[must_use]
pub fn write_seat(seat: Seat) -> u32 {
    seat.number().into()
}

/// Reads the number of seats of a table.
///
/// # Errors
/// The field, where no table has so many.
pub fn read_seat_count(count: usize, field: &'static str) -> Result<SeatCount, BadField> {
    let seats = u8::try_from(count).ok().and_then(SeatCount::new);
    seats.ok_or_else(|| BadField::new(field, "a table has 1 to 6 seats"))
}
