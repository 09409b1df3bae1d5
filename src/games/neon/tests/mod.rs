//! The rulings and worked examples of NeoN, a step a line.

mod choosing;
mod dealing;
mod ending;
mod playing;
mod two_players;
mod wire;

use super::{Action, Cards, Event, Neon, Options, Phase, Value};
use crate::rules::{BySeat, Game as _, NoEvents, Seat, SeatCount, Seed, Setup};

/// The cards of these digits.
fn cards(digits: &str) -> Cards {
    let values = digits.chars().map(|c| c.to_digit(10).and_then(Value::new).expect("1 to 6"));
    Cards::from_values(values).expect("at most ten of each")
}

fn seat(number: u8) -> Seat {
    Seat::new(number).expect("a seat")
}

/// A match in which seat 0 leads the given round with these hands.
fn table(round: u8, victory_points: &str, hands: &[&str]) -> Neon {
    let seats = SeatCount::new(u8::try_from(hands.len()).expect("few hands")).expect("a table");
    let options = Options { first_player: Some(seat(0)) };
    let setup = Setup::new::<Neon>(options, seats).expect("good options");
    let mut game = Neon::start(&setup, &Seed::new([0; 32]), &mut NoEvents);
    game.round = round;
    game.table = cards(victory_points);
    game.hands = BySeat::from_fn(seats, |seat| cards(hands[seat.index()]));
    game.second_hands = BySeat::new(seats);
    game
}

/// Carries out one line: `0 plays 234`, `1 chooses 44`, or with `: rule` at its end, that it is
/// refused by that rule.
fn step(game: &mut Neon, line: &str) -> Vec<Event> {
    let (action, refused) = line.split_once(": ").map_or((line, None), |(a, r)| (a, Some(r)));
    let words: Vec<&str> = action.split(' ').collect();
    let [who, verb, what] = words[..] else { panic!("not a step: {line}") };
    let action = match verb {
        "plays" => Action::Play(cards(what)),
        "chooses" => Action::Choose(cards(what)),
        _ => panic!("not a step: {line}"),
    };
    let mut events = Vec::new();
    let result = game.play(seat(who.parse().expect("a seat")), &action, &mut events);
    assert_eq!(result.err().map(|refusal| refusal.rule), refused, "{line}");
    events
}

fn play(game: &mut Neon, lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        step(game, line);
    }
}

/// The cards that the seat may play or choose, as their digits.
fn legal(game: &Neon, number: u8) -> String {
    let mut actions = Vec::new();
    game.legal(seat(number), &mut actions);
    let digits = actions.into_iter().map(|action| {
        let (Action::Play(cards) | Action::Choose(cards)) = action;
        cards.values().map(|value| value.get().to_string()).collect::<String>()
    });
    digits.collect::<Vec<_>>().join(" ")
}

fn choosers(game: &Neon) -> Vec<u8> {
    game.choosers().map(Seat::number).collect()
}

/// Lets each chooser take the lowest card.
fn choose_all(game: &mut Neon) {
    while game.phase == Phase::Choosing {
        let chooser = choosers(game)[0];
        let lowest = legal(game, chooser).chars().next().expect("a card");
        step(game, &format!("{chooser} chooses {lowest}"));
    }
}
