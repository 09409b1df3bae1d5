//! The tasks that a store keeps in the background, and their end.

use std::time::Duration;

use rand::TryRng;
use rand::rngs::SysRng;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What runs until the store is closed.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Tasks among these that can be stopped by themselves.
    pub(super) fn child(&self) -> Self {
        Self { tracker: self.tracker.clone(), stop: self.stop.child_token() }
    }

    /// Runs it until it ends or all are stopped.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tracker.spawn(async move {
            stop.run_until_cancelled(task).await;
        });
    }

    /// Runs it until it ends, which it must when [`Tasks::stopped`] does.
    pub(super) fn spawn_to_end(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn(task);
    }

    /// Cancelled when all are stopped.
    pub(super) fn stopped(&self) -> &CancellationToken {
        &self.stop
    }

    /// Stops all, and waits until they have ended.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// How long to wait between attempts: ever longer, and never for all instances the same.
#[derive(Debug)]
pub(super) struct BackOff {
    failures: u32,
}

impl BackOff {
    const SHORTEST: Duration = Duration::from_millis(25);
    const LONGEST: Duration = Duration::from_secs(1);

    pub(super) fn new() -> Self {
        Self { failures: 0 }
    }

    /// Waits after something that began at `began` has failed. What held for long enough was a
    /// success: the waits start over.
    pub(super) async fn after(&mut self, began: Instant) {
        if began.elapsed() > 2 * Self::LONGEST {
            self.failures = 0;
        }
        let wait = Self::SHORTEST * 2_u32.pow(self.failures.min(6));
        self.failures += 1;
        tokio::time::sleep(jittered(wait.min(Self::LONGEST), 50)).await;
    }
}

/// This long, give or take so many percent.
pub(super) fn jittered(time: Duration, percent: u32) -> Duration {
    // Without randomness from the system it is not jittered, which is no reason to fail.
    let random = SysRng.try_next_u32().unwrap_or(u32::MAX / 2);
    let share = f64::from(random) / f64::from(u32::MAX) * 2.0 - 1.0;
    time.mul_f64(1.0 + share * f64::from(percent) / 100.0)
}
