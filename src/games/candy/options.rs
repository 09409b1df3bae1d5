//! What is chosen when a match is created, and the decks that come of it.

use serde::{Deserialize, Serialize};

use super::Candy;
use super::card::{Card, CardSet};
use super::flavor::{Flavor, FlavorSet};
use super::printed::{PRINTED, Set};
use crate::rules::{BadOption, Seat, SeatCount};

/// Cards in each hand.
pub const HAND: usize = 13;

/// The most mistakes in the lists of cards that are told: they travel in a header.
const MOST_TOLD: usize = 20;

/// The score that ends a match unless the options say otherwise.
pub const STANDARD_TARGET: u32 = 31;

/// What is chosen when a match is created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule that is on or off")]
pub struct Options {
    /// The score that ends the match, from 1 to 100.
    pub target_score: u32,
    /// Who alone wins the most tricks of a hand scores nothing for them.
    pub dont_be_greedy: bool,
    /// Each seat keeps one of three Flavors and scores for what matches it.
    pub favorite_flavors: bool,
    /// The King Sized expansion is in the deck.
    pub king_sized: bool,
    /// The alternate King-Size Bar takes the place of the original.
    pub alternate_king_size_bar: bool,
    /// The Lost Treats expansion is in the decks.
    pub lost_treats: bool,
    /// The ids of single cards to put into the Treat deck.
    pub add_cards: Vec<String>,
    /// The ids of single cards to leave out of the Treat deck.
    pub remove_cards: Vec<String>,
    /// Who deals the first hand; drawn at random when left out.
    pub first_dealer: Option<Seat>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            target_score: STANDARD_TARGET,
            dont_be_greedy: false,
            favorite_flavors: false,
            king_sized: false,
            alternate_king_size_bar: false,
            lost_treats: false,
            add_cards: Vec::new(),
            remove_cards: Vec::new(),
            first_dealer: None,
        }
    }
}

/// What is shuffled for every hand, and what waits beside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decks {
    /// The Treat deck.
    pub treats: CardSet,
    /// The cards set aside for the effects of cards in the Treat deck.
    pub aside: CardSet,
    /// The Flavor deck; empty when nobody keeps a Flavor.
    pub flavors: FlavorSet,
}

impl Decks {
    /// The decks of these options.
    #[must_use]
    pub fn of(options: &Options) -> Self {
        Self::judge(options, &mut Vec::new())
    }

    /// Sets, then the bar, then what is removed, then what is added; what cannot be is reported and
    /// passed over.
    fn judge(options: &Options, bad: &mut Vec<BadOption>) -> Self {
        let mut treats = options.cards_of_sets();
        let mut named = CardSet::NONE;
        for id in &options.remove_cards {
            match card_named(id, &mut named, options) {
                Err(why) => bad.push(BadOption::new("remove_cards", why)),
                Ok(card) if !treats.contains(card) => {
                    bad.push(BadOption::new("remove_cards", format!("{id} is not in the deck")));
                }
                Ok(card) => treats.remove(card),
            }
        }
        named = CardSet::NONE;
        for id in &options.add_cards {
            match card_named(id, &mut named, options) {
                Err(why) => bad.push(BadOption::new("add_cards", why)),
                Ok(card) if treats.contains(card) => {
                    bad.push(BadOption::new("add_cards", format!("{id} is in the deck already")));
                }
                Ok(card) => treats.insert(card),
            }
        }
        let aside = treats.iter().filter_map(Card::sets_aside).collect();
        Self { treats, aside, flavors: options.flavor_deck() }
    }
}

/// The Treat-deck card that an entry of `add_cards` or `remove_cards` names.
fn card_named(id: &str, named: &mut CardSet, options: &Options) -> Result<Card, String> {
    if Flavor::from_id(id).is_some() {
        return Err(format!("{id} is a Flavor, not a card of the Treat deck"));
    }
    let card = Card::from_id(id).ok_or_else(|| {
        let beginning: String = id.chars().take(32).collect();
        format!("no card has the id {beginning:?}")
    })?;
    if named.contains(card) {
        return Err(format!("{id} is there twice"));
    }
    named.insert(card);
    if card.text().set == Set::SetAside {
        return Err(format!("{id} is never in the deck: it is set aside for another card"));
    }
    if options.add_cards.iter().any(|added| added == id)
        && options.remove_cards.iter().any(|removed| removed == id)
    {
        return Err(format!("{id} is to be added and removed"));
    }
    Ok(card)
}

impl Options {
    /// Whether the set is in the decks.
    const fn has(&self, set: Set) -> bool {
        match set {
            Set::Base => true,
            Set::KingSized => self.king_sized,
            Set::KingSizedAlternateBar => self.alternate_king_size_bar,
            Set::LostTreats => self.lost_treats,
            Set::SetAside => false,
        }
    }

    /// The Treat deck of the chosen sets: a set's cards come in, and what they replace goes out.
    fn cards_of_sets(&self) -> CardSet {
        let chosen = || PRINTED.all.iter().filter(|card| self.has(card.text().set));
        let replaced: CardSet = chosen().filter_map(|card| card.text().replaces).collect();
        chosen().collect::<CardSet>() - replaced
    }

    fn flavor_deck(&self) -> FlavorSet {
        let flavors = || PRINTED.flavors.iter().enumerate();
        let chosen = flavors().filter(|(place, flavor)| {
            let replaced =
                flavors().any(|(_, other)| self.has(other.set) && other.replaces == Some(*place));
            self.favorite_flavors && self.has(flavor.set) && !replaced
        });
        chosen.filter_map(|(place, _)| Flavor::new(place)).collect()
    }

    /// Everything wrong with the options for a table of so many seats; of lists with many mistakes,
    /// the first ones.
    #[must_use]
    pub fn check(&self, seats: SeatCount) -> Vec<BadOption> {
        let mut bad = Vec::new();
        let count = usize::from(seats.get());
        if !Candy::SEATS.contains(&seats.get()) {
            bad.push(BadOption::new("seats", format!("the game has 2 to 5 seats, not {count}")));
        }
        if !Candy::TARGETS.contains(&self.target_score) {
            let why = format!("a target is from 1 to 100, not {}", self.target_score);
            bad.push(BadOption::new("target_score", why));
        }
        let mut in_lists = Vec::new();
        let deck = usize::from(Decks::judge(self, &mut in_lists).treats.len());
        bad.extend(in_lists.into_iter().take(MOST_TOLD));
        if deck < count * HAND {
            let why = format!("{count} seats need {} cards, the deck has {deck}", count * HAND);
            bad.push(BadOption::new("seats", why));
        }
        if let Some(seat) = self.first_dealer.filter(|&seat| !seats.contains(seat)) {
            let why = format!("a table of {count} has no seat {seat}");
            bad.push(BadOption::new("first_dealer", why));
        }
        bad
    }
}
