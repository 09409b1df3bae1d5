//! Who takes part: hosts, players, watchers, and the one who breaks things.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::join_all;
use parlor::games::neon::{Action, Neon, Options};
use parlor::matches::{
    Answer, Beginning, Caller, Create, Created, EndReason, Error, Join, JoinCode, Joined, Matches,
    Message, NewPlayer, Settings, State, Submit, Visibility, Watcher,
};
use parlor::rules::{BySeat, Game as _, Seat, SeatCount, Viewer};
use parlor::store::{MatchId, Position, Request, Version};
use rand::{RngExt as _, SeedableRng as _};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Rng;
use super::faults::{Weather, percent};
use super::history::Invoked;
use super::world::{Line, World};
use crate::seeded::{SameDay, SeededChance};

/// Instances at a time.
const INSTANCES: usize = 3;

/// How often a watcher of a quiet match hears something.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// A match, as those who take part know it.
#[derive(Debug)]
pub struct Table {
    pub id: MatchId,
    /// The number of each seat's token.
    epochs: [Cell<u32>; 2],
    over: Cell<bool>,
}

/// An instance, and everything that ends with it.
#[derive(Clone, Debug)]
struct Instance {
    matches: Matches<Neon>,
    line: Line,
    gone: CancellationToken,
}

/// All who take part, and where they meet.
#[derive(Debug)]
pub struct People {
    pub world: Arc<World>,
    weather: Weather,
    settings: Settings,
    instances: RefCell<Vec<Instance>>,
    /// All there ever were.
    started: RefCell<Vec<Instance>>,
    tables: RefCell<Vec<Rc<Table>>>,
    /// Until then things go wrong, and players make moves.
    pub until: Instant,
    /// Then everyone must know everything.
    pub settled: Instant,
}

fn uuid(chance: &mut Rng) -> Uuid {
    Uuid::from_u128(chance.random())
}

impl People {
    pub fn new(world: Arc<World>, weather: Weather, chance: &mut Rng) -> Self {
        let ages = [20, 600];
        let settings = Settings {
            heartbeat: HEARTBEAT,
            stream_age: Duration::from_secs(ages[chance.random_range(0..2)]),
            ..Settings::default()
        };
        let until = Instant::now() + Duration::from_millis(chance.random_range(1_000..6_000));
        let people = Self {
            world,
            weather,
            settings,
            instances: RefCell::default(),
            started: RefCell::default(),
            tables: RefCell::default(),
            until,
            // What is under way takes five seconds at most, and then a heartbeat finds the rest.
            settled: until + 4 * HEARTBEAT,
        };
        for _ in 0..INSTANCES {
            let instance = people.start(chance);
            people.instances.borrow_mut().push(instance);
        }
        people
    }

    fn start(&self, chance: &mut Rng) -> Instance {
        let line = Line::new(&self.world);
        let matches = Matches::new(
            Arc::new(line.clone()),
            Arc::new(SameDay::start()),
            Arc::new(SeededChance::new(chance.random())),
            self.settings.clone(),
        );
        let instance = Instance { matches, line, gone: CancellationToken::new() };
        self.started.borrow_mut().push(instance.clone());
        instance
    }

    fn any(&self, chance: &mut Rng) -> Instance {
        self.instances.borrow()[chance.random_range(0..INSTANCES)].clone()
    }

    /// The matches that were created.
    pub fn tables(&self) -> Vec<Rc<Table>> {
        self.tables.borrow().clone()
    }

    fn is_calm(&self) -> bool {
        Instant::now() >= self.until
    }

    fn note(&self, what: &'static str) {
        self.world.lock().history.note(what);
    }

    /// What an instance answers, unless it ends before, or the caller hangs up.
    async fn hear<T>(
        &self,
        at: &Instance,
        call: impl Future<Output = Result<T, Error>>,
        chance: &mut Rng,
    ) -> Option<Result<T, Error>> {
        let hangs_up = !self.is_calm() && percent(chance, self.weather.hung_up);
        let mut polls = if hangs_up { chance.random_range(0..6) } else { u32::MAX };
        let mut call = pin!(call);
        let patient = poll_fn(|context| {
            if polls == 0 {
                return Poll::Ready(None);
            }
            polls -= 1;
            call.as_mut().poll(context).map(Some)
        });
        let answer = tokio::select! {
            biased;
            () = at.gone.cancelled() => None,
            answer = patient => answer,
        };
        if answer.is_none() && hangs_up {
            self.note("a caller hangs up");
        }
        answer
    }

    /// Whether it is worth trying again; what is never to be said is noted.
    fn again(&self, error: &Error) -> bool {
        let mut world = self.world.lock();
        let history = &mut world.history;
        match error {
            Error::Store(error) => {
                history.trace(format_args!("an instance says: {error}"));
                history.note("an instance says that the store failed");
            }
            Error::Contention => history.note("others kept changing the match"),
            Error::Forked => {
                history.happened("a caller is told of a fork", format_args!(""));
                if history.losses() == 0 {
                    history.violation(format_args!("a fork where nothing was lost"));
                }
            }
            Error::NotFound
            | Error::Hidden
            | Error::BadSetup(_)
            | Error::NoSuchSeat
            | Error::NotStarted
            | Error::Corrupt(_)
            | Error::SchemaTooNew(_)
            | Error::RulesVersion(_)
            | Error::RulesPanic => history.violation(format_args!("never to be said: {error:?}")),
            _ => return false,
        }
        true
    }

    /// Waits a little, as one who tries again does.
    async fn pause(&self, chance: &mut Rng) {
        sleep(Duration::from_millis(chance.random_range(1..200))).await;
    }

    /// Creates a match and has its seats taken.
    pub async fn host(&self, mut chance: Rng) {
        let count = SeatCount::new(2).unwrap();
        let player = |number: u8| NewPlayer { name: number.to_string(), ..NewPlayer::default() };
        let open = chance.random_ratio(1, 2);
        let request = Create::<Options> {
            request_id: uuid(&mut chance),
            principal: "host".to_owned(),
            options: Options::default(),
            seats: BySeat::from_fn(count, |seat| {
                (seat.number() == 0 || !open).then(|| player(seat.number()))
            }),
            visibility: Visibility::Public,
        };
        let created = self.create(&request, &mut chance).await;
        let again = self.create(&request, &mut chance).await;
        let same = |created: &Created<Neon>| (created.id, created.answer.frame.live.position);
        if same(&created) != same(&again) {
            let mut world = self.world.lock();
            world.history.violation(format_args!("one request made {created:?} and {again:?}"));
        }
        let code = created.answer.frame.live.record.creation.join_code;
        if open {
            let rivals =
                (0..2).map(|_| self.join(created.id, code, Rng::seed_from_u64(chance.random())));
            let seated = join_all(rivals).await.into_iter().filter(|seated| *seated).count();
            if seated != 1 {
                let mut world = self.world.lock();
                world.history.violation(format_args!("{seated} of two rivals got the seat"));
            }
        }
        let table = Table { id: created.id, epochs: Default::default(), over: Cell::new(false) };
        self.tables.borrow_mut().push(Rc::new(table));
    }

    async fn create(&self, request: &Create<Options>, chance: &mut Rng) -> Created<Neon> {
        loop {
            let at = self.any(chance);
            let call = at.matches.create(request.clone());
            match self.hear(&at, call, chance).await {
                Some(Ok(created)) => return created,
                Some(Err(error)) if !self.again(&error) => {
                    let mut world = self.world.lock();
                    world.history.violation(format_args!("a creation was refused: {error:?}"));
                }
                Some(Err(_)) | None => {}
            }
            self.pause(chance).await;
        }
    }

    /// Tries to take the open seat; says whether that went well.
    async fn join(&self, id: MatchId, join_code: JoinCode, mut chance: Rng) -> bool {
        let player = NewPlayer { name: chance.random::<u8>().to_string(), ..NewPlayer::default() };
        let join = Join { request_id: uuid(&mut chance), join_code, seat: None, player };
        let request = (Request::JOIN, join.request_id);
        self.world.lock().history.issued(id, request);
        loop {
            let at = self.any(&mut chance);
            let invoked = self.world.lock().history.invoked(id);
            let call = at.matches.join(join.clone());
            let answer = self.hear(&at, call, &mut chance).await;
            match answer {
                Some(Ok(Joined { answer, .. })) => {
                    self.world.lock().history.answered(id, invoked, request, &answer);
                    return true;
                }
                Some(Err(error)) if !self.again(&error) => {
                    self.world.lock().history.refused(id, invoked, request, None, &error);
                    return false;
                }
                Some(Err(_)) | None => self.pause(&mut chance).await,
            }
        }
    }

    /// Plays a seat until the match is over, or all is calm.
    pub async fn play(&self, table: Rc<Table>, seat: Seat, mut chance: Rng) {
        while !self.is_calm() && !table.over.get() {
            sleep(Duration::from_millis(chance.random_range(0..100))).await;
            let epoch = table.epochs[seat.index()].get();
            let at = self.any(&mut chance);
            let invoked = self.world.lock().history.invoked(table.id);
            let call = at.matches.look(table.id, Caller::Seat(seat, epoch));
            let live = match self.hear(&at, call, &mut chance).await {
                Some(Ok((live, _))) => live,
                Some(Err(error)) => {
                    self.again(&error);
                    continue;
                }
                None => continue,
            };
            self.world.lock().history.read(table.id, invoked, live.position);
            if live.record.outcome().is_some() {
                table.over.set(true);
            }
            let decision = live.record.decisions[seat];
            let mut legal = Vec::new();
            let game = live.record.game.as_ref().expect("a match that began");
            game.legal(seat, &mut legal);
            let out_of_turn = chance.random_ratio(1, 20);
            if legal.is_empty() && out_of_turn {
                game.legal(Seat::new(1 - seat.number()).unwrap(), &mut legal);
            }
            if legal.is_empty() {
                continue;
            }
            let action = legal[chance.random_range(0..legal.len())];
            let decision = decision.filter(|_| chance.random_ratio(3, 4));
            let submit = Submit { seat, epoch, action_id: uuid(&mut chance), action, decision };
            self.submit(&table, submit, &mut chance).await;
        }
    }

    /// Sends an action until there is an answer, now and then to several instances at once, and now
    /// and then once more.
    async fn submit(&self, table: &Table, mut submit: Submit<Action>, chance: &mut Rng) {
        let request = (submit.seat.number(), submit.action_id);
        self.world.lock().history.issued(table.id, request);
        let mut repeats = u8::from(chance.random_ratio(1, 4));
        loop {
            submit.epoch = table.epochs[submit.seat.index()].get();
            let at_once = if chance.random_ratio(1, 5) { 2 } else { 1 };
            let calls = (0..at_once).map(|_| {
                let chance = Rng::seed_from_u64(chance.random());
                self.submit_once(table.id, submit.clone(), chance)
            });
            if join_all(calls).await.into_iter().any(|done| done) {
                if repeats == 0 {
                    break;
                }
                repeats -= 1;
            }
            self.pause(chance).await;
        }
        if chance.random_ratio(1, 20) {
            let other = Submit { decision: Some(Version::MAX), ..submit };
            let at = self.any(chance);
            let Some(answer) = self.hear(&at, at.matches.submit(table.id, other), chance).await
            else {
                return;
            };
            let mut world = self.world.lock();
            match answer {
                Ok(answer) => world.history.violation(format_args!("an id twice: {answer:?}")),
                Err(Error::ActionIdReused) => world.history.note("an action id is used twice"),
                Err(_) => {}
            }
        }
    }

    /// Sends an action once; says whether that settles it.
    async fn submit_once(&self, id: MatchId, submit: Submit<Action>, mut chance: Rng) -> bool {
        let at = self.any(&mut chance);
        let invoked = self.world.lock().history.invoked(id);
        let (request, decision) = ((submit.seat.number(), submit.action_id), submit.decision);
        let call = at.matches.submit(id, submit);
        let answer = self.hear(&at, call, &mut chance).await;
        self.judge(id, invoked, request, decision, answer)
    }

    /// Has the history look at an answer; says whether it settles the request.
    fn judge(
        &self,
        id: MatchId,
        invoked: Invoked,
        request: (u8, Uuid),
        decision: Option<Version>,
        answer: Option<Result<Answer<Neon>, Error>>,
    ) -> bool {
        match answer {
            Some(Ok(answer)) => {
                self.world.lock().history.answered(id, invoked, request, &answer);
                true
            }
            Some(Err(error)) if !self.again(&error) => {
                let mut world = self.world.lock();
                world.history.refused(id, invoked, request, decision, &error);
                true
            }
            Some(Err(_)) | None => false,
        }
    }

    /// Watches a match to the end, here and there.
    pub async fn watch(&self, table: Rc<Table>, viewer: Viewer, mut chance: Rng) {
        let mut seen = None;
        let (mut over, mut ended) = (false, false);
        while Instant::now() < self.settled && !ended {
            let at = self.any(&mut chance);
            let beginning = match seen {
                Some(Position { version, .. })
                    if !self.weather.losses && chance.random_ratio(1, 4) =>
                {
                    Beginning::After(version)
                }
                Some(position) => Beginning::Resumed(position),
                None if chance.random_ratio(1, 3) => Beginning::After(0),
                None => Beginning::Now,
            };
            let caller = match viewer {
                Viewer::Seat(seat) => Caller::Seat(seat, table.epochs[seat.index()].get()),
                Viewer::Spectator => Caller::Spectator,
            };
            let invoked = self.world.lock().history.invoked(table.id);
            let call = at.matches.watch(table.id, caller, beginning);
            match self.hear(&at, call, &mut chance).await {
                Some(Ok(watcher)) => {
                    if beginning == Beginning::Now {
                        let position = watcher.position().expect("it begins with a snapshot");
                        self.world.lock().history.read(table.id, invoked, position);
                    }
                    if matches!(beginning, Beginning::Resumed(_)) {
                        self.note("a watcher resumes");
                    }
                    ended = self
                        .follow(&at, watcher, table.id, viewer, (&mut seen, &mut over), &mut chance)
                        .await;
                }
                Some(Err(error)) => {
                    self.again(&error);
                    self.pause(&mut chance).await;
                }
                None => {}
            }
        }
        let mut world = self.world.lock();
        let head = world.history.head(table.id);
        // A match that is over can still get new tokens, of which nobody is told.
        if seen != Some(head) && !ended {
            world
                .history
                .violation(format_args!("{viewer:?} is left at {seen:?}, not at {head:?}"));
        }
    }

    /// Listens to a watcher for a while; says whether there is no more to hear.
    async fn follow(
        &self,
        at: &Instance,
        mut watcher: Watcher<Neon>,
        id: MatchId,
        viewer: Viewer,
        (seen, over): (&mut Option<Position>, &mut bool),
        chance: &mut Rng,
    ) -> bool {
        let since = Instant::now();
        let mut stays = chance.random_range(1..40);
        while stays > 0 || self.is_calm() {
            // Now and then it stops listening in the middle of a message.
            let patience = Duration::from_millis(chance.random_range(0..4_000));
            let message = tokio::select! {
                biased;
                () = at.gone.cancelled() => return false,
                () = tokio::time::sleep_until(self.settled) => return false,
                message = watcher.next() => message,
                () = sleep(patience) => {
                    stays -= i32::from(stays > 0);
                    continue;
                }
            };
            let Some(message) = message else { return false };
            let message = message.expect("rules without a mistake");
            stays -= i32::from(stays > 0);
            let end = match &message {
                Message::End(reason) => Some(*reason),
                Message::Snapshot(view, _) | Message::Update(_, view) => {
                    *over = view.state == State::Over;
                    None
                }
                Message::Heartbeat => None,
            };
            let now = watcher.position();
            let prompt = self.weather.is_fair().then_some(since);
            self.world.lock().history.told(id, viewer, *seen, now, message, prompt);
            *seen = now.or(*seen);
            match end {
                Some(EndReason::MatchOver) if *over => return true,
                Some(
                    EndReason::MatchOver
                    | EndReason::MatchExpired
                    | EndReason::Superseded
                    | EndReason::Unreadable,
                ) => {
                    let mut world = self.world.lock();
                    world.history.violation(format_args!("{viewer:?} is told: {end:?}"));
                    return false;
                }
                Some(_) => return false,
                None => {}
            }
        }
        false
    }

    /// Breaks things, as long as there is to be no calm.
    pub async fn disturb(&self, mut chance: Rng) {
        while !self.is_calm() {
            sleep(Duration::from_millis(chance.random_range(0..1_500))).await;
            match chance.random_range(0..10) {
                0..3 if self.weather.crashes => self.end_one(&mut chance).await,
                3..6 if self.weather.losses => {
                    let most = chance.random_range(1..8);
                    self.world.lock().lose(most);
                }
                6..8 if percent(&mut chance, self.weather.outages) => {
                    let down = Duration::from_millis(chance.random_range(10..2_000));
                    let mut world = self.world.lock();
                    world.down_until = Some(Instant::now() + down);
                    world.history.happened("the store is down", format_args!("for {down:?}"));
                }
                8 => self.renew(&mut chance).await,
                _ => {}
            }
        }
        self.world.lock().weather =
            Weather { replicated: self.weather.replicated, ..Weather::CALM };
    }

    /// Ends an instance, with a warning or without, and starts another.
    async fn end_one(&self, chance: &mut Rng) {
        let which = chance.random_range(0..INSTANCES);
        let another = self.start(chance);
        let one = std::mem::replace(&mut self.instances.borrow_mut()[which], another);
        if chance.random_ratio(1, 2) {
            self.note("an instance stops");
            let _ = tokio::time::timeout(Duration::from_secs(1), one.matches.drain()).await;
        } else {
            self.note("an instance crashes");
        }
        // Nobody hears of it any more, and it reaches nothing: what it does is of no effect.
        one.line.cut();
        one.gone.cancel();
    }

    /// Replaces the token of a seat.
    async fn renew(&self, chance: &mut Rng) {
        let tables = self.tables();
        let table = &tables[chance.random_range(0..tables.len())];
        let seat = Seat::new(chance.random_range(0..2)).unwrap();
        let epoch = table.epochs[seat.index()].get();
        let request = (seat.number(), uuid(chance));
        self.world.lock().history.issued(table.id, request);
        loop {
            let at = self.any(chance);
            let invoked = self.world.lock().history.invoked(table.id);
            let call = at.matches.renew(table.id, seat, epoch, request.1);
            let answer = self.hear(&at, call, chance).await;
            let now = match &answer {
                Some(Ok(answer)) => answer.frame.live.record.players[seat].as_ref(),
                _ => None,
            };
            if let Some(now) = now {
                table.epochs[seat.index()].set(now.epoch);
            }
            if self.judge(table.id, invoked, request, None, answer) {
                return;
            }
            self.pause(chance).await;
        }
    }

    /// Ends all instances; whatever still runs then is noted.
    pub async fn end(&self) {
        let gone = async {
            while self.world.lock().watched() > 0 {
                sleep(Duration::from_millis(100)).await;
            }
        };
        if tokio::time::timeout(Duration::from_secs(5), gone).await.is_err() {
            let what = format_args!("readers are left that nobody watches through");
            self.world.lock().history.violation(what);
        }
        let started = self.started.take();
        for instance in &started {
            let drained = tokio::time::timeout(Duration::from_secs(20), instance.matches.drain());
            if drained.await.is_err() {
                self.world.lock().history.violation(format_args!("an instance does not drain"));
            }
        }
    }
}
