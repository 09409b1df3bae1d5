//! Cards of the Treat deck, each by its place in the printed list, and sets of them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::effects::Effect;
use super::printed::{Face, Kind, PRINTED, Text};
use super::suit::SuitSet;

/// The most cards that the printed list can have.
pub const MAX_CARDS: usize = 128;

/// A card: its place in the printed list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Card(u8);

impl Card {
    /// The card at this place, if the printed list has it.
    #[must_use]
    pub fn new(place: usize) -> Option<Self> {
        u8::try_from(place).ok().map(Self).filter(|&card| PRINTED.all.contains(card))
    }

    /// A card of the list that is being read.
    pub(super) const fn at(place: u8) -> Self {
        Self(place)
    }

    /// The card of this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        PRINTED.ids.get(id).copied()
    }

    /// Its place in the printed list, below [`MAX_CARDS`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// What is printed on it for people.
    #[must_use]
    pub fn text(self) -> &'static Text {
        &PRINTED.texts[self.index()]
    }

    /// Its stable id.
    #[must_use]
    pub fn id(self) -> &'static str {
        &self.text().id
    }

    /// What is printed on it for the rules.
    fn face(self) -> &'static Face {
        &PRINTED.faces[self.index()]
    }

    /// Its kind.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.face().kind
    }

    /// Its rank: −1 for a Prank, 0 for a Non-Candy, else above 0.
    #[must_use]
    pub fn rank(self) -> i8 {
        self.face().rank
    }

    /// Its suits.
    #[must_use]
    pub fn suits(self) -> SuitSet {
        self.face().suits
    }

    /// Its effect, if it has one.
    #[must_use]
    pub fn effect(self) -> Option<Effect> {
        self.face().effect
    }

    /// The card that its effect needs and that is set aside for it.
    #[must_use]
    pub fn sets_aside(self) -> Option<Self> {
        self.face().sets_aside
    }

    /// The Treats that share a suit with it.
    pub(super) fn sharing(self) -> CardSet {
        self.face().sharing
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Card {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = u8::deserialize(deserializer)?;
        Self::new(place.into()).ok_or_else(|| D::Error::custom("no such card"))
    }
}

/// A set of cards, one bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct CardSet(u128);

impl CardSet {
    /// No card.
    pub const NONE: Self = Self(0);

    /// This card alone.
    #[must_use]
    pub const fn only(card: Card) -> Self {
        Self(1 << card.0)
    }

    /// The first cards of the list, so many of them.
    pub(super) fn first(count: usize) -> Self {
        (0_u8..).take(count).map(Card).collect()
    }

    /// Whether the card is in the set.
    #[must_use]
    pub const fn contains(self, card: Card) -> bool {
        card.0 < 128 && self.0 >> card.0 & 1 == 1
    }

    /// Adds a card.
    pub fn insert(&mut self, card: Card) {
        self.0 |= 1 << card.0;
    }

    /// Takes a card out.
    pub fn remove(&mut self, card: Card) {
        self.0 &= !(1 << card.0);
    }

    /// The set without this card.
    #[must_use]
    pub const fn without(self, card: Card) -> Self {
        Self(self.0 & !(1 << card.0))
    }

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

    /// The cards, in the order of the printed list.
    pub fn iter(self) -> impl Iterator<Item = Card> + Clone {
        let mut left = self.0;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let place = left.trailing_zeros() as u8;
                left &= left - 1;
                Card(place)
            })
        })
    }
}

impl std::ops::BitOr for CardSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for CardSet {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl std::ops::BitAnd for CardSet {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl std::ops::Sub for CardSet {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl FromIterator<Card> for CardSet {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        cards.into_iter().fold(Self::NONE, |set, card| set | Self::only(card))
    }
}

impl<'de> Deserialize<'de> for CardSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let set = Self(u128::deserialize(deserializer)?);
        if (set - PRINTED.all).is_empty() { Ok(set) } else { Err(D::Error::custom("no such card")) }
    }
}

impl fmt::Debug for CardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.iter().map(Card::id).collect();
        write!(f, "[{}]", ids.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_lists_its_cards_in_the_order_of_the_printed_list() {
        let cards = [7, 0, 85].map(|place| Card::new(place).expect("a card"));
        let set: CardSet = cards.into_iter().collect();
        assert_eq!(set.iter().map(Card::index).collect::<Vec<_>>(), [0, 7, 85]);
        assert_eq!(set.len(), 3);
        assert!(!set.without(cards[0]).contains(cards[0]));
    }

    #[test]
    fn a_stored_card_that_was_never_printed_is_refused() {
        for place in [PRINTED.all.len(), 127, 128, 255] {
            let unknown = postcard::to_allocvec(&place).expect("stored");
            assert!(postcard::from_bytes::<Card>(&unknown).is_err(), "{place}");
        }
        let unknown = postcard::to_allocvec(&(1_u128 << 127)).expect("stored");
        assert!(postcard::from_bytes::<CardSet>(&unknown).is_err());
    }
}
