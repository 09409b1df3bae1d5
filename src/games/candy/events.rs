//! What happens in a match, and what a viewer sees of it.

use super::card::{Card, CardSet};
use super::flavor::Flavor;
use super::options::HAND;
use super::spots::Spot;
use super::suit::Suit;
use super::trick::Side;
use super::{Ending, HandResult};
use crate::rules::{BySeat, Seat, Viewer};

/// What came of an effect's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectResult {
    /// It worked.
    Worked,
    /// It was declined.
    Declined,
    /// It found nothing to work on.
    Nothing,
    /// It has no text, as its card was played under Candy Lockjaw.
    Mute,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "an event is handed on, not kept")]
pub enum Event {
    /// A hand was dealt.
    Dealt {
        /// The hand, from 0.
        hand: u32,
        /// Who dealt; the seat to the left leads.
        dealer: Seat,
        /// The hands.
        hands: BySeat<CardSet>,
        /// The leftover stash, top first.
        leftover: Vec<Card>,
        /// The Flavors dealt to each seat.
        flavors: BySeat<Vec<Flavor>>,
    },
    /// A seat kept one of its Flavors.
    FlavorKept {
        /// Who.
        seat: Seat,
        /// Which.
        flavor: Flavor,
    },
    /// A seat played a card to the trick.
    Played {
        /// Who.
        seat: Seat,
        /// What.
        card: Card,
        /// How.
        side: Side,
    },
    /// A card that was played face down was revealed.
    Revealed {
        /// Who played it.
        seat: Seat,
        /// The card.
        card: Card,
        /// How it was played.
        side: Side,
    },
    /// The winner of the trick picked the next effect.
    Picked {
        /// The card of the effect.
        card: Card,
    },
    /// A suit was named for an effect.
    Named {
        /// The card of the effect.
        card: Card,
        /// The suit.
        suit: Suit,
    },
    /// The top card of the leftover stash was turned up and lies there still.
    TurnedUp {
        /// The card whose effect did it.
        by: Card,
        /// The card turned up.
        card: Card,
    },
    /// An effect moved a card.
    Moved {
        /// The card whose effect did it.
        by: Card,
        /// The card moved.
        card: Card,
        /// Where it was.
        from: Spot,
        /// Where it is.
        to: Spot,
    },
    /// An effect had its turn, and all that it did was reported.
    Effect {
        /// The card of the effect.
        card: Card,
        /// Who played the card, was asked for it, or has it in the stash when the hand is scored.
        seat: Seat,
        /// What came of it.
        result: EffectResult,
    },
    /// The winner took the trick.
    TrickTaken {
        /// Who won it.
        winner: Seat,
        /// How many tricks it counts for.
        tricks: u8,
        /// What the winner took, with what lay beside the trick.
        cards: CardSet,
        /// Who leads the next trick; nobody after the last one of a hand.
        next_leader: Option<Seat>,
    },
    /// The hand was scored and the kept Flavors revealed.
    HandScored {
        /// What it was worth to each seat.
        results: BySeat<HandResult>,
        /// All points so far.
        totals: BySeat<u16>,
    },
    /// The match is over.
    Ended {
        /// Why.
        ending: Ending,
    },
}

/// What one viewer sees of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// See [`Event::Dealt`].
    Dealt {
        /// The hand, from 0.
        hand: u32,
        /// Who dealt.
        dealer: Seat,
        /// The viewer's own hand; a spectator has none.
        own_hand: CardSet,
        /// The number of cards in each hand.
        hand_size: u8,
        /// The number of cards in the leftover stash.
        leftover_size: u8,
        /// The Flavors dealt to the viewer.
        own_flavors: Vec<Flavor>,
    },
    /// See [`Event::FlavorKept`].
    FlavorKept {
        /// Who.
        seat: Seat,
        /// Which, for that seat alone.
        flavor: Option<Flavor>,
    },
    /// See [`Event::Played`].
    Played {
        /// Who.
        seat: Seat,
        /// What; of a card face down, for that seat alone.
        card: Option<Card>,
        /// How.
        side: Side,
    },
    /// See [`Event::Revealed`].
    Revealed {
        /// Who played it.
        seat: Seat,
        /// The card.
        card: Card,
        /// How it was played.
        side: Side,
    },
    /// See [`Event::Picked`].
    Picked {
        /// The card of the effect.
        card: Card,
    },
    /// See [`Event::Named`].
    Named {
        /// The card of the effect.
        card: Card,
        /// The suit.
        suit: Suit,
    },
    /// See [`Event::TurnedUp`].
    TurnedUp {
        /// The card whose effect did it.
        by: Card,
        /// The card turned up.
        card: Card,
    },
    /// See [`Event::Moved`].
    Moved {
        /// The card whose effect did it.
        by: Card,
        /// The card moved; into or out of a hand, for that seat alone.
        card: Option<Card>,
        /// Where it was.
        from: Spot,
        /// Where it is.
        to: Spot,
    },
    /// See [`Event::Effect`].
    Effect {
        /// The card of the effect.
        card: Card,
        /// Who played the card, was asked for it, or has it in the stash when the hand is scored.
        seat: Seat,
        /// What came of it.
        result: EffectResult,
    },
    /// See [`Event::TrickTaken`].
    TrickTaken {
        /// Who won it.
        winner: Seat,
        /// How many tricks it counts for.
        tricks: u8,
        /// What the winner took.
        cards: CardSet,
        /// Who leads the next trick of the hand.
        next_leader: Option<Seat>,
    },
    /// See [`Event::HandScored`].
    HandScored {
        /// What it was worth to each seat.
        results: BySeat<HandResult>,
        /// All points so far.
        totals: BySeat<u16>,
    },
    /// See [`Event::Ended`].
    Ended {
        /// Why.
        ending: Ending,
    },
}

impl Event {
    /// What the viewer sees. Nothing happens unnoticed: only cards and Flavors are hidden.
    #[must_use]
    pub fn seen_by(&self, viewer: Viewer) -> Seen {
        match *self {
            Self::Dealt { hand, dealer, ref hands, ref leftover, ref flavors } => Seen::Dealt {
                hand,
                dealer,
                own_hand: viewer.seat().map(|seat| hands[seat]).unwrap_or_default(),
                hand_size: HAND as u8,
                leftover_size: leftover.len() as u8,
                own_flavors: viewer.seat().map(|seat| flavors[seat].clone()).unwrap_or_default(),
            },
            Self::FlavorKept { seat, flavor } => {
                Seen::FlavorKept { seat, flavor: viewer.is(seat).then_some(flavor) }
            }
            Self::Played { seat, card, side } => {
                let open = side == Side::Up || viewer.is(seat);
                Seen::Played { seat, card: open.then_some(card), side }
            }
            Self::Revealed { seat, card, side } => Seen::Revealed { seat, card, side },
            Self::Picked { card } => Seen::Picked { card },
            Self::Named { card, suit } => Seen::Named { card, suit },
            Self::TurnedUp { by, card } => Seen::TurnedUp { by, card },
            Self::Moved { by, card, from, to } => {
                let open = [from, to].into_iter().all(|spot| match spot {
                    Spot::Hand(seat) => viewer.is(seat),
                    _ => true,
                });
                Seen::Moved { by, card: open.then_some(card), from, to }
            }
            Self::Effect { card, seat, result } => Seen::Effect { card, seat, result },
            Self::TrickTaken { winner, tricks, cards, next_leader } => {
                Seen::TrickTaken { winner, tricks, cards, next_leader }
            }
            Self::HandScored { results, totals } => Seen::HandScored { results, totals },
            Self::Ended { ending } => Seen::Ended { ending },
        }
    }
}
