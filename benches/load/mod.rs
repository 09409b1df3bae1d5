//! What both benches need: servers in processes of their own, something to compare them with, and
//! ratios.
//!
//! A figure of a busy machine says little. So whatever is compared takes turns within one run, a
//! short slice each, and what counts is the ratio within each round and how far the rounds differ.

pub mod baseline;
pub mod process;
pub mod ratio;
pub mod raw;
pub mod recording;
pub mod setup;
pub mod table;

use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hdrhistogram::Histogram;
use tokio::time::Instant;
use tonic::transport::{Channel, Endpoint};

/// What ends a bench too soon.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Connections to the server at this address, all open.
pub async fn connect(address: &str, count: usize) -> Result<Vec<Channel>, Failure> {
    open(Endpoint::from_shared(format!("http://{address}"))?, count).await
}

/// Connections to this endpoint, all open.
pub async fn open(endpoint: Endpoint, count: usize) -> Result<Vec<Channel>, Failure> {
    let endpoint = endpoint.tcp_nodelay(true);
    let mut channels = Vec::with_capacity(count);
    for _ in 0..count {
        channels.push(endpoint.connect().await?);
    }
    Ok(channels)
}

/// For times up to an hour, in nanoseconds.
pub fn hour() -> Result<Histogram<u64>, Failure> {
    Ok(Histogram::new_with_max(3_600_000_000_000, 3)?)
}

/// Takes note of the time since then.
pub fn record(times: &mut Histogram<u64>, since: Instant) {
    times.saturating_record(u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX));
}

pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
