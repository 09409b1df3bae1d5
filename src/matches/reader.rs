//! One reader for each match that is watched at this instance: it follows the log and keeps the
//! latest steps for all watchers.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::change::{PAGE, forked};
use super::history::{Frame, Heard, Live};
use super::{EndReason, Error, Matches};
use crate::rules::Game;
use crate::store::{Hint, MatchId, Position, StoreError, Version, Watch};
use crate::trace::Origin;

/// Steps kept for watchers; one that is further behind reads the log itself.
const KEPT: usize = 64;

/// How long a reader or watcher waits before it asks a store again that did not answer.
pub(super) const RETRY: Duration = Duration::from_millis(250);

/// The readers of this instance. Each lives as long as someone watches through it.
#[derive(Debug)]
pub(super) struct Readers<G: Game> {
    readers: Mutex<HashMap<MatchId, Weak<Reader<G>>>>,
}

impl<G: Game> Default for Readers<G> {
    fn default() -> Self {
        Self { readers: Mutex::default() }
    }
}

impl<G: Game> Readers<G> {
    fn lock(&self) -> MutexGuard<'_, HashMap<MatchId, Weak<Reader<G>>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, id: MatchId) -> Option<Arc<Reader<G>>> {
        self.lock().get(&id).and_then(Weak::upgrade)
    }

    /// Says that this step is about to be saved here: its reader may hear of it before we do.
    pub(super) fn expect(&self, id: MatchId, position: Position, origin: Option<Origin>) {
        if let Some(reader) = self.get(id) {
            reader.lock().expected.push((position, origin));
        }
    }

    /// Hands a step that was just saved to the match's reader, so that it need not read it back.
    pub(super) fn offer(&self, id: MatchId, frame: &Arc<Frame<G>>) {
        if let Some(reader) = self.get(id) {
            reader.offer(frame);
        }
    }
}

/// Follows one match.
#[derive(Debug)]
pub(super) struct Reader<G: Game> {
    tail: Mutex<Tail<G>>,
    /// Changes with every change of the tail.
    news: watch::Sender<u64>,
    /// Tells the task that follows the log when the last watcher has left.
    _watched: DropGuard,
}

/// The end of a match's history, as far as it was read.
#[derive(Debug)]
struct Tail<G: Game> {
    latest: Arc<Live<G>>,
    /// The steps that led to the latest, oldest first.
    frames: VecDeque<Arc<Frame<G>>>,
    /// Steps that may just have been saved at this instance, with their spans.
    expected: Vec<(Position, Option<Origin>)>,
    /// How often the history turned out to be another one than was read.
    forks: u32,
    /// Why nothing more can be read, once it cannot.
    ended: Option<EndReason>,
}

/// What a watcher can go on with.
pub(super) enum Ahead<G: Game> {
    /// These steps, possibly none.
    Frames(Vec<Arc<Frame<G>>>),
    /// More than is kept: read the log.
    Behind,
    /// Another history than the watcher has seen.
    Forked,
    /// Nothing any more, for this reason.
    Ended(EndReason),
}

impl<G: Game> Reader<G> {
    fn lock(&self) -> MutexGuard<'_, Tail<G>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest that was read, and how many forks there were before.
    pub(super) fn latest(&self) -> (Arc<Live<G>>, u32) {
        let tail = self.lock();
        (Arc::clone(&tail.latest), tail.forks)
    }

    /// Tells of every change from now on.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// The match at this version, if it is kept.
    pub(super) fn kept(&self, version: Version) -> Option<Arc<Live<G>>> {
        let tail = self.lock();
        let mut kept = tail.frames.iter().map(|frame| &frame.live).chain([&tail.latest]);
        kept.find(|live| live.position.version == version).cloned()
    }

    /// The steps after this version of the history that had so many forks before.
    pub(super) fn ahead(&self, version: Version, forks: u32) -> Ahead<G> {
        let tail = self.lock();
        if tail.forks != forks {
            return Ahead::Forked;
        }
        if let Some(reason) = tail.ended {
            return Ahead::Ended(reason);
        }
        let missing = tail.latest.position.version.saturating_sub(version);
        let missing = usize::try_from(missing).unwrap_or(usize::MAX);
        match tail.frames.len().checked_sub(missing) {
            Some(seen) => Ahead::Frames(tail.frames.range(seen..).cloned().collect()),
            None => Ahead::Behind,
        }
    }

    /// How a step that the log has was heard of, at this time.
    fn heard(&self, position: Position, at: Instant) -> Heard {
        let tail = self.lock();
        let ours = tail.expected.iter().find(|(expected, _)| *expected == position);
        Heard { at, here: ours.is_some(), origin: ours.and_then(|(_, origin)| *origin) }
    }

    fn change(&self, change: impl FnOnce(&mut Tail<G>)) {
        change(&mut self.lock());
        self.news.send_modify(|changes| *changes += 1);
    }

    fn offer(&self, frame: &Arc<Frame<G>>) {
        let follows = frame.before == self.lock().latest.position;
        if follows {
            self.change(|tail| tail.push(Arc::clone(frame)));
        }
    }
}

impl<G: Game> Tail<G> {
    /// Adds a step, if it is the next one of this history: another may have come from elsewhere
    /// meanwhile.
    fn push(&mut self, frame: Arc<Frame<G>>) {
        if frame.before != self.latest.position {
            return;
        }
        self.latest = Arc::clone(&frame.live);
        self.expected.retain(|(position, _)| position.version > frame.live.position.version);
        if self.frames.len() == KEPT {
            self.frames.pop_front();
        }
        self.frames.push_back(frame);
    }
}

impl<G: Game> Matches<G> {
    /// The reader of a match, started if there is none.
    pub(super) async fn reader(&self, id: MatchId) -> Result<Arc<Reader<G>>, Error> {
        if let Some(reader) = self.inner.readers.get(id) {
            return Ok(reader);
        }
        // Follow first and read then, so that nothing falls in between.
        let watch = self.inner.store.watch(id).await;
        let latest = self.current(id).await?;
        let left = CancellationToken::new();
        let reader = {
            let mut readers = self.inner.readers.lock();
            if let Some(reader) = readers.get(&id).and_then(Weak::upgrade) {
                return Ok(reader);
            }
            let tail = Tail {
                latest,
                frames: VecDeque::new(),
                expected: Vec::new(),
                forks: 0,
                ended: None,
            };
            let reader = Arc::new(Reader {
                tail: Mutex::new(tail),
                news: watch::Sender::new(0),
                _watched: left.clone().drop_guard(),
            });
            readers.insert(id, Arc::downgrade(&reader));
            reader
        };
        let following = self.clone().follow(id, Arc::downgrade(&reader), left, watch);
        self.inner.tasks.spawn(following);
        Ok(reader)
    }

    /// Keeps a reader up to date until nobody watches any more.
    async fn follow(
        self,
        id: MatchId,
        reader: Weak<Reader<G>>,
        left: CancellationToken,
        mut watch: Watch,
    ) {
        let (heartbeat, jitter) = (self.inner.settings.heartbeat, &self.inner.jitter);
        loop {
            let hint = tokio::select! {
                biased;
                () = left.cancelled() => break,
                () = self.inner.draining.cancelled() => break,
                hint = watch.changed() => hint,
                // An announcement may be lost, and that a match has expired is announced by nobody.
                () = tokio::time::sleep(jitter.about(heartbeat)) => Hint::Unknown,
            };
            loop {
                let Some(reader) = reader.upgrade() else { break };
                if hint == Hint::At(reader.latest().0.position) {
                    break;
                }
                let Err(error) = self.catch_up(id, &reader).await else { break };
                tracing::warn!(match_id = %id, %error, "a watched match could not be read");
                drop(reader);
                tokio::time::sleep(jitter.about(RETRY)).await;
            }
        }
        let mut readers = self.inner.readers.lock();
        if readers.get(&id).is_some_and(|reader| reader.strong_count() == 0) {
            readers.remove(&id);
        }
    }

    /// Reads what the log has more than the reader.
    pub(super) async fn catch_up(&self, id: MatchId, reader: &Reader<G>) -> Result<(), StoreError> {
        let now = Instant::now();
        loop {
            let (latest, _) = reader.latest();
            let version = latest.position.version;
            let log = match self.asked(|| self.inner.store.log(id, version, PAGE)).await {
                // The snapshot may tell what the log does not any more.
                Err(StoreError::Corrupt(why)) => {
                    tracing::error!(match_id = %id, why, "the log of a match cannot be read");
                    return self.start_over(id, reader, Error::Corrupt(why)).await;
                }
                log => log?,
            };
            let Some(log) = log else {
                reader.change(|tail| tail.ended = Some(EndReason::MatchExpired));
                return Ok(());
            };
            let mut steps = Vec::with_capacity(log.entries.len());
            let mut at = Arc::clone(&latest);
            let lost = log.head.version < version
                || (log.head.version == version && log.head.digest != latest.position.digest);
            let mut broken = lost.then_some(Error::Forked);
            for entry in &log.entries {
                let mut frame = match at.read_next(entry) {
                    Ok(frame) => frame,
                    Err(error) => {
                        broken = Some(error);
                        break;
                    }
                };
                frame.heard = Some(reader.heard(frame.live.position, now));
                at = Arc::clone(&frame.live);
                steps.push(Arc::new(frame));
            }
            if let Some(why) = broken {
                return self.start_over(id, reader, why).await;
            }
            if steps.is_empty() {
                return Ok(());
            }
            reader.change(|tail| steps.into_iter().for_each(|frame| tail.push(frame)));
        }
    }

    /// Goes on with what the store has now, which does not follow from what was read: the store lost
    /// that, or the rules fail on a step between.
    async fn start_over(
        &self,
        id: MatchId,
        reader: &Reader<G>,
        why: Error,
    ) -> Result<(), StoreError> {
        self.inner.cache.remove(&id);
        match self.current(id).await {
            Ok(latest) => {
                if matches!(why, Error::Forked | Error::Corrupt(_)) {
                    forked(id, latest.position.version, "reader");
                } else {
                    tracing::error!(match_id = %id, error = %why, "a step of a match cannot be told");
                }
                reader.change(|tail| {
                    tail.latest = latest;
                    tail.frames.clear();
                    tail.forks += 1;
                });
            }
            Err(Error::Store(error)) => return Err(error),
            Err(error) => {
                tracing::error!(match_id = %id, %error, "a watched match is lost");
                let gone = matches!(error, Error::NotFound);
                let reason = if gone { EndReason::MatchExpired } else { EndReason::Unreadable };
                reader.change(|tail| tail.ended = Some(reason));
            }
        }
        Ok(())
    }
}
