//! Matches of any game: create, join, act, watch.
//!
//! A match is a *fold*: its log holds the inputs (the creation, each seat taken, each action), and
//! applying them in order gives the [`Record`] at every version, with the events of each step. The
//! snapshot in the store is that fold's latest value, so that acting needs no replay.
//!
//! What holds here:
//!
//! - A match changes only by a commit that holds only if the match is where the change was decided.
//! - Nothing is shown before it is saved.
//! - A refusal is judged on the match as the store has it: one judged on this instance's cache is
//!   judged again after loading.
//! - A change goes on when its caller hangs up, in a task of its own, so that it is not cut in half.
//! - Who is told of the past keeps nobody waiting who plays.
//! - No instance has anything that it could not lose: cache and readers are rebuilt from the store.
//!
//! Nothing here knows a transport, a database or a game by name.

mod chance;
mod change;
mod clock;
mod create;
mod error;
mod history;
mod join;
mod join_code;
mod reader;
mod record;
mod stored;
mod submit;
mod uncut;
mod view;
mod watch;

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::chance::Jitter;
pub use self::chance::{Chance, SystemChance};
pub use self::change::Answer;
pub use self::clock::{Clock, SystemClock};
pub use self::create::{Create, Created, NewPlayer};
pub use self::error::Error;
pub use self::history::{Frame, Heard, Live};
pub use self::join::{Join, Joined};
pub use self::join_code::JoinCode;
use self::reader::Readers;
pub use self::record::{Creation, Event, Player, Record, State, Visibility};
pub use self::stored::SCHEMA;
pub use self::submit::Submit;
pub use self::view::{Caller, MatchView, Seen};
pub use self::watch::{Beginning, EndReason, Message, SnapshotReason, Watcher};
use crate::rules::Game;
use crate::store::{MatchId, Store};

/// How matches are kept and followed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// For how long a match is kept after its last change.
    pub keep_idle: Duration,
    /// For how long a match is kept after it is over.
    pub keep_over: Duration,
    /// How many matches are cached at most.
    pub cached_matches: usize,
    /// How often a watcher of a quiet match gets a sign of life, give or take an eighth.
    pub heartbeat: Duration,
    /// After how long a watcher is told to come back, give or take a fifth.
    pub stream_age: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            keep_idle: Duration::from_secs(24 * 60 * 60),
            keep_over: Duration::from_secs(6 * 60 * 60),
            cached_matches: 10_000,
            heartbeat: Duration::from_secs(15),
            stream_age: Duration::from_secs(600),
        }
    }
}

/// All matches of a store, as one instance serves them. Cheap to clone.
#[derive(Debug)]
pub struct Matches<G: Game> {
    inner: Arc<Inner<G>>,
}

impl<G: Game> Clone for Matches<G> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

#[derive(Debug)]
struct Inner<G: Game> {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    chance: Arc<dyn Chance>,
    jitter: Jitter,
    settings: Settings,
    /// What was last seen of each match: a hint that saves loading, never the truth.
    cache: Cache<MatchId, Arc<Live<G>>>,
    readers: Readers<G>,
    /// So much of the past is worked on at once.
    turns: Semaphore,
    /// The tasks of changes under way and of readers.
    tasks: TaskTracker,
    /// Cancelled when watchers are to leave.
    draining: CancellationToken,
}

impl<G: Game> Matches<G> {
    /// The matches of a store.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        chance: Arc<dyn Chance>,
        settings: Settings,
    ) -> Self {
        let cache = Cache::new(settings.cached_matches);
        let jitter = Jitter::new(&*chance);
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            inner: Arc::new(Inner {
                store,
                clock,
                chance,
                jitter,
                settings,
                cache,
                readers: Readers::default(),
                turns: Semaphore::new(cores.div_ceil(2)),
                tasks: TaskTracker::new(),
                draining: CancellationToken::new(),
            }),
        }
    }

    /// Waits for a turn to work on the past.
    ///
    /// Whoever asks for the past may ask for all of it, many times at once. In turns, that takes half
    /// of the cores at most, and whatever is due meanwhile waits for one step of it and not for all.
    async fn turn(&self) -> SemaphorePermit<'_> {
        let turn = self.inner.turns.acquire().await.expect("turns are never over");
        tokio::task::yield_now().await;
        turn
    }

    /// Forgets what was last seen of each match: whoever needs one loads it again.
    pub fn forget(&self) {
        self.inner.cache.clear();
    }

    /// Tells every watcher to leave, and waits until all changes under way are made.
    pub async fn drain(&self) {
        self.inner.draining.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}
