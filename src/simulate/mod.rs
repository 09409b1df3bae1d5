//! `parlor simulate`: random players play many matches of a game, and a summary says how they went.
//!
//! It shows a designer how long matches are, how scores spread, and whether a seat has an advantage,
//! and how fast the rules are. Everything but the speed depends on the settings alone: match `n` of
//! a simulation is the same whichever thread plays it, and tallies add up in any order.

mod players;
mod settings;
mod summary;
mod tally;

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

pub use self::players::{Played, RandomPlayers, match_seed};
use self::settings::Settings;
use self::summary::Summary;
use self::tally::Tally;
use crate::cli::SimulateArgs;
use crate::config::Mistakes;
use crate::games::{IDS, Registered, WithGame, with_game};

/// How many matches a thread takes at a time: enough that threads seldom meet, and few enough that
/// all of them finish together.
const BATCH: u64 = 64;

/// Simulates what the arguments say, and gives the summary in the form that they ask for.
///
/// # Errors
/// All that is wrong with the arguments.
///
/// # Panics
/// When a game refuses an action that it listed, or panics itself.
pub fn run(args: &SimulateArgs) -> Result<String, Mistakes> {
    let summary = with_game(&args.game, Simulation(args)).unwrap_or_else(|| {
        let known = IDS.join(", ");
        Err(Mistakes(vec![format!("no game is called `{}`; there are: {known}", args.game)]))
    })?;
    if !args.json {
        return Ok(summary.to_string());
    }
    let json = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
    Ok(json + "\n")
}

/// A simulation of a game that is known only when the program runs.
struct Simulation<'a>(&'a SimulateArgs);

impl WithGame for Simulation<'_> {
    type Output = Result<Summary, Mistakes>;

    fn with<G: Registered>(self) -> Self::Output {
        let settings = Settings::<G>::read(self.0)?;
        let progress = progress(settings.matches);
        let (tally, took) = timed(|| play_all(&settings, &progress));
        progress.finish_and_clear();
        Ok(Summary::new(&settings, &tally, took))
    }
}

/// Plays every match, on as many threads as the settings say.
fn play_all<G: Registered>(settings: &Settings<G>, progress: &ProgressBar) -> Tally {
    let seats = settings.setup.seats();
    let next = AtomicU64::new(0);
    let play_batches = || {
        let mut tally = Tally::new(seats);
        let mut players = RandomPlayers::<G>::default();
        loop {
            let begin = next.fetch_add(BATCH, Ordering::Relaxed);
            if begin >= settings.matches {
                return tally;
            }
            let end = settings.matches.min(begin + BATCH);
            for number in begin..end {
                tally.add(&players.play(&settings.setup, settings.seed, number, |_, _| {}));
            }
            progress.inc(end - begin);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..settings.threads).map(|_| scope.spawn(play_batches)).collect();
        let tallies = threads.into_iter().map(|thread| thread.join().expect("no rule panics"));
        tallies.fold(Tally::new(seats), Tally::merge)
    })
}

/// A bar for people who watch; none where standard error goes elsewhere.
fn progress(matches: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = "{wide_bar} {human_pos} of {human_len} matches, {eta} left";
    ProgressBar::new(matches)
        .with_style(ProgressStyle::with_template(style).expect("a good template"))
}

/// What `work` gives, and how long it took.
#[expect(clippy::disallowed_methods, reason = "the real time is what is measured")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    (work(), began.elapsed())
}
