//! The connections for commands: a few *lanes*, each kept open by a task of its own, so that a lost
//! connection comes back without anybody asking, once for all who wait, and to the address that the
//! primary has then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use redis::{Pipeline, Value};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;
use tracing::field::Empty;

use super::connection::{Connection, Greeting, Settings};
use super::errors::Failure;
use super::scripts::Script;
use super::tasks::{BackOff, Tasks};
use crate::store::{Result, StoreError};

/// Sends commands over whichever lane is open.
#[derive(Debug)]
pub(super) struct Client {
    lanes: Vec<watch::Receiver<Lane>>,
    next: AtomicUsize,
    patience: Duration,
}

/// What a lane is right now.
#[derive(Clone, Debug)]
enum Lane {
    Open(Connection),
    /// Not open since then, last because of this.
    Closed(Instant, StoreError),
}

impl Client {
    /// Opens the lanes and keeps them open.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or refuses.
    pub(super) async fn open(
        settings: &Arc<Settings>,
        lanes: usize,
        check_every: Duration,
        tasks: &Tasks,
    ) -> Result<(Self, Greeting)> {
        let (first, greeting) = Connection::open(settings, tasks, |_| ()).await?;
        let mut first = Some(first);
        let lanes = (0..lanes.max(1)).map(|index| {
            let connection = first.take();
            let lane = watch::Sender::new(match &connection {
                Some(connection) => Lane::Open(connection.clone()),
                None => Lane::Closed(Instant::now(), not_yet()),
            });
            let receiver = lane.subscribe();
            let keeper =
                Keeper { index, settings: Arc::clone(settings), check_every, tasks: tasks.clone() };
            tasks.spawn(keeper.keep(lane, connection));
            receiver
        });
        let lanes = lanes.collect();
        let client =
            Self { lanes, next: AtomicUsize::new(0), patience: settings.response_timeout() };
        Ok((client, greeting))
    }

    /// Runs a script. It is run again on another connection, once, if it is certain that it changed
    /// nothing and another connection may do better.
    pub(super) async fn run(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<Value> {
        let answer = match self.run_once(script, keys, arguments).await {
            Err(Failure::Elsewhere(_)) => self.run_once(script, keys, arguments).await,
            answer => answer,
        };
        answer.map_err(Failure::into_error)
    }

    async fn run_once(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> std::result::Result<Value, Failure> {
        let connection = self.connection().await.map_err(Failure::Final)?;
        let span = tracing::info_span!(
            target: "span",
            "store",
            otel.name = script.name,
            otel.kind = "client",
            otel.status_code = Empty,
            db.system.name = "redis",
            db.operation.name = script.name,
        );
        let began = Instant::now();
        let answer = script.run(&connection, keys, arguments).instrument(span.clone()).await;
        if answer.is_err() {
            span.record("otel.status_code", "ERROR");
        }
        tracing::info!(
            name: "db.client.operation.duration",
            target: "metric",
            value = began.elapsed().as_secs_f64(),
            db.system.name = "redis",
            db.operation.name = script.name,
            outcome = if answer.is_ok() { "ok" } else { "failed" },
        );
        if let Err(Failure::Elsewhere(error @ StoreError::Failover(_))) = &answer {
            // All lanes lead to the same server. None must go on reading from one that is no
            // longer the primary.
            self.give_up(error);
        }
        answer
    }

    /// Sends commands that only look; an error of the server's is among the answers.
    pub(super) async fn look(&self, commands: &Pipeline) -> Result<Vec<Value>> {
        self.connection().await?.send_all(commands).await
    }

    /// An open connection. Waits a little for one that has just been lost, so that a short
    /// interruption is not seen; a long one is told at once.
    async fn connection(&self) -> Result<Connection> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let in_turn = |step: usize| &self.lanes[first.wrapping_add(step) % self.lanes.len()];
        for step in 0..self.lanes.len() {
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
        for lane in &self.lanes {
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
    settings: Arc<Settings>,
    check_every: Duration,
    tasks: Tasks,
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
                    tracing::debug!(lane = self.index, "the store is connected");
                    if std::mem::replace(&mut was_open, true) {
                        reconnected("commands");
                    }
                    lane.send_replace(Lane::Open(connection.clone()));
                    let error = connection.guard(self.check_every).await;
                    if !self.tasks.stopped().is_cancelled() {
                        tracing::warn!(lane = self.index, %error, "the connection is lost");
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
        let (connection, _) = Connection::open(&self.settings, &self.tasks, |_| ()).await?;
        Ok(connection)
    }
}
