//! Options, deals, and who sees what of them.

use std::collections::HashSet;

use super::seat;
use crate::games::neon::{Event, Neon, Options, Seen};
use crate::rules::{Game as _, NoEvents, SeatCount, Seed, Setup, Viewer};

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
fn a_deal_shows_each_player_the_own_first_hand_alone() {
    let setup = Setup::new::<Neon>(Options::default(), SeatCount::new(2).expect("a table"));
    let setup = setup.expect("good options");
    let mut events = Vec::new();
    let game = Neon::start(&setup, &Seed::new([1; 32]), &mut events);
    for viewer in setup.seats().iter().map(Viewer::Seat).chain([Viewer::Spectator]) {
        let expected = Seen::Dealt {
            table: game.table,
            hand: viewer.seat().map(|seat| game.hands[seat]),
            hand_size: 14,
            second_hand_size: 14,
        };
        assert_eq!(events[0].seen_by(viewer), expected);
    }
    assert_eq!(events[1..], [Event::RoundBegan { round: 1, first: game.first }]);
}

#[test]
fn there_is_one_deal() {
    let setup = Setup::new::<Neon>(Options::default(), SeatCount::new(3).expect("a table"));
    let setup = setup.expect("good options");
    let mut events = Vec::new();
    (1..5).for_each(|deal| Neon::redeal(&setup, &Seed::new([1; 32]), deal, &mut events));
    assert_eq!(events, []);
}

#[test]
fn the_first_player_is_drawn_unless_it_is_given() {
    let seats = SeatCount::new(3).expect("a table");
    let firsts = |options| -> HashSet<u8> {
        let setup = Setup::new::<Neon>(options, seats).expect("good options");
        let start = |n| Neon::start(&setup, &Seed::new([n; 32]), &mut NoEvents);
        (0..50).map(|n| start(n).first.number()).collect()
    };
    assert_eq!(firsts(Options::default()), HashSet::from([0, 1, 2]));
    assert_eq!(firsts(Options { first_player: Some(seat(1)) }), HashSet::from([1]));
}

#[test]
fn options_that_do_not_fit_the_table_are_all_named() {
    let one = SeatCount::new(1).expect("a table");
    let options = Options { first_player: Some(seat(1)) };
    let bad = Setup::new::<Neon>(options, one).expect_err("bad options");
    assert_eq!(bad.iter().map(|b| b.field).collect::<Vec<_>>(), ["seats", "first_player"]);
}
