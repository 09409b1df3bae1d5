//! What is simulated: the arguments, judged. All that is wrong with them is told at once.

use std::str::FromStr;
use std::thread::available_parallelism;

use crate::cli::SimulateArgs;
use crate::config::Mistakes;
use crate::games::Registered;
use crate::options;
use crate::rules::{BadOption, MAX_SEATS, SeatCount, Setup};

/// The most threads that can be asked for: a typing error must not bring the machine down.
const MAX_THREADS: usize = 1024;

/// What is simulated.
pub(super) struct Settings<G: Registered> {
    /// The table.
    pub(super) setup: Setup<G::Options>,
    /// How many matches are played.
    pub(super) matches: u64,
    /// What the matches are made from.
    pub(super) seed: u64,
    /// How many threads play.
    pub(super) threads: usize,
}

impl<G: Registered> Settings<G> {
    /// Judges the arguments.
    ///
    /// # Errors
    /// All that is wrong with them.
    pub(super) fn read(args: &SimulateArgs) -> Result<Self, Mistakes> {
        let mut mistakes = Vec::new();
        let catalog = G::catalog(&G::Options::default());
        let options = options::read::<G>(&args.options, &mut mistakes);
        let fewest = catalog.seats.start().to_string();
        let seats = args.seats.as_ref().unwrap_or(&fewest);
        let seats = number(seats).and_then(SeatCount::new);
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = match &args.threads {
            None => Some(cores),
            Some(threads) => number(threads).filter(|count| (1..=MAX_THREADS).contains(count)),
        };
        let matches = number(&args.matches).filter(|&count: &u64| count > 0);
        let seed = number(&args.seed);
        for (flag, is_good, wanted) in [
            ("seats", seats.is_some(), format!("a number, from 1 to {MAX_SEATS}")),
            ("matches", matches.is_some(), "a number, at least 1".to_owned()),
            ("seed", seed.is_some(), format!("a number, at most {}", u64::MAX)),
            ("threads", threads.is_some(), format!("a number, from 1 to {MAX_THREADS}")),
        ] {
            if !is_good {
                mistakes.push(format!("--{flag}: {wanted}"));
            }
        }

        // Options that could not be read are as if left out: those that could are still judged.
        let setup = seats.and_then(|seats| {
            let setup = Setup::new::<G>(options, seats);
            let bad = |bad: BadOption| match bad.field {
                "seats" => format!("--seats: {}", bad.why),
                field => format!("-o {field}: {}", bad.why),
            };
            setup.map_err(|all| mistakes.extend(all.into_iter().map(bad))).ok()
        });
        match (setup, matches, seed, threads) {
            (Some(setup), Some(matches), Some(seed), Some(threads)) if mistakes.is_empty() => {
                Ok(Self { setup, matches, seed, threads })
            }
            _ => Err(Mistakes(mistakes)),
        }
    }
}

fn number<N: FromStr>(text: &str) -> Option<N> {
    text.parse().ok()
}
