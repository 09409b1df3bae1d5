//! What the servers really do is looked up, and again whenever there may be another server, or one
//! that was started again: it need not be set like the one before.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::client::Client;
use super::durability::{Durability, RedisInfo, RedisPrimary};
use crate::store::Result;

/// Looks up what the primaries do.
pub(super) struct Inspector {
    pub(super) client: Arc<Client>,
    /// A connection was opened.
    pub(super) opened: Arc<Notify>,
    /// How often it is looked up all the same: settings can be changed, and replicas leave.
    pub(super) every: Duration,
    pub(super) info: watch::Sender<RedisInfo>,
}

impl Inspector {
    /// Looks it up again and again.
    pub(super) async fn keep_inspecting(self) {
        loop {
            let _ = timeout(self.every, self.opened.notified()).await;
            if let Err(error) = self.inspect().await {
                // Until a connection is open again, what was found last is the best that is known.
                tracing::debug!(%error, "what the store keeps cannot be looked up");
            }
        }
    }

    /// Looks it up, and tells whether it is as it should be.
    ///
    /// # Errors
    ///
    /// No primary answers.
    pub(super) async fn inspect(&self) -> Result<()> {
        let (mut primaries, mut failed) = (Vec::new(), None);
        for answer in self.client.look_everywhere(&RedisPrimary::questions()).await {
            match answer.and_then(|(host, answers)| RedisPrimary::read(&host, answers)) {
                Ok(primary) => primaries.push(primary),
                Err(error) => failed = Some(error),
            }
        }
        if let (true, Some(error)) = (primaries.is_empty(), failed) {
            return Err(error);
        }
        let found = self.info.borrow().clone().with(primaries);
        let before = self.info.send_replace(found.clone());
        tell(&before, &found);
        Ok(())
    }
}

/// Tells what is less than it should be, or that it is no more, and counts it.
fn tell(before: &RedisInfo, now: &RedisInfo) {
    let durability = now.durability;
    let first = before.primaries.is_empty();
    if before.missing != now.missing {
        for missing in &now.missing {
            tracing::warn!(%durability, "less is kept than is asked for: {missing}");
        }
        if now.missing.is_empty() {
            tracing::info!(%durability, "as much is kept as is asked for");
        }
    }
    if !first && before.found != now.found {
        count(before, -1);
    }
    if first || before.found != now.found {
        count(now, 1);
    }
}

/// Counts this store among those that keep so much, or takes it out again.
fn count(info: &RedisInfo, value: i64) {
    let (asked, found) = (info.durability.name(), info.found.map_or("none", Durability::name));
    tracing::info!(name: "parlor.store.durability", target: "metric", value, asked, found);
}
