//! All integration tests, in one binary.

#![expect(clippy::unwrap_used, reason = "where something is missing, the test has failed")]

mod changes;
mod commands;
mod forks;
mod instance;
mod layers;
mod redis_faults;
mod redis_server;
mod simulate;
mod store_contract;
mod store_down;
mod streams;
mod verification;

use std::time::Duration;

/// Waits until it gives something, and fails the test if that takes too long.
async fn eventually<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let trying = async {
        loop {
            if let Some(found) = probe().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(10), trying).await;
    found.unwrap_or_else(|_| panic!("it never happened: {what}"))
}
