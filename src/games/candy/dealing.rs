//! Dealing a hand from the seed: the rulebook's "Deal the Hand" and "Favorite Flavors".

use arrayvec::ArrayVec;

use super::card::{Card, CardSet, MAX_CARDS};
use super::flavor::{DEALT, Flavor, MAX_FLAVORS};
use super::options::HAND;
use super::trick::Trick;
use super::{Candy, Decks, Event, Options, Stage};
use crate::rules::{BySeat, Seed, Setup, Shuffle, Sink};

impl Candy {
    /// The table after deal 0.
    pub(super) fn first_hand(setup: &Setup<Options>, seed: &Seed) -> Self {
        let (options, seats) = (setup.options(), setup.seats());
        let mut shuffle = seed.deal(0);
        let dealer = options.first_dealer.unwrap_or_else(|| {
            seats.seat(shuffle.below(seats.get().into())).expect("below the number of seats")
        });
        let decks = Decks::of(options);
        let mut game = Self {
            seats,
            seed: *seed,
            decks,
            target: options.target_score as u8,
            dont_be_greedy: options.dont_be_greedy,
            actions: 0,
            hand: 0,
            dealer,
            stage: Stage::Playing,
            asked: None,
            completed: 0,
            trick: Trick::led_by(dealer),
            last_trick: None,
            hands: BySeat::new(seats),
            stashes: BySeat::new(seats),
            leftover: ArrayVec::new(),
            beside: CardSet::NONE,
            held: CardSet::NONE,
            aside: decks.aside,
            flavors: BySeat::new(seats),
            kept: BySeat::new(seats),
            tricks: BySeat::new(seats),
            points: BySeat::new(seats),
        };
        game.deal_from(&mut shuffle);
        game
    }

    /// Clears the table of hand 0 or of the hand before, and makes deal `n`.
    pub(super) fn deal(&mut self, n: u32) {
        let steps = (n - self.hand) % u32::from(self.seats.get());
        self.dealer = self.seats.steps_left(self.dealer, steps as u8);
        self.hand = n;
        let mut shuffle = self.seed.deal(n);
        self.deal_from(&mut shuffle);
    }

    fn deal_from(&mut self, shuffle: &mut Shuffle) {
        let mut deck: ArrayVec<Card, MAX_CARDS> = self.decks.treats.iter().collect();
        shuffle.shuffle(&mut deck);
        let mut top = deck.into_iter();
        self.hands = BySeat::from_fn(self.seats, |_| top.by_ref().take(HAND).collect());
        self.leftover = top.collect();

        let mut deck: ArrayVec<Flavor, MAX_FLAVORS> = self.decks.flavors.iter().collect();
        shuffle.shuffle(&mut deck);
        let mut top = deck.into_iter();
        self.flavors = BySeat::from_fn(self.seats, |_| top.by_ref().take(DEALT).collect());
        self.kept = BySeat::new(self.seats);

        self.stashes = BySeat::new(self.seats);
        self.tricks = BySeat::new(self.seats);
        self.aside = self.decks.aside;
        (self.beside, self.held) = (CardSet::NONE, CardSet::NONE);
        self.completed = 0;
        self.last_trick = None;
        self.trick = Trick::led_by(self.seats.left_of(self.dealer));
        self.stage = if self.decks.flavors.is_empty() { Stage::Playing } else { Stage::Flavors };
    }

    /// Reports the hand that was just dealt.
    pub(super) fn report_deal(&self, sink: &mut impl Sink<Event>) {
        sink.report(|| Event::Dealt {
            hand: self.hand,
            dealer: self.dealer,
            hands: self.hands,
            leftover: self.leftover.to_vec(),
            flavors: self.flavors.map(|_, dealt| dealt.to_vec()),
        });
    }
}
