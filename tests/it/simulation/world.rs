//! The simulated store: the embedded one, behind a network that loses, delays and repeats, and with a
//! memory that can fail.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt as _;
use parlor::games::neon::Neon;
use parlor::matches::Message;
use parlor::rules::Viewer;
use parlor::store::{
    Answered, Commit, Committed, Entry, Hint, Loaded, Log, MatchId, MemoryStore, Position, Request,
    Result, Store, StoreError, StoreInfo, Version, Watch,
};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::Rng;
use super::faults::{Weather, percent};
use super::history::History;

/// After this long nobody waits for an answer any more.
const PATIENCE: Duration = Duration::from_millis(400);

/// After this long a server does not wait for its replicas any more.
const REPLICATION: Duration = Duration::from_millis(200);

/// All that is simulated but the instances and their callers.
#[derive(Debug)]
pub struct World {
    state: Mutex<State>,
    /// What is under way: calls, answers, announcements.
    pub under_way: TaskTracker,
}

/// What the store holds, and what happens to it.
#[derive(Debug)]
pub struct State {
    pub chance: Rng,
    pub weather: Weather,
    /// Nobody reaches the store before this.
    pub down_until: Option<Instant>,
    pub history: History,
    store: Arc<MemoryStore>,
    /// Everything that was ever written, but for what was lost.
    journal: Vec<Written>,
    watches: Vec<(MatchId, watch::Sender<Hint>)>,
}

/// Something that the store was told, and from when on a replica has it.
#[derive(Debug)]
struct Written {
    what: Write,
    replicated: Instant,
}

#[derive(Clone, Debug)]
enum Write {
    Claim(String, Bytes, Duration),
    Create(MatchId, Entry, Bytes, Duration),
    Commit(MatchId, Commit),
}

/// What is asked of a call that was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// What the store answers, and from when on it is safe.
type Answer<T> = Result<(T, Option<Instant>)>;

impl World {
    pub fn new(chance: Rng, weather: Weather, history: History) -> Self {
        let state = State {
            chance,
            weather,
            down_until: None,
            history,
            store: Arc::default(),
            journal: Vec::new(),
            watches: Vec::new(),
        };
        Self { state: Mutex::new(state), under_way: TaskTracker::new() }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn into_history(self) -> History {
        self.state.into_inner().unwrap().history
    }

    /// Tells those who watch the match where it is, as well as that goes.
    fn announce(self: &Arc<Self>, state: &mut State, id: MatchId, position: Position) {
        let State { watches, weather, chance, history, .. } = state;
        watches.retain(|(_, watch)| !watch.is_closed());
        for (_, watch) in watches.iter().filter(|(of, _)| *of == id) {
            let doubled = percent(chance, weather.doubled);
            for _ in 0..=u8::from(doubled) {
                if percent(chance, weather.unheard) {
                    history.note("an announcement is not heard");
                    continue;
                }
                let (delay, watch) = (weather.delay(chance), watch.clone());
                self.under_way.spawn(async move {
                    tokio::time::sleep(delay).await;
                    watch.send_replace(Hint::At(position));
                });
            }
        }
    }
}

impl State {
    /// What the store holds, for who looks without being seen.
    pub fn store(&self) -> Arc<MemoryStore> {
        Arc::clone(&self.store)
    }

    /// Compares what everyone was told with the log.
    pub fn compare(&mut self, id: MatchId, log: &HashMap<Viewer, Vec<Message<Neon>>>) {
        self.history.compare(id, log, self.weather.replicated);
    }

    /// How many watches are held.
    pub fn watched(&mut self) -> usize {
        self.watches.retain(|(_, watch)| !watch.is_closed());
        self.watches.len()
    }

    /// Makes it forget what it was told last; where it acknowledges only what a replica has, only
    /// what none has. The seats stay taken.
    pub fn lose(&mut self, most: usize) {
        let now = Instant::now();
        let mut kept = self.journal.len();
        while self.journal.len() - kept < most
            && let Some(Written { what: Write::Commit(id, commit), replicated }) =
                self.journal[..kept].last()
            && commit.request.scope != Request::JOIN
            && !(self.weather.replicated && *replicated <= now)
        {
            self.history.lost(*id, commit.base);
            kept -= 1;
        }
        if kept < self.journal.len() {
            self.journal.truncate(kept);
            self.history.another();
            self.store = Arc::default();
            for written in &self.journal {
                write(&self.store, written.what.clone()).expect("written once before");
            }
        }
    }

    /// From when on what was written last of what fits is safe.
    fn replicated(&self, fits: impl Fn(&Write) -> bool) -> Option<Instant> {
        self.journal.iter().rev().find(|written| fits(&written.what)).map(|found| found.replicated)
    }

    fn keep(&mut self, what: Write) {
        let mut replicated = Instant::now();
        if self.weather.replicated {
            replicated += self.weather.delay(&mut self.chance);
        }
        // Replicas follow in order.
        let before = self.journal.last().map_or(replicated, |last| last.replicated);
        self.journal.push(Written { what, replicated: replicated.max(before) });
    }

    fn claim(&mut self, key: &str, claim: &Bytes, keep: Duration) -> Answer<Bytes> {
        let kept = now(self.store.claim(key, claim.clone(), keep))?;
        let of_key = |what: &Write| matches!(what, Write::Claim(of, ..) if of == key);
        if self.replicated(of_key).is_none() {
            self.keep(Write::Claim(key.to_owned(), claim.clone(), keep));
        }
        Ok((kept, self.replicated(of_key)))
    }

    fn create(
        &mut self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> Answer<bool> {
        let is_new = now(self.store.create(id, first.clone(), snapshot.clone(), keep))?;
        if is_new {
            self.history.created(id, first.position);
            self.keep(Write::Create(id, first, snapshot, keep));
        }
        let of_id = |what: &Write| matches!(what, Write::Create(of, ..) if *of == id);
        Ok((is_new, self.replicated(of_id)))
    }

    fn load(
        &mut self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> Answer<Option<Loaded>> {
        let loaded = now(self.store.load(id, known, request))?;
        let answered = loaded.as_ref().and_then(|loaded| loaded.answered);
        let safe = answered.and_then(|answered| self.safe(id, answered.version));
        Ok((loaded, safe))
    }

    fn commit(&mut self, id: MatchId, commit: &Commit) -> Answer<Committed> {
        let committed = now(self.store.commit(id, commit.clone()))?;
        let version = match committed {
            Committed::Done => {
                self.history.committed(id, commit);
                self.keep(Write::Commit(id, commit.clone()));
                Some(commit.base.version + 1)
            }
            Committed::Repeated(Answered { version, .. }) => Some(version),
            Committed::Conflict | Committed::Forked | Committed::Gone => None,
        };
        Ok((committed, version.and_then(|version| self.safe(id, version))))
    }

    /// From when on this version of the match is safe.
    fn safe(&self, id: MatchId, version: Version) -> Option<Instant> {
        self.replicated(|what| {
            matches!(what, Write::Commit(of, commit) if *of == id && commit.base.version + 1 == version)
        })
    }
}

/// An instance's way to the store.
#[derive(Clone, Debug)]
pub struct Line {
    world: Arc<World>,
    /// Whether the instance is no more: it reaches nothing.
    cut: Arc<AtomicBool>,
}

impl Line {
    pub fn new(world: &Arc<World>) -> Self {
        Self { world: Arc::clone(world), cut: Arc::default() }
    }

    pub fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    /// Sends a call over the network, and waits for the answer as long as anyone would.
    async fn call<T: Send + 'static>(
        &self,
        what: &'static str,
        access: Access,
        act: impl FnOnce(&Arc<World>, &mut State) -> Answer<T> + Send + 'static,
    ) -> Result<T> {
        let unanswered = || match access {
            Access::Read => StoreError::Unavailable("simulated".to_owned()),
            Access::Write => StoreError::OutcomeUnknown("simulated".to_owned()),
        };
        let (refusal, delay, there, back) = {
            let mut state = self.world.lock();
            let State { weather, chance, .. } = &mut *state;
            let (refusal, delay) = (weather.refusal(chance), weather.delay(chance));
            let (there, back) = (weather.way(chance), weather.way(chance));
            let down = state.down_until.is_some_and(|until| Instant::now() < until);
            let gone = down || self.cut.load(Ordering::Relaxed);
            let gone = gone.then(|| StoreError::Unavailable("simulated".to_owned()));
            (gone.or(refusal), delay, there, back)
        };
        if let Some(error) = refusal {
            self.world.lock().history.happened("a call is refused", format_args!("{what}"));
            tokio::time::sleep(delay.min(PATIENCE)).await;
            return Err(error);
        }
        let (answer, answered) = oneshot::channel();
        if let Some(there) = there {
            let line = self.clone();
            // Where the answer gets lost, the connection breaks, maybe with the call still on its way.
            let answer = back.map(|back| (answer, back));
            self.world.under_way.spawn(line.carry(what, there, act, answer));
        }
        let answered = tokio::time::timeout(PATIENCE, answered).await;
        if self.cut.load(Ordering::Relaxed) {
            return Err(unanswered());
        }
        answered.ok().and_then(std::result::Result::ok).unwrap_or_else(|| {
            self.world.lock().history.happened("a call is not answered", format_args!("{what}"));
            Err(unanswered())
        })
    }

    /// What becomes of a call that is under way, whether or not anyone waits for it.
    async fn carry<T>(
        self,
        what: &'static str,
        there: Duration,
        act: impl FnOnce(&Arc<World>, &mut State) -> Answer<T>,
        answer: Option<(oneshot::Sender<Result<T>>, Duration)>,
    ) {
        let sent_to = self.world.lock().history.losses();
        tokio::time::sleep(there).await;
        let done = {
            let mut state = self.world.lock();
            // What was on its way to a server that is no more never arrives.
            if state.history.losses() != sent_to {
                return;
            }
            if answer.as_ref().is_none_or(|(answer, _)| answer.is_closed()) {
                let late = match what {
                    "commit" => "a change arrives that nobody waits for",
                    _ => "another call arrives that nobody waits for",
                };
                state.history.happened(late, format_args!("{what}"));
            }
            act(&self.world, &mut state)
        };
        let done = match done {
            Ok((_, Some(safe))) if safe > Instant::now() => {
                let wait = safe.min(Instant::now() + REPLICATION);
                tokio::time::sleep_until(wait).await;
                let mut state = self.world.lock();
                if state.history.losses() != sent_to {
                    return;
                }
                if safe > Instant::now() {
                    state.history.happened("a replica is slow", format_args!("{what}"));
                    Err(StoreError::DurabilityPending("simulated".to_owned()))
                } else {
                    done.map(|(answer, _)| answer)
                }
            }
            done => done.map(|(answer, _)| answer),
        };
        let Some((answer, back)) = answer else { return };
        tokio::time::sleep(back).await;
        // Nobody may wait any more.
        let _ = answer.send(done);
    }
}

#[async_trait]
impl Store for Line {
    async fn claim(&self, key: &str, claim: Bytes, keep: Duration) -> Result<Bytes> {
        let key = key.to_owned();
        let act = move |_: &_, state: &mut State| state.claim(&key, &claim, keep);
        self.call("claim", Access::Write, act).await
    }

    async fn create(
        &self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> Result<bool> {
        let act = move |_: &_, state: &mut State| state.create(id, first, snapshot, keep);
        self.call("create", Access::Write, act).await
    }

    async fn load(
        &self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> Result<Option<Loaded>> {
        let act = move |_: &_, state: &mut State| state.load(id, known, request);
        self.call("load", Access::Read, act).await
    }

    async fn commit(&self, id: MatchId, commit: Commit) -> Result<Committed> {
        let position = Position { version: commit.base.version + 1, digest: commit.digest };
        let act = move |world: &Arc<World>, state: &mut State| {
            let committed = state.commit(id, &commit)?;
            if committed.0 == Committed::Done {
                world.announce(state, id, position);
            }
            state.history.happened(named(&committed.0), format_args!("{id}"));
            Ok(committed)
        };
        self.call("commit", Access::Write, act).await
    }

    async fn log(&self, id: MatchId, after: Version, limit: usize) -> Result<Option<Log>> {
        let act =
            move |_: &_, state: &mut State| Ok((now(state.store.log(id, after, limit))?, None));
        self.call("log", Access::Read, act).await
    }

    async fn watch(&self, id: MatchId) -> Watch {
        let sender = watch::Sender::new(Hint::Unknown);
        let watch = Watch::new(sender.subscribe());
        self.world.lock().watches.push((id, sender));
        watch
    }

    fn info(&self) -> StoreInfo {
        StoreInfo::Memory { capacity: usize::MAX }
    }
}

fn named(committed: &Committed) -> &'static str {
    match committed {
        Committed::Done => "a change is done",
        Committed::Repeated(_) => "a change is repeated",
        Committed::Conflict => "a change is a conflict",
        Committed::Forked => "a change is of a lost history",
        Committed::Gone => "a change is of a match that is gone",
    }
}

fn write(store: &MemoryStore, what: Write) -> Result<()> {
    match what {
        Write::Claim(key, claim, keep) => now(store.claim(&key, claim, keep)).map(|_| ()),
        Write::Create(id, first, snapshot, keep) => {
            now(store.create(id, first, snapshot, keep)).map(|_| ())
        }
        Write::Commit(id, commit) => now(store.commit(id, commit)).map(|_| ()),
    }
}

/// The answer of the embedded store, which never waits.
fn now<T>(answer: impl Future<Output = T>) -> T {
    answer.now_or_never().expect("the embedded store answers at once")
}
