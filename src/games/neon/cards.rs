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
    pub const fn sum(self) -> u8 {
        // The product's sixth byte adds up each count times its value, as weights 6 to 1 meet counts
        // 1 to 6 there. The whole deck's sum fits in a byte, so nothing is carried.
        (self.0.wrapping_mul(0x0102_0304_0506) >> 40) as u8
    }

    /// The values that are here, each once, lowest first.
    #[must_use]
    pub const fn distinct(self) -> Values {
        self.at_least(1)
    }

    /// The values of which there are at least so many cards, from 1 up; lowest first.
    #[must_use]
    pub const fn at_least(self, count: u8) -> Values {
        debug_assert!(1 <= count && count <= COPIES);
        // A byte that is large enough reaches its top bit; the product then moves the six top bits
        // side by side, value 1 lowest.
        let reached = (self.0 + ONES * (0x80 - count as u64)) & TOPS;
        Values(((reached >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8)
    }

    /// The highest value that is here.
    #[must_use]
    pub fn highest(self) -> Option<Value> {
        let byte = self.0.checked_ilog2()? / 8;
        Some(Value(byte as u8 + 1))
    }

    /// Every card's value, lowest first.
    pub fn values(self) -> impl Iterator<Item = Value> {
        Value::ALL
            .into_iter()
            .flat_map(move |value| std::iter::repeat_n(value, self.count(value).into()))
    }
}

/// Values, each at most once, lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values(u8);

impl Values {
    /// One bit for each value that is still to come, value 1 lowest.
    pub(super) const fn bits(&self) -> u8 {
        self.0
    }
}

impl Iterator for Values {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let value = *Value::ALL.get(self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.count_ones() as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Values {}

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

impl std::iter::Sum for Cards {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::NONE, |sum, cards| sum + cards)
    }
}

impl FromIterator<Value> for Cards {
    /// The cards of these values, which come from one deck.
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        values.into_iter().map(|value| Self::of(value, 1)).sum()
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
        assert_eq!(Cards::DECK.sum(), 210);
    }

    #[test]
    fn values_are_told_by_how_many_cards_there_are() {
        let hand = cards(&[1, 1, 4, 6, 6, 6]);
        let numbers = |values: Values| values.map(Value::get).collect::<Vec<_>>();
        assert_eq!(numbers(hand.distinct()), [1, 4, 6]);
        assert_eq!(numbers(hand.at_least(2)), [1, 6]);
        assert_eq!(numbers(hand.at_least(3)), [6]);
        assert_eq!(numbers(Cards::DECK.at_least(10)), [1, 2, 3, 4, 5, 6]);
        assert_eq!(hand.distinct().len(), 3);
        assert_eq!(hand.highest(), Some(Value(6)));
        assert_eq!(cards(&[3, 1]).highest(), Some(Value(3)));
        assert_eq!(Cards::NONE.highest(), None);
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
