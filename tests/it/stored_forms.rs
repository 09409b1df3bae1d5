//! The forms in which matches are stored, kept as files in `tests/stored/matches`: what was stored once
//! is read for ever, and a form that changes has a number of its own.
//!
//! `PARLOR_RECORD=1 cargo test --test it stored_forms` writes the file of a new game or a new form; it
//! never changes one that is there.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{env, fs};

use async_trait::async_trait;
use bytes::Bytes;
use parlor::games::{AnyGame, AnyOptions, IDS, Registered, WithGame, catalogs, with_game};
use parlor::matches::{
    Answer, Beginning, Caller, Create, Join, Matches, Message, NewPlayer, Settings, Submit,
    Visibility,
};
use parlor::rules::{BySeat, Game as _, Seat, SeatCount};
use parlor::store::{
    Commit, Committed, Digest, Entry, Loaded, Log, MatchId, MemoryStore, Position, Request, Result,
    Store, StoreInfo, Version, Watch,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use uuid::Uuid;

use crate::seeded::{SameDay, SeededChance};
use crate::store_contract::KEEP;

/// No match that is recorded has more actions.
const ACTIONS: usize = 60;

/// Of so many snapshots one is kept in a file.
const EVERY: Version = 16;

/// A store that writes down what it is told.
#[derive(Debug, Default)]
struct Recorder {
    store: MemoryStore,
    lines: Mutex<String>,
}

impl Recorder {
    fn record(&self, line: std::fmt::Arguments<'_>) {
        writeln!(self.lines.lock().unwrap(), "{line}").unwrap();
    }
}

#[async_trait]
impl Store for Recorder {
    async fn claim(&self, key: &str, claim: Bytes, keep: Duration) -> Result<Bytes> {
        self.record(format_args!("claim {key} {}", hex::encode(&claim)));
        self.store.claim(key, claim, keep).await
    }

    async fn create(
        &self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> Result<bool> {
        let (digest, input) = (hex::encode(first.position.digest.0), hex::encode(&first.input));
        self.record(format_args!("create {id} {digest} {input} {}", hex::encode(&snapshot)));
        self.store.create(id, first, snapshot, keep).await
    }

    async fn load(
        &self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> Result<Option<Loaded>> {
        self.store.load(id, known, request).await
    }

    async fn commit(&self, id: MatchId, commit: Commit) -> Result<Committed> {
        let kept = commit.base.version.is_multiple_of(EVERY);
        let snapshot = if kept { hex::encode(&commit.snapshot) } else { "-".to_owned() };
        let Request { scope, id: request, digest } = commit.request;
        self.record(format_args!(
            "commit {scope} {request} {} {} {} {snapshot}",
            hex::encode(digest.0),
            hex::encode(commit.digest.0),
            hex::encode(&commit.input),
        ));
        self.store.commit(id, commit).await
    }

    async fn log(&self, id: MatchId, after: Version, limit: usize) -> Result<Option<Log>> {
        self.store.log(id, after, limit).await
    }

    async fn watch(&self, id: MatchId) -> Watch {
        self.store.watch(id).await
    }

    fn info(&self) -> StoreInfo {
        self.store.info()
    }
}

/// The matches of a store, as an instance has them whose chance comes from this seed.
fn matches(store: Arc<dyn Store>, seed: u64) -> Matches<AnyGame> {
    let (clock, chance) = (Arc::new(SameDay::start()), Arc::new(SeededChance::new(seed)));
    Matches::new(store, clock, chance, Settings::default())
}

/// The options of a game when nothing is chosen.
struct Defaults;

impl WithGame for Defaults {
    type Output = AnyOptions;

    fn with<G: Registered>(self) -> AnyOptions {
        G::Options::default().into()
    }
}

/// Asks for everything that changes a match; gives the answers. Where it was asked before, the answers
/// are the same.
async fn play(matches: &Matches<AnyGame>, game: usize) -> Vec<Answer<AnyGame>> {
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut uuid = move || Uuid::from_u128(chance.random());
    let seats = SeatCount::new(*catalogs()[game].seats.start()).unwrap();
    let player = |number: u8| NewPlayer { name: format!("player {number}"), entropy: vec![number] };
    let create = Create {
        request_id: uuid(),
        principal: "someone".to_owned(),
        options: with_game(IDS[game], Defaults).unwrap(),
        seats: BySeat::from_fn(seats, |seat| (seat.number() == 0).then(|| player(0))),
        visibility: Visibility::Public,
    };
    let created = matches.create(create).await.unwrap();
    let (id, mut answers) = (created.id, vec![created.answer]);
    let join_code = answers[0].frame.live.record.creation.join_code;
    for number in 1..seats.get() {
        let (request_id, player) = (uuid(), player(number));
        let join = Join { request_id, join_code, seat: Seat::new(number), player };
        answers.push(matches.join(join).await.unwrap().answer);
    }
    let renewed = Seat::new(1).unwrap();
    answers.push(matches.renew(id, renewed, 0, uuid()).await.unwrap());

    let mut chance = Xoshiro256PlusPlus::seed_from_u64(3);
    for step in 0..ACTIONS {
        let record = &answers.last().unwrap().frame.live.record;
        let game = record.game.as_ref().unwrap();
        let Some(seat) = game.to_act().iter().next() else { break };
        let mut legal = Vec::new();
        game.legal(seat, &mut legal);
        let action = legal.swap_remove(chance.random_range(0..legal.len()));
        let decision = record.decisions[seat].filter(|_| step % 2 == 0);
        let submit =
            Submit { seat, epoch: u32::from(seat == renewed), action_id: uuid(), action, decision };
        answers.push(matches.submit(id, submit).await.unwrap());
    }
    answers
}

/// What is stored of a match of this game as it is played today.
async fn written(game: usize) -> String {
    let recorder = Arc::new(Recorder::default());
    play(&matches(recorder.clone(), 1), game).await;
    let lines = recorder.lines.lock().unwrap();
    lines.clone()
}

/// The file of a game's match in the form of this number.
fn file(game: &str, schema: u8) -> PathBuf {
    let name = format!("{game}-{schema}.txt");
    [env!("CARGO_MANIFEST_DIR"), "tests", "stored", "matches", &name].iter().collect()
}

fn parse<T: FromStr<Err: std::fmt::Debug>>(word: &str) -> T {
    word.parse().unwrap()
}

fn bytes(word: &str) -> Bytes {
    hex::decode(word).unwrap().into()
}

fn digest(word: &str) -> Digest {
    Digest(hex::decode(word).unwrap().try_into().unwrap())
}

/// A store with what the file holds up to a snapshot, for each snapshot that it has.
async fn stores(text: &str) -> Vec<(MatchId, MemoryStore)> {
    let snapshots = text.lines().filter(|line| !line.ends_with(" -") && !line.starts_with("claim"));
    let mut stores = Vec::new();
    for last in snapshots {
        let store = MemoryStore::default();
        let mut at = None;
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["claim", key, claim] => {
                    store.claim(key, bytes(claim), KEEP).await.unwrap();
                }
                ["create", id, after, input, snapshot] => {
                    let position = Position { version: 1, digest: digest(after) };
                    let first = Entry { position, input: bytes(input) };
                    let id = MatchId(parse(id));
                    assert_eq!(store.create(id, first, bytes(snapshot), KEEP).await, Ok(true));
                    at = Some((id, position));
                }
                ["commit", scope, request, asked, after, input, snapshot] => {
                    let (id, base) = at.unwrap();
                    let request =
                        Request { scope: parse(scope), id: parse(request), digest: digest(asked) };
                    let snapshot = if snapshot == "-" { Bytes::new() } else { bytes(snapshot) };
                    let (digest, input) = (digest(after), bytes(input));
                    let commit = Commit { base, digest, request, input, snapshot, keep: KEEP };
                    assert_eq!(store.commit(id, commit).await, Ok(Committed::Done));
                    at = Some((id, Position { version: base.version + 1, digest }));
                }
                _ => panic!("what is this? {line}"),
            }
            if line == last {
                break;
            }
        }
        stores.push((at.unwrap().0, store));
    }
    stores
}

#[tokio::test(start_paused = true)]
async fn what_was_stored_once_is_read_for_ever() {
    let folder = file("any", 0).parent().unwrap().to_owned();
    let mut games = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().rsplit_once('-').unwrap().0;
        let game = IDS.iter().position(|id| *id == name).unwrap();
        games.push(game);

        let mut versions = Vec::new();
        for (id, store) in stores(&text).await {
            let matches = matches(Arc::new(store), 2);
            let (live, viewer) = matches.look(id, Caller::Spectator).await.unwrap();
            let mut log = matches.watch(id, Caller::Spectator, Beginning::After(0)).await.unwrap();
            let mut told = None;
            while log.position() != Some(live.position) {
                told = log.next().await;
            }
            // The snapshot and the log say the same.
            let Some(Ok(Message::Update(_, view))) = told else { panic!("{told:?}") };
            assert_eq!(view, live.view(viewer), "{}", path.display());
            versions.push(live.position.version);
        }
        assert!(versions.len() > 1, "{}: {versions:?}", path.display());

        // Requests of then are known by what they asked.
        let (_, store) = stores(&text).await.pop().unwrap();
        let answers = play(&matches(Arc::new(store), 2), game).await;
        let known = answers.iter().take_while(|answer| answer.replayed).count();
        assert_eq!(versions.last(), Some(&(known as Version)), "{}", path.display());
    }
    games.sort_unstable();
    games.dedup();
    assert_eq!(games.len(), IDS.len(), "PARLOR_RECORD=1 writes what is missing");
}

#[tokio::test(start_paused = true)]
async fn a_form_that_changes_has_a_new_number() {
    for (number, game) in IDS.iter().enumerate() {
        let written = written(number).await;
        let claim = written.lines().next().unwrap().rsplit(' ').next().unwrap();
        let path = file(game, bytes(claim)[0]);
        if env::var_os("PARLOR_RECORD").is_some() && !path.exists() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &written).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!("{}: {error}; PARLOR_RECORD=1 records a new form", path.display())
        });
        for (line, (is, was)) in written.lines().zip(kept.lines()).enumerate() {
            let what = "what is written has changed: it needs a new number";
            assert_eq!(is, was, "{}, line {}: {what}", path.display(), line + 1);
        }
        assert_eq!(written.len(), kept.len(), "{}", path.display());
    }
}
