//! How a match ended.

use crate::rules::{BySeat, SeatSet};

/// How a match ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Who won: one seat, several that share the victory, or none where the match was cut short.
    pub winners: SeatSet,
    /// The stable name of what decided, such as `score`, `shared` or `action_limit`.
    pub reason: &'static str,
    /// The final score of each seat.
    pub scores: BySeat<i32>,
    /// The catalog ids of what each seat achieved beside winning; nothing where the game has no
    /// achievements.
    pub achievements: BySeat<Vec<&'static str>>,
}
