//! Inputs that are almost right, for every decoder: none makes it panic, and none is the service's
//! fault.
//!
//! Each target takes inputs that are right apart: it turns bits, cuts pieces out, doubles them, puts
//! them together with those of others. `tests/run fuzz` does that for a minute each; with
//! `PARLOR_TEST_SECONDS` it is as many seconds. What fails names the input, and each test the seed that
//! leads to it with `PARLOR_TEST_SEED`.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clap::Parser as _;
use futures_util::FutureExt as _;
use h2::client::Builder;
use parlor::cli::Cli;
use parlor::config::Settings;
use parlor::games::{AnyGame, IDS, Registered, WithGame, with_game};
use parlor::matches::{self, Beginning, Caller, Error, JoinCode, Matches};
use parlor::options;
use parlor::proto::game_options::Game;
use parlor::proto::{
    CandyOptions, CreateMatchRequest, GameOptions, GetMatchRequest, GetViewRequest,
    JoinMatchRequest, NeapolitanOptions, NeonOptions, NewSeat, RenewTokenRequest, SeatKind,
    StreamViewRequest, SubmitActionRequest, Visibility,
};
use parlor::store::{Digest, Entry, MatchId, MemoryStore, Position, RedisAddress, Store as _};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use tokio::time::{Instant, timeout};
use tonic::{Code, Status};
use uuid::Uuid;

use crate::instance::{Instance, Table};
use crate::seeded::{SameDay, SeededChance};
use crate::store_contract::KEEP;
use crate::wire::{Wire, call, status};

/// Bytes at which numbers, lengths and texts change what they mean.
const EDGES: &[u8] = &[0, 1, 2, 0x0a, 0x20, 0x2f, 0x3a, 0x40, 0x7f, 0x80, 0xfe, 0xff];

/// Takes inputs apart, until it has done so often enough.
struct Garbler {
    seed: u64,
    chance: Xoshiro256PlusPlus,
    right: Vec<Vec<u8>>,
    left: u32,
    until: Option<Instant>,
    /// How many it gave.
    given: u64,
    /// What it gave last.
    last: Vec<u8>,
}

impl Garbler {
    /// One that does so this often, unless a time is set.
    fn new(times: u32, right: Vec<Vec<u8>>) -> Self {
        assert!(!right.is_empty(), "there is nothing to begin with");
        let seconds = crate::number("PARLOR_TEST_SECONDS").map(Duration::from_secs);
        let any = if seconds.is_some() { Uuid::new_v4().as_u64_pair().0 } else { 0 };
        let seed = crate::number("PARLOR_TEST_SEED").unwrap_or(any);
        Self {
            seed,
            chance: Xoshiro256PlusPlus::seed_from_u64(seed),
            right,
            left: times,
            until: seconds.map(|seconds| Instant::now() + seconds),
            given: 0,
            last: Vec::new(),
        }
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        match self.until {
            Some(until) if Instant::now() >= until => return None,
            None if self.left == 0 => return None,
            Some(_) => {}
            None => self.left -= 1,
        }
        let mut input = self.any();
        for _ in 0..self.chance.random_range(1..=4) {
            self.garble(&mut input);
        }
        self.given += 1;
        self.last.clone_from(&input);
        Some(input)
    }

    fn any(&mut self) -> Vec<u8> {
        self.right[self.chance.random_range(0..self.right.len())].clone()
    }

    fn garble(&mut self, input: &mut Vec<u8>) {
        let from = self.chance.random_range(0..=input.len());
        let to = input.len().min(from + self.chance.random_range(1..=8));
        match self.chance.random_range(0..8) {
            0 | 1 if to > from => input[from] ^= 1 << self.chance.random_range(0..8),
            2 | 3 if to > from => input[from] = EDGES[self.chance.random_range(0..EDGES.len())],
            4 => drop(input.drain(from..to)),
            5 => {
                let again = input[from..to].to_vec();
                input.splice(from..from, again);
            }
            6 => {
                let mut any = vec![0; self.chance.random_range(1..=10)];
                self.chance.fill_bytes(&mut any);
                input.splice(from..from, any);
            }
            _ => {
                let other = self.any();
                let at = self.chance.random_range(0..=other.len());
                input.truncate(from);
                input.extend(&other[at..]);
            }
        }
    }

    /// Fails, with the input that leads here.
    fn fails(&self, what: &str) -> ! {
        panic!("{what}\ninput {}", hex::encode(&self.last));
    }

    /// Hands each input to a decoder that must not panic.
    fn each(mut self, mut decode: impl FnMut(&[u8])) {
        while let Some(input) = self.next() {
            if catch_unwind(AssertUnwindSafe(|| decode(&input))).is_err() {
                self.fails("it panics");
            }
        }
    }
}

#[expect(clippy::print_stdout, reason = "whoever looks for more has to know what was tried")]
impl Drop for Garbler {
    fn drop(&mut self) {
        println!("{} inputs with PARLOR_TEST_SEED={}", self.given, self.seed);
    }
}

fn texts(right: &[&str]) -> Vec<Vec<u8>> {
    right.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[tokio::test]
async fn addresses_of_stores() {
    let right = texts(&[
        "redis://user:pass%20word@127.0.0.1:6379/3",
        "rediss://[::1]:6379",
        "redis+sentinel://u:p@one:26379,two/primary/1?sentinel_username=a&sentinel_password=b",
        "rediss+cluster://:secret@[fe80::1%25eth0]:7000,host.example:7001",
    ]);
    Garbler::new(20_000, right).each(|input| {
        let _ = String::from_utf8_lossy(input).parse::<RedisAddress>();
    });
}

#[tokio::test]
async fn settings() {
    let key = format!("a:{},b:{}", "00".repeat(32), "ff".repeat(32));
    let token_keys = format!("--token-keys={key}");
    let right = texts(&[
        &token_keys,
        "--api-keys=someone:0123456789abcdef0123456789abcdef",
        "--listen=127.0.0.1:50051",
        "--store=redis://127.0.0.1:6379",
        "--drain=1m 30s",
        "--seat-rate=10/1s",
        "--cors-origins=https://example.org,http://localhost:8080",
        "--connections=100",
        "--trace-sampling=0.25",
        "--otlp-endpoint=http://127.0.0.1:4317",
    ]);
    Garbler::new(2_000, right).each(|input| {
        let flag = String::from_utf8_lossy(input).into_owned();
        if let Ok(cli) = Cli::try_parse_from(["parlor".to_owned(), flag]) {
            let _ = Settings::try_from(&cli.serve);
        }
    });
}

#[tokio::test]
async fn options_of_games() {
    struct Read<'a>(&'a str);
    impl WithGame for Read<'_> {
        type Output = ();
        fn with<G: Registered>(self) {
            options::read::<G>(&[self.0.to_owned()], &mut Vec::new());
        }
    }
    let right =
        texts(&["first_player=1", "more_scoops=true", "suits=[\"caramel\",1]", "x={\"y\":[]}"]);
    Garbler::new(5_000, right).each(|input| {
        let text = String::from_utf8_lossy(input);
        for id in IDS {
            with_game(id, Read(&text)).expect("a game");
        }
    });
}

#[tokio::test]
async fn join_codes() {
    let right = texts(&["0123-4567-89AB-CDEF", "oooo iiii llll zzzz"]);
    Garbler::new(20_000, right).each(|input| {
        let text = String::from_utf8_lossy(input);
        if let Ok(code) = text.parse::<JoinCode>() {
            assert_eq!(code.to_string().parse(), Ok(code));
        }
    });
}

/// What stands in files of stored matches at this place of lines that begin with this word.
fn stored(first: &str, place: usize) -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stored/matches");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let texts: Vec<_> = files.map(|path| fs::read_to_string(path).unwrap()).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    let words = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    let words = words.filter(|words| words[0] == first && words[place] != "-");
    words.map(|words| hex::decode(words[place]).unwrap()).collect()
}

/// The matches of a store that has this one, and nothing else.
fn holding(input: &[u8], snapshot: &[u8]) -> (Matches<AnyGame>, MatchId) {
    let (store, id) = (MemoryStore::default(), MatchId(Uuid::from_u128(1)));
    let position = Position { version: 1, digest: Digest([1; 16]) };
    let (input, snapshot) = (Bytes::copy_from_slice(input), Bytes::copy_from_slice(snapshot));
    let kept = store.create(id, Entry { position, input }, snapshot, KEEP).now_or_never();
    assert_eq!(kept, Some(Ok(true)));
    let (clock, chance) = (Arc::new(SameDay::start()), Arc::new(SeededChance::new(1)));
    (Matches::new(Arc::new(store), clock, chance, matches::Settings::default()), id)
}

/// Whether this says that what is stored cannot be read, whatever it is.
fn says_so(error: &Error) -> bool {
    matches!(
        error,
        Error::Corrupt(_) | Error::SchemaTooNew(_) | Error::RulesVersion(_) | Error::Forked
    )
}

#[tokio::test]
async fn snapshots() {
    let right = [stored("create", 4), stored("commit", 6)].concat();
    Garbler::new(5_000, right).each(|input| {
        let (matches, id) = holding(&[], input);
        match matches.look(id, Caller::Spectator).now_or_never().expect("at once") {
            // What is garbled and still a match is one that was never played.
            Ok(_) => {}
            Err(error) => assert!(says_so(&error), "{error:?}"),
        }
    });
}

#[tokio::test]
async fn logs() {
    let snapshot = stored("create", 4).remove(0);
    let right = [stored("create", 3), stored("commit", 5)].concat();
    Garbler::new(5_000, right).each(|input| {
        let (matches, id) = holding(input, &snapshot);
        let opened = matches.watch(id, Caller::Spectator, Beginning::After(0));
        let mut watcher = opened.now_or_never().expect("at once").expect("the snapshot is good");
        let _ = watcher.next().now_or_never();
    });
}

/// The answer to a call with this token and body.
async fn answer(wire: &mut Wire, method: &str, token: &[u8], body: Vec<u8>) -> Option<Status> {
    let mut request = call(method);
    if let Ok(token) = [b"Bearer ", token].concat().try_into() {
        request.headers_mut().insert("authorization", token);
    }
    let (answer, mut sending) = wire.ready().await.send_request(request, false).expect("sent");
    // The service may have answered and closed the call before.
    let _ = sending.send_data(body.into(), true);
    let answer = answer.await.ok()?;
    if let Some(status) = status(answer.headers()) {
        return Some(status);
    }
    let mut body = answer.into_body();
    let first = body.data().await;
    if first.is_some() && method == "StreamView" {
        return None;
    }
    while let Some(Ok(_)) = body.data().await {}
    let trailers = body.trailers().await.ok()??;
    status(&trailers)
}

/// A message with its length before it.
fn with_length(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[0], &length[..], message].concat()
}

/// Calls that are right, each with its token and its message.
async fn right_calls(instance: &Instance) -> Vec<(&'static str, String, Vec<u8>)> {
    use prost::Message as _;

    let client = instance.client();
    let mut right = Vec::new();
    let games = [
        Game::Neon(NeonOptions::default()),
        Game::Neapolitan(NeapolitanOptions::default()),
        Game::Candy(CandyOptions::default()),
    ];
    for game in games {
        let table = Table::create(&client, game.clone(), 3).await;
        let renewed = Table::create(&client, game.clone(), 3).await;
        let token = table.created.seat_tokens[0].token.clone();
        let stream = StreamViewRequest { match_id: table.id.clone(), ..Default::default() };
        let mut streamed = instance.raw().await.stream_view(stream).await.unwrap().into_inner();
        let resume_token = streamed.message().await.unwrap().unwrap().resume_token;
        let match_id = table.id.clone();
        let kinds = [SeatKind::Taken, SeatKind::Open, SeatKind::Taken];
        let create = CreateMatchRequest {
            request_id: Uuid::new_v4().to_string(),
            options: Some(GameOptions { game: Some(game) }),
            seats: kinds.map(|kind| NewSeat { kind: kind.into(), ..Default::default() }).to_vec(),
            visibility: Visibility::Public.into(),
        };
        let open = client.create_match(create.clone()).await.unwrap();
        let join = JoinMatchRequest {
            request_id: Uuid::new_v4().to_string(),
            join_code: open.join_code,
            seat: Some(1),
            ..Default::default()
        };
        let deciding = table.seats[0].view().await.unwrap().decisions[0];
        let seat = deciding.seat as usize;
        let actions = table.seats[seat].view().await.unwrap().legal_actions;
        right.push(("CreateMatch", token.clone(), create.encode_to_vec()));
        right.push(("JoinMatch", token.clone(), join.encode_to_vec()));
        for action in actions.into_iter().take(8) {
            let submit = SubmitActionRequest {
                match_id: match_id.clone(),
                action_id: Uuid::new_v4().to_string(),
                action: Some(action),
                decision: Some(deciding.decision),
            };
            let token = table.created.seat_tokens[seat].token.clone();
            right.push(("SubmitAction", token, submit.encode_to_vec()));
        }
        let view = GetViewRequest { match_id: match_id.clone() };
        right.push(("GetView", token.clone(), view.encode_to_vec()));
        let public = GetMatchRequest { match_id: match_id.clone() };
        right.push(("GetMatch", token.clone(), public.encode_to_vec()));
        let resumed = StreamViewRequest { match_id, resume_token, after_version: None };
        right.push(("StreamView", token, resumed.encode_to_vec()));
        let renew = RenewTokenRequest {
            match_id: renewed.id.clone(),
            request_id: Uuid::new_v4().to_string(),
        };
        let token = renewed.created.seat_tokens[0].token.clone();
        right.push(("RenewToken", token, renew.encode_to_vec()));
    }
    right
}

#[tokio::test]
async fn calls() {
    // A stream that is resumed where its match stands has nothing else to say.
    let heartbeat = "--heartbeat=50ms";
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[heartbeat]);
    let right = right_calls(&instance).await;
    let bodies = right.iter().map(|(_, _, body)| body.clone()).collect();
    let mut wire = Wire::connect(instance.address(), &Builder::new()).await;
    let mut garbler = Garbler::new(600, bodies);
    let mut codes = std::collections::BTreeSet::new();
    while let Some(input) = garbler.next() {
        let (method, token, body) = right[garbler.chance.random_range(0..right.len())].clone();
        let (token, body) = match garbler.chance.random_range(0..10) {
            // The token, the frame around the message, or what is in it.
            0 => {
                let mut token = token.into_bytes();
                garbler.garble(&mut token);
                garbler.last.clone_from(&token);
                (token, with_length(&body))
            }
            1 => {
                let mut framed = with_length(&body);
                garbler.garble(&mut framed);
                garbler.last.clone_from(&framed);
                (token.into_bytes(), framed)
            }
            2..6 => {
                let mut body = body;
                garbler.garble(&mut body);
                garbler.last.clone_from(&body);
                (token.into_bytes(), with_length(&body))
            }
            _ => (token.into_bytes(), with_length(&input)),
        };
        let answer = answer(&mut wire, method, &token, body);
        let Ok(status) = timeout(Duration::from_secs(10), answer).await else {
            garbler.fails(&format!("{method} does not answer"));
        };
        let code = status.map(|status| status.code());
        if matches!(code, Some(Code::Internal | Code::Unknown | Code::DataLoss)) || !wire.lives() {
            garbler.fails(&format!("{method} answers {code:?}"));
        }
        codes.extend(code.map(i32::from));
    }
    for often in [Code::Ok, Code::InvalidArgument, Code::Unauthenticated] {
        assert!(codes.contains(&i32::from(often)), "never {often:?}: {codes:?}");
    }
}
