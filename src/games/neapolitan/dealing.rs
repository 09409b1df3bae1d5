//! Dealing: the rulebook's "Setup" and "New Round". All that is random happens here, in the order
//! that the game's documentation states.

use arrayvec::ArrayVec;

use super::cards::{Card, Cards};
use super::numbers::{LEFTOVERS, Numbers, TRICKS};
use super::sequence::{Flavor, Sequence};
use super::{Event, Options};
use crate::rules::{BySeat, Seat, SeatCount, Setup, Shuffle, Sink};

/// The most cards that a deck has, with five players.
const LARGEST_DECK: usize = 37;

/// What is drawn once in a match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub(super) stack: Sequence,
    pub(super) leader: Seat,
}

impl Opening {
    /// The first draws of deal 0.
    pub(super) fn draw(setup: &Setup<Options>, shuffle: &mut Shuffle) -> Self {
        let mut flavors = Flavor::ALL;
        shuffle.shuffle(&mut flavors);
        let stack = Sequence::new(flavors).expect("each flavor once");
        let seats = setup.seats();
        let leader = setup.options().first_leader.unwrap_or_else(|| {
            seats.seat(shuffle.below(seats.get().into())).expect("below the number of seats")
        });
        Self { stack, leader }
    }

    pub(super) fn report(self, sink: &mut impl Sink<Event>) {
        sink.report(|| Event::SetUp { stack: self.stack, leader: self.leader });
    }
}

/// The cards of one round.
#[derive(Clone, Debug)]
pub(super) struct Deal {
    pub(super) hands: BySeat<Cards>,
    pub(super) leftovers: [Card; LEFTOVERS],
}

impl Deal {
    /// What comes next in the randomness of a deal.
    pub(super) fn draw(options: Options, seats: SeatCount, shuffle: &mut Shuffle) -> Self {
        let mut deck = deck(options, seats, shuffle);
        shuffle.shuffle(&mut deck);
        let (dealt, leftovers) = deck.split_at(usize::from(TRICKS) * seats.size());
        let mut hands = dealt.chunks_exact(TRICKS.into());
        Self {
            hands: BySeat::from_fn(seats, |_| {
                hands.next().into_iter().flatten().copied().collect()
            }),
            leftovers: leftovers.try_into().expect("a deck has two cards more than the hands"),
        }
    }

    /// Reports the deal of this number, counted from 0.
    pub(super) fn report(&self, deal: u32, options: Options, sink: &mut impl Sink<Event>) {
        sink.report(|| Event::Dealt {
            deal,
            hands: self.hands,
            leftovers: self.leftovers,
            secret: options.secret_ingredients,
        });
    }
}

/// The unshuffled deck of a round; variant Pass cards are drawn for it.
fn deck(options: Options, seats: SeatCount, shuffle: &mut Shuffle) -> ArrayVec<Card, LARGEST_DECK> {
    let Numbers { highest, passes, .. } = Numbers::of(seats);
    let mut deck: ArrayVec<Card, LARGEST_DECK> = Card::monsters(highest).collect();
    if options.ice_cream_you_scream {
        let mut variants = Sequence::ALL.map(Card::variant_pass);
        shuffle.shuffle(&mut variants);
        deck.extend(variants.into_iter().take(passes.into()));
    } else {
        deck.extend(std::iter::repeat_n(Card::PASS, passes.into()));
    }
    deck
}
