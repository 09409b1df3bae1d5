//! Until when a call may take.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tonic::{Extensions, Status};

use super::errors::Fault;

/// Until when the caller waits, if it said so; put on each request by its layer.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(pub Option<Instant>);

/// How long calls may take.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// For a call that says nothing.
    pub default: Duration,
    /// For a call that says more.
    pub max: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { default: Duration::from_secs(2), max: Duration::from_secs(10) }
    }
}

/// Until when the caller waits, if it said so.
pub(super) fn of(extensions: &Extensions) -> Option<Instant> {
    extensions.get::<Deadline>().and_then(|deadline| deadline.0)
}

impl Deadlines {
    /// Does it in time.
    ///
    /// A change goes on in its own task when the time is over: whether it was made is then not
    /// known, and `late` says so.
    pub(super) async fn keep<T>(
        &self,
        extensions: &Extensions,
        late: Fault,
        work: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, Status> {
        let now = Instant::now();
        let asked = of(extensions).unwrap_or(now + self.default);
        let at = asked.min(now + self.max);
        timeout_at(at, work)
            .await
            .unwrap_or_else(|_| Err(Fault { code: tonic::Code::DeadlineExceeded, ..late }.status()))
    }
}
