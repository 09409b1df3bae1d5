//! How the matches went: for people, and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use indicatif::{HumanCount, HumanFloatCount};
use serde::Serialize;

use super::settings::Settings;
use super::tally::{SeatTally, Tally};
use crate::games::Registered;

/// How the matches went.
///
/// The names of the fields are those of the JSON, and stay. Everything but `speed` is the same for
/// the same settings.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Summary {
    /// The game's id.
    game: &'static str,
    /// The number of seats.
    seats: u8,
    /// All options of the game, also those that were left out.
    options: serde_json::Value,
    /// How many matches were played.
    matches: u64,
    /// What the matches were made from.
    seed: u64,
    /// How many actions all matches took together.
    actions: u64,
    /// How many actions a match took.
    length: Length,
    /// How many matches ended for each reason.
    outcomes: BTreeMap<&'static str, u64>,
    /// How many matches nobody won.
    unwon: u64,
    /// How each seat fared, in seat order.
    by_seat: Vec<BySeat>,
    /// How fast it went.
    speed: Speed,
}

/// How many actions a match took. `p50` means that half of the matches took no more, and so on.
#[derive(Clone, Copy, Debug, Serialize)]
struct Length {
    min: u64,
    mean: f64,
    max: u64,
    p5: u64,
    p25: u64,
    p50: u64,
    p75: u64,
    p95: u64,
    p99: u64,
}

/// How a seat fared.
#[derive(Clone, Copy, Debug, Serialize)]
struct BySeat {
    /// The seat's number.
    seat: u8,
    /// Matches that it won alone.
    won: u64,
    /// Matches that it won together with others.
    shared: u64,
    /// Its final scores.
    score: Score,
}

/// The final scores of a seat.
#[derive(Clone, Copy, Debug, Serialize)]
struct Score {
    min: i32,
    mean: f64,
    max: i32,
}

/// How fast it went.
#[derive(Clone, Copy, Debug, Serialize)]
struct Speed {
    /// Threads that played.
    threads: usize,
    /// Seconds from the first match to the last.
    secs: f64,
    /// Matches a second, on all threads together.
    matches_per_sec: f64,
    /// Actions a second, on all threads together.
    actions_per_sec: f64,
}

impl Summary {
    /// Sums up matches that took so long to play.
    pub(super) fn new<G: Registered>(
        settings: &Settings<G>,
        tally: &Tally,
        took: Duration,
    ) -> Self {
        let options = settings.setup.options();
        let (matches, actions) = (tally.matches(), tally.actions());
        let secs = took.as_secs_f64();
        Self {
            game: G::catalog(options).id,
            seats: settings.setup.seats().get(),
            options: serde_json::to_value(options).expect("options are plain data"),
            matches,
            seed: settings.seed,
            actions,
            length: Length {
                min: tally.length(0),
                mean: real(actions) / real(matches),
                max: tally.length(100),
                p5: tally.length(5),
                p25: tally.length(25),
                p50: tally.length(50),
                p75: tally.length(75),
                p95: tally.length(95),
                p99: tally.length(99),
            },
            outcomes: tally.outcomes.clone(),
            unwon: tally.unwon,
            by_seat: tally
                .seats
                .iter()
                .map(|(seat, tally)| BySeat::new(seat.number(), tally, matches))
                .collect(),
            speed: Speed {
                threads: settings.threads,
                secs,
                matches_per_sec: real(matches) / secs,
                actions_per_sec: real(actions) / secs,
            },
        }
    }
}

impl BySeat {
    fn new(seat: u8, tally: &SeatTally, matches: u64) -> Self {
        let (min, max) = tally.score_range.unwrap_or_default();
        let mean = real(tally.score_sum) / real(matches);
        Self { seat, won: tally.won, shared: tally.shared, score: Score { min, mean, max } }
    }
}

#[expect(clippy::cast_precision_loss, reason = "means and rates are read to a few digits")]
fn real(count: impl Into<i128>) -> f64 {
    count.into() as f64
}

fn rate(per_sec: f64) -> String {
    HumanFloatCount(per_sec.round()).to_string()
}

/// A count with its part of all matches, in columns.
struct Share(u64, u64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(part, whole) = *self;
        write!(f, "{:>13} {:5.1} %", HumanCount(part).to_string(), 100.0 * real(part) / real(whole))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { game, seats, options, matches, seed, length, speed, .. } = self;
        writeln!(f, "{game}, {seats} seats, options {options}, seed {seed}")?;
        writeln!(
            f,
            "{} matches with {} actions, in {:.2} s on {} threads",
            HumanCount(*matches),
            HumanCount(self.actions),
            speed.secs,
            speed.threads
        )?;

        writeln!(f, "\nSpeed")?;
        writeln!(f, "  matches/s {:>13}", rate(speed.matches_per_sec))?;
        writeln!(f, "  actions/s {:>13}", rate(speed.actions_per_sec))?;

        writeln!(f, "\nLength of a match, in actions")?;
        writeln!(
            f,
            "  {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
            "min", "5 %", "25 %", "50 %", "75 %", "95 %", "99 %", "max", "mean"
        )?;
        let Length { min, mean, max, p5, p25, p50, p75, p95, p99 } = length;
        writeln!(
            f,
            "  {min:>7} {p5:>7} {p25:>7} {p50:>7} {p75:>7} {p95:>7} {p99:>7} {max:>7} {mean:>7.1}"
        )?;

        writeln!(f, "\nOutcomes")?;
        for (reason, &count) in &self.outcomes {
            writeln!(f, "  {reason:<16} {}", Share(count, *matches))?;
        }
        if self.unwon > 0 {
            writeln!(f, "  {:<16} {}", "(nobody won)", Share(self.unwon, *matches))?;
        }

        writeln!(f, "\nSeats")?;
        writeln!(
            f,
            "  seat {:>21} {:>21}   score: {:>6} {:>9} {:>6}",
            "won", "shared", "min", "mean", "max"
        )?;
        for BySeat { seat, won, shared, score: Score { min, mean, max } } in &self.by_seat {
            let (won, shared) = (Share(*won, *matches), Share(*shared, *matches));
            writeln!(f, "  {seat:>4} {won} {shared}          {min:>6} {mean:>9.2} {max:>6}")?;
        }
        Ok(())
    }
}
