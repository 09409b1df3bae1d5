//! How fast the rules are: random play of every game, in actions a second on one core.
//!
//! ```text
//! cargo bench --bench rules              all games
//! cargo bench --bench rules -- neon      one game
//! cargo bench --bench rules -- candy -o king_sized=true -o lost_treats=true
//! ```
//!
//! Each game is played in three ways. `play` is what a simulation does: dealing, listing what the
//! seat to act may do, choosing, playing. `copy` also copies the state before each action, as a bot
//! does that looks ahead. `view` also makes the acting seat's view, as a server does. The three take
//! turns of a few milliseconds, so that whatever else the machine does falls on all alike. The rates
//! are those of the fastest turn: what the machine does when it is left alone. The ratios are
//! those to `play` in the same round of turns, and are medians.

use std::hint::black_box;
use std::time::{Duration, Instant};

use parlor::games::{IDS, Registered, WithGame, with_game};
use parlor::options;
use parlor::rules::{Game, SeatCount, Setup, Viewer};
use parlor::simulate::RandomPlayers;

/// How long each way is measured in a turn.
const TURN: Duration = Duration::from_millis(5);
/// Matches between two looks at the clock.
const BATCH: u32 = 16;
/// How often the ways take turns.
const TURNS: u64 = 201;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Cargo says `--bench` when it is to measure; as a test, it is enough that everything runs.
    let turns = if args.iter().any(|arg| arg == "--bench") { TURNS } else { 1 };
    let (mut wanted, mut options) = (Vec::new(), Vec::new());
    let mut words = args.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" => options.extend(words.next()),
            flag if flag.starts_with('-') => {}
            _ => wanted.push(word),
        }
    }

    print_line(["game", "seats", "play/s", "copy/s", "view/s", "copy:play", "view:play"]);
    for &id in IDS.iter().filter(|id| wanted.is_empty() || wanted.iter().any(|word| word == *id)) {
        with_game(id, Measure { turns, options: &options }).expect("a game of the registry");
    }
}

#[expect(clippy::print_stdout, reason = "the figures are what the bench is for")]
fn print_line(columns: [&str; 7]) {
    let [game, seats, play, copy, view, copy_ratio, view_ratio] = columns;
    println!(
        "{game:<12} {seats:>5} {play:>12} {copy:>12} {view:>12} {copy_ratio:>10} {view_ratio:>10}"
    );
}

struct Measure<'a> {
    turns: u64,
    options: &'a [String],
}

impl WithGame for Measure<'_> {
    type Output = ();

    fn with<G: Registered>(self) {
        let mut mistakes = Vec::new();
        let options = options::read::<G>(self.options, &mut mistakes);
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
        let catalog = G::catalog(&options);
        for seats in catalog.seats.clone().filter_map(SeatCount::new) {
            let Ok(setup) = Setup::new::<G>(options.clone(), seats) else { continue };
            let rates = Rates::measure::<G>(&setup, self.turns);
            let count = seats.get().to_string();
            let [play, copy, view] =
                [&rates.play, &rates.copy, &rates.view].map(|rates| millions(fastest(rates)));
            let [copy_ratio, view_ratio] = [&rates.copy, &rates.view]
                .map(|way| format!("{:.2}", median_ratio(way, &rates.play)));
            print_line([catalog.id, &count, &play, &copy, &view, &copy_ratio, &view_ratio]);
        }
    }
}

/// Actions a second in each turn.
#[derive(Default)]
struct Rates {
    play: Vec<f64>,
    copy: Vec<f64>,
    view: Vec<f64>,
}

impl Rates {
    fn measure<G: Game>(setup: &Setup<G::Options>, turns: u64) -> Self {
        let mut players = RandomPlayers::<G>::default();
        let mut rates = Self::default();
        for turn in 0..turns {
            rates.play.push(rate(|number| players.play(setup, turn, number, |_, _| {}).actions));
            rates.copy.push(rate(|number| {
                let copy = |game: &mut G, _| *game = black_box(game.clone());
                players.play(setup, turn, number, copy).actions
            }));
            rates.view.push(rate(|number| {
                let view = |game: &mut G, seat| drop(black_box(game.view(Viewer::Seat(seat))));
                players.play(setup, turn, number, view).actions
            }));
        }
        rates
    }
}

/// Actions a second, when `play` plays the match of a number and tells how many actions it took.
#[expect(clippy::disallowed_methods, reason = "the real time is what is measured")]
fn rate(mut play: impl FnMut(u64) -> u32) -> f64 {
    let began = Instant::now();
    let (mut actions, mut number) = (0_u32, 0);
    loop {
        for _ in 0..BATCH {
            actions += play(number);
            number += 1;
        }
        let took = began.elapsed();
        if took >= TURN {
            return f64::from(actions) / took.as_secs_f64();
        }
    }
}

fn fastest(rates: &[f64]) -> f64 {
    rates.iter().copied().fold(0.0, f64::max)
}

/// The median of the ratios in the same turn.
fn median_ratio(rates: &[f64], to: &[f64]) -> f64 {
    let mut ratios: Vec<_> = rates.iter().zip(to).map(|(rate, to)| rate / to).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

fn millions(rate: f64) -> String {
    format!("{:.2} M", rate / 1e6)
}
