//! The end of a round and of a match.

use super::{cards, choose_all, choosers, play, seat, step, table};
use crate::games::neon::{Cards, Event, Phase};
use crate::rules::{Game as _, Seat, Viewer};

#[test]
fn the_second_round_is_led_by_who_chose_first_and_begins_without_a_kind() {
    let mut game = table(1, "445", &["6612", "5512", "3332"]);
    play(
        &mut game,
        "
        0 plays 66
        1 plays 55
        2 plays 333
        2 chooses 5
        0 chooses 4
    ",
    );
    let events = step(&mut game, "1 chooses 4");
    let table = cards("6655333");
    assert_eq!(
        events,
        [
            Event::Chose { seat: seat(1), cards: cards("4") },
            Event::RoundEnded { removed: Cards::NONE, table },
            Event::RoundBegan { round: 2, first: seat(2) },
        ]
    );
    assert_eq!(choosers(&game), [0; 0], "nobody chooses any more");
    play(
        &mut game,
        "
        0 plays 12: not_to_act
        2 plays 2
        0 plays 12
        1 plays 12
        0 chooses 66
        1 chooses 333: one_or_a_pair
        1 chooses 33
        2 chooses 55
    ",
    );
    assert_eq!(game.piles.as_slice(), [cards("466"), cards("433"), cards("555")]);
}

#[test]
fn the_seat_to_the_left_of_a_first_chooser_without_cards_leads() {
    for (hands, left) in [(["6", "51", "41"], 1), (["51", "6", "41"], 2), (["51", "41", "6"], 0)] {
        let mut game = table(2, "123", &hands);
        for (number, hand) in hands.iter().enumerate() {
            step(&mut game, &format!("{number} plays {}", &hand[..1]));
        }
        choose_all(&mut game);
        assert_eq!(game.first, seat(left), "{hands:?}");
    }
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
fn the_second_empty_hand_ends_it_however_many_play_and_cards_left_over_count_nothing() {
    for players in 3..=6 {
        let hands = ["1", "12", "223", "223", "223", "223"];
        let mut game = table(1, "1234", &hands[..players]);
        play(&mut game, "0 plays 1\n1 plays 1");
        (2..players).for_each(|number| drop(step(&mut game, &format!("{number} plays 2"))));
        choose_all(&mut game);
        assert_eq!(game.phase, Phase::Playing, "{players} players, one of them without cards");

        (2..players).for_each(|number| drop(step(&mut game, &format!("{number} plays 2"))));
        step(&mut game, "1 plays 2");
        choose_all(&mut game);
        assert_eq!(game.phase, Phase::Over, "{players} players, two of them without cards");
        assert_eq!(game.hands[seat(2)], cards("3"));
        let piles = game.piles.map(|_, pile| i32::from(pile.sum()));
        assert_eq!(game.outcome().expect("over").scores, piles);
    }
}

#[test]
fn piles_and_scores_come_to_light_at_the_end_and_cards_left_over_do_not() {
    let mut game = table(4, "135", &["6", "5", "4321"]);
    let mut other = game.clone();
    other.hands[seat(2)] = cards("4666");
    for game in [&mut game, &mut other] {
        play(
            game,
            "
            0 plays 6
            1 plays 5
            2 plays 4
            0 chooses 5
            1 chooses 1
        ",
        );
        let view = game.view(Viewer::Spectator);
        assert!(view.seats.values().all(|seat| seat.result.is_none()));
        assert_eq!(view.seats.map(|_, seat| seat.pile_size).as_slice(), [1, 1, 0]);
        step(game, "2 chooses 3");
    }
    let view = game.view(Viewer::Seat(seat(0)));
    assert_eq!(view.phase, Phase::Over);
    let ended = view.seats.map(|_, seat| seat.result.map(|result| (result.pile, result.score)));
    let piles = ["5", "1", "3"].map(cards);
    assert_eq!(ended.as_slice(), piles.map(|pile| Some((pile, pile.sum().into()))));
    for viewer in [Viewer::Seat(seat(0)), Viewer::Spectator] {
        assert_eq!(game.view(viewer), other.view(viewer), "seat 2 keeps its cards to itself");
    }
    assert_eq!(game.view(Viewer::Seat(seat(2))).own.expect("a player").hand, cards("321"));
    assert!(game.to_act().is_empty());
    assert_eq!(step(&mut game, "2 plays 3: not_to_act"), []);
}
