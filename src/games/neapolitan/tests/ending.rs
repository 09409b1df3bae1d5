//! The end of a match: contenders, ties, and the limit of actions.

use super::{CHERRY, MORE, PLAIN, cards, play, seat, step, table};
use crate::games::neapolitan::{Declaration, Event, Neapolitan, Options, Phase};
use crate::rules::{ACTION_LIMIT, BySeat, Game as _, Seat, Viewer};

/// A table of three before the last trick, which seat 2 wins; seats 0 and 1 score a point.
fn last_trick(options: Options, scores: [i8; 3]) -> Neapolitan {
    let mut game = table(options, "VCS", "000111", &["V1", "V2", "V3"]);
    game.scores = BySeat::from_vec(scores.to_vec()).expect("three seats");
    game
}

const LAST_TRICK: &str = "0 plays V1\n1 plays V2\n2 plays V3 => 2 CSV";

/// Who won and why, or that it goes on.
fn outcome(game: &Neapolitan) -> (Vec<u8>, &'static str) {
    game.outcome().map_or((Vec::new(), "goes on"), |outcome| {
        (outcome.winners.iter().map(Seat::number).collect(), outcome.reason)
    })
}

#[test]
fn the_only_seat_on_the_last_space_wins() {
    let mut game = last_trick(PLAIN, [2, 1, 2]);
    let events = play(&mut game, LAST_TRICK);
    assert_eq!(outcome(&game), (vec![0], "only_contender"));
    assert!(matches!(events.last(), Some(Event::Ended { .. })));
    assert_eq!(game.phase(), Phase::Over);
    assert!(game.to_act().is_empty());
    assert_eq!(step(&mut game, "0 plays V1: not_to_act"), []);
}

#[test]
fn without_a_seat_on_the_last_space_another_round_is_played() {
    let mut game = last_trick(PLAIN, [1, 1, 2]);
    play(&mut game, LAST_TRICK);
    assert_eq!(outcome(&game), (vec![], "goes on"));
    assert_eq!(game.round, 2);
}

#[test]
fn the_last_space_is_as_many_points_away_as_there_are_players() {
    for players in 3..=5_u8 {
        for (points, expected) in [(players - 1, "goes on"), (players, "only_contender")] {
            let hands: Vec<_> = (1..=players).map(|number| format!("V{number}")).collect();
            let hands: Vec<_> = hands.iter().map(String::as_str).collect();
            let last = (players - 1).to_string();
            let mut game = table(PLAIN, "VCS", &last.repeat(6), &hands);
            // No trick brings two points.
            game.scores[seat(0)] = i8::try_from(points - 2).expect("few points");
            for (number, card) in (0..).zip(&hands).take(hands.len() - 1) {
                step(&mut game, &format!("{number} plays {card}"));
            }
            step(&mut game, &format!("{last} plays V{players} => {last} CSV"));
            assert_eq!(outcome(&game).1, expected, "{points} points, {players} players");
        }
    }
}

#[test]
fn a_tie_is_broken_by_the_flavors_from_the_strongest_to_the_weakest() {
    // After the last trick the stack is CSV.
    for (first, second, winners, reason) in [
        ("C1 C2", "C3 S1 S2 V4 V5", &[0][..], "strongest_flavor"),
        ("C1 V6", "C2 C3", &[1], "strongest_flavor"),
        ("C1 S1", "C3 S2 S3", &[1], "second_flavor"),
        ("S1", "V4 V5 V6", &[0], "second_flavor"),
        ("C1 S1 V4", "C2 S2", &[0], "weakest_flavor"),
        ("C1 S1 V4", "C2 S2 V5", &[0, 1], "shared"),
        ("", "", &[0, 1], "shared"),
        ("C1 P P", "C2", &[0, 1], "shared"),
    ] {
        let mut game = last_trick(PLAIN, [2, 2, 0]);
        game.piles[seat(0)] = cards(first);
        game.piles[seat(1)] = cards(second);
        play(&mut game, LAST_TRICK);
        assert_eq!(outcome(&game), (winners.to_vec(), reason), "{first} against {second}");
    }
}

#[test]
fn those_behind_in_a_stronger_flavor_are_out_of_the_tie() {
    // Seats 0 to 2 reach the end, and seat 2 is behind in Chocolate.
    for (piles, winners, reason) in [
        (["C1 C2 S1", "C3 C4 S2 S3", "C5 S4 S5 S6"], &[1][..], "second_flavor"),
        (["C1 C2 S1", "C3 C4 S2 S3", "C5 S4 S5 V5"], &[1], "second_flavor"),
        (["C1 C2 S1 V5", "C3 C4 S2", "C5 S4 V6"], &[0], "weakest_flavor"),
        (["C1 C2 S1", "C3 C4 S2", "C5 S4"], &[0, 1], "shared"),
    ] {
        let mut game = table(PLAIN, "VCS", "001123", &["V1", "V2", "V3", "V4"]);
        game.scores = BySeat::from_vec(vec![3, 3, 3, 0]).expect("four seats");
        game.won[seat(2)] = game.won[seat(1)];
        game.piles = BySeat::from_fn(game.seats, |seat| {
            cards(piles.get(seat.index()).copied().unwrap_or_default())
        });
        play(&mut game, "0 plays V1\n1 plays V2\n2 plays V3\n3 plays V4 => 3 CSV");
        assert_eq!(outcome(&game), (winners.to_vec(), reason), "{piles:?}");
    }
}

#[test]
fn the_stack_after_the_last_trick_counts() {
    let mut game = last_trick(PLAIN, [2, 2, 0]);
    game.piles[seat(0)] = cards("V4 V5 V6 C1");
    game.piles[seat(1)] = cards("V7 C2 C3");
    play(&mut game, LAST_TRICK);
    assert_eq!(outcome(&game), (vec![1], "strongest_flavor"), "Vanilla has become the weakest");
}

#[test]
fn a_seat_that_did_not_reach_the_end_does_not_contend() {
    let mut game = last_trick(PLAIN, [2, 0, 0]);
    game.piles[seat(1)] = cards("C1 C2 C3 C4");
    play(&mut game, LAST_TRICK);
    assert_eq!(outcome(&game), (vec![0], "only_contender"));
}

#[test]
fn with_more_scoops_only_seats_that_reach_the_end_twice_contend() {
    let mut game = last_trick(MORE, [2, 2, 0]);
    game.stamped.insert(seat(0));
    game.piles[seat(1)] = cards("C1 C2 C3 C4");
    let events = play(&mut game, LAST_TRICK);
    assert_eq!(outcome(&game), (vec![0], "only_contender"));
    assert!(events.contains(&Event::Stamped { seat: seat(1) }), "the other is stamped as usual");
    assert_eq!(game.outcome().expect("over").scores.as_slice(), [3, 0, 0]);

    let mut game = last_trick(MORE, [2, 2, 0]);
    game.stamped.insert(seat(0));
    game.stamped.insert(seat(1));
    game.piles[seat(1)] = cards("C1");
    play(&mut game, LAST_TRICK);
    assert_eq!(outcome(&game), (vec![1], "strongest_flavor"));
}

#[test]
fn a_stamped_seat_below_the_last_space_does_not_end_the_match() {
    let mut game = last_trick(MORE, [1, 2, 0]);
    game.stamped.insert(seat(0));
    play(&mut game, LAST_TRICK);
    assert_eq!(outcome(&game), (vec![], "goes on"));
    assert_eq!(game.scores.as_slice(), [2, 0, 0]);
}

/// Lets the next action be the last one that a match may take.
fn at_the_limit(mut game: Neapolitan) -> Neapolitan {
    game.actions = u16::try_from(ACTION_LIMIT - 1).expect("few actions");
    game
}

#[test]
fn the_last_action_of_the_limit_ends_the_match_in_the_middle_of_a_trick() {
    let mut game = at_the_limit(last_trick(PLAIN, [2, -1, 0]));
    play(&mut game, "1 plays V2: not_to_act");
    assert_eq!(outcome(&game), (vec![], "goes on"), "a refusal does not count");
    let events = step(&mut game, "0 plays V1");
    assert_eq!(outcome(&game), (vec![], "action_limit"));
    assert_eq!(game.outcome().expect("over").scores.as_slice(), [2, -1, 0], "the scores stand");
    assert!(matches!(events[..], [Event::Played(_), Event::Ended { .. }]));
    assert!(game.to_act().is_empty());
    assert_eq!(step(&mut game, "1 plays V2: not_to_act"), []);
    let mut other = game.clone();
    other.hands[seat(1)] = cards("S7");
    assert_eq!(game.view(Viewer::Spectator), other.view(Viewer::Spectator), "hands stay hidden");
}

#[test]
fn the_last_action_of_the_limit_is_scored_but_nothing_more_is_dealt() {
    let mut game = last_trick(PLAIN, [1, 1, 0]);
    play(&mut game, "0 plays V1\n1 plays V2");
    let mut game = at_the_limit(game);
    let events = step(&mut game, "2 plays V3 => 2 CSV");
    assert_eq!(outcome(&game), (vec![], "action_limit"));
    assert_eq!(game.outcome().expect("over").scores.as_slice(), [2, 2, 0]);
    assert!(events.iter().any(|event| matches!(event, Event::Achieved { .. })));
    assert!(!events.iter().any(|event| matches!(event, Event::Dealt { .. })));
    let view = game.view(Viewer::Spectator);
    assert_eq!((view.round, view.trick, view.turn), (1, 7, None));
    assert!(view.last_trick.is_some(), "the last trick is still shown");
}

#[test]
fn a_match_that_ends_by_the_rules_with_the_last_action_of_the_limit_has_a_winner() {
    let mut game = last_trick(PLAIN, [2, 1, 0]);
    play(&mut game, "0 plays V1\n1 plays V2");
    let mut game = at_the_limit(game);
    step(&mut game, "2 plays V3 => 2 CSV");
    assert_eq!(outcome(&game), (vec![0], "only_contender"));
}

#[test]
fn answers_that_the_limit_cuts_off_stay_hidden() {
    use Declaration::{Answered, Awaited};
    let mut game = last_trick(CHERRY, [0, 0, 0]);
    step(&mut game, "1 declares");
    let mut game = at_the_limit(game);
    step(&mut game, "0 declares");
    assert_eq!(outcome(&game), (vec![], "action_limit"));
    let view = game.view(Viewer::Seat(seat(0)));
    let declarations = view.seats.map(|_, seat| seat.declaration);
    assert_eq!(declarations.as_slice(), [Answered, Answered, Awaited]);
    assert_eq!(game.cherries.as_slice(), [1, 1, 1]);
}

#[test]
fn the_last_answer_of_the_limit_is_still_revealed() {
    let mut game = last_trick(CHERRY, [0, 0, 0]);
    play(&mut game, "1 declares\n0 declines");
    let mut game = at_the_limit(game);
    let events = step(&mut game, "2 declines");
    assert!(matches!(
        events[..],
        [Event::Answered { .. }, Event::Revealed { .. }, Event::Ended { .. }]
    ));
    assert_eq!(outcome(&game), (vec![], "action_limit"));
}
