//! Following watched matches: announcements on one connection of their own, and a look now and then,
//! because announcements get lost.
//!
//! In a cluster too announcements are plain ones, which every node passes on to all others, and not
//! sharded ones: so one connection to any node hears of all matches, nothing has to be subscribed anew
//! when slots move, and servers before version 7 do. What it costs is some hundred bytes a change on
//! the cluster's bus.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use redis::{PushInfo, PushKind, Value};
use tokio::time::Instant;

use super::client::Client;
use super::connection::{Connection, Settings};
use super::keys::{self, Keys};
use super::lanes::reconnected;
use super::replies;
use super::tasks::{BackOff, Tasks, jittered};
use super::watches::Watches;
use crate::store::{Hint, MatchId, Result};

/// So many channels are subscribed with one command, so that none takes long.
const CHANNELS_AT_ONCE: usize = 500;

/// So many matches are looked for in one round trip.
const LOOKED_FOR_AT_ONCE: usize = 200;

/// Above so many watched matches, all are looked for less often.
const MANY: usize = 2_000;

/// Hears announcements.
pub(super) struct Listener {
    pub(super) watches: Arc<Watches>,
    pub(super) client: Arc<Client>,
    pub(super) settings: Arc<Settings>,
    pub(super) keys: Arc<Keys>,
    pub(super) tasks: Tasks,
    pub(super) check_every: Duration,
}

impl Listener {
    /// Listens, over one connection after the other.
    pub(super) async fn listen(self) {
        let mut back_off = BackOff::new();
        let (mut reported, mut was_open) = (false, false);
        for attempt in 0.. {
            let began = Instant::now();
            let (watches, keys) = (Arc::clone(&self.watches), Arc::clone(&self.keys));
            let pushed = move |push: PushInfo| pushed(&watches, &keys, &push);
            let target = self.client.announcer(attempt);
            let opened = Connection::open(&self.settings, target, &self.tasks, pushed).await;
            let error = match opened {
                Ok(connection) => {
                    tracing::debug!("announcements are heard");
                    if std::mem::replace(&mut was_open, true) {
                        reconnected("announcements");
                    }
                    let Err(error) = self.follow(&connection).await;
                    connection.give_up(error.clone());
                    error
                }
                Err(error) => error,
            };
            if self.tasks.stopped().is_cancelled() {
                return;
            }
            // Where subscribing is not permitted, it is tried again for ever: once is enough.
            reported &= began.elapsed() < self.check_every;
            if !reported {
                tracing::warn!(%error, "announcements are not heard, changes are seen late");
                reported = true;
            }
            back_off.after(began).await;
        }
    }

    /// Keeps the server's subscriptions like the watches, until the connection fails.
    async fn follow(&self, connection: &Connection) -> Result<std::convert::Infallible> {
        let mut subscribed = HashSet::new();
        let mut changed = self.watches.all();
        let guard = connection.guard(self.check_every);
        tokio::pin!(guard);
        loop {
            for changed in changed.chunks(CHANNELS_AT_ONCE) {
                self.subscribe(connection, changed, &mut subscribed).await?;
            }
            changed = tokio::select! {
                error = &mut guard => return Err(error),
                changed = self.watches.changed() => changed,
            };
        }
    }

    async fn subscribe(
        &self,
        connection: &Connection,
        changed: &[MatchId],
        subscribed: &mut HashSet<MatchId>,
    ) -> Result<()> {
        let (watched, mut left) = self.watches.split(changed);
        let mut added = watched.clone();
        added.retain(|id| subscribed.insert(*id));
        left.retain(|id| subscribed.remove(id));
        if !left.is_empty() {
            connection.unsubscribe(&self.channels(&left)).await?;
        }
        if !added.is_empty() {
            connection.subscribe(&self.channels(&added)).await?;
        }
        // Only now: whatever was announced before the subscription is seen by this look.
        self.watches.ask(&watched);
        Ok(())
    }

    fn channels(&self, ids: &[MatchId]) -> Vec<String> {
        ids.iter().map(|id| self.keys.channel(*id)).collect()
    }
}

/// Takes note of an announcement.
fn pushed(watches: &Watches, keys: &Keys, push: &PushInfo) {
    if push.kind != PushKind::Message {
        return;
    }
    if let [Value::BulkString(channel), Value::BulkString(payload)] = push.data.as_slice()
        && let Some(id) = keys.match_of_channel(channel)
        && let Some(position) = keys::position(payload)
    {
        watches.announced(id, position);
    }
}

/// Looks where watched matches are.
pub(super) struct Looker {
    pub(super) watches: Arc<Watches>,
    pub(super) client: Arc<Client>,
    pub(super) keys: Arc<Keys>,
    pub(super) every: Duration,
}

impl Looker {
    /// Looks for matches that are asked for at once, and for all every so often.
    pub(super) async fn look(self) {
        let mut rest = Instant::now() + pause(self.every, 0);
        loop {
            let ids = tokio::select! {
                ids = self.watches.asked() => ids,
                () = tokio::time::sleep_until(rest) => {
                    let ids = self.watches.all();
                    rest = Instant::now() + pause(self.every, ids.len());
                    ids
                }
            };
            for ids in ids.chunks(LOOKED_FOR_AT_ONCE) {
                if let Err(error) = self.look_for(ids).await {
                    // The next time comes soon.
                    tracing::debug!(%error, "watched matches cannot be looked for");
                }
            }
        }
    }

    /// Looks for each; what cannot be found out of one does not keep it from being of the others.
    async fn look_for(&self, ids: &[MatchId]) -> Result<()> {
        let known = self.watches.known(ids);
        let question = |(id, _): &(MatchId, Hint)| {
            let key = self.keys.state(*id);
            let mut question = redis::cmd("HMGET");
            question.arg(&key).arg("version").arg("digest");
            (key, question)
        };
        let questions: Vec<_> = known.iter().map(question).collect();
        let mut failed = Ok(());
        let answers = self.client.look(&questions).await;
        for ((id, before), answer) in known.into_iter().zip(answers) {
            match answer.and_then(replies::head) {
                Ok(found) => self.watches.read(id, before, found.map_or(Hint::Gone, Hint::At)),
                Err(error) => failed = Err(error),
            }
        }
        failed
    }
}

/// How long to wait before looking again for so many matches; all instances differ in it a little.
fn pause(every: Duration, watched: usize) -> Duration {
    let pause = if watched > MANY { every.mul_f64(2.5) } else { every };
    jittered(pause, 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_many_matches_are_looked_for_less_often() {
        let every = Duration::from_secs(2);
        for _ in 0..100 {
            assert!((1_600..=2_400).contains(&pause(every, MANY).as_millis()));
            assert!((4_000..=6_000).contains(&pause(every, MANY + 1).as_millis()));
        }
    }
}
