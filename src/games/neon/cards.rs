//! Cards of NeoN: only their values count, so a hand is a multiset of values.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// Copies of each value in the deck.
pub const COPIES: u8 = 10;

/// The number on a card, 1 to 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(u8);

impl Value {
    /// All values, lowest first.
    pub const ALL: [Self; 6] = [Self(1), Self(2), Self(3), Self(4), Self(5), Self(6)];

    /// The value of this number, if a card can have it.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        u8::try_from(number).ok().filter(|n| (1..=6).contains(n)).map(Self)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// A multiset of cards: how many there are of each value.
///
/// Six bytes of one word hold the six counts, value 1 lowest, so that adding, removing and comparing
/// whole hands are single operations. No count exceeds `COPIES`, so the bytes never touch.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Cards(u64);

/// The top bit of each of the six bytes.
const TOPS: u64 = 0x8080_8080_8080;
/// One card of each value.
const ONES: u64 = 0x0101_0101_0101;

impl Cards {
    /// No cards.
    pub const NONE: Self = Self(0);
    /// The whole deck.
    pub const DECK: Self = Self(ONES * COPIES as u64);

    /// So many cards of one value; at most `COPIES`.
    #[must_use]
    pub const fn of(value: Value, count: u8) -> Self {
        debug_assert!(count <= COPIES);
        Self((count as u64) << (8 * (value.0 - 1)))
    }

    /// The cards of these values, or `None` for more of one value than the deck has.
    pub fn from_values(values: impl IntoIterator<Item = Value>) -> Option<Self> {
        values.into_iter().try_fold(Self::NONE, |cards, value| {
            (cards.count(value) < COPIES).then(|| cards + Self::of(value, 1))
        })
    }

    /// One card of each value from `low` to `high`.
    #[must_use]
    pub const fn run(low: Value, high: Value) -> Self {
        Self((ONES << (8 * (low.0 - 1))) & (ONES >> (8 * (6 - high.0))))
    }

    /// How many cards of this value there are.
    #[must_use]
    pub const fn count(self, value: Value) -> u8 {
        (self.0 >> (8 * (value.0 - 1))) as u8
    }

    /// How many cards there are.
    #[must_use]
    pub const fn len(self) -> u8 {
        (self.0.wrapping_mul(ONES) >> 40) as u8
    }

    /// Whether there is no card.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` is here.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        ((self.0 | TOPS) - other.0) & TOPS == TOPS
    }

    /// The sum of the values.
    #[must_use]
    pub fn sum(self) -> u8 {
        Value::ALL.iter().map(|&value| value.0 * self.count(value)).sum()
    }

    /// The values that are here, each once, lowest first.
    pub fn distinct(self) -> impl Iterator<Item = Value> {
        Value::ALL.into_iter().filter(move |&value| self.count(value) > 0)
    }

    /// Every card's value, lowest first.
    pub fn values(self) -> impl Iterator<Item = Value> {
        Value::ALL
            .into_iter()
            .flat_map(move |value| std::iter::repeat_n(value, self.count(value).into()))
    }
}

impl std::ops::Add for Cards {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl std::ops::AddAssign for Cards {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::ops::SubAssign for Cards {
    fn sub_assign(&mut self, other: Self) {
        debug_assert!(self.contains(other));
        self.0 -= other.0;
    }
}

impl FromIterator<Value> for Cards {
    /// The cards of these values, which come from one deck.
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        values.into_iter().fold(Self::NONE, |cards, value| cards + Self::of(value, 1))
    }
}

impl<'de> Deserialize<'de> for Cards {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cards = Self(u64::deserialize(deserializer)?);
        let known = cards.0 >> 48 == 0;
        if known && Value::ALL.iter().all(|&value| cards.count(value) <= COPIES) {
            Ok(cards)
        } else {
            Err(D::Error::custom("more cards of a value than the deck has"))
        }
    }
}

impl fmt::Debug for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, value) in self.values().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { " " }, value.0)?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(values: &[u32]) -> Cards {
        values.iter().map(|&n| Value::new(n).expect("a value")).collect()
    }

    #[test]
    fn a_multiset_counts_each_value_by_itself() {
        let hand = cards(&[1, 1, 4, 6, 6, 6]);
        assert_eq!(hand.len(), 6);
        assert_eq!(hand.sum(), 24);
        assert_eq!(hand.values().map(Value::get).collect::<Vec<_>>(), [1, 1, 4, 6, 6, 6]);
        assert!(hand.contains(cards(&[1, 6, 6])));
        assert!(!hand.contains(cards(&[4, 4])));
        assert!(!hand.contains(cards(&[5])));
        assert_eq!(Cards::DECK.len(), 60);
    }

    #[test]
    fn a_run_has_one_card_of_each_value() {
        let [_, two, three, four, _, six] = Value::ALL;
        assert_eq!(Cards::run(two, four), cards(&[2, 3, 4]));
        assert_eq!(Cards::run(three, three), cards(&[3]));
        assert_eq!(Cards::run(Value::ALL[0], six), Cards(ONES));
    }

    #[test]
    fn no_more_cards_of_a_value_than_the_deck_has() {
        let six = Value::ALL[5];
        assert!(Cards::from_values([six; 10]).is_some());
        assert!(Cards::from_values([six; 11]).is_none());
        let stored = postcard::to_allocvec(&(11_u64 << 8)).expect("stored");
        assert!(postcard::from_bytes::<Cards>(&stored).is_err());
    }
}
