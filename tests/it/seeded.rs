//! What a match takes from outside, from a seed: its randomness and the time of day.

use std::sync::Mutex;

use parlor::matches::{Chance, Clock};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, SeedableRng as _};
use tokio::time::Instant;

/// Randomness of a seed.
#[derive(Debug)]
pub struct SeededChance(Mutex<Xoshiro256PlusPlus>);

impl SeededChance {
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(Xoshiro256PlusPlus::seed_from_u64(seed)))
    }
}

impl Chance for SeededChance {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().unwrap().fill_bytes(bytes);
    }
}

/// A clock that begins at the same time of day whenever it is started.
#[derive(Debug)]
pub struct SameDay(Instant);

impl SameDay {
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SameDay {
    fn unix_millis(&self) -> u64 {
        1_800_000_000_000 + u64::try_from(self.0.elapsed().as_millis()).unwrap()
    }
}
