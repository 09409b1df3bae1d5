//! The special rules with two players.

use super::{cards, choosers, play, seat, step, table};
use crate::games::neon::{Event, Neon, Phase, Play, Seen};
use crate::rules::{Game as _, Viewer};

#[test]
fn with_two_players_each_plays_twice_and_each_play_chooses_once() {
    let mut game = table(1, "1234", &["4561", "66112"]);
    play(
        &mut game,
        "
        0 plays 4
        1 plays 66
        0 plays 56: only_sets
        0 plays 5
        1 plays 12: only_sets
        1 plays 11
    ",
    );
    assert_eq!(choosers(&game), [1, 1, 0, 0]);
    let places: Vec<_> = game.to_choose.iter().rev().copied().collect();
    assert_eq!(places, [1, 3, 2, 0], "plays are ranked, not players");
}

#[test]
fn with_two_players_a_run_leaves_solos_and_runs_for_the_second_plays_too() {
    let mut game = table(1, "1234", &["1233", "44561"]);
    play(
        &mut game,
        "
        0 plays 12
        1 plays 44: only_runs
        1 plays 56
        0 plays 33: only_runs
        0 plays 3
        1 plays 44: only_runs
        1 plays 4
    ",
    );
    assert_eq!(choosers(&game), [1, 0, 1, 0]);
}

#[test]
fn with_two_players_the_last_card_is_played_and_chooses_once() {
    let mut game = table(4, "1234", &["6", "54321"]);
    play(
        &mut game,
        "
        0 plays 6
        1 plays 5
        1 plays 4
    ",
    );
    assert_eq!(choosers(&game), [0, 1, 1], "seat 0 has nothing for a second play");
    play(
        &mut game,
        "
        0 chooses 4
        1 chooses 3
        1 chooses 2
    ",
    );
    assert_eq!(game.phase, Phase::Over, "one player without cards ends it");
    let outcome = game.outcome().expect("over");
    assert_eq!(outcome.scores.as_slice(), [4, 5 + 3], "cards left count one each");
    assert_eq!(outcome.reason, "score");
}

#[test]
fn with_two_players_the_last_card_of_the_second_one_ends_its_plays_too() {
    let mut game = table(4, "1234", &["651", "4"]);
    play(
        &mut game,
        "
        0 plays 5
        1 plays 4
        0 plays 6
    ",
    );
    assert_eq!(choosers(&game), [0, 0, 1], "seat 1 has nothing for a second play");
}

#[test]
fn the_second_hand_is_taken_up_at_once_and_can_be_played_in_the_same_round() {
    let mut game = table(1, "1234", &["6", "54321"]);
    game.second_hands[seat(0)] = cards("112233");
    let events = step(&mut game, "0 plays 6");
    assert_eq!(
        events,
        [
            Event::Played(Play { seat: seat(0), cards: cards("6") }),
            Event::SecondHandTaken { seat: seat(0), cards: cards("112233") },
        ]
    );
    play(
        &mut game,
        "
        1 plays 5
        0 plays 33
        1 plays 4
    ",
    );
    assert_eq!(choosers(&game), [0, 0, 1, 1]);
}

#[test]
fn a_second_hand_shows_to_its_owner_alone_once_it_is_taken_up() {
    let mut game = table(1, "1234", &["6", "54321"]);
    game.second_hands[seat(0)] = cards("112233");
    let own = |game: &Neon, number| game.view(Viewer::Seat(seat(number))).own.expect("a player");
    assert_eq!(own(&game, 0).hand, cards("6"), "not even its owner sees it before");
    let sizes = |game: &Neon| {
        let seats = game.view(Viewer::Spectator).seats;
        (seats[seat(0)].hand_size, seats[seat(0)].second_hand_size)
    };
    assert_eq!(sizes(&game), (1, 6), "everyone sees how many cards there are");

    let events = step(&mut game, "0 plays 6");
    let seen = |viewer| match events.last().expect("it was taken up").seen_by(viewer) {
        Seen::SecondHandTaken { cards, .. } => cards,
        other => panic!("{other:?}"),
    };
    assert_eq!(seen(Viewer::Seat(seat(0))), Some(cards("112233")));
    assert_eq!(seen(Viewer::Seat(seat(1))), None);
    assert_eq!(seen(Viewer::Spectator), None);
    assert_eq!(own(&game, 0).hand, cards("112233"));
    assert_eq!(sizes(&game), (6, 0));
}

#[test]
fn with_two_players_cards_left_in_either_hand_count_one_each() {
    let mut game = table(4, "1", &["6", "555"]);
    game.second_hands[seat(1)] = cards("666");
    play(
        &mut game,
        "
        0 plays 6
        1 plays 5
        1 plays 5
        0 chooses 1
    ",
    );
    assert_eq!(game.outcome().expect("over").scores.as_slice(), [1, 1 + 3]);
}
