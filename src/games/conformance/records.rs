//! Recorded matches and stored states, kept as files: what was played once is played the same for
//! ever, and what was stored once can always be loaded.
//!
//! A new setup gets its files from a run with `PARLOR_RECORD=1`, which never changes a file that is
//! there. A recorded match that no longer fits means that the rules changed: they then need a new
//! `rules_version`, and the old files stay for what is still played by the old one.

use std::fmt::{Debug, Write as _};
use std::path::PathBuf;
use std::{env, fs};

use super::{Suite, any_move, for_each_game, legal, seed};
use crate::games::Registered;
use crate::rules::{Seat, Setup};

/// The step after which a recorded match's state is kept.
const STORED_AFTER: usize = 20;

fn file(folder: &str, name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", folder, name].iter().collect()
}

/// The lines of events, indented.
fn write_events<E: Debug>(text: &mut String, events: &mut Vec<E>) {
    for event in events.drain(..) {
        writeln!(text, "    {event:?}").expect("written");
    }
}

/// Plays a match and writes it down; `choose` gives the action of each step.
fn record<G: Registered>(
    setup: &Setup<G::Options>,
    mut choose: impl FnMut(&G, usize) -> (Seat, G::Action),
) -> (String, Option<G>) {
    let mut text = format!("{} seats, {:?}\n", setup.seats().get(), setup.options());
    let mut events = Vec::new();
    let mut game = G::start(setup, &seed(1), &mut events);
    let mut kept = None;
    write_events(&mut text, &mut events);
    for step in 0.. {
        if step == STORED_AFTER {
            kept = Some(game.clone());
        }
        if let Some(outcome) = game.outcome() {
            writeln!(text, "{outcome:?}").expect("written");
            break;
        }
        let (seat, action) = choose(&game, step);
        writeln!(text, "seat {seat}: {action:?}").expect("written");
        game.play(seat, &action, &mut events).expect("a legal action");
        write_events(&mut text, &mut events);
    }
    (text, kept)
}

/// What stands in the file; with `PARLOR_RECORD=1` first written, where there is none yet.
fn kept(path: &PathBuf, fresh: impl FnOnce() -> String) -> String {
    if env::var_os("PARLOR_RECORD").is_some() && !path.exists() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, fresh()).expect("written");
    }
    fs::read_to_string(path).unwrap_or_else(|error| {
        panic!("{}: {error}; record new setups with PARLOR_RECORD=1", path.display())
    })
}

#[test]
fn recorded_matches_play_the_same_line_by_line_and_their_states_load() {
    struct Replays;
    impl Suite for Replays {
        fn run<G: Registered>() {
            for (name, setup) in G::setups() {
                let id = G::catalog(setup.options()).id;
                let mut chance = seed(1).deal(u32::MAX);
                let recorded = kept(&file("matches", &format!("{id}/{name}.txt")), || {
                    record::<G>(&setup, |game, _| any_move(game, &mut chance)).0
                });

                let moves: Vec<&str> =
                    recorded.lines().filter(|line| line.starts_with("seat ")).collect();
                let (played, state) = record::<G>(&setup, |game, step| {
                    let line = *moves.get(step).expect("the recorded match ended sooner");
                    let listed = game.to_act().iter().flat_map(|seat| {
                        legal(game, seat).into_iter().map(move |action| (seat, action))
                    });
                    let mut listed =
                        listed.filter(|(seat, action)| line == format!("seat {seat}: {action:?}"));
                    listed.next().unwrap_or_else(|| panic!("{name}: not legal any more: {line}"))
                });
                for (number, (was, is)) in recorded.lines().zip(played.lines()).enumerate() {
                    assert_eq!(was, is, "{id}/{name}.txt, line {}", number + 1);
                }
                assert_eq!(recorded.len(), played.len(), "{id}/{name}.txt");

                let Some(state) = state else { continue };
                let stored = kept(&file("stored", &format!("{id}/{name}.hex")), || {
                    hex::encode(postcard::to_allocvec(&state).expect("stored")) + "\n"
                });
                let stored = hex::decode(stored.trim()).expect("hex");
                let loaded: G = postcard::from_bytes(&stored).expect("an old state loads");
                assert_eq!(loaded, state, "{id}/{name}.hex");
            }
        }
    }
    for_each_game::<Replays>();
}
