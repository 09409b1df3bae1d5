//! Watching a match: a cursor in its history.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::change::{PAGE, forked};
use super::history::{Frame, Heard, Live, START};
use super::reader::{Ahead, RETRY, Reader};
use super::{Caller, Error, MatchView, Matches, Seen, State};
use crate::rules::{Game, Viewer};
use crate::store::{Entry, MatchId, Position, Version};

/// What a watcher is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<G: Game> {
    /// Where it starts.
    Snapshot(MatchView<G>, SnapshotReason),
    /// One version more: what it sees of the events, and what it sees after them.
    Update(Vec<Seen<G>>, MatchView<G>),
    /// Nothing has happened.
    Heartbeat,
    /// There will be nothing more.
    End(EndReason),
}

/// Where a watcher begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// With a snapshot of the match as it is.
    Now,
    /// After this version.
    After(Version),
    /// After what it has seen.
    Resumed(Position),
}

/// Why a watcher starts with a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotReason {
    /// It did not resume.
    Initial,
    /// The match does not go on from what it had seen.
    HistoryForked,
}

/// Why a watcher is told nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The match is over, and everything was told.
    MatchOver,
    /// The match is gone.
    MatchExpired,
    /// This instance is about to stop.
    Draining,
    /// The token that the watcher came with was replaced.
    TokenRevoked,
    /// It has lasted long enough: another instance may have more room for it.
    MaxAge,
    /// Another has taken its place.
    Superseded,
    /// This instance cannot read the match any more, because a newer version of this service writes it
    /// now, or it was damaged: another instance can, or says so.
    Unreadable,
}

/// Follows a match for one viewer: every version once, in order.
///
/// It is a cursor, not a queue: a slow viewer costs no more than its place in the history.
#[derive(Debug)]
pub struct Watcher<G: Game> {
    matches: Matches<G>,
    id: MatchId,
    caller: Caller,
    viewer: Viewer,
    reader: Arc<Reader<G>>,
    news: watch::Receiver<u64>,
    /// What was told last; nothing yet, where it begins before the first version.
    at: Option<Arc<Live<G>>>,
    forks: u32,
    /// How the last step that was told was heard of.
    heard: Option<Heard>,
    /// Steps that are yet to be told.
    ahead: VecDeque<Arc<Frame<G>>>,
    /// Those before them, as the log has them.
    past: VecDeque<Entry>,
    snapshot: Option<SnapshotReason>,
    ended: bool,
    /// When it began to watch.
    since: Instant,
    heartbeat: Instant,
    /// When it has lasted long enough.
    until: Instant,
    draining: CancellationToken,
}

impl<G: Game> Matches<G> {
    /// Follows a match.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Hidden`], [`Error::TokenRevoked`], [`Error::InFuture`], or the
    /// store's.
    pub async fn watch(
        &self,
        id: MatchId,
        caller: Caller,
        beginning: Beginning,
    ) -> Result<Watcher<G>, Error> {
        let (current, _) = self.look(id, caller).await?;
        let reader = self.reader(id).await?;
        let news = reader.news();
        if reader.latest().0.position != current.position {
            // One of the two is newer, or the reader follows a history that the store has lost.
            self.catch_up(id, &reader).await?;
        }
        // A watcher is never ahead of its reader, which alone finds out that a history was lost.
        let (latest, forks) = reader.latest();
        let viewer = latest.record.viewer(caller)?;
        let now = latest.position.version;
        let (at, snapshot) = match beginning {
            Beginning::Now => (Some(latest), Some(SnapshotReason::Initial)),
            Beginning::After(0) => (None, None),
            Beginning::After(version) if version > now => {
                return Err(Error::InFuture { current: now });
            }
            Beginning::After(version) => (Some(self.at_version(id, &reader, version).await?), None),
            Beginning::Resumed(seen) => match self.at_version(id, &reader, seen.version).await {
                Ok(at) if at.position == seen && seen.version <= now => (Some(at), None),
                Ok(_) | Err(Error::Forked | Error::Corrupt(_)) => {
                    forked(id, seen.version, "viewer");
                    (Some(latest), Some(SnapshotReason::HistoryForked))
                }
                Err(error) => return Err(error),
            },
        };
        let mut watcher = Watcher {
            matches: self.clone(),
            id,
            caller,
            viewer,
            reader,
            news,
            at,
            forks,
            heard: None,
            ahead: VecDeque::new(),
            past: VecDeque::new(),
            snapshot,
            ended: false,
            since: Instant::now(),
            heartbeat: Instant::now(),
            until: Instant::now()
                + self.inner.jitter.within_a_fifth(self.inner.settings.stream_age),
            draining: self.inner.draining.clone(),
        };
        watcher.put_off_heartbeat();
        Ok(watcher)
    }

    /// The match at this version.
    async fn at_version(
        &self,
        id: MatchId,
        reader: &Reader<G>,
        version: Version,
    ) -> Result<Arc<Live<G>>, Error> {
        match reader.kept(version) {
            Some(live) => Ok(live),
            None => Ok(self.replay(id, version).await?.live),
        }
    }
}

impl<G: Game> Watcher<G> {
    /// Where the viewer is with what it was told; nothing before it was told anything.
    pub fn position(&self) -> Option<Position> {
        self.at.as_ref().map(|at| at.position)
    }

    /// How the step that was told last was heard of, if it was while this watcher waited for it.
    pub fn heard(&self) -> Option<Heard> {
        self.heard.filter(|heard| heard.at >= self.since)
    }

    /// How many versions of the match it has yet to be told of, as far as this instance knows.
    pub fn lag(&self) -> u64 {
        self.reader.latest().0.position.version.saturating_sub(self.version())
    }

    fn version(&self) -> Version {
        self.position().map_or(0, |position| position.version)
    }

    /// Waits for what to tell next; nothing after an end or an error.
    ///
    /// It can be dropped at any time without losing anything.
    ///
    /// # Errors
    /// [`Error::RulesPanic`], or why else the past of the match cannot be played again. The rules are
    /// pure: another try would come to the same.
    pub async fn next(&mut self) -> Option<Result<Message<G>, Error>> {
        if self.ended {
            return None;
        }
        let next = self.go_on().await;
        self.ended |= next.is_err();
        Some(next)
    }

    async fn go_on(&mut self) -> Result<Message<G>, Error> {
        if let (Some(reason), Some(at)) = (self.snapshot.take(), &self.at) {
            return Ok(Message::Snapshot(at.view(self.viewer), reason));
        }
        loop {
            let mut again = self.heartbeat;
            match self.recall().await {
                Ok(Some(frame)) => return Ok(self.tell(&frame)),
                Ok(None) => {}
                Err(Error::Forked | Error::Corrupt(_)) => return Ok(self.start_over()),
                Err(error) => return Err(error),
            }
            if let Some(frame) = self.ahead.pop_front() {
                return Ok(self.tell(&frame));
            }
            match self.reader.ahead(self.version(), self.forks) {
                Ahead::Frames(frames) if !frames.is_empty() => {
                    self.ahead.extend(frames);
                    continue;
                }
                Ahead::Frames(_) => {}
                // It is told the rest elsewhere, however much there is.
                Ahead::Behind if self.draining.is_cancelled() => {
                    return Ok(self.end(EndReason::Draining));
                }
                Ahead::Behind => match self.page().await {
                    Ok(()) if !self.past.is_empty() => continue,
                    Err(Error::Forked | Error::Corrupt(_)) => return Ok(self.start_over()),
                    Err(Error::NotFound) => return Ok(self.end(EndReason::MatchExpired)),
                    // The reader is behind too, or the store does not answer: try again in a while.
                    Ok(()) | Err(_) => again = again.min(Instant::now() + RETRY),
                },
                Ahead::Forked => return Ok(self.start_over()),
                Ahead::Ended(reason) => return Ok(self.end(reason)),
            }
            if self.at.as_ref().is_some_and(|at| at.record.state() == State::Over) {
                return Ok(self.end(EndReason::MatchOver));
            }
            tokio::select! {
                biased;
                () = self.draining.cancelled() => return Ok(self.end(EndReason::Draining)),
                () = tokio::time::sleep_until(self.until) => {
                    return Ok(self.end(EndReason::MaxAge));
                }
                _ = self.news.changed() => {}
                () = tokio::time::sleep_until(again) => {
                    if self.heartbeat <= Instant::now() {
                        self.put_off_heartbeat();
                        return Ok(Message::Heartbeat);
                    }
                }
            }
        }
    }

    /// The next step of the past, if it has to be told of that.
    async fn recall(&mut self) -> Result<Option<Frame<G>>, Error> {
        let Some(entry) = self.past.front().cloned() else { return Ok(None) };
        let (matches, at) = (self.matches.clone(), self.at.clone());
        // In a task of its own: this one is not polled while its viewer has no room for more, and who
        // has a turn then would keep it from all others.
        let step = self.matches.inner.tasks.spawn(async move {
            let _turn = matches.turn().await;
            Frame::read(at.as_deref(), &entry)
        });
        let frame = step.await.unwrap_or(Err(Error::RulesPanic));
        if frame.is_ok() {
            self.past.pop_front();
        } else {
            self.past.clear();
        }
        frame.map(Some)
    }

    /// Reads the next steps from the log, as far as the reader has.
    async fn page(&mut self) -> Result<(), Error> {
        let (version, lag) = (self.version(), self.lag());
        let limit = usize::try_from(lag).unwrap_or(PAGE).min(PAGE);
        let (matches, id) = (&self.matches, self.id);
        let log = matches.asked(|| matches.inner.store.log(id, version, limit)).await?;
        self.past.extend(log.ok_or(Error::NotFound)?.entries);
        Ok(())
    }

    fn tell(&mut self, frame: &Frame<G>) -> Message<G> {
        if frame.before != self.position().unwrap_or(START) {
            return self.start_over();
        }
        if frame.live.record.is_revoked(self.caller) {
            return self.end(EndReason::TokenRevoked);
        }
        self.put_off_heartbeat();
        self.at = Some(Arc::clone(&frame.live));
        self.heard = frame.heard;
        let seen = frame.live.seen(&frame.events, self.viewer);
        Message::Update(seen, frame.live.view(self.viewer))
    }

    fn start_over(&mut self) -> Message<G> {
        let (latest, forks) = self.reader.latest();
        self.forks = forks;
        self.ahead.clear();
        self.past.clear();
        self.put_off_heartbeat();
        if latest.record.is_revoked(self.caller) {
            return self.end(EndReason::TokenRevoked);
        }
        let view = latest.view(self.viewer);
        self.at = Some(latest);
        Message::Snapshot(view, SnapshotReason::HistoryForked)
    }

    /// Tells it no more, for a reason that is not the match's; nothing, if it has ended before.
    pub fn leave(&mut self, reason: EndReason) -> Option<Message<G>> {
        if self.ended { None } else { Some(self.end(reason)) }
    }

    fn end(&mut self, reason: EndReason) -> Message<G> {
        self.ended = true;
        Message::End(reason)
    }

    /// Puts the next heartbeat off, by not quite the same for every watcher.
    fn put_off_heartbeat(&mut self) {
        let inner = &self.matches.inner;
        self.heartbeat = Instant::now() + inner.jitter.about(inner.settings.heartbeat);
    }
}
