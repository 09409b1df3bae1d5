//! Which play chooses first, and what can be chosen.

use super::{cards, choosers, legal, play, seat, step, table};
use crate::games::neon::{Event, Phase};

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
fn of_sets_the_bigger_one_chooses_first_then_the_higher_one() {
    let mut game = table(1, "1234", &["441", "61", "661", "1113"]);
    play(
        &mut game,
        "
        0 plays 44
        1 plays 6
        2 plays 66
        3 plays 111
    ",
    );
    assert_eq!(choosers(&game), [3, 2, 0, 1]);
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
        0 chooses 4: not_to_act
        3 chooses 4: time_to_play
        3 plays 3
        0 chooses 44: one_card
        0 chooses 45: one_card
        0 chooses 1: not_on_table
        1 chooses 4: not_to_act
        0 plays 1: time_to_choose
    ",
    );
    assert_eq!(legal(&game, 0), "4 5 6");
    step(&mut game, "0 chooses 4");
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
    ",
    );
    assert_eq!(legal(&game, 0), "4 5 6 44");
    step(&mut game, "0 chooses 44");
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
    assert_eq!(choosers(&game), [0; 0]);
    assert!(game.piles[seat(3)].is_empty());
    assert_eq!(game.table, cards("3456"), "what was played is what can be won next");
    assert_eq!(game.first, seat(0), "who chose first leads");
}

#[test]
fn what_nobody_chose_leaves_the_game() {
    let mut game = table(2, "445566", &["61", "51", "41"]);
    play(
        &mut game,
        "
        0 plays 6
        1 plays 5
        2 plays 4
        0 chooses 5
        1 chooses 66
    ",
    );
    let events = step(&mut game, "2 chooses 4");
    let removed = cards("45");
    assert!(events.contains(&Event::RoundEnded { removed, table: cards("456") }));
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
