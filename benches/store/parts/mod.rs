//! The parts of what Redis costs, and what they share: servers that write to the disk, and times.

pub mod bytes;
pub mod contention;
pub mod counter;
pub mod durability;
pub mod instances;
pub mod outage;
pub mod server;
pub mod size;
pub mod watches;

use std::cell::RefCell;
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::time::Instant;

use crate::load::Failure;
use crate::load::ratio::{Ratios, median};

/// What came of the turns of one contender.
pub struct Turns {
    pub name: String,
    /// How much was done in a second, turn by turn.
    pub rates: Vec<f64>,
    times: RefCell<Histogram<u64>>,
}

impl Turns {
    pub fn new(name: impl Into<String>) -> Result<Self, Failure> {
        let hour = 3_600_000_000_000;
        let times = RefCell::new(Histogram::new_with_max(hour, 3)?);
        Ok(Self { name: name.into(), rates: Vec::new(), times })
    }

    /// Takes note of something that was begun then and has ended now.
    pub fn ended(&self, began: Instant) {
        let nanos = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.times.borrow_mut().saturating_record(nanos);
    }

    /// How often something has ended so far.
    pub fn count(&self) -> u64 {
        self.times.borrow().len()
    }

    /// Forgets all turns so far.
    pub fn forget(&mut self) {
        self.rates.clear();
        self.times.borrow_mut().clear();
    }

    /// Its rate, its times, and its rate to that of another.
    pub fn line(&self, other: &Self) -> String {
        let millis = |quantile| self.times.borrow().value_at_quantile(quantile) as f64 / 1e6;
        format!(
            "{:42}{:>9.0}{:>9.2}{:>9.2}   {}",
            self.name,
            median(&self.rates),
            millis(0.5),
            millis(0.99),
            Ratios::of(&self.rates, &other.rates),
        )
    }
}

/// What stands above the lines.
pub fn head(title: &str, what: &str, other: &str) {
    println!("{title}\n{:42}{what:>9}{:>9}{:>9}   to {other}", "", "p50 ms", "p99 ms");
}

/// How long a turn is.
pub fn slice(args: &crate::Args) -> Duration {
    Duration::from_secs_f64(args.seconds)
}
