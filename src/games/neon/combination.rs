//! What can be played together, and which play chooses first.

use serde::{Deserialize, Serialize};

use super::cards::{Cards, Value};

/// The three ways to play cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// One card.
    Solo,
    /// Two or more cards of one value.
    Set,
    /// Two or more cards of consecutive values; 6 and 1 do not join.
    Run,
}

/// Cards that may be played together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Combination {
    /// Which of the three it is.
    pub kind: Kind,
    /// The number of cards.
    pub size: u8,
    /// The highest value.
    pub high: Value,
}

impl Combination {
    /// The combination that these cards are, if they are one.
    #[must_use]
    pub fn of(cards: Cards) -> Option<Self> {
        let size = cards.len();
        let high = *Value::ALL.iter().rev().find(|&&value| cards.count(value) > 0)?;
        let kind = if size == 1 {
            Kind::Solo
        } else if cards.count(high) == size {
            Kind::Set
        } else if high.get() >= size
            && cards == Cards::run(Value::ALL[usize::from(high.get() - size)], high)
        {
            Kind::Run
        } else {
            return None;
        };
        Some(Self { kind, size, high })
    }

    /// What decides who chooses first: more cards, then the higher value. Of equal ranks the
    /// earlier play comes first.
    #[must_use]
    pub const fn rank(self) -> (u8, Value) {
        (self.size, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_a_solo_a_set_a_run_or_nothing() {
        for (values, expected) in [
            (&[4][..], Some((Kind::Solo, 1, 4))),
            (&[5, 5, 5], Some((Kind::Set, 3, 5))),
            (&[2, 3], Some((Kind::Run, 2, 3))),
            (&[1, 2, 3, 4, 5, 6], Some((Kind::Run, 6, 6))),
            (&[], None),
            (&[2, 4], None),
            (&[1, 6], None),
            (&[2, 3, 3], None),
            (&[2, 2, 3, 3], None),
            (&[5, 6, 1], None),
        ] {
            let cards = values.iter().map(|&n| Value::new(n).expect("a value")).collect();
            let found = Combination::of(cards).map(|c| (c.kind, c.size, c.high.get()));
            assert_eq!(found, expected, "{values:?}");
        }
    }
}
