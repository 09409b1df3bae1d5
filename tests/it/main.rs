//! All integration tests, in one binary.

#![expect(clippy::unwrap_used, reason = "where something is missing, the test has failed")]

mod attacks;
mod changes;
mod collector;
mod commands;
mod connections;
mod damage;
mod deadlines;
mod doctored;
mod durability;
mod forks;
mod fuzz;
mod info;
mod instance;
mod keeping;
mod layers;
mod logs;
mod memory;
mod metrics;
mod outages;
mod overload;
mod power_loss;
mod process;
mod redis_faults;
mod redis_server;
mod redis_topologies;
mod refused_tokens;
mod requests;
mod secrets;
mod seeded;
mod simulate;
mod simulation;
mod slow_readers;
mod stopping;
mod store_contract;
mod store_down;
mod stored_forms;
mod stream_limits;
mod streams;
mod tls;
mod topologies;
mod traces;
mod verification;
mod versions;
mod wire;

use std::time::Duration;

/// The number that a variable of the environment holds, if it is set.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var_os(name)?;
    Some(text.to_str().and_then(|text| text.parse().ok()).expect("a number"))
}

/// Waits until it gives something, and fails the test if that takes too long.
async fn eventually<T>(what: &str, probe: impl AsyncFnMut() -> Option<T>) -> T {
    within(Duration::from_secs(10), what, probe).await
}

/// Waits no longer than this until it gives something.
async fn within<T>(time: Duration, what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let trying = async {
        loop {
            if let Some(found) = probe().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let found = tokio::time::timeout(time, trying).await;
    found.unwrap_or_else(|_| panic!("it never happened: {what}"))
}
