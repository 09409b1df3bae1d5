//! The connections for commands to one server: a few *lanes*, each kept open by a task of its own, so
//! that a lost connection comes back without anybody asking, once for all who wait, and to the
//! address that the primary has then.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use redis::{Pipeline, Value};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

use super::address::Host;
use super::connection::{Connection, Settings, Target};
use super::errors::{Access, Failure};
use super::replies;
use super::scripts::Script;
use super::tasks::{BackOff, Tasks};
use crate::store::{Result, StoreError};
use crate::trace::{KeyValue, Span, SpanKind};

/// How lanes are kept.
#[derive(Clone, Debug)]
pub(super) struct Keeping {
    pub(super) settings: Arc<Settings>,
    /// How many there are.
    pub(super) count: usize,
    pub(super) check_every: Duration,
    pub(super) tasks: Tasks,
    /// Told of every lane that is opened.
    pub(super) opened: Arc<Notify>,
}

/// Sends commands over whichever lane is open. The lanes are closed when it is dropped.
#[derive(Debug)]
pub(super) struct Lanes {
    all: Vec<watch::Receiver<Lane>>,
    next: AtomicUsize,
    patience: Duration,
    replicated: bool,
    tasks: Tasks,
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.tasks.stopped().cancel();
    }
}

/// What a lane is right now.
#[derive(Clone, Debug)]
enum Lane {
    Open(Connection),
    /// Not open since then, last because of this.
    Closed(Instant, StoreError),
}

impl Lanes {
    /// Opens lanes to the target and keeps them open; the first one may be open already.
    pub(super) fn open(keeping: &Keeping, target: &Target, mut first: Option<Connection>) -> Self {
        let tasks = keeping.tasks.child();
        let lanes = (0..keeping.count.max(1)).map(|index| {
            let connection = first.take();
            let lane = watch::Sender::new(match &connection {
                Some(connection) => Lane::Open(connection.clone()),
                None => Lane::Closed(Instant::now(), not_yet()),
            });
            let receiver = lane.subscribe();
            let keeping = Keeping { tasks: tasks.clone(), ..keeping.clone() };
            let keeper = Keeper { index, target: target.clone(), keeping };
            tasks.spawn(keeper.keep(lane, connection));
            receiver
        });
        Self {
            all: lanes.collect(),
            next: AtomicUsize::new(0),
            patience: keeping.settings.response_timeout,
            replicated: keeping.settings.replicated,
            tasks,
        }
    }

    /// Runs a script once. What it changed is on a replica, if that is asked for.
    pub(super) async fn run(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
        asking: bool,
    ) -> std::result::Result<Value, Failure> {
        let connection = self.connection(script.access).await.map_err(Failure::Final)?;
        let span = Span::begin(script.name, SpanKind::Client, || {
            let operation = KeyValue::new("db.operation.name", script.name);
            vec![KeyValue::new("db.system.name", "redis"), operation]
        });
        let began = Instant::now();
        let work = self.run_on(&connection, script, keys, arguments, asking);
        let answer = span.clone().carry(work).await;
        if answer.is_err() {
            span.fail();
        }
        tracing::info!(
            name: "db.client.operation.duration",
            target: "metric",
            value = began.elapsed().as_secs_f64(),
            db.system.name = "redis",
            db.operation.name = script.name,
            outcome = if answer.is_ok() { "ok" } else { "failed" },
        );
        answer
    }

    async fn run_on(
        &self,
        connection: &Connection,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
        asking: bool,
    ) -> std::result::Result<Value, Failure> {
        let answer = script.run(connection, keys, arguments, asking).await;
        match answer {
            Err(Failure::Elsewhere(error @ StoreError::Failover(_))) => {
                // All lanes lead to the same server. None must go on reading from one that is no
                // longer the primary.
                self.give_up(&error);
                Err(Failure::Elsewhere(error))
            }
            Ok(answer)
                if self.replicated
                    && script.access == Access::Write
                    && replies::is_kept(&answer) =>
            {
                connection.replicated().await.map_err(Failure::Final)?;
                Ok(answer)
            }
            answer => answer,
        }
    }

    /// Sends commands that only look; an error of the server's is among the answers. Says who
    /// answered.
    pub(super) async fn look(&self, commands: &Pipeline) -> Result<(Host, Vec<Value>)> {
        let connection = self.connection(Access::Read).await?;
        Ok((connection.host.clone(), connection.send_all(commands).await?))
    }

    /// Which lanes are for this. A lane that waits for a replica answers nothing meanwhile: then half
    /// of them are for looking alone.
    fn lanes_for(&self, access: Access) -> Range<usize> {
        let all = self.all.len();
        match access {
            _ if !self.replicated || all < 2 => 0..all,
            Access::Write => 0..all / 2,
            Access::Read => all / 2..all,
        }
    }

    /// An open connection. Waits a little for one that has just been lost, so that a short
    /// interruption is not seen; a long one is told at once.
    async fn connection(&self, access: Access) -> Result<Connection> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let lanes = &self.all[self.lanes_for(access)];
        let in_turn = |step: usize| &lanes[first.wrapping_add(step) % lanes.len()];
        for step in 0..lanes.len() {
            if let Some(connection) = in_turn(step).borrow().usable() {
                return Ok(connection);
            }
        }
        let mut lane = in_turn(0).clone();
        loop {
            let (since, error) = match &*lane.borrow_and_update() {
                Lane::Open(connection) if connection.is_given_up() => (Instant::now(), not_yet()),
                Lane::Open(connection) => return Ok(connection.clone()),
                Lane::Closed(since, error) => (*since, error.clone()),
            };
            match timeout_at(since + self.patience, lane.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return Err(error),
            }
        }
    }

    fn give_up(&self, why: &StoreError) {
        for lane in &self.all {
            if let Lane::Open(connection) = &*lane.borrow() {
                connection.give_up(why.clone());
            }
        }
    }
}

impl Lane {
    fn usable(&self) -> Option<Connection> {
        match self {
            Self::Open(connection) if !connection.is_given_up() => Some(connection.clone()),
            Self::Open(_) | Self::Closed(..) => None,
        }
    }
}

fn not_yet() -> StoreError {
    StoreError::Unavailable("it is not connected yet".to_owned())
}

/// Counts a connection that was lost and is open again.
pub(super) fn reconnected(connection: &str) {
    tracing::info!(name: "parlor.store.reconnects", target: "metric", connection);
}

/// Keeps one lane open.
struct Keeper {
    index: usize,
    target: Target,
    keeping: Keeping,
}

impl Keeper {
    async fn keep(self, lane: watch::Sender<Lane>, mut opened: Option<Connection>) {
        let mut back_off = BackOff::new();
        let mut since = Instant::now();
        let mut was_open = false;
        loop {
            let began = Instant::now();
            let opened = match opened.take() {
                Some(connection) => Ok(connection),
                None => self.open().await,
            };
            let error = match opened {
                Ok(connection) => {
                    tracing::debug!(lane = self.index, host = %connection.host, "connected");
                    if std::mem::replace(&mut was_open, true) {
                        reconnected("commands");
                    }
                    lane.send_replace(Lane::Open(connection.clone()));
                    self.keeping.opened.notify_one();
                    let error = connection.guard(self.keeping.check_every).await;
                    if !self.keeping.tasks.stopped().is_cancelled() {
                        let host = &connection.host;
                        tracing::warn!(lane = self.index, %host, %error, "the connection is lost");
                    }
                    since = Instant::now();
                    error
                }
                Err(error) => {
                    tracing::debug!(lane = self.index, %error, "the store cannot be connected");
                    error
                }
            };
            // This also lets go of the connection, whose driver waits for that when all is closed.
            lane.send_replace(Lane::Closed(since, error));
            back_off.after(began).await;
        }
    }

    async fn open(&self) -> Result<Connection> {
        let Keeping { settings, tasks, .. } = &self.keeping;
        Connection::open(settings, self.target.clone(), tasks, |_| ()).await
    }
}
