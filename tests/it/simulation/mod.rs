//! The match layer in a simulated world: many instances, a network that loses, delays and repeats, a
//! store that forgets, callers that hang up. Time is virtual, and everything comes from one seed, so
//! that what went wrong once goes wrong again for ever.
//!
//! `world` is the simulated store, `faults` says what goes wrong, `people` are those who take part, who
//! have their turns from `actors`, and `history` judges what they were told:
//!
//! - What was acknowledged was done, once, in the order in which it was acknowledged; a repeat has the
//!   first answer; what was refused could be refused at that time.
//! - Nothing is shown that was not saved. Every watcher is told each version once, in order, as the log
//!   has it.
//! - Where the store loses nothing, nobody is told of a fork; where it does, nobody goes on with
//!   another history without being told; what is acknowledged as replicated is never lost.
//! - Once nothing goes wrong any more, everyone soon knows everything, and no task is left.
//!
//! `PARLOR_TEST_SEED=17 cargo test --test it simulation` runs one simulation, and where it fails prints
//! what happened in it; `PARLOR_TEST_SEEDS=100000` runs so many, from that seed on.

mod actors;
mod faults;
mod history;
mod people;
mod world;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use parlor::games::neon::Neon;
use parlor::matches::{Beginning, Caller, Matches, Message, Settings, SystemChance, SystemClock};
use parlor::rules::{Seat, Viewer};
use parlor::store::{MatchId, Version};
use rand::{RngExt as _, SeedableRng as _};
use tokio::runtime::{Builder, Handle};

use self::actors::Actors;
use self::faults::Weather;
use self::history::History;
use self::people::People;
use self::world::World;
use crate::number;

type Rng = rand::rngs::Xoshiro256PlusPlus;

/// What went wrong once, with the seed of a simulation in which it shows.
const ONCE_WRONG: &[(&str, u64)] = &[
    ("whose new token was lost with a part of the match could not go back to the seat", 384),
    ("a watcher ahead of its reader was told of no fork", 422),
];

/// How many simulations are run where nobody says.
const SIMULATIONS: u64 = 1_000;

/// What must happen in some of so many simulations, so that they say something.
const SOMETIMES: &[&str] = &[
    "a call is not answered",
    "a call is refused",
    "a caller hangs up",
    "a caller is told of a fork",
    "a change arrives that nobody waits for",
    "a change is a conflict",
    "a change is done",
    "a change is lost",
    "a change is of a lost history",
    "a change is repeated",
    "a repeat is answered",
    "a replica is slow",
    "a request is answered",
    "a request is refused",
    "a watcher hears a heartbeat",
    "a watcher is told of a version",
    "a watcher is told that there is no more",
    "a watcher resumes",
    "a watcher starts over",
    "an action id is used twice",
    "an announcement is not heard",
    "an instance crashes",
    "an instance says that the store failed",
    "an instance stops",
    "the store is down",
];

/// What came of a simulation.
#[derive(Debug, PartialEq)]
struct Outcome {
    violations: Vec<String>,
    noted: BTreeMap<&'static str, u64>,
    trace: u64,
    lines: Vec<String>,
}

/// Runs the simulation of this seed.
fn simulate(seed: u64, readable: bool) -> Outcome {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut chance = Rng::seed_from_u64(seed);
        let weather = Weather::any(&mut chance);
        let mut history = History::new(readable);
        history.trace(format_args!("seed {seed}: {weather:?}"));
        let mut fork = || Rng::seed_from_u64(chance.random());
        let world = Arc::new(World::new(fork(), weather, history));
        let people = People::new(Arc::clone(&world), weather, &mut fork());

        let all = tokio::time::timeout(Duration::from_secs(600), take_part(&people, &mut fork));
        if all.await.is_err() {
            world.lock().history.violation(format_args!("it does not come to an end"));
        }
        people.end().await;
        world.under_way.close();
        world.under_way.wait().await;
        compare(&people).await;
        drop(people);

        let tasks = Handle::current().metrics().num_alive_tasks();
        let history = Arc::into_inner(world).expect("nobody holds it any more").into_history();
        let (mut violations, noted, trace, lines) = history.end();
        if tasks > 0 {
            violations.push(format!("{tasks} tasks are left"));
        }
        Outcome { violations, noted, trace, lines }
    })
}

/// Has matches created, and then played and watched while things go wrong.
async fn take_part(people: &People, fork: &mut impl FnMut() -> Rng) {
    let mut hosts = Actors::new(fork());
    for _ in 0..fork().random_range(1..=2) {
        hosts.add(people.host(fork()));
    }
    hosts.await;

    let mut actors = Actors::new(fork());
    actors.add(people.disturb(fork()));
    for table in people.tables() {
        for seat in [0, 1].map(|number| Seat::new(number).unwrap()) {
            for _ in 0..fork().random_range(1..=2) {
                actors.add(people.play(Rc::clone(&table), seat, fork()));
            }
            actors.add(people.watch(Rc::clone(&table), Viewer::Seat(seat), fork()));
        }
        for _ in 0..fork().random_range(0..=2) {
            actors.add(people.watch(Rc::clone(&table), Viewer::Spectator, fork()));
        }
    }
    actors.await;
}

/// Compares what everyone was told with the log, read by an instance that nothing goes wrong with.
async fn compare(people: &People) {
    let store = people.world.lock().store();
    let matches: Matches<Neon> =
        Matches::new(store, Arc::new(SystemClock), Arc::new(SystemChance), Settings::default());
    for table in people.tables() {
        let head = people.world.lock().history.head(table.id).version;
        let mut log = HashMap::new();
        let seats = [0, 1].map(|number| Seat::new(number).unwrap());
        for viewer in seats.map(Viewer::Seat).into_iter().chain([Viewer::Spectator]) {
            log.insert(viewer, told(&matches, table.id, viewer, head).await);
        }
        people.world.lock().compare(table.id, &log);
    }
    matches.drain().await;
}

/// Everything that a viewer is to be told of a match up to this version.
async fn told(
    matches: &Matches<Neon>,
    id: MatchId,
    viewer: Viewer,
    head: Version,
) -> Vec<Message<Neon>> {
    let live = matches.look(id, Caller::Spectator).await.unwrap().0;
    let caller = match viewer {
        Viewer::Seat(seat) => Caller::Seat(seat, live.record.players[seat].as_ref().unwrap().epoch),
        Viewer::Spectator => Caller::Spectator,
    };
    let mut watcher = matches.watch(id, caller, Beginning::After(0)).await.unwrap();
    let mut told = Vec::new();
    while told.len() < head as usize {
        told.push(watcher.next().await.unwrap().unwrap());
    }
    told
}

/// Runs simulations on all cores; fails at the first in which something is wrong.
fn simulate_all(seeds: Range<u64>) -> BTreeMap<&'static str, u64> {
    let (next, noted) = (AtomicU64::new(seeds.start), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let outcome = std::panic::catch_unwind(|| simulate(seed, false));
            let outcome = outcome.unwrap_or_else(|_| panic!("PARLOR_TEST_SEED={seed} panics"));
            if !outcome.violations.is_empty() {
                next.store(seeds.end, Ordering::Relaxed);
                fail(seed);
            }
            let mut all = noted.lock().unwrap();
            for (what, times) in outcome.noted {
                *all.entry(what).or_default() += times;
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    noted.into_inner().unwrap()
}

/// Fails, with what happened in this simulation.
fn fail(seed: u64) -> ! {
    let outcome = simulate(seed, true);
    let lines = outcome.lines.len().saturating_sub(400);
    panic!(
        "{}\n\n{}\n\nPARLOR_TEST_SEED={seed} runs it again",
        outcome.lines[lines..].join("\n"),
        outcome.violations.join("\n"),
    );
}

#[test]
fn nothing_that_was_promised_is_broken_whatever_goes_wrong() {
    let first = number("PARLOR_TEST_SEED");
    let count =
        number("PARLOR_TEST_SEEDS").unwrap_or(if first.is_some() { 1 } else { SIMULATIONS });
    let first = first.unwrap_or(0);
    let noted = simulate_all(first..first + count);
    if count >= SIMULATIONS {
        let never = SOMETIMES.iter().filter(|what| !noted.contains_key(*what));
        let never: Vec<_> = never.collect();
        assert!(never.is_empty(), "in {count} simulations it never happened: {never:?}");
    }
}

#[test]
fn what_went_wrong_once_goes_well() {
    for (what, seed) in ONCE_WRONG {
        let outcome = simulate(*seed, true);
        assert_eq!(outcome.violations, [""; 0], "{what}, in the simulation of seed {seed}");
    }
}

#[test]
fn a_seed_always_makes_the_same_simulation() {
    for seed in 0..20 {
        let (one, other) = (simulate(seed, true), simulate(seed, true));
        let differs = one.lines.iter().zip(&other.lines).position(|(one, other)| one != other);
        if let Some(at) = differs {
            panic!("seed {seed}: {}\n{}", one.lines[..=at].join("\n"), other.lines[at]);
        }
        assert_eq!(one, other, "seed {seed}");
    }
}
