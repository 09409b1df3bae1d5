//! Waits that are never quite the same, so that many that wait do not come back all at once.

use std::time::Duration;

use rand::RngExt as _;

/// A duration near this one: up to an eighth shorter or longer.
#[expect(clippy::disallowed_methods, reason = "nothing of a match depends on how long this waits")]
pub(super) fn about(duration: Duration) -> Duration {
    duration.mul_f64(rand::rng().random_range(0.875..=1.125))
}

/// A duration up to a fifth shorter or longer.
#[expect(clippy::disallowed_methods, reason = "nothing of a match depends on how long this waits")]
pub(super) fn within_a_fifth(duration: Duration) -> Duration {
    duration.mul_f64(rand::rng().random_range(0.8..=1.2))
}

/// Lets others go first who want the same: some milliseconds, more after each attempt.
#[expect(clippy::disallowed_methods, reason = "nothing of a match depends on how long this waits")]
pub(super) async fn back_off(attempt: u32) {
    let millis = rand::rng().random_range(1..=4_u64 << attempt.min(3));
    tokio::time::sleep(Duration::from_millis(millis)).await;
}
