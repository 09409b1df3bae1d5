//! What can be played together, and which play chooses first.

use serde::{Deserialize, Serialize};

use super::cards::{COPIES, Cards, Value};

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
        let high = cards.highest()?;
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

    /// What decides who chooses first, as one number, greater for the better play: more cards, then
    /// the higher value. Of equal ranks the earlier play comes first.
    #[must_use]
    pub const fn rank(self) -> u16 {
        u16::from_be_bytes([self.size, self.high.get()])
    }
}

const VALUES: usize = Value::ALL.len();
/// How many sizes a set can have, from 2 up.
const SET_SIZES: usize = COPIES as usize - 1;
/// Where the sets begin in [`EVERY`]; before them stand the solos.
const SETS: usize = VALUES;
/// Where the runs begin in [`EVERY`].
const RUNS: usize = SETS + VALUES * SET_SIZES;
/// How many combinations there are.
const ALL: usize = RUNS + VALUES * (VALUES - 1) / 2;

/// Every combination there is: solos by value, sets by value and then size, runs by lowest value and
/// then length.
///
/// Which of them a hand has is then one number with a bit for each, and listing them is one loop
/// over its bits. Loops over values, sizes and lengths would end at unforeseeable points, where a
/// processor that guesses ahead loses more time than the listing takes.
const EVERY: [Cards; ALL] = {
    let mut every = [Cards::NONE; ALL];
    let mut run = RUNS;
    let mut i = 0;
    while i < VALUES {
        let value = Value::ALL[i];
        every[i] = Cards::of(value, 1);
        let mut size = 0;
        while size < SET_SIZES {
            every[SETS + i * SET_SIZES + size] = Cards::of(value, size as u8 + 2);
            size += 1;
        }
        let mut high = i + 1;
        while high < VALUES {
            every[run] = Cards::run(value, Value::ALL[high]);
            run += 1;
            high += 1;
        }
        i += 1;
    }
    every
};

/// The runs that can be made of each set of values (as their bits): bit `n` stands for the
/// run at `RUNS + n` in [`EVERY`].
const RUNS_OF: [u16; 1 << VALUES] = {
    let mut runs_of = [0; 1 << VALUES];
    let mut values = 0;
    while values < runs_of.len() {
        let mut run = RUNS;
        while run < ALL {
            let needed = EVERY[run].distinct().bits() as usize;
            if values & needed == needed {
                runs_of[values] |= 1 << (run - RUNS);
            }
            run += 1;
        }
        values += 1;
    }
    runs_of
};

/// The combinations in a hand that may be played where a set or a run has fixed the kind: solos by
/// value, sets by value and then size, runs by lowest value and then length.
pub(super) fn in_hand(hand: Cards, fixed: Option<Kind>) -> impl Iterator<Item = Cards> {
    let values = hand.distinct().bits();
    let sets = (0..VALUES).fold(0_u128, |sets, i| {
        // Of one value there are sets of 2 up to all of its cards.
        let sizes = ((1_u128 << hand.count(Value::ALL[i])) - 1) >> 1;
        sets | sizes << (SETS + i * SET_SIZES)
    });
    let runs = u128::from(RUNS_OF[usize::from(values)]) << RUNS;
    let mut left = u128::from(values)
        | match fixed {
            Some(Kind::Set) => sets,
            Some(Kind::Run) => runs,
            None | Some(Kind::Solo) => sets | runs,
        };
    std::iter::from_fn(move || {
        let cards = *EVERY.get(left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(cards)
    })
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
    #[test]
    fn a_hand_lists_what_it_holds_of_every_combination() {
        let kinds = EVERY.map(|cards| Combination::of(cards).expect("a combination").kind);
        let number = |wanted| kinds.iter().filter(|&&kind| kind == wanted).count();
        assert_eq!([Kind::Solo, Kind::Set, Kind::Run].map(number), [6, 54, 15]);

        // All hands with up to three cards of each value.
        for hand in 0..4_u32.pow(6) {
            let hand = (0..6).map(|i| Cards::of(Value::ALL[i], (hand >> (2 * i)) as u8 & 3)).sum();
            for fixed in [None, Some(Kind::Set), Some(Kind::Run)] {
                let expected = EVERY.iter().zip(kinds).filter(|&(&cards, kind)| {
                    let fits = fixed.is_none() || kind == Kind::Solo || Some(kind) == fixed;
                    fits && Cards::contains(hand, cards)
                });
                assert!(in_hand(hand, fixed).eq(expected.map(|(&cards, _)| cards)), "{hand:?}");
            }
        }
        assert!(in_hand(Cards::DECK, None).eq(EVERY));
    }
}
