//! Callers who are turned away, because they or all together want too much: counted, and told of
//! now and then. With a line for each, whoever attacks would also fill the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often there is a line about them.
const PERIOD: Duration = Duration::from_secs(10);

/// Why a caller was turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There are too many connections.
    Connections,
    /// The system has no room for a connection.
    System,
    /// It did something too often.
    Rate,
    /// There are too many calls at once.
    Overload,
    /// There are too many streams.
    Streams,
    /// The process takes too much memory.
    Memory,
}

impl Cause {
    /// What it is called in metrics.
    fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::System => "system",
            Self::Rate => "rate",
            Self::Overload => "in_flight",
            Self::Streams => "streams",
            Self::Memory => "memory",
        }
    }
}

/// How many were turned away since that was told last. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct TurnedAway(Arc<[AtomicU64; 6]>);

impl TurnedAway {
    /// One more.
    pub fn note(&self, cause: Cause) {
        self.0[cause as usize].fetch_add(1, Ordering::Relaxed);
        tracing::info!(name: "parlor.calls.shed", target: "metric", reason = cause.name());
    }

    /// Tells of them from time to time, for ever.
    pub async fn keep_telling(&self) {
        loop {
            tokio::time::sleep(PERIOD).await;
            self.tell();
        }
    }

    /// Tells of them, if there were any.
    pub fn tell(&self) {
        let counts = self.0.each_ref().map(|count| count.swap(0, Ordering::Relaxed));
        let [connections, system, rate_limited, overloaded, stream_quota, memory] = counts;
        if counts.iter().any(|&count| count > 0) {
            tracing::warn!(
                connections,
                system,
                rate_limited,
                overloaded,
                stream_quota,
                memory,
                "callers were turned away"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_not_told_again() {
        let turned_away = TurnedAway::default();
        let counts = || turned_away.0.each_ref().map(|count| count.load(Ordering::Relaxed));
        let causes = [Cause::Connections, Cause::Rate, Cause::Streams, Cause::Rate, Cause::Memory];
        for cause in causes {
            turned_away.clone().note(cause);
        }
        assert_eq!(counts(), [1, 0, 2, 0, 1, 1]);
        turned_away.tell();
        assert_eq!(counts(), [0; 6]);
    }
}
