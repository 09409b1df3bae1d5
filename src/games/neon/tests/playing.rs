//! What can be played.

use super::{cards, legal, play, seat, step, table};
use crate::games::neon::{Action, Cards};
use crate::rules::{Game as _, NoEvents};

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
    ",
    );
    assert_eq!(legal(&game, 2), "2 3 4 33 44");
    step(&mut game, "2 plays 2");
    let mut game = table(1, "123", &["12", "1123", "2233"]);
    play(
        &mut game,
        "
        0 plays 12
        1 plays 11: only_runs
        1 plays 2
        2 plays 33: only_runs
    ",
    );
    assert_eq!(legal(&game, 2), "2 3 23");
    step(&mut game, "2 plays 3");
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
