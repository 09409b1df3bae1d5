//! Decks, draws, and who sees what of them.

use std::collections::HashSet;

use super::{PLAIN, SCREAM, SECRET, cards, play, seat, start, table};
use crate::games::neapolitan::{Card, Cards, Event, LEFTOVERS, Neapolitan, Options, Seen};
use crate::rules::{Game as _, NoEvents, SeatCount, Seed, Setup, Viewer};

/// All cards of the round that is dealt.
fn deck(game: &Neapolitan) -> Vec<Card> {
    let hands = game.hands.values().flat_map(|hand| hand.iter());
    hands.chain(game.leftovers).collect()
}

/// Starts with this seed, which is a number.
fn start_with(options: Options, seats: u8, seed: u8) -> Neapolitan {
    let seats = SeatCount::new(seats).expect("a table");
    let setup = Setup::new::<Neapolitan>(options, seats).expect("good options");
    Neapolitan::start(&setup, &Seed::new([seed; 32]), &mut NoEvents)
}

#[test]
fn every_number_of_players_has_the_deck_of_the_rulebook() {
    for (seats, highest, passes, size) in [(3, 7, 2, 23), (4, 9, 3, 30), (5, 11, 4, 37)] {
        for options in [PLAIN, SCREAM] {
            let game = start(options, seats);
            let deck = deck(&game);
            assert_eq!(deck.len(), size);
            let (pass_cards, monsters): (Vec<Card>, Vec<Card>) =
                deck.iter().partition(|card| card.is_pass());
            assert_eq!(
                monsters.iter().collect::<HashSet<_>>(),
                Card::monsters(highest).collect::<Vec<_>>().iter().collect()
            );
            assert_eq!(pass_cards.len(), passes);
            let variants: HashSet<_> = pass_cards.iter().filter_map(|c| c.sequence()).collect();
            let drawn = if options.ice_cream_you_scream { passes } else { 0 };
            assert_eq!(variants.len(), drawn, "each of them at most once");
        }
    }
}

#[test]
fn variant_pass_cards_are_drawn_anew_for_each_round() {
    let setup = Setup::new::<Neapolitan>(SCREAM, SeatCount::new(3).expect("a table"));
    let setup = setup.expect("good options");
    let mut drawn = HashSet::new();
    for deal in 0..100 {
        let mut events = Vec::new();
        Neapolitan::redeal(&setup, &Seed::new([3; 32]), deal, &mut events);
        let Some(Event::Dealt { hands, leftovers, .. }) = events.pop() else { panic!("no deal") };
        let dealt = hands.values().flat_map(|hand| hand.iter()).chain(leftovers);
        let mut passes: Vec<Card> = dealt.filter(|card| card.is_pass()).collect();
        passes.sort_unstable();
        drawn.insert(passes);
    }
    assert_eq!(drawn.len(), 15, "every pair of the six turns up");
}

#[test]
fn hands_stack_and_first_leader_are_drawn_and_the_leader_can_be_given() {
    let games: Vec<_> = (0..=255).map(|seed| start_with(PLAIN, 3, seed)).collect();
    assert_eq!(games.iter().map(|game| game.stack).collect::<HashSet<_>>().len(), 6);
    assert_eq!(games.iter().map(|game| game.trick.leader()).collect::<HashSet<_>>().len(), 3);
    assert_eq!(games.iter().map(|game| game.hands).collect::<HashSet<_>>().len(), 256);

    let options = Options { first_leader: Some(seat(1)), ..PLAIN };
    let games: Vec<_> = (0..=255).map(|seed| start_with(options, 3, seed)).collect();
    assert_eq!(games.iter().map(|game| game.stack).collect::<HashSet<_>>().len(), 6);
    assert!(games.iter().all(|game| game.to_act().contains(seat(1))));
}

#[test]
fn options_that_do_not_fit_the_table_are_all_named() {
    let two = SeatCount::new(2).expect("a table");
    let options = Options { first_leader: Some(seat(2)), ..PLAIN };
    let bad = Setup::new::<Neapolitan>(options, two).expect_err("bad options");
    assert_eq!(bad.iter().map(|b| b.field).collect::<Vec<_>>(), ["seats", "first_leader"]);
    let six = SeatCount::new(6).expect("a table");
    assert!(Setup::new::<Neapolitan>(PLAIN, six).is_err());
}

/// The leftovers in all that a viewer is shown of a match that is played to its end.
fn leftovers_shown(options: Options, viewer: Viewer) -> Vec<Option<[Card; LEFTOVERS]>> {
    let seats = SeatCount::new(3).expect("a table");
    let setup = Setup::new::<Neapolitan>(options, seats).expect("good options");
    let mut events = Vec::new();
    let mut game = Neapolitan::start(&setup, &Seed::new([5; 32]), &mut events);
    let mut shown = vec![game.view(viewer).leftovers];
    while let Some(player) = game.to_act().iter().next() {
        let action = super::legal(&game, player.number())[0];
        game.play(player, &action, &mut events).expect("a legal action");
        shown.push(game.view(viewer).leftovers);
    }
    shown.extend(events.iter().filter_map(|event| match event.seen_by(viewer) {
        Seen::Dealt { leftovers, .. } => Some(leftovers),
        _ => None,
    }));
    shown
}

#[test]
fn leftovers_lie_face_up_unless_they_are_a_secret_for_ever() {
    for viewer in [Viewer::Seat(seat(1)), Viewer::Spectator] {
        assert!(leftovers_shown(PLAIN, viewer).iter().all(Option::is_some));
        assert!(leftovers_shown(SECRET, viewer).iter().all(Option::is_none));
    }
}

#[test]
fn a_deal_shows_each_player_the_own_hand_alone() {
    let seats = SeatCount::new(3).expect("a table");
    let setup = Setup::new::<Neapolitan>(SCREAM, seats).expect("good options");
    let mut events = Vec::new();
    let game = Neapolitan::start(&setup, &Seed::new([5; 32]), &mut events);
    let hand = |viewer| {
        events.iter().find_map(|event| match event.seen_by(viewer) {
            Seen::Dealt { hand, hand_size: 7, .. } => Some(hand),
            _ => None,
        })
    };
    assert_eq!(hand(Viewer::Spectator), Some(None));
    assert_eq!(hand(Viewer::Seat(seat(2))), Some(Some(game.hands[seat(2)])));
}

#[test]
fn a_new_round_begins_with_empty_piles_and_keeps_scores() {
    let mut game = table(PLAIN, "VCS", "000111", &["V1", "V2", "V3"]);
    game.piles[seat(0)] = cards("C1 C2");
    play(&mut game, "0 plays V1\n1 plays V2\n2 plays V3 => 2 CSV");
    assert!(game.piles.values().all(|pile| *pile == Cards::NONE));
    assert_eq!(game.scores.as_slice(), [1, 1, 0]);
}
