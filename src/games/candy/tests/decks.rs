//! Options, the decks that come of them, and the deal.

use crate::games::candy::card::Card;
use crate::games::candy::tests::scene::{card, cards, flavor};
use crate::games::candy::{Candy, Decks, Event, Options};
use crate::rules::{Game as _, Seat, SeatCount, Seed, Setup};

/// What is wrong with these options, as `field: why`.
fn wrong(options: &Options, seats: u8) -> Vec<String> {
    let bad = Candy::check(options, SeatCount::new(seats).expect("a table"));
    bad.iter().map(|bad| format!("{}: {}", bad.field, bad.why)).collect()
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|&id| id.to_owned()).collect()
}

fn with(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

#[test]
fn the_deck_limits_the_number_of_seats_and_the_message_names_both_numbers() {
    let base = Options::default();
    let bar = with(|o| o.alternate_king_size_bar = true);
    let king = with(|o| o.king_sized = true);
    let lost = with(|o| o.lost_treats = true);
    let both = with(|o| (o.king_sized, o.lost_treats) = (true, true));
    for (options, cards, seats) in
        [(base.clone(), 57, 4), (bar, 57, 4), (king, 72, 5), (lost, 69, 5), (both, 84, 5)]
    {
        assert_eq!(Decks::of(&options).treats.len(), cards);
        assert_eq!(wrong(&options, seats), [""; 0]);
    }
    assert_eq!(wrong(&base, 5), ["seats: 5 seats need 65 cards, the deck has 57"]);
    assert_eq!(wrong(&base, 1), ["seats: the game has 2 to 5 seats, not 1"]);
    assert_eq!(
        wrong(&with(|o| o.king_sized = true), 6),
        [
            "seats: the game has 2 to 5 seats, not 6",
            "seats: 6 seats need 78 cards, the deck has 72"
        ]
    );
    let enough = with(|o| {
        o.add_cards = ids(&[
            "lollipops",
            "double-dip",
            "grab-bags",
            "bon-bombs",
            "banana",
            "sugar-rush",
            "sour-tape",
            "candy-check",
        ]);
    });
    assert_eq!(wrong(&enough, 5), [""; 0], "single cards make room for a fifth seat too");
}

#[test]
fn every_combination_that_cannot_be_is_rejected_with_numbers_or_ids() {
    let add = |list: &[&str]| with(|o| o.add_cards = ids(list));
    let remove = |list: &[&str]| with(|o| o.remove_cards = ids(list));
    for (options, why) in [
        (with(|o| o.target_score = 0), "target_score: a target is from 1 to 100, not 0"),
        (with(|o| o.target_score = 101), "target_score: a target is from 1 to 100, not 101"),
        (add(&["licorice"]), "add_cards: no card has the id \"licorice\""),
        (remove(&["licorice"]), "remove_cards: no card has the id \"licorice\""),
        (add(&["flavor-blue"]), "add_cards: flavor-blue is a Flavor, not a card of the Treat deck"),
        (
            add(&["banana-peel"]),
            "add_cards: banana-peel is never in the deck: it is set aside for another card",
        ),
        (
            remove(&["banana-peel"]),
            "remove_cards: banana-peel is never in the deck: it is set aside for another card",
        ),
        (add(&["banana", "banana"]), "add_cards: banana is there twice"),
        (remove(&["fruit-chew", "fruit-chew"]), "remove_cards: fruit-chew is there twice"),
        (
            remove(&["mint-patty", "flavor-mint"]),
            "remove_cards: flavor-mint is a Flavor, not a card of the Treat deck",
        ),
        (add(&["fruit-chew"]), "add_cards: fruit-chew is in the deck already"),
        (remove(&["lollipops"]), "remove_cards: lollipops is not in the deck"),
        (
            with(|o| {
                o.alternate_king_size_bar = true;
                o.remove_cards = ids(&["king-size-bar"]);
            }),
            "remove_cards: king-size-bar is not in the deck",
        ),
        (with(|o| o.first_dealer = Seat::new(3)), "first_dealer: a table of 3 has no seat 3"),
    ] {
        assert_eq!(wrong(&options, 3), [why]);
    }
    let both = with(|o| {
        o.remove_cards = ids(&["fruit-chew"]);
        o.add_cards = ids(&["fruit-chew"]);
    });
    assert_eq!(
        wrong(&both, 3),
        [
            "remove_cards: fruit-chew is to be added and removed",
            "add_cards: fruit-chew is to be added and removed",
        ]
    );
}

#[test]
fn what_is_wrong_with_long_lists_is_told_in_a_few_words() {
    let known: Vec<&str> = Decks::of(&Options::default()).treats.iter().map(Card::id).collect();
    let longest = "\u{10ffff}".repeat(4000);
    let longest = longest.as_str();
    for list in [&vec!["x"; 5000][..], &vec!["banana"; 2000], &known, &[longest; 40]] {
        let options = with(|o| (o.add_cards, o.remove_cards) = (ids(list), ids(list)));
        let wrong = wrong(&options, 5);
        let told = wrong.iter().map(String::len).sum::<usize>();
        assert!(told < 8 * 1024, "{told} bytes: {wrong:?}");
        let seats = wrong.iter().filter(|line| line.starts_with("seats: ")).count();
        assert_eq!((wrong.len(), seats), (21, 1), "{wrong:?}");
    }
}

#[test]
fn the_bars_replace_each_other_unless_one_is_added() {
    let decks = Decks::of(&with(|o| o.alternate_king_size_bar = true));
    let [original, alternate] = ["king-size-bar", "king-size-bar-alternate"].map(card);
    assert!(decks.treats.contains(alternate) && !decks.treats.contains(original));
    let decks = Decks::of(&with(|o| {
        o.alternate_king_size_bar = true;
        o.add_cards = ids(&["king-size-bar"]);
    }));
    assert!(decks.treats.contains(alternate) && decks.treats.contains(original));
}

#[test]
fn the_peel_is_aside_whenever_the_banana_is_in_the_deck() {
    let peel = cards("banana-peel");
    assert!(Decks::of(&Options::default()).aside.is_empty());
    assert_eq!(Decks::of(&with(|o| o.lost_treats = true)).aside, peel);
    assert_eq!(Decks::of(&with(|o| o.add_cards = ids(&["banana"]))).aside, peel);
    let without = with(|o| {
        o.lost_treats = true;
        o.remove_cards = ids(&["banana"]);
    });
    assert!(Decks::of(&without).aside.is_empty());
}

#[test]
fn lost_treats_brings_two_flavors_for_the_single_one() {
    let flavors = |lost: bool| {
        Decks::of(&with(|o| (o.favorite_flavors, o.lost_treats) = (true, lost))).flavors
    };
    assert_eq!(flavors(false).iter().count(), 15);
    assert!(flavors(false).contains(flavor("flavor-single")));
    assert_eq!(flavors(true).iter().count(), 16);
    assert!(!flavors(true).contains(flavor("flavor-single")));
    assert!(Decks::of(&Options::default()).flavors.is_empty());
}

#[test]
fn a_deal_can_be_followed_from_the_documentation() {
    let seed = Seed::new([9; 32]);
    let seats = SeatCount::new(3).expect("a table");
    let options = with(|o| o.favorite_flavors = true);
    let setup = Setup::new::<Candy>(options.clone(), seats).expect("good options");

    let mut shuffle = seed.deal(0);
    let dealer = shuffle.below(3);
    let mut deck: Vec<Card> = Decks::of(&options).treats.iter().collect();
    shuffle.shuffle(&mut deck);
    let mut flavors: Vec<_> = Decks::of(&options).flavors.iter().collect();
    shuffle.shuffle(&mut flavors);

    let mut events = Vec::new();
    Candy::start(&setup, &seed, &mut events);
    let [Event::Dealt { hand: 0, dealer: dealt_by, hands, leftover, flavors: dealt }] = &events[..]
    else {
        panic!("one event: {events:?}");
    };
    assert_eq!(u32::from(dealt_by.number()), dealer);
    for (seat, hand) in hands.iter() {
        let from = 13 * seat.index();
        assert_eq!(*hand, deck[from..from + 13].iter().copied().collect());
    }
    assert_eq!(leftover[..], deck[39..]);
    for (seat, dealt) in dealt.iter() {
        assert_eq!(dealt[..], flavors[3 * seat.index()..][..3]);
    }
}
