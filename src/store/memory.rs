//! The embedded store: everything in this process, for trying out, tests and simulations. It serves
//! one instance, and what it keeps ends with it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    Answered, Commit, Committed, Entry, Hint, Loaded, Log, MatchId, Position, Result, Store,
    StoreError, StoreInfo, Version, Watch,
};

/// Matches and claims that are kept at most; more are refused.
const DEFAULT_CAPACITY: usize = 100_000;

/// After so many additions everything that has expired is thrown out.
const SWEEP_EVERY: usize = 1_024;

/// Keeps matches in this process.
#[derive(Debug)]
pub struct MemoryStore {
    capacity: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    matches: HashMap<MatchId, Kept>,
    claims: HashMap<String, (Bytes, Instant)>,
    additions: usize,
}

#[derive(Debug)]
struct Kept {
    position: Position,
    snapshot: Bytes,
    log: Vec<Entry>,
    answered: HashMap<(u8, Uuid), Answered>,
    expires: Instant,
    latest: watch::Sender<Hint>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }
}

impl MemoryStore {
    /// A store for so many matches.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { capacity, inner: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No method leaves the maps half changed, so a panic elsewhere does not spoil them.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for one more match or claim.
    fn make_room(&self, inner: &mut Inner) -> Result<()> {
        inner.additions += 1;
        if inner.additions >= SWEEP_EVERY || inner.matches.len() >= self.capacity {
            inner.additions = 0;
            let now = Instant::now();
            inner.matches.retain(|_, kept| {
                let stays = kept.expires > now;
                if !stays {
                    kept.latest.send_replace(Hint::Gone);
                }
                stays
            });
            inner.claims.retain(|_, (_, expires)| *expires > now);
        }
        if inner.matches.len().max(inner.claims.len()) >= self.capacity {
            return Err(StoreError::Full(format!("{} matches are kept", self.capacity)));
        }
        Ok(())
    }
}

impl Inner {
    /// The match, unless it has expired.
    fn find(&mut self, id: MatchId) -> Option<&mut Kept> {
        self.matches.get_mut(&id).filter(|kept| kept.expires > Instant::now())
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn claim(&self, key: &str, claim: Bytes, keep: Duration) -> Result<Bytes> {
        let mut inner = self.lock();
        let now = Instant::now();
        if let Some((kept, _)) = inner.claims.get(key).filter(|(_, expires)| *expires > now) {
            return Ok(kept.clone());
        }
        self.make_room(&mut inner)?;
        inner.claims.insert(key.to_owned(), (claim.clone(), now + keep));
        Ok(claim)
    }

    async fn create(
        &self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> Result<bool> {
        let mut inner = self.lock();
        if inner.find(id).is_some() {
            return Ok(false);
        }
        self.make_room(&mut inner)?;
        let position = first.position;
        let kept = Kept {
            position,
            snapshot,
            log: vec![first],
            answered: HashMap::new(),
            expires: Instant::now() + keep,
            latest: watch::Sender::new(Hint::At(position)),
        };
        inner.matches.insert(id, kept);
        Ok(true)
    }

    async fn load(
        &self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> Result<Option<Loaded>> {
        let mut inner = self.lock();
        Ok(inner.find(id).map(|kept| Loaded {
            position: kept.position,
            snapshot: (known != Some(kept.position)).then(|| kept.snapshot.clone()),
            answered: request.and_then(|request| kept.answered.get(&request).copied()),
        }))
    }

    async fn commit(&self, id: MatchId, commit: Commit) -> Result<Committed> {
        let mut inner = self.lock();
        let Some(kept) = inner.find(id) else { return Ok(Committed::Gone) };
        let request = (commit.request.scope, commit.request.id);
        if let Some(answered) = kept.answered.get(&request) {
            return Ok(Committed::Repeated(*answered));
        }
        if kept.position != commit.base {
            let moved_on = kept.position.version > commit.base.version;
            return Ok(if moved_on { Committed::Conflict } else { Committed::Forked });
        }
        let position = Position { version: commit.base.version + 1, digest: commit.digest };
        kept.log.push(Entry { position, input: commit.input });
        kept.position = position;
        kept.snapshot = commit.snapshot;
        let answered = Answered { version: position.version, digest: commit.request.digest };
        kept.answered.insert(request, answered);
        kept.expires = Instant::now() + commit.keep;
        kept.latest.send_replace(Hint::At(position));
        Ok(Committed::Done)
    }

    async fn log(&self, id: MatchId, after: Version, limit: usize) -> Result<Option<Log>> {
        let mut inner = self.lock();
        Ok(inner.find(id).map(|kept| {
            let skip = usize::try_from(after).unwrap_or(usize::MAX);
            let entries = kept.log.iter().skip(skip).take(limit).cloned().collect();
            Log { head: kept.position, entries }
        }))
    }

    async fn watch(&self, id: MatchId) -> Watch {
        let mut inner = self.lock();
        if let Some(kept) = inner.find(id) {
            return Watch::new(kept.latest.subscribe());
        }
        let mut gone = watch::Sender::new(Hint::Gone).subscribe();
        gone.mark_changed();
        Watch::new(gone)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo::Memory { capacity: self.capacity }
    }
}
