//! How late a runtime is: what takes a worker for long, or more work than it can do, makes every
//! other task wait.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

const PERIOD: Duration = Duration::from_secs(1);

/// Measures how late this task is whenever it wants to wake up; to be spawned on each runtime.
pub async fn measure_lag() {
    loop {
        let due = Instant::now() + PERIOD;
        sleep_until(due).await;
        let value = due.elapsed().as_secs_f64();
        tracing::info!(name: "parlor.runtime.lag", target: "metric", value);
    }
}
