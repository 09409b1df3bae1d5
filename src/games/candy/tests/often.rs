//! Random play, until every effect has come to everything that it can come to.

use std::collections::{BTreeMap, HashMap};

use crate::games::candy::card::{Card, CardSet};
use crate::games::candy::effects::{Effect, Timing};
use crate::games::candy::printed::PRINTED;
use crate::games::candy::spots::Spot;
use crate::games::candy::{Candy, EffectResult, Event, Options};
use crate::games::conformance::any_move;
use crate::rules::{Game as _, SeatCount, Seed, Setup};

/// Matches at each table.
const MATCHES: u8 = 60;

const RESULTS: [EffectResult; 4] =
    [EffectResult::Worked, EffectResult::Declined, EffectResult::Nothing, EffectResult::Mute];

/// A table whose deck holds every effect and as few other cards as it can.
fn setup(seats: u8) -> Setup<Options> {
    let plain = PRINTED.all.iter().filter(|card| card.effect().is_none() && card.rank() != -1);
    let mut options = Options {
        target_score: 31,
        king_sized: true,
        lost_treats: true,
        alternate_king_size_bar: true,
        ..Options::default()
    };
    let in_deck = plain.filter(|card| card.id() != "king-size-bar");
    let spare = 84 - 13 * usize::from(seats);
    options.remove_cards = in_deck.take(spare).map(|card| card.id().to_owned()).collect();
    let seats = SeatCount::new(seats).expect("a table");
    Setup::new::<Candy>(options, seats).expect("good options")
}

/// Whether the effect can come to this.
fn can(effect: Effect, result: EffectResult) -> bool {
    use Effect as E;
    match result {
        EffectResult::Worked => true,
        EffectResult::Declined => matches!(
            effect,
            E::SweetTooth
                | E::StickyFingers
                | E::FairTrade
                | E::ShareSize
                | E::MarshmallowTest
                | E::BonBombs
        ),
        EffectResult::Nothing => !matches!(effect.timing(), Timing::TrickTaken | Timing::HandEnd),
        // There is one Candy Lockjaw, and it mutes another card.
        EffectResult::Mute => !matches!(effect, E::Lollipops | E::CandyLockjaw),
    }
}

#[test]
fn every_effect_works_is_declined_finds_nothing_and_is_mute_now_and_then() {
    let mut counts: BTreeMap<(&str, String), u32> = BTreeMap::new();
    for (seats, number) in (2..=5).flat_map(|seats| (0..MATCHES).map(move |n| (seats, n))) {
        let mut events = Vec::new();
        let seed = Seed::new([number; 32]);
        let mut game = Candy::start(&setup(seats), &seed, &mut events);
        let mut chance = seed.deal(u32::MAX);
        while game.outcome().is_none() {
            let (seat, action) = any_move(&game, &mut chance);
            game.play(seat, &action, &mut events).expect("a legal action");
        }
        for event in events {
            if let Event::Effect { card, result, .. } = event {
                let effect = card.effect().expect("a card with an effect");
                assert!(can(effect, result), "{} cannot be {result:?}", effect.id());
                *counts.entry((effect.id(), format!("{result:?}"))).or_default() += 1;
            }
        }
    }
    for effect in Effect::ALL {
        for result in RESULTS.into_iter().filter(|&result| can(effect, result)) {
            let seen = counts.contains_key(&(effect.id(), format!("{result:?}")));
            assert!(seen, "{} never came to {result:?}: {counts:#?}", effect.id());
        }
    }
}

/// Where each card is.
type Places = HashMap<Card, Spot>;

fn put(places: &mut Places, cards: CardSet, spot: Spot) {
    places.extend(cards.iter().map(|card| (card, spot)));
}

/// Where the cards of a table are.
fn places(game: &Candy) -> Places {
    let mut places = Places::new();
    for seat in game.seats.iter() {
        put(&mut places, game.hands[seat], Spot::Hand(seat));
        put(&mut places, game.stashes[seat], Spot::Stash(seat));
    }
    put(&mut places, game.trick.cards(), Spot::Trick);
    put(&mut places, game.leftover.iter().copied().collect(), Spot::Leftover);
    put(&mut places, game.beside, Spot::Beside);
    put(&mut places, game.held, Spot::Held);
    put(&mut places, game.aside, Spot::Aside);
    places
}

/// Moves cards as an event tells, each from where it was.
fn follow(event: &Event, places: &mut Places, leftover: &mut Vec<Card>, aside: CardSet) {
    let mut moves = |card: Card, from: &[Spot], to: Spot| {
        let was = places.insert(card, to).expect("a card of the table");
        assert!(from.contains(&was), "{card:?} was {was:?}: {event:?}");
        if was == Spot::Leftover {
            assert_eq!(leftover.remove(0), card, "{event:?}");
        }
        if to == Spot::Leftover {
            leftover.push(card);
        }
    };
    match *event {
        Event::Dealt { ref hands, leftover: ref dealt, .. } => {
            leftover.clone_from(dealt);
            places.clear();
            hands.iter().for_each(|(seat, &hand)| put(places, hand, Spot::Hand(seat)));
            put(places, dealt.iter().copied().collect(), Spot::Leftover);
            put(places, aside, Spot::Aside);
        }
        Event::Played { seat, card, .. } => moves(card, &[Spot::Hand(seat)], Spot::Trick),
        Event::Moved { card, from, to, .. } => moves(card, &[from], to),
        Event::TrickTaken { winner, cards, .. } => {
            let from = [Spot::Trick, Spot::Beside];
            cards.iter().for_each(|card| moves(card, &from, Spot::Stash(winner)));
            for spot in places.values_mut() {
                assert!(!from.contains(spot), "the winner takes all: {event:?}");
                if *spot == Spot::Held {
                    *spot = Spot::Beside;
                }
            }
        }
        _ => {}
    }
}

/// Checks that what an effect did is told of that effect, and before that it had its turn; `doing` is
/// the effect that has not had it yet.
fn attribute(event: &Event, doing: &mut Option<Card>) {
    match *event {
        Event::Moved { by, .. } | Event::TurnedUp { by, .. } | Event::Named { card: by, .. } => {
            assert_eq!(*doing.get_or_insert(by), by, "{event:?}");
        }
        Event::Effect { card, .. } => assert_eq!(doing.take().unwrap_or(card), card, "{event:?}"),
        _ => assert_eq!(*doing, None, "{event:?}"),
    }
}

#[test]
fn who_moves_cards_as_events_tell_has_each_where_it_is() {
    for (seats, number) in (2..=5).flat_map(|seats| (0..MATCHES / 4).map(move |n| (seats, n))) {
        let mut events = Vec::new();
        let seed = Seed::new([number; 32]);
        let mut game = Candy::start(&setup(seats), &seed, &mut events);
        let mut chance = seed.deal(u32::MAX);
        let (mut followed, mut leftover, mut doing) = (Places::new(), Vec::new(), None);
        loop {
            for event in events.drain(..) {
                follow(&event, &mut followed, &mut leftover, game.decks.aside);
                attribute(&event, &mut doing);
            }
            assert_eq!(followed, places(&game), "{seats} seats, seed {number}");
            assert_eq!(leftover[..], game.leftover[..], "{seats} seats, seed {number}");
            if game.outcome().is_some() {
                break;
            }
            let (seat, action) = any_move(&game, &mut chance);
            game.play(seat, &action, &mut events).expect("a legal action");
        }
    }
}
