//! What a round brings.

use super::{CHERRY, MORE, PLAIN, play, seat, table};
use crate::games::neapolitan::{Event, Neapolitan};
use crate::rules::{BySeat, Game as _};

/// The points that a round brought.
fn points(events: &[Event]) -> Vec<i8> {
    let mut scored = events.iter().filter_map(|event| match event {
        Event::RoundScored { results } => Some(results.map(|_, result| result.points)),
        _ => None,
    });
    scored.next().expect("a round was scored").as_slice().to_vec()
}

/// Plays the last trick of a round, which the last seat wins.
fn last_trick(game: &mut Neapolitan) -> Vec<Event> {
    let last = game.seats.get() - 1;
    let plays = (0..=last).map(|n| format!("{n} plays V{}", n + 1)).collect::<Vec<_>>();
    let after = format!("{:?}", game.stack.with_last(super::card("V1").flavor().expect("one")));
    play(game, &format!("{} => {last} {after}", plays.join("\n")))
}

const THREE: [&str; 3] = ["V1", "V2", "V3"];
const FOUR: [&str; 4] = ["V1", "V2", "V3", "V4"];
const FIVE: [&str; 5] = ["V1", "V2", "V3", "V4", "V5"];

#[test]
fn the_trick_goal_scores_one_no_trick_two_and_all_else_nothing() {
    for (hands, wins, expected) in [
        (&THREE[..], "000112", &[1, 0, 0][..]),
        (&THREE, "000111", &[1, 1, 0]),
        (&THREE, "222222", &[2, 2, 0]),
        (&FOUR, "001123", &[1, 1, 0, 1]),
        (&FOUR, "000013", &[0, 0, 2, 1]),
        (&FIVE, "000113", &[0, 0, 2, 1, 1]),
    ] {
        let mut game = table(PLAIN, "VCS", wins, hands);
        assert_eq!(points(&last_trick(&mut game)), expected, "{wins}");
    }
}

#[test]
fn a_declared_seat_scores_three_for_no_trick_and_loses_one_for_any_other_number() {
    let declare = "0 declares\n1 declares\n2 declares\n3 declares";
    let mut game = table(CHERRY, "VCS", "001111", &FOUR);
    play(&mut game, declare);
    assert_eq!(points(&last_trick(&mut game)), [-1, -1, 3, -1], "the trick goal does not help");
    assert_eq!(game.scores.as_slice(), [-1, -1, 3, -1], "a score may be below 0");
}

#[test]
fn who_declined_scores_as_always() {
    let mut game = table(CHERRY, "VCS", "001111", &FOUR);
    play(&mut game, "0 declines\n1 declares\n2 declines\n3 declines");
    assert_eq!(points(&last_trick(&mut game)), [1, -1, 2, 0]);
}

#[test]
fn a_token_stops_on_the_last_space_and_the_points_are_announced_in_full() {
    let mut game = table(CHERRY, "VCS", "000011", &THREE);
    game.scores = BySeat::from_vec(vec![0, 0, 2]).expect("three seats");
    play(&mut game, "0 declines\n1 declines\n2 declares");
    game.trick = super::Trick::led_by(seat(2));
    game.hands = BySeat::from_vec(vec![super::cards("V2"), super::cards("V3"), super::cards("V1")])
        .expect("three seats");
    let events = play(&mut game, "2 plays V1\n0 plays V2\n1 plays V3 => 1 CSV");
    assert_eq!(points(&events), [0, 1, 3]);
    assert_eq!(game.outcome().expect("over").scores.as_slice(), [0, 1, 3]);
}

#[test]
fn with_more_scoops_the_first_time_on_the_last_space_is_stamped_and_starts_anew() {
    let mut game = table(MORE, "VCS", "000111", &THREE);
    game.scores = BySeat::from_vec(vec![2, 1, 2]).expect("three seats");
    let events = last_trick(&mut game);
    let scored = events.iter().position(|e| {
        matches!(e, Event::RoundScored { results }
        if results[seat(0)].score == 3)
    });
    let stamped = events.iter().position(|e| *e == Event::Stamped { seat: seat(0) });
    assert!(scored.expect("on the last space") < stamped.expect("stamped"));
    assert_eq!(game.outcome(), None);
    assert_eq!(game.scores.as_slice(), [0, 2, 2], "the other tokens stay where they are");
    assert!(game.stamped.contains(seat(0)) && !game.stamped.contains(seat(1)));
}
