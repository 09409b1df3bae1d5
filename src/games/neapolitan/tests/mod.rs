//! The rulings and worked examples of Best of Neapolitan, a step a line.

mod achieving;
mod dealing;
mod declaring;
mod ending;
mod playing;
mod scoring;
mod wire;

use super::cards::HIGHEST;
use super::scoring::TricksWon;
use super::trick::Trick;
use super::{Action, Card, Cards, Event, Neapolitan, Options, Sequence, TRICKS};
use crate::rules::{BySeat, Game as _, NoEvents, Seat, SeatCount, Seed, Setup};

/// No variant.
const PLAIN: Options = Options {
    ice_cream_you_scream: false,
    cherry_on_top: false,
    more_scoops: false,
    secret_ingredients: false,
    first_leader: None,
};
/// Ice Cream, You Scream alone.
const SCREAM: Options = Options { ice_cream_you_scream: true, ..PLAIN };
/// The Cherry On Top alone.
const CHERRY: Options = Options { cherry_on_top: true, ..PLAIN };
/// More Scoops alone.
const MORE: Options = Options { more_scoops: true, ..PLAIN };
/// Secret Ingredients alone.
const SECRET: Options = Options { secret_ingredients: true, ..PLAIN };

fn seat(number: u8) -> Seat {
    Seat::new(number).expect("a seat")
}

/// The card that is printed so: `V4`, `P` or `P:CVS`.
fn card(printed: &str) -> Card {
    let variants = Sequence::ALL.into_iter().map(Card::variant_pass);
    let mut all = Card::monsters(HIGHEST).chain(variants).chain([Card::PASS]);
    all.find(|card| format!("{card:?}") == printed).expect(printed)
}

/// The cards that are printed so, with blanks between them.
fn cards(printed: &str) -> Cards {
    printed.split_whitespace().map(card).collect()
}

fn sequence(printed: &str) -> Sequence {
    Sequence::ALL.into_iter().find(|s| format!("{s:?}") == printed).expect(printed)
}

/// A match just begun.
fn start(options: Options, seats: u8) -> Neapolitan {
    let seats = SeatCount::new(seats).expect("a table");
    let setup = Setup::new::<Neapolitan>(options, seats).expect("good options");
    Neapolitan::start(&setup, &Seed::new([0; 32]), &mut NoEvents)
}

/// A first round in which seat 0 leads with this stack and these hands, after the tricks that seats
/// of these numbers won: `0012` for two of seat 0, one of seat 1, one of seat 2.
fn table(options: Options, stack: &str, wins: &str, hands: &[&str]) -> Neapolitan {
    let mut game = start(options, u8::try_from(hands.len()).expect("few hands"));
    game.stack = sequence(stack);
    lay(&mut game, wins, hands);
    game
}

/// Lays this round as [`table`] does, and leaves all else as it is.
fn lay(game: &mut Neapolitan, wins: &str, hands: &[&str]) {
    game.trick = Trick::led_by(seat(0));
    game.hands = BySeat::from_fn(game.seats, |seat| cards(hands[seat.index()]));
    game.won = BySeat::new(game.seats);
    game.tricks = 0;
    for winner in wins.bytes() {
        let won: &mut TricksWon = &mut game.won[seat(winner - b'0')];
        won.insert(game.tricks);
        game.tricks += 1;
    }
    assert!(game.hands.values().all(|hand| hand.len() + game.tricks <= TRICKS), "seven tricks");
}

/// Carries out one line, such as `0 plays V4`, `1 declares`, `2 declines`. It may end in `: rule`,
/// when it is refused by that rule, or in ` => 2 CSV`, when with it seat 2 wins the trick and this
/// is the stack after it.
fn step(game: &mut Neapolitan, line: &str) -> Vec<Event> {
    let (line, won) = line.split_once(" => ").map_or((line, None), |(l, won)| (l, Some(won)));
    let (line, refused) = line.split_once(": ").map_or((line, None), |(l, r)| (l, Some(r)));
    let words: Vec<&str> = line.split(' ').collect();
    let action = match words[1..] {
        ["plays", what] => Action::Play(card(what)),
        ["declares"] => Action::Declare,
        ["declines"] => Action::Decline,
        _ => panic!("not a step: {line}"),
    };
    let mut events = Vec::new();
    let result = game.play(seat(words[0].parse().expect("a seat")), &action, &mut events);
    assert_eq!(result.err().map(|refusal| refusal.rule), refused, "{line}");
    let winner = events.iter().find_map(|event| match event {
        Event::TrickWon { winner, stack, .. } => Some(format!("{winner} {stack:?}")),
        _ => None,
    });
    assert_eq!(winner.as_deref(), won, "{line}");
    events
}

/// Carries out the lines and gives all that happened.
fn play(game: &mut Neapolitan, lines: &str) -> Vec<Event> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.flat_map(|line| step(game, line)).collect()
}

/// What the seat may do.
fn legal(game: &Neapolitan, number: u8) -> Vec<Action> {
    let mut actions = Vec::new();
    game.legal(seat(number), &mut actions);
    actions
}

/// Which cards the seat may play, as they are printed.
fn playable(game: &Neapolitan, number: u8) -> String {
    let cards = legal(game, number).into_iter().map(|action| match action {
        Action::Play(card) => format!("{card:?}"),
        other => panic!("not a card: {other:?}"),
    });
    cards.collect::<Vec<_>>().join(" ")
}
