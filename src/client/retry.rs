//! What is tried again, and for how long.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use tonic::{Code, Response, Status};
use tonic_types::StatusExt as _;

/// A service that asks for a longer pause than this is asked again all the same.
const LONGEST_PUSHBACK: Duration = Duration::from_secs(10);

/// Reasons that pass: by themselves, or at another instance, as where a roll-out is under way.
const PASSING: &[&str] =
    &["OUTCOME_UNKNOWN", "CONTENTION", "RATE_LIMITED", "SCHEMA_TOO_NEW", "RULES_VERSION_RETIRED"];

/// For how long a client keeps trying.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The first pause; each is up to twice as long as the one before.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// How much time all pauses may take together.
    pub total: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(20),
            longest_pause: Duration::from_secs(1),
            total: Duration::from_secs(30),
        }
    }
}

impl Patience {
    pub(super) fn pauses(&self) -> ExponentialBuilder {
        ExponentialBuilder::default()
            .with_min_delay(self.first_pause)
            .with_max_delay(self.longest_pause)
            .with_total_delay(Some(self.total))
            .without_max_times()
            .with_jitter()
    }

    /// Tries until there is an answer that trying again would not change.
    pub(super) async fn tries<T, F>(&self, call: impl Fn() -> F) -> Result<T, Status>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let tries = call.retry(self.pauses()).when(is_passing);
        Ok(tries
            .adjust(|status, pause| pause.map(|pause| asked(status, pause)))
            .await?
            .into_inner())
    }
}

/// The pause, or the longer one that the service asks for.
pub(super) fn asked(status: &Status, pause: Duration) -> Duration {
    let delay = status.get_details_retry_info().and_then(|retry| retry.retry_delay);
    delay.map_or(pause, |delay| pause.max(delay.min(LONGEST_PUSHBACK)))
}

/// Whether trying again may help. Every request can be repeated safely, so it may where the service
/// says so, and where no answer of the service came through: such a status was made on this side,
/// and has no details.
pub(super) fn is_passing(status: &Status) -> bool {
    let details = status.get_error_details();
    match details.error_info() {
        Some(info) => status.code() == Code::Unavailable || PASSING.contains(&info.reason.as_str()),
        None => matches!(
            status.code(),
            Code::Unavailable
                | Code::Cancelled
                | Code::Unknown
                | Code::Internal
                | Code::DeadlineExceeded
        ),
    }
}
