//! Where matches are kept: bytes and versions, nothing about games.
//!
//! A match in a store is a *log* of inputs, one for each version, and a *snapshot* of what they
//! lead to. Every version has a [`Digest`] that depends on all inputs before it, so that two
//! histories that ever differed cannot be confused, even where a store lost what it had
//! acknowledged and the same versions were written again.
//!
//! A match changes in one way only: [`Store::commit`], one atomic step that holds only if the match
//! is still where the writer saw it. Announcements are hints; the log is the truth.

mod memory;
mod redis;

use std::any::Any;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use uuid::Uuid;

pub use self::memory::MemoryStore;
pub use self::redis::{
    Durability, RedisAddress, RedisConfig, RedisInfo, RedisPrimary, RedisStore, RedisTls,
};

/// The id of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MatchId(pub Uuid);

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How often a match has changed: 1 after its creation.
pub type Version = u64;

/// Stands for a whole history of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 16]);

/// A point in one history of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The version.
    pub version: Version,
    /// The digest of the history up to and with this version.
    pub digest: Digest,
}

/// A request that must be carried out only once, however often it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asks: requests of different scopes never meet. A seat's number, or [`Request::JOIN`].
    pub scope: u8,
    /// The id that the caller gave it.
    pub id: Uuid,
    /// Stands for what is asked.
    pub digest: Digest,
}

impl Request {
    /// The scope of requests by someone who has no seat yet.
    pub const JOIN: u8 = u8::MAX;
}

/// An earlier request of the same scope and id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The version that carrying it out made.
    pub version: Version,
    /// Stands for what was asked then.
    pub digest: Digest,
}

/// One change of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where the match was after it.
    pub position: Position,
    /// What changed it.
    pub input: Bytes,
}

/// What a match is right now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Where it is.
    pub position: Position,
    /// The snapshot; left out if the caller knows this position.
    pub snapshot: Option<Bytes>,
    /// The earlier request, if the one that was asked for had come before.
    pub answered: Option<Answered>,
}

/// A part of a match's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Where the match is.
    pub head: Position,
    /// The entries asked for, oldest first, without gaps.
    pub entries: Vec<Entry>,
}

/// A change to be made.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Where the match was when the change was decided.
    pub base: Position,
    /// The digest of the version that the change makes, which is one above the base's.
    pub digest: Digest,
    /// The request that is carried out.
    pub request: Request,
    /// What changes the match.
    pub input: Bytes,
    /// What the match is then.
    pub snapshot: Bytes,
    /// For how long the match is kept, unless it changes again: at most, and at least 15/16 of it.
    pub keep: Duration,
}

/// What came of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// It is saved.
    Done,
    /// The request had been carried out before, and nothing was changed.
    Repeated(Answered),
    /// The match has moved on from the base.
    Conflict,
    /// The match is at the base's version or before it, on another history: the store lost
    /// something it had acknowledged.
    Forked,
    /// There is no such match.
    Gone,
}

/// Why the store did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached; nothing was changed.
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),
    /// It gave no answer that says so: the change may or may not have been made.
    #[error("whether the store did it is not known: {0}")]
    OutcomeUnknown(String),
    /// The change is made, but not yet where it survives the loss of the primary. The same again waits
    /// for that again.
    #[error("the store has not replicated it: {0}")]
    DurabilityPending(String),
    /// It is changing its primary, or loading; nothing was changed.
    #[error("the store is failing over: {0}")]
    Failover(String),
    /// It has no memory left; nothing was changed.
    #[error("the store is full: {0}")]
    Full(String),
    /// It cannot write to its disk and takes no writes; nothing was changed.
    #[error("the store takes no writes: {0}")]
    ReadOnly(String),
    /// It refuses what this service needs: a password or a permission is wrong.
    #[error("the store refuses: {0}")]
    Misconfigured(String),
    /// It gave an answer that makes no sense.
    #[error("the store's data cannot be read: {0}")]
    Corrupt(String),
}

/// The store's answers.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Keeps matches.
#[async_trait]
pub trait Store: Send + Sync + fmt::Debug {
    /// Keeps `claim` under the key, unless there is one already; gives the one that is kept.
    async fn claim(&self, key: &str, claim: Bytes, keep: Duration) -> Result<Bytes>;

    /// Keeps a new match at version 1. Says whether it did: not if there is one of this id.
    async fn create(
        &self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> Result<bool>;

    /// What the match is right now, and whether a request of this scope and id was carried out.
    /// Nothing, if there is no such match.
    async fn load(
        &self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> Result<Option<Loaded>>;

    /// Changes the match in one step: the input goes into the log, the snapshot takes the place of
    /// the one before, the request is remembered as long as the match, and the new position is
    /// announced. It happens whole or not at all.
    ///
    /// Whether the request came before is looked up first; only then is the base compared. So the
    /// same commit can be sent again whenever its outcome is not known.
    async fn commit(&self, id: MatchId, commit: Commit) -> Result<Committed>;

    /// At most `limit` entries after this version, and where the match is. Nothing, if there is no
    /// such match.
    async fn log(&self, id: MatchId, after: Version, limit: usize) -> Result<Option<Log>>;

    /// Follows where the match is. What is seen are hints: one may be missed or come late, but
    /// within a few seconds the latest position is seen.
    async fn watch(&self, id: MatchId) -> Watch;

    /// What the store is, and what it was found to do with data.
    fn info(&self) -> StoreInfo;
}

/// What a store is, for those who operate it. As text it is a sentence that says what that means for
/// data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum StoreInfo {
    /// Matches are in this process and end with it.
    Memory {
        /// So many at most.
        capacity: usize,
    },
    /// Matches are in Redis.
    Redis(RedisInfo),
}

impl fmt::Display for StoreInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { capacity } => write!(
                f,
                "in memory: one instance only, at most {capacity} matches, and all of them end with \
                 this process"
            ),
            Self::Redis(redis) => redis.fmt(f),
        }
    }
}

/// Where a match is, as far as this instance has heard.
#[derive(Debug)]
pub struct Watch {
    latest: watch::Receiver<Hint>,
    /// Tells the store, when it is dropped, that nobody listens here any more.
    _guard: Option<Box<dyn Any + Send + Sync>>,
}

/// What was heard of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Nothing yet.
    Unknown,
    /// It was seen here.
    At(Position),
    /// It was looked for and not found.
    Gone,
}

impl Watch {
    /// Follows what is sent.
    #[must_use]
    pub fn new(latest: watch::Receiver<Hint>) -> Self {
        Self { latest, _guard: None }
    }

    /// Follows what is sent, and drops the guard when it is dropped itself.
    #[must_use]
    pub fn guarded(latest: watch::Receiver<Hint>, guard: impl Any + Send + Sync) -> Self {
        Self { latest, _guard: Some(Box::new(guard)) }
    }

    /// Waits until something new is heard. Never returns, if nothing can be heard any more.
    pub async fn changed(&mut self) -> Hint {
        match self.latest.changed().await {
            Ok(()) => *self.latest.borrow_and_update(),
            Err(_) => std::future::pending().await,
        }
    }
}
