//! What was written, and whether what instances said of it was true.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use parlor::games::neon::Neon;
use parlor::matches::{Answer, Error, Event, MatchView, Message, SnapshotReason, State};
use parlor::rules::{Seat, Viewer};
use parlor::store::{Commit, Digest, MatchId, Position, Request, Version};
use tokio::time::Instant;
use uuid::Uuid;

/// The scope and the id of a request.
pub type RequestId = (u8, Uuid);

/// Where every match begins.
const NOTHING: Position = Position { version: 0, digest: Digest([0; 16]) };

/// Where everything arrives, a watcher is told of a change within this time.
const PROMPT: Duration = Duration::from_millis(200);

/// All matches, as the store has them and as instances told of them.
#[derive(Debug)]
pub struct History {
    matches: BTreeMap<MatchId, Match>,
    /// How often the store lost something.
    losses: u32,
    violations: Vec<String>,
    noted: BTreeMap<&'static str, u64>,
    began: Instant,
    /// Stands for everything that happened so far.
    trace: DefaultHasher,
    /// The same to read, where someone will.
    lines: Option<Vec<String>>,
}

#[derive(Debug, Default)]
struct Match {
    /// Every version that ever was.
    steps: HashMap<Position, Step>,
    /// The versions that the store has.
    line: Vec<(Position, Option<RequestId>)>,
    /// What callers asked for, and how things were when they first did.
    issued: HashMap<RequestId, Invoked>,
    /// The latest version that someone was told of.
    acknowledged: Version,
    /// What the first answer to a request was.
    answers: HashMap<RequestId, (Position, Vec<Event<Neon>>)>,
    /// How many answers to a request said that it was not done before.
    new: HashMap<RequestId, u32>,
    /// Positions that were acknowledged, and how many losses there were when that was asked for.
    kept: Vec<(Position, u32)>,
    refusals: Vec<(Invoked, Version, Seat, Option<Version>, Error)>,
    told: Vec<(Viewer, Position, Message<Neon>)>,
}

/// A version that was saved.
#[derive(Clone, Debug)]
struct Step {
    before: Position,
    /// The requests that made it: after a loss, the same can be done for another one.
    made_by: Vec<RequestId>,
    saved: Instant,
}

/// How things were when something was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Invoked {
    losses: u32,
    acknowledged: Version,
    head: Version,
}

impl History {
    pub fn new(readable: bool) -> Self {
        Self {
            matches: BTreeMap::new(),
            losses: 0,
            violations: Vec::new(),
            noted: BTreeMap::new(),
            began: Instant::now(),
            trace: DefaultHasher::new(),
            lines: readable.then(Vec::new),
        }
    }

    pub fn losses(&self) -> u32 {
        self.losses
    }

    /// What came of it: what was wrong, what happened how often, and what stands for all of it.
    pub fn end(self) -> (Vec<String>, BTreeMap<&'static str, u64>, u64, Vec<String>) {
        (self.violations, self.noted, self.trace.finish(), self.lines.unwrap_or_default())
    }

    /// Counts something of which it matters that it ever happens.
    pub fn note(&mut self, what: &'static str) {
        *self.noted.entry(what).or_default() += 1;
    }

    /// Notes something with its details.
    pub fn happened(&mut self, what: &'static str, details: fmt::Arguments<'_>) {
        self.note(what);
        self.trace(format_args!("{what}: {details}"));
    }

    pub fn trace(&mut self, what: fmt::Arguments<'_>) {
        let mut line = String::new();
        let _ = write!(line, "{:>8.3} {what}", self.began.elapsed().as_secs_f64());
        line.hash(&mut self.trace);
        self.lines.iter_mut().for_each(|lines| lines.push(line.clone()));
    }

    pub fn violation(&mut self, what: fmt::Arguments<'_>) {
        self.trace(format_args!("VIOLATION: {what}"));
        self.violations.push(what.to_string());
    }

    fn check(&mut self, holds: bool, what: fmt::Arguments<'_>) {
        if !holds {
            self.violation(what);
        }
    }

    fn of(&mut self, id: MatchId) -> &mut Match {
        self.matches.entry(id).or_default()
    }

    /// Where the store has the match.
    pub fn head(&self, id: MatchId) -> Position {
        let of = self.matches.get(&id);
        of.and_then(|of| of.line.last()).map_or(NOTHING, |(position, _)| *position)
    }

    // What the store did.

    pub fn created(&mut self, id: MatchId, position: Position) {
        let of = self.of(id);
        of.steps
            .insert(position, Step { before: NOTHING, made_by: Vec::new(), saved: Instant::now() });
        of.line.push((position, None));
        self.trace(format_args!("{id} is created"));
    }

    pub fn committed(&mut self, id: MatchId, commit: &Commit) {
        let position = Position { version: commit.base.version + 1, digest: commit.digest };
        let request = (commit.request.scope, commit.request.id);
        self.trace(format_args!("{id} is at {}", brief(position)));
        let head = self.head(id);
        self.check(head == commit.base, format_args!("a change of {:?} at {head:?}", commit.base));
        let of = self.of(id);
        let known = of.issued.contains_key(&request);
        let twice = of.line.iter().any(|(_, made_by)| *made_by == Some(request));
        let step = Step { before: commit.base, made_by: Vec::new(), saved: Instant::now() };
        of.steps.entry(position).or_insert(step).made_by.push(request);
        of.line.push((position, Some(request)));
        self.check(known, format_args!("{request:?} was asked by nobody"));
        self.check(!twice, format_args!("{request:?} was done twice"));
    }

    /// The store has lost the latest change, and with it all that came of it.
    pub fn lost(&mut self, id: MatchId, base: Position) {
        self.happened("a change is lost", format_args!("{id} is back at {}", brief(base)));
        self.of(id).line.pop();
        let head = self.head(id);
        self.check(head == base, format_args!("the simulation lost {base:?} at {head:?}"));
    }

    /// The store has another history from now on.
    pub fn another(&mut self) {
        self.losses += 1;
        for of in self.matches.values_mut() {
            let head = of.line.last().map_or(0, |(position, _)| position.version);
            of.acknowledged = of.acknowledged.min(head);
        }
    }

    // What instances said.

    /// Someone is about to ask.
    pub fn invoked(&mut self, id: MatchId) -> Invoked {
        let (losses, head) = (self.losses, self.head(id).version);
        Invoked { losses, acknowledged: self.of(id).acknowledged, head }
    }

    /// Someone is about to ask for this.
    pub fn issued(&mut self, id: MatchId, request: RequestId) {
        let invoked = self.invoked(id);
        self.of(id).issued.insert(request, invoked);
    }

    /// Someone was told where the match is, and what it is there.
    pub fn read(&mut self, id: MatchId, invoked: Invoked, position: Position) {
        let losses = self.losses;
        let of = self.of(id);
        let (exists, head) = (of.steps.contains_key(&position), of.acknowledged);
        self.check(exists, format_args!("{position:?} was shown and not saved"));
        if invoked.losses == losses {
            let late = position.version >= invoked.acknowledged;
            self.check(late, format_args!("{position:?} was shown after {}", invoked.acknowledged));
            self.of(id).acknowledged = head.max(position.version);
        }
    }

    /// A request was answered: that it is done.
    pub fn answered(
        &mut self,
        id: MatchId,
        invoked: Invoked,
        request: RequestId,
        answer: &Answer<Neon>,
    ) {
        let position = answer.frame.live.position;
        let replayed = answer.replayed;
        self.trace(format_args!("{} answers {}, {replayed}", brief(position), request.1));
        self.note(if replayed { "a repeat is answered" } else { "a request is answered" });
        let losses = self.losses;
        let of = self.of(id);
        let made_it = of.steps.get(&position).is_some_and(|step| step.made_by.contains(&request));
        let this = (position, answer.frame.events.clone());
        // What another request did since then may be just the same.
        let is_lost = |answer: &Position| !of.line.contains(&(*answer, Some(request)));
        // An answer that was under way while the store lost what it is about tells nothing.
        let came_late = invoked.losses != losses && is_lost(&position);
        let mut first = of.answers.get(&request).unwrap_or(&this).clone();
        if is_lost(&first.0) {
            // What the first answer was about is lost, and may be done again.
            first = this.clone();
        }
        of.answers.insert(request, first.clone());
        of.kept.push((position, invoked.losses));
        let new = of.new.entry(request).or_default();
        *new += u32::from(!replayed);
        let once = *new <= 1 || losses > 0;
        self.check(once, format_args!("{request:?} is new to two callers"));
        self.check(made_it, format_args!("{position:?} is not what {request:?} did"));
        let what = format_args!("{request:?} was answered by {this:?} and {first:?}");
        self.check(came_late || this == first, what);
        if invoked.losses == losses {
            let of = self.of(id);
            of.acknowledged = of.acknowledged.max(position.version);
            let first = of.issued.get(&request).filter(|first| first.losses == losses).copied();
            // What was acknowledged before it was asked for came before it.
            let after = first.map_or(0, |first| first.acknowledged);
            let in_order = position.version > after;
            self.check(in_order, format_args!("{position:?} was done after {after}"));
        }
    }

    /// A request was refused by a rule of the match, for this reason.
    pub fn refused(
        &mut self,
        id: MatchId,
        invoked: Invoked,
        request: RequestId,
        decision: Option<Version>,
        error: &Error,
    ) {
        self.happened("a request is refused", format_args!("{}: {error}", request.1));
        let (losses, head) = (self.losses, self.head(id).version);
        let of = self.of(id);
        let made = of.line.iter().find(|(_, made_by)| *made_by == Some(request));
        let made = made.is_some_and(|(position, _)| position.version <= invoked.head);
        if let Some(seat) = Seat::new(request.0).filter(|_| request.0 != Request::JOIN) {
            of.refusals.push((invoked, head, seat, decision, error.clone()));
        }
        let same = invoked.losses == losses;
        self.check(!(made && same), format_args!("{request:?} was done and refused: {error}"));
    }

    /// A watcher that had seen this much was told something, and stands there now; where everything
    /// arrives, also since when it listens.
    pub fn told(
        &mut self,
        id: MatchId,
        viewer: Viewer,
        before: Option<Position>,
        now: Option<Position>,
        message: Message<Neon>,
        prompt: Option<Instant>,
    ) {
        let place = now.map(brief);
        match &message {
            Message::Snapshot(view, reason) => {
                self.trace(format_args!("{viewer:?} starts at {place:?}, {reason:?}"));
                self.stands(id, now, view);
                if *reason == SnapshotReason::HistoryForked {
                    self.note("a watcher starts over");
                    let losses = self.losses;
                    self.check(losses > 0, format_args!("{viewer:?} starts over for nothing"));
                }
            }
            Message::Update(_, view) => {
                self.trace(format_args!("{viewer:?} is told of {place:?}"));
                self.note("a watcher is told of a version");
                self.stands(id, now, view);
                let Some(now) = now else { return };
                let step = self.of(id).steps.get(&now).cloned();
                let before = before.unwrap_or(NOTHING);
                let what = format_args!("{viewer:?} is told of {now:?} after {before:?}");
                self.check(step.as_ref().is_some_and(|step| step.before == before), what);
                if let (Some(step), Some(listens)) = (step, prompt) {
                    let late = step.saved.max(listens).elapsed();
                    let what = format_args!("{viewer:?} is told of {now:?} after {late:?}");
                    self.check(late <= PROMPT, what);
                }
                self.of(id).told.push((viewer, now, message));
            }
            Message::Heartbeat => self.note("a watcher hears a heartbeat"),
            Message::End(reason) => {
                self.note("a watcher is told that there is no more");
                self.trace(format_args!("{viewer:?} is told the end: {reason:?}"));
            }
        }
    }

    fn stands(&mut self, id: MatchId, now: Option<Position>, view: &MatchView<Neon>) {
        let exists = now.is_some_and(|now| self.of(id).steps.contains_key(&now));
        self.check(exists, format_args!("{now:?} was shown and not saved"));
        let same = now.is_some_and(|now| now.version == view.version);
        self.check(same, format_args!("at {now:?}, the view of {}", view.version));
    }

    // What must hold in the end.

    /// Compares what was said with the log: what each viewer is to be told of each version.
    pub fn compare(
        &mut self,
        id: MatchId,
        log: &HashMap<Viewer, Vec<Message<Neon>>>,
        replicated: bool,
    ) {
        let losses = self.losses;
        let of = self.matches.remove(&id).expect("a match that was made");
        let in_line = |position: &Position| of.line.iter().any(|(at, _)| at == position);
        for (viewer, position, message) in &of.told {
            let place = position.version as usize - 1;
            let expected = log[viewer].get(place);
            let holds = !in_line(position) || expected == Some(message);
            self.check(holds, format_args!("{viewer:?} was told {message:?} and not {expected:?}"));
        }
        for (position, invoked) in &of.kept {
            let kept = in_line(position) || (!replicated && *invoked < losses);
            self.check(kept, format_args!("{position:?} was acknowledged and is lost"));
        }
        for (invoked, head, seat, decision, error) in &of.refusals {
            // Of versions that were lost nobody knows any more whether a refusal was right.
            let versions = invoked.head.max(1)..=*head;
            let mut views =
                versions.filter_map(|v| match log[&Viewer::Spectator].get(v as usize - 1) {
                    Some(Message::Update(_, view)) => Some(view),
                    _ => None,
                });
            let right = losses > 0 || views.any(|view| is_right(view, *seat, *decision, error));
            let when = format_args!("{seat} {decision:?} between {} and {head}", invoked.head);
            self.check(right, format_args!("refused for no reason: {error}, {when}"));
        }
    }
}

/// Whether the refusal is right on the match as it is seen here.
fn is_right(view: &MatchView<Neon>, seat: Seat, decision: Option<Version>, error: &Error) -> bool {
    match error {
        Error::Over => view.state == State::Over,
        Error::NotYourTurn => view.decisions[seat].is_none() && decision.is_none(),
        Error::DecisionClosed { current } => {
            *current == view.version && decision.is_some() && view.decisions[seat] != decision
        }
        Error::InFuture { current } => *current == view.version && decision > Some(*current),
        Error::Illegal(_) => decision.is_none(),
        Error::TokenRevoked | Error::ActionIdReused => true,
        _ => false,
    }
}

/// Enough of a position to tell it from others.
fn brief(position: Position) -> String {
    format!("{}:{}", position.version, hex::encode(&position.digest.0[..3]))
}
