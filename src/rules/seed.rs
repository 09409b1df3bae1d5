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
