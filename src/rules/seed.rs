//! The secret that a match's randomness comes from, and the shuffles derived from it.
//!
//! # The algorithm
//!
//! It is fixed: matches are verified with it long after they were played.
//!
//! 1. A match has a 32-byte secret from the operating system. Its SHA-256 is the *commitment*,
//!    published when the match is created.
//! 2. The *seed* of the match is SHA-256 over the ASCII text `parlor.v1 seed`, the secret, one byte
//!    with the number of seats, and for each seat in order the 32-byte SHA-256 of the entropy that
//!    its player added (of nothing, where none was added).
//! 3. Deal `n`, counted from 0, draws from the key stream of ChaCha20 (RFC 8439: zero nonce, block
//!    counter from 0), read as 32-bit little-endian words. Its key is SHA-256 over the ASCII text
//!    `parlor.v1 deal`, the seed, and `n` as four bytes, little-endian.
//! 4. A number below `k` is drawn from one word `w` as the upper half of the 64-bit product `w·k`;
//!    when the lower half is less than 2³² mod `k`, the word is dropped and the next one taken.
//! 5. A list is shuffled from its end: for `i` from the last index down to 1, the items at `i` and
//!    at a number drawn below `i + 1` change places.
//!
//! What a game draws besides the cards, in which order, stands in its module's documentation. The
//! tests below hold vectors for each step.

use std::fmt;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::rules::BySeat;

/// What a player adds to the randomness of a match, of any content.
pub type Entropy = Vec<u8>;

/// 256 bits that decide every deal of a match.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A seed of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, to reveal them after the match.
    #[must_use]
    pub const fn reveal(&self) -> [u8; 32] {
        self.0
    }

    /// What is published before the match begins: SHA-256 of the secret.
    #[must_use]
    pub fn commitment(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }

    /// The seed of a match whose secret this is, with what each player added.
    #[must_use]
    pub fn with_entropy(&self, entropy: &BySeat<Entropy>) -> Self {
        let mut hash = Sha256::new_with_prefix(b"parlor.v1 seed");
        hash.update(self.0);
        hash.update([entropy.seats().get()]);
        for added in entropy.values() {
            hash.update(Sha256::digest(added));
        }
        Self(hash.finalize().into())
    }

    /// The randomness of the `n`-th deal, counted from 0.
    #[must_use]
    pub fn deal(&self, n: u32) -> Shuffle {
        let mut hash = Sha256::new_with_prefix(b"parlor.v1 deal");
        hash.update(self.0);
        hash.update(n.to_le_bytes());
        Shuffle(ChaCha20Rng::from_seed(hash.finalize().into()))
    }
}

/// Shows nothing of the bytes: a seed must not reach a log.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// The randomness of one deal.
#[derive(Clone, Debug)]
pub struct Shuffle(ChaCha20Rng);

impl Shuffle {
    /// A number from 0 up to but not including `bound`, each equally likely.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "there is no number below 0");
        loop {
            let product = u64::from(self.0.next_u32()) * u64::from(bound);
            let (upper, lower) = ((product >> 32) as u32, product as u32);
            // 2³² mod bound is below bound, so the division is needed only now and then.
            if lower >= bound || lower >= bound.wrapping_neg() % bound {
                return upper;
            }
        }
    }

    /// Puts the items into a random order, each equally likely.
    ///
    /// # Panics
    /// For 2³² items or more.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(u32::try_from(i + 1).expect("a deck of fewer than 2³² cards"));
            items.swap(i, j as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The secret of the vectors: the bytes 0 to 31.
    fn secret() -> Seed {
        Seed::new(std::array::from_fn(|i| i as u8))
    }

    /// The next words of a stream.
    fn words<const N: usize>(shuffle: &mut Shuffle) -> [u32; N] {
        std::array::from_fn(|_| shuffle.0.next_u32())
    }

    #[test]
    fn the_commitment_is_the_hash_of_the_secret() {
        let expected = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd";
        assert_eq!(hex::encode(secret().commitment()), expected);
    }

    #[test]
    fn the_seed_mixes_the_secret_with_what_each_seat_added() {
        let entropy = vec![Vec::new(), b"parlor".to_vec(), vec![0xff; 3]];
        let entropy = BySeat::from_vec(entropy).expect("a table");
        let expected = "d9d836bb20ff200c6f3572658f52b637dc0456d41a83625c8bf4114e9d18eca3";
        assert_eq!(hex::encode(secret().with_entropy(&entropy).reveal()), expected);
    }

    #[test]
    fn the_key_stream_is_that_of_rfc_8439() {
        // Appendix A.1, test vectors 1 and 2: key and nonce zero, blocks 0 and 1.
        let expected = "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7\
                        da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586\
                        9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed\
                        29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f";
        let mut shuffle = Shuffle(ChaCha20Rng::from_seed([0; 32]));
        let stream: Vec<u8> =
            words::<32>(&mut shuffle).into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(hex::encode(stream), expected);
    }

    #[test]
    fn each_deal_has_a_stream_of_its_own() {
        for (deal, expected) in [
            (0, [0x7ea7_b3f5, 0x51d7_301e, 0xab6d_850c, 0xb0f0_5b94]),
            (1, [0x03bf_07fc, 0xcd7c_ae72, 0xa6fa_57e9, 0xdb30_966e]),
            (0x0102_0304, [0x368e_99e3, 0xf368_7c3a, 0xb434_8ca8, 0x5f76_84ea]),
        ] {
            assert_eq!(words(&mut secret().deal(deal)), expected, "deal {deal}");
        }
        let long: [u32; 80] = words(&mut secret().deal(0));
        assert_eq!(long[62..66], [0x0509_f77f, 0x0b23_3e21, 0xec0f_b579, 0x9382_2078]);
        assert_eq!(long[79], 0xbe62_64db);
    }

    #[test]
    fn a_number_below_a_bound_takes_the_next_word_that_is_not_dropped() {
        const MANY: u32 = 3_000_000_000;
        let mut shuffle = secret().deal(0);
        for (bound, expected) in [
            (1, 0),
            (2, 0),
            (6, 4),
            (60, 41),
            (1000, 97),
            // Of these bounds almost a third of all words is dropped; here two are.
            (MANY, 621_643_709),
            (MANY, 1_341_485_498),
            (MANY, 1_846_747_534),
            (MANY, 1_218_292_315),
            (MANY, 309_361_644),
            (MANY, 932_490_383),
            (u32::MAX, 1_345_249_576),
        ] {
            assert_eq!(shuffle.below(bound), expected, "below {bound}");
        }
    }

    #[test]
    fn a_list_is_shuffled_from_its_end() {
        let mut letters = *b"abcdefgh";
        let mut shuffle = secret().deal(1);
        shuffle.shuffle(&mut letters);
        assert_eq!(&letters, b"bhgcedfa");
        assert_eq!(words(&mut shuffle), [0xb8ee_12ca], "seven words were drawn");

        let mut deck: [u8; 60] = std::array::from_fn(|i| i as u8);
        secret().deal(0).shuffle(&mut deck);
        let expected = [
            12, 27, 51, 19, 3, 58, 11, 57, 37, 4, 22, 42, 56, 43, 16, 33, 52, 13, 25, 15, 50, 49,
            48, 26, 32, 46, 9, 1, 2, 35, 30, 54, 24, 34, 41, 28, 17, 6, 59, 45, 7, 21, 8, 0, 40,
            36, 47, 14, 55, 20, 31, 23, 10, 44, 53, 5, 39, 38, 18, 29,
        ];
        assert_eq!(deck, expected);
    }

    /// The chi-square statistic of counts that should all be equal.
    fn chi_square(counts: &[u32]) -> f64 {
        let cells = f64::from(u32::try_from(counts.len()).expect("few counts"));
        let expected = f64::from(counts.iter().sum::<u32>()) / cells;
        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum()
    }

    // In each of these tests the bounds are the chi-square quantiles of 10⁻⁶ and 1 − 10⁻⁶ for the
    // degrees of freedom: counts that are too even are as suspicious as uneven ones.

    #[test]
    fn numbers_below_a_bound_are_equally_likely() {
        let mut shuffle = secret().deal(2);
        let mut counts = [0; 6];
        (0..12_000).for_each(|_| counts[shuffle.below(6) as usize] += 1);
        let statistic = chi_square(&counts);
        assert!((0.0129..35.89).contains(&statistic), "{statistic}");
    }

    #[test]
    fn no_number_below_a_large_bound_is_preferred() {
        // Without dropping words, every third number would be drawn twice as often as the others.
        let mut shuffle = secret().deal(3);
        let mut counts = [0; 3];
        (0..12_000).for_each(|_| counts[shuffle.below(3 << 30) as usize % 3] += 1);
        let statistic = chi_square(&counts);
        assert!((0.000_002..27.63).contains(&statistic), "{statistic}");
    }

    #[test]
    fn every_order_of_a_small_deck_is_equally_likely() {
        let mut counts = BTreeMap::new();
        for deal in 0..9_600 {
            let mut deck = [0_u8, 1, 2, 3];
            secret().deal(deal).shuffle(&mut deck);
            *counts.entry(deck).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        let statistic = chi_square(&counts.into_values().collect::<Vec<_>>());
        assert!((3.53..70.55).contains(&statistic), "{statistic}");
    }

    #[test]
    fn every_card_of_a_deck_comes_to_every_place_equally_often() {
        const CARDS: usize = 60;
        let mut counts = vec![0; CARDS * CARDS];
        for deal in 0..1_200 {
            let mut deck: [usize; CARDS] = std::array::from_fn(|card| card);
            secret().deal(deal).shuffle(&mut deck);
            for (place, card) in deck.into_iter().enumerate() {
                counts[place * CARDS + card] += 1;
            }
        }
        // In a deal each card takes one place and each place one card. That leaves 59² degrees of
        // freedom, and makes the statistic greater by 60/59 than independent counts would.
        let statistic = chi_square(&counts) * 59.0 / 60.0;
        assert!((3_098.7..3_892.1).contains(&statistic), "{statistic}");
    }
}
