//! Until when a call may take.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tonic::{Code, Extensions, Status};

use super::errors::Fault;

/// Until when a call may take; put on each request by its layer.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// Until when the caller waits, if it said so.
    pub asked: Option<Instant>,
    /// Until when it is answered, or its stream begins, whatever its caller said.
    pub until: Instant,
}

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

impl Deadlines {
    /// The deadline of a call that comes now and wants to be answered after this time.
    pub(super) fn after(self, time: Option<Duration>) -> Deadline {
        let now = Instant::now();
        let until = now + time.unwrap_or(self.default).min(self.max);
        Deadline { asked: time.map(|time| now + time), until }
    }
}

impl Deadline {
    /// The deadline of the request with these extensions.
    pub(super) fn of(extensions: &Extensions) -> Self {
        let deadline = extensions.get().copied();
        deadline.unwrap_or_else(|| Deadlines::default().after(None))
    }

    /// Does it in time.
    ///
    /// A change goes on in its own task when the time is over: whether it was made is then not
    /// known, and `late` says so.
    pub(super) async fn keep<T>(
        self,
        late: Fault,
        work: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, Status> {
        let late = Fault { code: Code::DeadlineExceeded, ..late };
        timeout_at(self.until, work).await.unwrap_or_else(|_| Err(late.status()))
    }
}
