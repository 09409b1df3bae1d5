//! Where randomness comes from, so that tests can say.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::TryRng as _;
use rand::rngs::SysRng;

/// Gives bytes that nobody can guess: secrets come from it.
pub trait Chance: Send + Sync + Debug {
    /// Fills these bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// The randomness of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemChance;

impl Chance for SystemChance {
    /// # Panics
    /// When the operating system has no randomness to give.
    fn fill(&self, bytes: &mut [u8]) {
        SysRng.try_fill_bytes(bytes).expect("the operating system gives randomness");
    }
}

/// So many bytes.
pub(super) fn bytes<const N: usize>(chance: &dyn Chance) -> [u8; N] {
    let mut bytes = [0; N];
    chance.fill(&mut bytes);
    bytes
}

/// Waits that are never quite the same, so that many that wait do not come back all at once.
///
/// Nothing of a match depends on how long they are. They come from a counter of their own, which
/// costs next to nothing, as every message to every watcher takes one.
#[derive(Debug)]
pub(super) struct Jitter(AtomicU64);

impl Jitter {
    pub(super) fn new(chance: &dyn Chance) -> Self {
        Self(AtomicU64::new(u64::from_le_bytes(bytes(chance))))
    }

    /// A number from 0 up to but not including 1.
    fn next(&self) -> f64 {
        // SplitMix64, by Steele, Lea and Flood.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut bits = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        f64::from((bits >> 32) as u32) / 2_f64.powi(32)
    }

    /// A duration near this one: up to an eighth shorter or longer.
    pub(super) fn about(&self, duration: Duration) -> Duration {
        duration.mul_f64(0.875 + self.next() / 4.0)
    }

    /// A duration up to a fifth shorter or longer.
    pub(super) fn within_a_fifth(&self, duration: Duration) -> Duration {
        duration.mul_f64(0.8 + self.next() * 0.4)
    }

    /// Lets others go first who want the same: some milliseconds, more after each attempt.
    pub(super) async fn back_off(&self, attempt: u32) {
        let most = Duration::from_millis(4 << attempt.min(3));
        tokio::time::sleep(Duration::from_millis(1) + most.mul_f64(self.next())).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_differ_and_keep_their_bounds() {
        let jitter = Jitter::new(&SystemChance);
        let second = Duration::from_secs(1);
        let waits: Vec<_> = (0..1000).map(|_| jitter.about(second).as_secs_f64()).collect();
        assert!(waits.iter().all(|wait| (0.875..=1.125).contains(wait)), "{waits:?}");
        let below = waits.iter().filter(|wait| **wait < 1.0).count();
        assert!((400..600).contains(&below), "{below} of 1000 are shorter");
        let waits = (0..1000).map(|_| jitter.within_a_fifth(second).as_secs_f64());
        assert!(waits.min_by(f64::total_cmp) < Some(0.81));
    }
}
