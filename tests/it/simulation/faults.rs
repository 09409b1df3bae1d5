//! What goes wrong in a simulation, and how often: drawn from the seed.

use std::time::Duration;

use parlor::store::StoreError;
use rand::RngExt as _;

use super::Rng;

/// How bad it is in one simulation. Chances are in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weather {
    /// A call is refused, and changes nothing.
    pub refused: u32,
    /// A call, or its answer, gets lost on its way.
    pub lost: u32,
    /// A call or an answer is slow, sometimes slower than anyone waits.
    pub slow: u32,
    /// An announcement is not heard.
    pub unheard: u32,
    /// An announcement is heard once more.
    pub doubled: u32,
    /// A caller hangs up.
    pub hung_up: u32,
    /// What is acknowledged, a replica has.
    pub replicated: bool,
    /// What disturbs is that for a while nobody reaches the store.
    pub outages: u32,
    /// The store goes back to what it was a while ago.
    pub losses: bool,
    /// Instances end, with or without a warning.
    pub crashes: bool,
}

impl Weather {
    /// Nothing goes wrong, but for what was under way.
    pub const CALM: Self = Self {
        refused: 0,
        lost: 0,
        slow: 0,
        unheard: 0,
        doubled: 0,
        hung_up: 0,
        replicated: false,
        outages: 0,
        losses: false,
        crashes: false,
    };

    /// The weather of one simulation: every fault is missing in some.
    pub fn any(chance: &mut Rng) -> Self {
        // In some, nothing is ever announced.
        let mute = chance.random_ratio(1, 5);
        let any = Self {
            refused: up_to(15, chance),
            lost: up_to(15, chance),
            slow: up_to(25, chance),
            unheard: if mute { 100 } else { up_to(50, chance) },
            doubled: up_to(30, chance),
            hung_up: up_to(30, chance),
            replicated: chance.random_ratio(1, 3),
            outages: up_to(50, chance),
            losses: chance.random_ratio(1, 2),
            crashes: chance.random_ratio(2, 3),
        };
        if chance.random_ratio(1, 6) {
            return Self { doubled: any.doubled, hung_up: any.hung_up, ..Self::CALM };
        }
        any
    }

    /// Whether everything that is said arrives, and soon.
    pub fn is_fair(&self) -> bool {
        Self { doubled: 0, hung_up: 0, ..*self } == Self::CALM
    }

    /// How long something is under way.
    pub fn delay(&self, chance: &mut Rng) -> Duration {
        let most = match percent(chance, self.slow) {
            false => 3_000,
            true if chance.random_ratio(1, 4) => 5_000_000,
            true => 300_000,
        };
        Duration::from_micros(chance.random_range(0..=most))
    }

    /// How long a call is under way; nothing, if it never arrives.
    pub fn way(&self, chance: &mut Rng) -> Option<Duration> {
        if percent(chance, self.lost) { None } else { Some(self.delay(chance)) }
    }

    /// Why a call is refused, if it is.
    pub fn refusal(&self, chance: &mut Rng) -> Option<StoreError> {
        let why = "simulated".to_owned();
        percent(chance, self.refused).then(|| match chance.random_range(0..4) {
            0 => StoreError::Failover(why),
            1 => StoreError::ReadOnly(why),
            _ => StoreError::Unavailable(why),
        })
    }
}

/// A chance up to this one; often none.
fn up_to(most: u32, chance: &mut Rng) -> u32 {
    if chance.random_ratio(1, 3) { 0 } else { chance.random_range(1..=most) }
}

/// Whether what has this chance happens.
pub fn percent(chance: &mut Rng, percent: u32) -> bool {
    chance.random_range(0..100) < percent
}
