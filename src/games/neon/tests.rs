//! The rulings and worked examples of NeoN, a step a line.

use super::{Action, Cards, Event, Neon, Options, Phase, Play, Value};
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

fn choosers(game: &Neon) -> Vec<u8> {
    game.choosers().map(Seat::number).collect()
}

#[test]
fn more_cards_choose_first_then_the_higher_value_then_the_earlier_play() {
    let mut game = table(1, "1234", &["2341", "451", "61", "61"]);
    play(
        &mut game,
        "
        0 plays 234
        1 plays 45
        2 plays 6
        3 plays 6
    ",
    );
    assert_eq!(choosers(&game), [0, 1, 2, 3]);

    let mut game = table(1, "1234", &["61", "61", "451", "2341"]);
    play(
        &mut game,
        "
        0 plays 6
        1 plays 6
        2 plays 45
        3 plays 234
    ",
    );
    assert_eq!(choosers(&game), [3, 2, 0, 1]);
}

#[test]
fn a_set_of_the_same_size_outranks_a_run_only_by_its_highest_value() {
    let mut game = table(1, "123", &["441", "41", "661"]);
    play(
        &mut game,
        "
        0 plays 44
        1 plays 4
        2 plays 66
    ",
    );
    assert_eq!(choosers(&game), [2, 0, 1]);
}

#[test]
fn in_the_first_round_a_choice_is_one_card() {
    let mut game = table(1, "4456", &["61", "51", "41", "31"]);
    play(
        &mut game,
        "
        0 plays 6
        1 plays 5
        2 plays 4
        3 plays 3
        0 chooses 44: one_card
        0 chooses 45: one_card
        0 chooses 1: not_on_table
        1 chooses 4: not_to_act
        0 plays 1: time_to_choose
        0 chooses 4
    ",
    );
}

#[test]
fn from_the_second_round_on_a_choice_may_be_two_of_equal_value() {
    let mut game = table(2, "4456", &["61", "51", "41", "31"]);
    play(
        &mut game,
        "
        0 plays 6
        1 plays 5
        2 plays 4
        3 plays 3
        0 chooses 45: one_or_a_pair
        0 chooses 444: one_or_a_pair
        0 chooses 55: not_on_table
        0 chooses 44
    ",
    );
    assert_eq!(game.piles[seat(0)], cards("44"));
}

#[test]
fn with_no_card_left_the_remaining_choosers_get_nothing() {
    let mut game = table(3, "4456", &["61", "51", "41", "31"]);
    play(
        &mut game,
        "
        0 plays 6
        1 plays 5
        2 plays 4
        3 plays 3
        0 chooses 44
        1 chooses 5
        2 chooses 6
    ",
    );
    assert_eq!(game.phase, Phase::Playing, "the fourth is not asked");
    assert!(game.piles[seat(3)].is_empty());
    assert_eq!(game.table, cards("3456"), "what was played is what can be won next");
    assert_eq!(game.first, seat(0), "who chose first leads");
}

#[test]
fn a_set_or_a_run_fixes_the_kind_for_the_round_and_a_solo_does_not() {
    let mut game = table(1, "123", &["112", "2233", "2345"]);
    play(
        &mut game,
        "
        0 plays 1
        1 plays 23
        2 plays 33: not_in_hand
        2 plays 22: not_in_hand
        2 plays 24: not_a_combination
        2 plays 345
    ",
    );
    let mut game = table(1, "123", &["11223", "22334", "23344"]);
    play(
        &mut game,
        "
        0 plays 11
        1 plays 234: only_sets
        1 plays 22
        2 plays 23: only_sets
        2 plays 2
    ",
    );
    let mut game = table(1, "123", &["12", "1123", "2233"]);
    play(
        &mut game,
        "
        0 plays 12
        1 plays 11: only_runs
        1 plays 2
        2 plays 33: only_runs
        2 plays 3
    ",
    );
}

#[test]
fn six_and_one_do_not_join() {
    let mut game = table(1, "12", &["16", "5"]);
    play(&mut game, "0 plays 16: not_a_combination");
}

#[test]
fn a_seat_with_cards_must_play_at_least_one() {
    let mut game = table(1, "123", &["16", "5", "4"]);
    let mut actions = Vec::new();
    game.legal(seat(0), &mut actions);
    assert_eq!(actions, [Action::Play(cards("1")), Action::Play(cards("6"))]);
    let refusal = game.play(seat(0), &Action::Play(Cards::NONE), &mut NoEvents);
    assert_eq!(refusal.expect_err("no card").rule, "not_a_combination");
}

#[test]
fn with_three_players_one_empty_hand_leaves_two_playing_until_a_second_one_is_empty() {
    let mut game = table(1, "123", &["6", "51", "411"]);
    play(
        &mut game,
        "
        0 plays 6
        1 plays 5
        2 plays 4
        0 chooses 3
        1 chooses 2
        2 chooses 1
    ",
    );
    assert_eq!(game.phase, Phase::Playing, "one empty hand does not end it");
    assert_eq!(
        game.first,
        seat(1),
        "the first chooser has no cards, so the next to the left leads"
    );
    play(
        &mut game,
        "
        0 plays 6: not_to_act
        1 plays 1
        2 plays 11
    ",
    );
    assert_eq!(choosers(&game), [2, 1], "the round's plays and choices are finished");
    play(
        &mut game,
        "
        2 chooses 6
        1 chooses 5
    ",
    );
    assert_eq!(game.phase, Phase::Over);
    let outcome = game.outcome().expect("over");
    assert_eq!(outcome.scores.as_slice(), [3, 7, 7]);
    assert_eq!(outcome.winners.iter().map(Seat::number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(outcome.reason, "shared");
    assert_eq!(game.table, cards("111"), "the last plays lie on the table");
}

#[test]
fn a_seat_that_played_its_last_card_still_chooses_in_that_round() {
    let mut game = table(2, "666", &["1", "22", "33"]);
    play(
        &mut game,
        "
        0 plays 1
        1 plays 2
        2 plays 3
    ",
    );
    assert_eq!(choosers(&game), [2, 1, 0]);
}

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
fn cards_left_in_the_second_hand_count_too() {
    let mut game = table(4, "1", &["6", "5"]);
    game.second_hands[seat(1)] = cards("123");
    game.hands[seat(1)] = cards("55");
    play(
        &mut game,
        "
        0 plays 6
        1 plays 5
        1 plays 5
        0 chooses 1
    ",
    );
    assert_eq!(game.outcome().expect("over").scores.as_slice(), [1, 3]);
}

#[test]
fn every_number_of_players_is_dealt_as_the_rulebook_says() {
    for (seats, table, hand, second, removed) in
        [(2, 4, 14, 14, 0), (3, 3, 14, 0, 15), (4, 4, 14, 0, 0), (5, 5, 11, 0, 0), (6, 6, 9, 0, 0)]
    {
        let seats = SeatCount::new(seats).expect("a table");
        let setup = Setup::new::<Neon>(Options::default(), seats).expect("good options");
        let game = Neon::start(&setup, &Seed::new([1; 32]), &mut NoEvents);
        assert_eq!(game.table.len(), table);
        assert!(game.hands.values().all(|cards| cards.len() == hand));
        assert!(game.second_hands.values().all(|cards| cards.len() == second));
        assert_eq!(game.removed.len(), removed);
    }
}

#[test]
fn options_that_do_not_fit_the_table_are_all_named() {
    let one = SeatCount::new(1).expect("a table");
    let options = Options { first_player: Some(seat(1)) };
    let bad = Setup::new::<Neon>(options, one).expect_err("bad options");
    assert_eq!(bad.iter().map(|b| b.field).collect::<Vec<_>>(), ["seats", "first_player"]);
}
