//! Who watches which match, and what was heard of it last.
//!
//! A match is watched once, however many [`Watch`]es there are of it. Which channels the server
//! should have subscribed for us follows from what is in here, so nothing has to be undone when
//! watches come and go faster than the server answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

use crate::store::{Hint, MatchId, Position, Watch};

/// All watched matches of a store.
#[derive(Debug, Default)]
pub(super) struct Watches {
    inner: Mutex<Inner>,
    /// Something was watched or left.
    changed: Notify,
    /// Somebody wants to know where matches are.
    asked: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    watched: HashMap<MatchId, Watched>,
    changed: Vec<MatchId>,
    asked: Vec<MatchId>,
}

#[derive(Debug)]
struct Watched {
    watches: usize,
    latest: watch::Sender<Hint>,
}

/// Counts for one watch, as long as it lives.
#[derive(Debug)]
struct Guard {
    watches: Arc<Watches>,
    id: MatchId,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut inner = self.watches.lock();
        let Some(watched) = inner.watched.get_mut(&self.id) else { return };
        watched.watches -= 1;
        if watched.watches == 0 {
            inner.watched.remove(&self.id);
            inner.changed.push(self.id);
            self.watches.changed.notify_one();
        }
    }
}

impl Watches {
    pub(super) fn watch(self: &Arc<Self>, id: MatchId) -> Watch {
        let mut inner = self.lock();
        let mut added = false;
        let watched = inner.watched.entry(id).or_insert_with(|| {
            added = true;
            Watched { watches: 0, latest: watch::Sender::new(Hint::Unknown) }
        });
        watched.watches += 1;
        let latest = watched.latest.subscribe();
        if added {
            inner.changed.push(id);
            self.changed.notify_one();
        }
        Watch::guarded(latest, Guard { watches: Arc::clone(self), id })
    }

    /// A position was announced. Announcements come in order, but after a later position may have
    /// been read already.
    pub(super) fn announced(&self, id: MatchId, position: Position) {
        if let Some(watched) = self.lock().watched.get(&id) {
            watched.latest.send_if_modified(|latest| {
                let news = match *latest {
                    Hint::At(at) => is_news(at, position),
                    Hint::Unknown | Hint::Gone => true,
                };
                if news {
                    *latest = Hint::At(position);
                    tracing::info!(name: "parlor.announcements", target: "metric", by = "heard");
                }
                news
            });
        }
    }

    /// The match was looked for, when `before` was the latest that was known.
    ///
    /// What was read may be older than what was announced meanwhile. But if nothing was, it is the
    /// truth, even where it is a step back: a store can lose what it had acknowledged.
    pub(super) fn read(&self, id: MatchId, before: Hint, found: Hint) {
        if let Some(watched) = self.lock().watched.get(&id) {
            watched.latest.send_if_modified(|latest| {
                let news = *latest != found
                    && (*latest == before
                        || matches!((*latest, found),
                            (Hint::At(at), Hint::At(position)) if is_news(at, position)));
                if let (true, Hint::At(at), Hint::At(position)) = (news, *latest, found)
                    && is_news(at, position)
                {
                    tracing::info!(name: "parlor.announcements", target: "metric", by = "missed");
                }
                if news {
                    *latest = found;
                }
                news
            });
        }
    }

    /// What is known of each of the matches that are watched.
    pub(super) fn known(&self, ids: &[MatchId]) -> Vec<(MatchId, Hint)> {
        let inner = self.lock();
        let known = |id: &MatchId| Some((*id, *inner.watched.get(id)?.latest.borrow()));
        ids.iter().filter_map(known).collect()
    }

    /// All that is watched.
    pub(super) fn all(&self) -> Vec<MatchId> {
        self.lock().watched.keys().copied().collect()
    }

    /// Waits until a match is watched or left; says which.
    pub(super) async fn changed(&self) -> Vec<MatchId> {
        loop {
            self.changed.notified().await;
            let changed = std::mem::take(&mut self.lock().changed);
            if !changed.is_empty() {
                return changed;
            }
        }
    }

    /// Splits the matches into those that are watched and those that are not.
    pub(super) fn split(&self, ids: &[MatchId]) -> (Vec<MatchId>, Vec<MatchId>) {
        let inner = self.lock();
        ids.iter().partition(|id| inner.watched.contains_key(id))
    }

    /// Asks for where these matches are.
    pub(super) fn ask(&self, ids: &[MatchId]) {
        self.lock().asked.extend_from_slice(ids);
        self.asked.notify_one();
    }

    /// Waits until somebody asks; says for which matches.
    pub(super) async fn asked(&self) -> Vec<MatchId> {
        loop {
            self.asked.notified().await;
            let asked = std::mem::take(&mut self.lock().asked);
            if !asked.is_empty() {
                return asked;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No method leaves it half changed, so a panic elsewhere does not spoil it.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_news(known: Position, position: Position) -> bool {
    position.version > known.version
        || (position.version == known.version && position.digest != known.digest)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::store::Digest;

    fn at(version: u64) -> Position {
        Position { version, digest: Digest([0; 16]) }
    }

    fn watched() -> (Arc<Watches>, MatchId, Watch) {
        let watches = Arc::new(Watches::default());
        let id = MatchId(Uuid::from_u128(1));
        let watch = watches.watch(id);
        (watches, id, watch)
    }

    fn latest(watches: &Watches, id: MatchId) -> Hint {
        watches.known(&[id])[0].1
    }

    #[test]
    fn an_old_announcement_does_not_take_back_what_was_read() {
        let (watches, id, _watch) = watched();
        watches.read(id, Hint::Unknown, Hint::At(at(7)));
        watches.announced(id, at(6));
        assert_eq!(latest(&watches, id), Hint::At(at(7)));
    }

    #[test]
    fn an_old_reading_does_not_take_back_what_was_announced_meanwhile() {
        let (watches, id, _watch) = watched();
        watches.announced(id, at(8));
        watches.read(id, Hint::At(at(7)), Hint::At(at(7)));
        assert_eq!(latest(&watches, id), Hint::At(at(8)));
        watches.read(id, Hint::Unknown, Hint::Gone);
        assert_eq!(latest(&watches, id), Hint::At(at(8)));
    }

    #[test]
    fn a_step_back_is_believed_if_nothing_was_announced_meanwhile() {
        let (watches, id, _watch) = watched();
        watches.announced(id, at(8));
        watches.read(id, Hint::At(at(8)), Hint::At(at(3)));
        assert_eq!(latest(&watches, id), Hint::At(at(3)));
        watches.read(id, Hint::At(at(3)), Hint::Gone);
        assert_eq!(latest(&watches, id), Hint::Gone);
    }

    #[test]
    fn another_history_at_the_same_version_is_news() {
        let (watches, id, _watch) = watched();
        watches.announced(id, at(8));
        let other = Position { version: 8, digest: Digest([1; 16]) };
        watches.announced(id, other);
        assert_eq!(latest(&watches, id), Hint::At(other));
    }

    #[test]
    fn a_match_is_watched_until_its_last_watch_is_dropped() {
        let (watches, id, first) = watched();
        let second = watches.watch(id);
        drop(first);
        assert_eq!(watches.all(), [id]);
        drop(second);
        assert_eq!(watches.all(), []);
        assert_eq!(watches.split(&[id]), (vec![], vec![id]));
    }
}
