//! Cards of Best of Neapolitan, and hands and piles of them as bit sets.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::sequence::{Flavor, Sequence};

/// The highest number on a Monster card.
pub const HIGHEST: u8 = 11;
/// Standard Pass cards in the box.
pub const PASSES: u8 = 4;

/// A card. Standard Pass cards are interchangeable, so that there is only one of them here.
///
/// Inside it is the number of the card's bit in [`Cards`]: a lane of 16 bits for each flavor with
/// the number on the card as the place in it, then one bit for each variant Pass card, then as many
/// as there are standard Pass cards.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Card(u8);

/// What is printed on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// A Monster card.
    Monster {
        /// Its suit.
        flavor: Flavor,
        /// Its number, from 1 to 11.
        number: u8,
    },
    /// A standard Pass card.
    Pass,
    /// A variant Pass card with the sequence that it shows.
    VariantPass(Sequence),
}

/// Where the variant Pass cards begin.
const FIRST_VARIANT: u8 = 48;
/// Where the standard Pass cards begin.
const FIRST_PASS: u8 = 56;

/// The Monsters of Vanilla.
const LANE: u64 = 0b1111_1111_1110;
const MONSTERS: u64 = LANE | LANE << 16 | LANE << 32;
const VARIANT_PASSES: u64 = 0b11_1111 << FIRST_VARIANT;
const STANDARD_PASSES: u64 = 0b1111 << FIRST_PASS;
/// One more than the strength that any Monster can have.
const MATCHING: u8 = 4 << 4;

impl Card {
    /// A standard Pass card.
    pub const PASS: Self = Self(FIRST_PASS);

    /// The Monster of this flavor and number, if there is one.
    #[must_use]
    pub fn monster(flavor: Flavor, number: u32) -> Option<Self> {
        let number = u8::try_from(number).ok().filter(|n| (1..=HIGHEST).contains(n))?;
        Some(Self((flavor as u8) << 4 | number))
    }

    /// The Monsters from 1 to `highest` of each flavor, flavor by flavor.
    pub fn monsters(highest: u8) -> impl Iterator<Item = Self> {
        Flavor::ALL
            .into_iter()
            .flat_map(move |flavor| (1..=highest).map(move |n| Self((flavor as u8) << 4 | n)))
    }

    /// The variant Pass card that shows this sequence.
    #[must_use]
    pub const fn variant_pass(sequence: Sequence) -> Self {
        Self(FIRST_VARIANT + sequence.index())
    }

    /// What is printed on the card.
    #[must_use]
    pub fn face(self) -> Face {
        if let Some(flavor) = self.flavor() {
            Face::Monster { flavor, number: self.0 & 15 }
        } else if let Some(sequence) = self.sequence() {
            Face::VariantPass(sequence)
        } else {
            Face::Pass
        }
    }

    /// The flavor; a Pass card has none.
    #[must_use]
    pub fn flavor(self) -> Option<Flavor> {
        Flavor::ALL.get(usize::from(self.0 >> 4)).copied()
    }

    /// The sequence on a variant Pass card; no other card has one.
    #[must_use]
    pub fn sequence(self) -> Option<Sequence> {
        self.0.checked_sub(FIRST_VARIANT).and_then(|index| Sequence::try_from(index).ok())
    }

    /// Whether it is a Pass card, standard or variant.
    #[must_use]
    pub const fn is_pass(self) -> bool {
        self.0 >= FIRST_VARIANT
    }

    /// What decides a trick under this flavor stack: nothing for a Pass card, unless it shows the
    /// stack's own sequence, which nothing beats; of Monsters the flavor, then the number.
    #[must_use]
    pub fn strength(self, stack: Sequence) -> u8 {
        match self.flavor() {
            Some(flavor) => stack.strength(flavor) << 4 | self.0 & 15,
            None if self == Self::variant_pass(stack) => MATCHING,
            None => 0,
        }
    }

    /// The stable id, as in `vanilla_4`, `pass` and `pass_chocolate_vanilla_strawberry`.
    #[must_use]
    pub fn id(self) -> String {
        match self.face() {
            Face::Monster { flavor, number } => format!("{}_{number}", flavor.id()),
            Face::Pass => "pass".to_owned(),
            Face::VariantPass(sequence) => {
                let [first, second, third] = sequence.flavors().map(Flavor::id);
                format!("pass_{first}_{second}_{third}")
            }
        }
    }
}

impl TryFrom<u8> for Card {
    type Error = &'static str;

    fn try_from(bit: u8) -> Result<Self, Self::Error> {
        let card = Self(bit);
        let known = bit < 64 && (MONSTERS | VARIANT_PASSES) >> bit & 1 == 1;
        if known || card == Self::PASS { Ok(card) } else { Err("no such card") }
    }
}

impl From<Card> for u8 {
    fn from(card: Card) -> Self {
        card.0
    }
}

/// A letter and the number, as in `V4`; `P`; or `P:` and the letters of the sequence.
impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.face() {
            Face::Monster { flavor, number } => write!(f, "{}{number}", flavor.letter()),
            Face::Pass => f.write_str("P"),
            Face::VariantPass(sequence) => write!(f, "P:{sequence:?}"),
        }
    }
}

/// Cards that lie together: each at most once, but for standard Pass cards.
///
/// Of these the lowest bits are set, as many as there are of them, so that equal sets of cards are
/// equal words whichever of the Pass cards they hold.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Cards(u64);

impl Cards {
    /// No cards.
    pub const NONE: Self = Self(0);

    /// How many cards there are.
    #[must_use]
    pub const fn len(self) -> u8 {
        self.0.count_ones() as u8
    }

    /// Whether there is no card.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the card is here.
    #[must_use]
    pub const fn contains(self, card: Card) -> bool {
        self.0 >> card.0 & 1 == 1
    }

    /// Adds a card that is not here, or a standard Pass card.
    pub fn insert(&mut self, card: Card) {
        if card == Card::PASS {
            self.0 |= (self.0 & STANDARD_PASSES) << 1 | 1 << FIRST_PASS;
        } else {
            debug_assert!(!self.contains(card), "{card:?} is here already");
            self.0 |= 1 << card.0;
        }
    }

    /// Takes out a card that is here.
    pub fn remove(&mut self, card: Card) {
        debug_assert!(self.contains(card), "{card:?} is not here");
        if card == Card::PASS {
            let passes = self.0 & STANDARD_PASSES;
            self.0 = self.0 & !STANDARD_PASSES | passes >> 1 & STANDARD_PASSES;
        } else {
            self.0 &= !(1 << card.0);
        }
    }

    /// The Monsters of this flavor.
    #[must_use]
    pub const fn of(self, flavor: Flavor) -> Self {
        Self(self.0 & LANE << (16 * flavor as u32))
    }

    /// What a hand may play when this flavor is led: these Monsters and Pass cards, or anything
    /// where it has none of these Monsters.
    #[must_use]
    pub const fn following(self, suit: Flavor) -> Self {
        let monsters = self.of(suit);
        if monsters.is_empty() {
            self
        } else {
            Self(monsters.0 | self.0 & (VARIANT_PASSES | STANDARD_PASSES))
        }
    }

    /// The cards, equal ones once: Vanilla, Chocolate, Strawberry, each from the lowest number, then
    /// variant Pass cards in the order of [`Sequence::ALL`], then the standard Pass card.
    pub fn distinct(self) -> impl Iterator<Item = Card> {
        Self(self.0 & !(STANDARD_PASSES << 1)).iter()
    }

    /// Every card, in the order of [`Cards::distinct`].
    pub fn iter(self) -> impl Iterator<Item = Card> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as u8;
            left &= left.wrapping_sub(1);
            (bit < 64).then_some(Card(bit.min(FIRST_PASS)))
        })
    }
}

impl FromIterator<Card> for Cards {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        cards.into_iter().fold(Self::NONE, |mut all, card| {
            all.insert(card);
            all
        })
    }
}

impl<'de> Deserialize<'de> for Cards {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cards = Self(u64::deserialize(deserializer)?);
        let known = cards.0 & !(MONSTERS | VARIANT_PASSES | STANDARD_PASSES) == 0;
        let passes = cards.0 >> FIRST_PASS;
        if known && passes & (passes + 1) == 0 {
            Ok(cards)
        } else {
            Err(D::Error::custom("not a set of cards"))
        }
    }
}

impl fmt::Debug for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, card) in self.iter().enumerate() {
            write!(f, "{}{card:?}", if i == 0 { "" } else { " " })?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every card there is.
    fn all() -> impl Iterator<Item = Card> {
        let variants = Sequence::ALL.into_iter().map(Card::variant_pass);
        Card::monsters(HIGHEST).chain(variants).chain([Card::PASS])
    }

    #[test]
    fn every_card_has_one_bit_and_one_id() {
        assert_eq!(all().count(), 40);
        assert_eq!(all().map(Card::id).collect::<std::collections::HashSet<_>>().len(), 40);
        let cards: Cards = all().collect();
        assert_eq!(cards.iter().collect::<Vec<_>>(), all().collect::<Vec<_>>());
        for bit in 0..=u8::MAX {
            let known = Card::try_from(bit).is_ok();
            assert_eq!(known, all().any(|card| card.0 == bit), "bit {bit}");
        }
    }

    #[test]
    fn standard_passes_are_counted_and_listed_once() {
        let mut cards: Cards = [Card::PASS; PASSES as usize].into_iter().collect();
        assert_eq!(format!("{cards:?}"), "[P P P P]");
        cards.remove(Card::PASS);
        assert_eq!(cards.len(), 3);
        assert_eq!(cards.distinct().collect::<Vec<_>>(), [Card::PASS]);
        for _ in 0..3 {
            cards.remove(Card::PASS);
        }
        assert_eq!(cards, Cards::NONE);
    }

    #[test]
    fn a_number_that_is_no_set_of_cards_is_not_loaded() {
        for (bits, known) in [(MONSTERS, true), (1, false), (1 << 55, false), (0b10 << 56, false)] {
            let stored = postcard::to_allocvec(&bits).expect("stored");
            assert_eq!(postcard::from_bytes::<Cards>(&stored).is_ok(), known, "{bits:#x}");
        }
    }
}
