//! How a match changes: decide on the match as it is, commit on the condition that it still is so.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::history::{Frame, Heard, Live, loaded};
use super::record::Input;
use super::uncut::Uncut;
use super::{Caller, Error, Event, Matches, Record, State};
use crate::rules::{Game, Viewer};
use crate::store::{
    Answered, Commit, Committed, Loaded, MatchId, Request, Result as StoreResult, StoreError,
    Version,
};
use crate::trace::{KeyValue, Origin, Span, SpanKind};

/// How often a change is decided anew when others change the match in between.
const ATTEMPTS: u32 = 6;

/// How often a store that gave no answer is asked again: every question can be repeated safely.
const QUESTIONS: u32 = 3;

/// Log entries read at a time.
pub(super) const PAGE: usize = 64;

/// A change that was carried out.
#[derive(Clone, Debug)]
pub struct Answer<G: Game> {
    /// The step that it made.
    pub frame: Arc<Frame<G>>,
    /// Whether it had been made before the store was asked for it, or may have been: at most one
    /// answer to a request says that it had not.
    pub replayed: bool,
}

impl<G: Game> Matches<G> {
    /// What the caller sees now.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Hidden`], [`Error::TokenRevoked`], or the store's.
    pub async fn look(&self, id: MatchId, caller: Caller) -> Result<(Arc<Live<G>>, Viewer), Error> {
        let live = match self.current(id).await {
            // Without a token even whether the match exists is not told.
            Err(Error::NotFound) if caller == Caller::Anyone => return Err(Error::Hidden),
            live => live?,
        };
        let viewer = live.record.viewer(caller)?;
        Ok((live, viewer))
    }

    /// The match as the store has it.
    pub(super) async fn current(&self, id: MatchId) -> Result<Arc<Live<G>>, Error> {
        let known = self.inner.cache.get(&id);
        let position = known.as_ref().map(|live| live.position);
        let Some(found) = self.asked(|| self.inner.store.load(id, position, None)).await? else {
            self.inner.cache.remove(&id);
            return Err(Error::NotFound);
        };
        self.remember(id, found, known)
    }

    fn remember(
        &self,
        id: MatchId,
        found: Loaded,
        known: Option<Arc<Live<G>>>,
    ) -> Result<Arc<Live<G>>, Error> {
        let live = loaded(found, known)?;
        self.inner.cache.insert(id, Arc::clone(&live));
        Ok(live)
    }

    /// Carries out a request once: `decide` says which input it comes to on a match, or why none.
    ///
    /// It goes on when the caller does not wait for it any more.
    pub(super) async fn change(
        &self,
        id: MatchId,
        request: Request,
        reused: Error,
        decide: impl Fn(&Record<G>) -> Result<Input<G>, Error> + Send + Sync + 'static,
    ) -> Result<Answer<G>, Error> {
        let matches = self.clone();
        let work = async move { matches.decide_and_commit(id, request, reused, decide).await };
        Uncut::new(change_span(id).carry(work), &self.inner.tasks).await
    }

    async fn decide_and_commit(
        &self,
        id: MatchId,
        request: Request,
        reused: Error,
        decide: impl Fn(&Record<G>) -> Result<Input<G>, Error>,
    ) -> Result<Answer<G>, Error> {
        let mut cached = self.inner.cache.get(&id);
        let mut known = None;
        for attempt in 0..ATTEMPTS {
            let from_cache = cached.is_some();
            let live = if let Some(live) = cached.take() {
                live
            } else {
                match self.load_for(id, &request, known.take()).await? {
                    (_, Some(answered)) => return self.repeat(id, request, answered, reused).await,
                    (live, None) => live,
                }
            };
            known = Some(Arc::clone(&live));

            let decided = Span::part("rules").within(|| {
                let input = decide(&live.record)?;
                let next = live.next(&input)?;
                Ok((input, next))
            });
            let (decided, frame, input) = match decided {
                Ok((decided, (frame, input))) => (decided, frame, input),
                // What is cached may be out of date, and so may the refusal be.
                Err(_) if from_cache => {
                    retries("stale");
                    continue;
                }
                Err(error) => return Err(error),
            };
            let commit = Commit {
                base: live.position,
                digest: frame.live.position.digest,
                request,
                input,
                snapshot: frame.live.snapshot()?,
                keep: self.keep(&frame.live.record),
            };
            self.inner.readers.expect(id, frame.live.position, Origin::here());
            let committed = self.asked(|| self.inner.store.commit(id, commit.clone())).await;
            let result = committed.as_ref().map_or("failed", named);
            tracing::info!(name: "parlor.commits", target: "metric", result);
            match committed? {
                Committed::Done => return Ok(self.committed(id, &decided, frame)),
                // Where an answer got lost on its way to us this may have been our own try, but as
                // well one at another instance, which may say so.
                Committed::Repeated(answered) => {
                    return self.repeat(id, request, answered, reused).await;
                }
                Committed::Conflict => {
                    retries("conflict");
                    self.inner.jitter.back_off(attempt).await;
                }
                Committed::Forked => {
                    forked(id, live.position.version, "writer");
                    self.inner.cache.remove(&id);
                    return Err(Error::Forked);
                }
                Committed::Gone => {
                    self.inner.cache.remove(&id);
                    return Err(Error::NotFound);
                }
            }
        }
        Err(Error::Contention)
    }

    /// Loads the match, and looks whether the request came before.
    async fn load_for(
        &self,
        id: MatchId,
        request: &Request,
        known: Option<Arc<Live<G>>>,
    ) -> Result<(Arc<Live<G>>, Option<Answered>), Error> {
        let position = known.as_ref().map(|live| live.position);
        let key = Some((request.scope, request.id));
        let found = self.asked(|| self.inner.store.load(id, position, key)).await?;
        let found = found.ok_or(Error::NotFound)?;
        let answered = found.answered;
        Ok((self.remember(id, found, known)?, answered))
    }

    fn committed(&self, id: MatchId, input: &Input<G>, mut frame: Frame<G>) -> Answer<G> {
        count(input, &frame);
        frame.heard = Some(Heard { at: Instant::now(), here: true, origin: Origin::here() });
        let _announcing = Span::part("announce");
        let frame = Arc::new(frame);
        self.inner.cache.insert(id, Arc::clone(&frame.live));
        self.inner.readers.offer(id, &frame);
        Answer { frame, replayed: false }
    }

    /// The first answer to a request that was carried out before.
    async fn repeat(
        &self,
        id: MatchId,
        request: Request,
        answered: Answered,
        reused: Error,
    ) -> Result<Answer<G>, Error> {
        if answered.digest != request.digest {
            return Err(reused);
        }
        let frame = self.replay(id, answered.version).await?;
        // Meanwhile the store may have lost it, and have another change at its version.
        let (_, still) = self.load_for(id, &request, self.inner.cache.get(&id)).await?;
        if still != Some(answered) {
            forked(id, answered.version, "writer");
            return Err(Error::Forked);
        }
        Ok(Answer { frame: Arc::new(frame), replayed: true })
    }

    /// The step that led to this version, from the log.
    pub(super) async fn replay(&self, id: MatchId, version: Version) -> Result<Frame<G>, Error> {
        let mut frame: Option<Frame<G>> = None;
        loop {
            let after = frame.as_ref().map_or(0, |frame| frame.live.position.version);
            let log = self.asked(|| self.inner.store.log(id, after, PAGE)).await?;
            let entries = log.ok_or(Error::NotFound)?.entries;
            if entries.is_empty() {
                // The log ends before a version that once was.
                return Err(Error::Forked);
            }
            let _turn = self.turn().await;
            for entry in &entries {
                let next = Frame::read(frame.as_ref().map(|frame| &*frame.live), entry)?;
                if next.live.position.version == version {
                    return Ok(next);
                }
                frame = Some(next);
            }
        }
    }

    /// Asks the store something that can be asked again, until it answers.
    ///
    /// Once a try may have been heard, the outcome is unknown until there is an answer, whatever later
    /// tries run into.
    pub(super) async fn asked<T, F: Future<Output = StoreResult<T>>>(
        &self,
        question: impl Fn() -> F,
    ) -> StoreResult<T> {
        let mut unknown = None;
        for attempt in 0..QUESTIONS {
            match question().await {
                Ok(answer) => return Ok(answer),
                Err(error @ StoreError::OutcomeUnknown(_)) => unknown = Some(error),
                // This says more: it was heard.
                Err(error @ StoreError::DurabilityPending(_)) => return Err(error),
                Err(error) if unknown.is_none() => return Err(error),
                Err(_) => self.inner.jitter.back_off(attempt).await,
            }
        }
        Err(unknown.unwrap_or_else(|| StoreError::Unavailable("never asked".to_owned())))
    }

    /// For how long the match is to be kept.
    pub(super) fn keep(&self, record: &Record<G>) -> Duration {
        match record.state() {
            State::Waiting | State::Playing => self.inner.settings.keep_idle,
            State::Over => self.inner.settings.keep_over,
        }
    }
}

/// The span of a change, which goes on when its caller does not wait for it any more.
fn change_span(id: MatchId) -> Span {
    Span::begin("change", SpanKind::Internal, || {
        vec![KeyValue::new("parlor.match_id", id.to_string())]
    })
}

/// Counts what was done, for those who operate the service.
fn count<G: Game>(input: &Input<G>, frame: &Frame<G>) {
    let Input::Act(_, action) = input else { return };
    let game = G::catalog(frame.live.record.creation.setup.options()).id;
    tracing::info!(name: "parlor.actions", target: "metric", game, kind = G::kind(action));
    let outcome = frame.events.iter().find_map(|event| match event {
        Event::Ended(outcome) => Some(outcome),
        _ => None,
    });
    if let Some(outcome) = outcome {
        let reason = outcome.reason;
        tracing::info!(name: "parlor.matches.finished", target: "metric", game, reason);
    }
}

/// Says that the store has lost this version, to those who operate the service, and who found out.
pub(super) fn forked(id: MatchId, version: Version, found: &'static str) {
    tracing::error!(match_id = %id, version, "history forked");
    tracing::info!(name: "parlor.forks", target: "metric", found);
}

/// Counts a change that is decided anew.
fn retries(because: &str) {
    tracing::info!(name: "parlor.change.retries", target: "metric", because);
}

fn named(committed: &Committed) -> &'static str {
    match committed {
        Committed::Done => "done",
        Committed::Repeated(_) => "repeated",
        Committed::Conflict => "conflict",
        Committed::Forked => "forked",
        Committed::Gone => "gone",
    }
}
