//! What is kept in Redis gets damaged: it is found out wherever it is, callers are told, and nothing is
//! built upon it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parlor::client::{Follow, Followed};
use parlor::proto::game_options::Game;
use parlor::proto::stream_view_response::Message;
use parlor::proto::{
    CandyOptions, CreateMatchRequest, GameOptions, GetMatchRequest, GetViewRequest,
    NeapolitanOptions, NeonOptions, NewSeat, RenewTokenRequest, SeatKind, SnapshotReason,
    StreamViewRequest, Visibility,
};
use parlor::store::{MatchId, RedisStore, Store as _, StoreError};
use redis::aio::MultiplexedConnection;
use tonic::{Code, Status};
use uuid::Uuid;

use crate::forks::Backup;
use crate::instance::{Instance, Table};
use crate::redis_server::RedisServer;
use crate::store_contract::KEEP;
use crate::store_down::{assert_told, bearer, next_action};

fn games() -> [Game; 3] {
    [
        Game::Neon(NeonOptions::default()),
        Game::Neapolitan(NeapolitanOptions::default()),
        Game::Candy(CandyOptions::default()),
    ]
}

/// A match on the server with three actions in it, that no instance which runs has seen.
async fn played(redis: &RedisServer, game: Game) -> Table {
    let instance = Instance::start(Arc::new(redis.store().await), &[]);
    let table = Table::create(&instance.client(), game, 3).await;
    assert_eq!(table.play(3).await, 3);
    instance.stop().await;
    table
}

/// Something that is kept in Redis.
#[derive(Clone, Debug)]
enum Kept {
    /// A claim under this key.
    Claim(String),
    /// A field of this hash.
    Field(String, String),
    /// The digest, or else the input, of the entry of this version in this log.
    Entry(String, usize, &'static str),
}

impl Kept {
    /// All that is kept of a match after so many actions, which is the only one on the server.
    async fn all(redis: &RedisServer, id: &str, actions: usize) -> Vec<Self> {
        let mut kept: Vec<_> = redis.run::<Vec<String>>(&["KEYS", "parlor1:c:*:*"]).await;
        assert_eq!(kept.len(), 1);
        let mut all = vec![Self::Claim(kept.remove(0))];
        for (key, fields) in [('s', 3), ('d', actions)] {
            let key = format!("parlor1:{{{id}}}:{key}");
            let found: Vec<String> = redis.run(&["HKEYS", &key]).await;
            assert_eq!(found.len(), fields);
            all.extend(found.into_iter().map(|field| Self::Field(key.clone(), field)));
        }
        for version in 1..=actions + 1 {
            let log = format!("parlor1:{{{id}}}:l");
            all.extend(["digest", "input"].map(|field| Self::Entry(log.clone(), version, field)));
        }
        all
    }

    fn state(id: &str, field: &str) -> Self {
        Self::Field(format!("parlor1:{{{id}}}:s"), field.to_owned())
    }

    fn snapshot(id: &str) -> Self {
        Self::state(id, "snapshot")
    }

    fn input(id: &str, version: usize) -> Self {
        Self::Entry(format!("parlor1:{{{id}}}:l"), version, "input")
    }

    async fn get(&self, admin: &mut MultiplexedConnection) -> Vec<u8> {
        let mut get = match self {
            Self::Claim(key) => redis::Cmd::get(key),
            Self::Field(key, field) => redis::Cmd::hget(key, field),
            Self::Entry(log, version, field) => {
                let mut get = redis::cmd("EVAL");
                let script = "local entry = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
                    for i, field in ipairs(entry[2]) do
                        if field == ARGV[2] then return entry[2][i + 1] end
                    end";
                get.arg(script).arg(1).arg(log).arg(format!("{version}-0")).arg(*field);
                get
            }
        };
        get.take().query_async(admin).await.expect("it is there")
    }

    async fn put(&self, admin: &mut MultiplexedConnection, value: &[u8]) {
        let mut put = match self {
            Self::Claim(key) => redis::Cmd::set(key, value),
            Self::Field(key, field) => redis::Cmd::hset(key, field, value),
            // A stream is only ever added to.
            Self::Entry(log, version, field) => {
                let mut put = redis::cmd("EVAL");
                let script = "local entries = redis.call('XRANGE', KEYS[1], '-', '+')
                    redis.call('DEL', KEYS[1])
                    for _, entry in ipairs(entries) do
                        local id, fields = entry[1], entry[2]
                        for i, field in ipairs(fields) do
                            if id == ARGV[1] and field == ARGV[2] then fields[i + 1] = ARGV[3] end
                        end
                        redis.call('XADD', KEYS[1], id, unpack(fields))
                    end";
                put.arg(script).arg(1).arg(log).arg(format!("{version}-0")).arg(*field).arg(value);
                put
            }
        };
        put.take().exec_async(admin).await.expect("it is put there");
    }

    /// Damages one byte.
    async fn damage(&self, admin: &mut MultiplexedConnection) {
        let kept = self.get(admin).await;
        self.put(admin, &damaged(&kept)).await;
    }

    /// Asks the store for it.
    async fn ask(&self, store: &RedisStore, id: MatchId) -> Result<(), StoreError> {
        match self {
            Self::Claim(key) => {
                let key = key.strip_prefix("parlor1:c:").expect("a claim");
                store.claim(key, Bytes::new(), KEEP).await.map(drop)
            }
            Self::Field(_, field) => {
                let request = field.split_once(':').map(|(scope, request)| {
                    (scope.parse().expect("a scope"), request.parse().expect("an id"))
                });
                store.load(id, None, request).await.map(drop)
            }
            Self::Entry(..) => store.log(id, 0, usize::MAX).await.map(drop),
        }
    }
}

/// What is left of this where a byte of it is damaged.
fn damaged(kept: &[u8]) -> Vec<u8> {
    let mut damaged = kept.to_vec();
    damaged[kept.len() / 2] ^= 0x10;
    damaged
}

#[tokio::test]
async fn damage_of_any_byte_that_is_kept_is_found() {
    for game in games() {
        let redis = RedisServer::start().await;
        let (table, store) = (played(&redis, game).await, redis.store().await);
        let id = MatchId(table.id.parse().expect("an id"));
        let mut admin = redis.admin().await;
        for kept in Kept::all(&redis, &table.id, 3).await {
            let good = kept.get(&mut admin).await;
            for at in 0..good.len() {
                let mut damaged = good.clone();
                damaged[at] ^= 1 << (at % 8);
                kept.put(&mut admin, &damaged).await;
                let found = kept.ask(&store, id).await;
                let refused = matches!(found, Err(StoreError::Corrupt(_)));
                assert!(refused, "byte {at} of {kept:?}: {found:?}");
            }
            kept.put(&mut admin, &good).await;
            assert_eq!(kept.ask(&store, id).await, Ok(()), "{kept:?}");
        }
    }
}

/// Fails unless the call was refused because of damage.
fn is_told<T: std::fmt::Debug>(answer: Result<T, Status>) {
    assert_told(&answer.expect_err("it is damaged"), Code::DataLoss, "DATA_CORRUPT", false);
}

#[tokio::test]
async fn who_asks_for_a_match_with_a_damaged_snapshot_is_told_and_nothing_is_written() {
    let redis = RedisServer::start().await;
    let mut admin = redis.admin().await;
    for game in games() {
        let table = played(&redis, game).await;
        let good = Backup::take(&redis, &table.id).await;
        let instance = Instance::start(Arc::new(redis.store().await), &[]);
        let table = table.moved(&instance.client());
        let (action, token) = next_action(&table).await;
        instance.stop().await;
        let match_id = action.match_id.clone();
        Kept::snapshot(&match_id).damage(&mut admin).await;
        let damaged = Backup::take(&redis, &match_id).await;

        // One that has not seen the match.
        let instance = Instance::start(Arc::new(redis.store().await), &[]);
        let mut raw = instance.raw().await;
        let view = GetViewRequest { match_id: match_id.clone() };
        is_told(raw.get_view(bearer(&view, &token)).await);
        let public = GetMatchRequest { match_id: match_id.clone() };
        is_told(raw.get_match(bearer(&public, &token)).await);
        is_told(raw.submit_action(bearer(&action, &token)).await);
        let request_id = Uuid::new_v4().to_string();
        let renew = RenewTokenRequest { match_id: match_id.clone(), request_id };
        is_told(raw.renew_token(bearer(&renew, &token)).await);
        let stream = StreamViewRequest { match_id: match_id.clone(), ..Default::default() };
        is_told(raw.stream_view(bearer(&stream, &token)).await);
        assert!(Backup::take(&redis, &match_id).await == damaged, "something is written");

        good.restore(&redis).await;
        let answer = raw.submit_action(bearer(&action, &token)).await.expect("it is as it was");
        assert_eq!((answer.get_ref().version, answer.get_ref().replayed), (5, false));
    }
}

#[tokio::test]
async fn a_repeat_of_what_is_damaged_is_told_so() {
    let redis = RedisServer::start().await;
    let mut admin = redis.admin().await;
    let instance = Instance::start(Arc::new(redis.store().await), &[]);
    let create = CreateMatchRequest {
        request_id: Uuid::new_v4().to_string(),
        options: Some(GameOptions { game: Some(Game::Neon(NeonOptions::default())) }),
        seats: vec![NewSeat { kind: SeatKind::Taken.into(), ..NewSeat::default() }; 2],
        visibility: Visibility::Public.into(),
    };
    let table = Table::create_as(&instance.client(), create.clone()).await;
    let (action, token) = next_action(&table).await;
    let mut raw = instance.raw().await;
    raw.submit_action(bearer(&action, &token)).await.expect("accepted");
    let kept = Kept::all(&redis, &table.id, 1).await;
    let [claim, .., input] = kept.as_slice() else { panic!("{kept:?}") };
    let field = kept.iter().find(|kept| matches!(kept, Kept::Field(key, _) if key.ends_with(":d")));
    // What the request led to is looked up where it is remembered, and told from the log.
    for damaged in [field.expect("a request"), input] {
        let good = damaged.get(&mut admin).await;
        damaged.damage(&mut admin).await;
        is_told(raw.submit_action(bearer(&action, &token)).await);
        damaged.put(&mut admin, &good).await;
        let answer = raw.submit_action(bearer(&action, &token)).await.expect("it is as it was");
        assert!(answer.get_ref().replayed);
    }
    claim.damage(&mut admin).await;
    is_told(raw.create_match(create).await);
}

/// The stream of a match, at an instance, from the beginning or where it was.
async fn stream(
    instance: &Instance,
    request: StreamViewRequest,
) -> Result<tonic::Streaming<parlor::proto::StreamViewResponse>, Status> {
    instance.raw().await.stream_view(request).await.map(tonic::Response::into_inner)
}

/// Fails unless a stream begins with a snapshot for someone whose past was lost.
async fn starts_over(instance: &Instance, request: StreamViewRequest, version: u64) {
    let mut stream = stream(instance, request).await.expect("a stream");
    let first = stream.message().await.expect("a stream").expect("a message");
    let Some(Message::Snapshot(snapshot)) = first.message else { panic!("{first:?}") };
    assert_eq!((snapshot.reason(), first.version), (SnapshotReason::HistoryForked, version));
}

#[tokio::test]
async fn a_match_whose_log_is_damaged_goes_on_from_its_snapshot() {
    let redis = RedisServer::start().await;
    let mut admin = redis.admin().await;
    let table = played(&redis, Game::Neon(NeonOptions::default())).await;
    let instance = Instance::start(Arc::new(redis.store().await), &[]);
    let match_id = table.id.clone();
    let whole = StreamViewRequest { match_id, after_version: Some(0), ..Default::default() };
    let mut told = stream(&instance, whole.clone()).await.expect("a stream");
    let first = told.message().await.expect("a stream").expect("a message");
    let resumed = StreamViewRequest {
        match_id: whole.match_id.clone(),
        resume_token: first.resume_token,
        after_version: None,
    };
    instance.stop().await;
    Kept::input(&table.id, 2).damage(&mut admin).await;

    let instance = Instance::start(Arc::new(redis.store().await), &[]);
    starts_over(&instance, whole, 4).await;
    starts_over(&instance, resumed, 4).await;
    let after = StreamViewRequest { match_id: table.id.clone(), ..Default::default() };
    is_told(stream(&instance, StreamViewRequest { after_version: Some(3), ..after }).await);
    assert_eq!(table.moved(&instance.client()).play(2).await, 2);
}

/// A viewer of a match at version 4, and what makes version 5 of it.
struct Behind {
    table: Table,
    _instance: Instance,
    follow: Follow,
    digest: Vec<u8>,
    input: Vec<u8>,
    snapshot: Vec<u8>,
}

impl Behind {
    async fn start(redis: &RedisServer) -> Self {
        let mut admin = redis.admin().await;
        let table = played(redis, Game::Neon(NeonOptions::default())).await;
        let before = Backup::take(redis, &table.id).await;
        let instance = Instance::start(Arc::new(redis.store().await), &[]);
        let table = table.moved(&instance.client());
        assert_eq!(table.play(1).await, 1);
        instance.stop().await;
        let digest = Kept::state(&table.id, "digest").get(&mut admin).await;
        let input = Kept::input(&table.id, 5).get(&mut admin).await;
        let snapshot = Kept::snapshot(&table.id).get(&mut admin).await;
        before.restore(redis).await;

        let instance = Instance::start(Arc::new(redis.store().await), &[]);
        let table = table.moved(&instance.client());
        let mut follow = table.seats[0].follow();
        let first = told_next(&mut follow).await.expect("no error");
        assert!(matches!(&first, Some(Followed::Snapshot { view, .. }) if view.version == 4));
        Self { table, _instance: instance, follow, digest, input, snapshot }
    }

    /// Makes version 5 of this.
    async fn goes_on(&self, redis: &RedisServer, input: &[u8], snapshot: &[u8]) {
        let of = |what| format!("parlor1:{{{}}}:{what}", self.table.id);
        let digest = &self.digest[..];
        let state = [("version", &b"5"[..]), ("digest", digest), ("snapshot", snapshot)];
        let mut both = redis::pipe();
        both.atomic()
            .xadd(of("l"), "5-0", &[("digest", digest), ("input", input)])
            .hset_multiple(of("s"), &state);
        both.exec_async(&mut redis.admin().await).await.expect("it is kept");
    }
}

/// What a viewer is told next, in time.
async fn told_next(follow: &mut Follow) -> Result<Option<Followed>, Status> {
    tokio::time::timeout(Duration::from_secs(10), follow.next()).await.expect("it is told in time")
}

#[tokio::test]
async fn a_viewer_whose_next_step_is_damaged_starts_over() {
    let redis = RedisServer::start().await;
    let mut behind = Behind::start(&redis).await;
    behind.goes_on(&redis, &damaged(&behind.input), &behind.snapshot).await;
    let told = told_next(&mut behind.follow).await.expect("no error");
    let Some(Followed::Snapshot { view, forget: true }) = told else { panic!("{told:?}") };
    assert_eq!(view.version, 5);
    assert_eq!(behind.table.play(1).await, 1);
    let told = told_next(&mut behind.follow).await.expect("no error");
    assert!(matches!(told, Some(Followed::Update { version: 6, .. })), "{told:?}");
}

#[tokio::test]
async fn a_viewer_of_what_cannot_be_read_any_more_is_told() {
    let redis = RedisServer::start().await;
    let mut behind = Behind::start(&redis).await;
    behind.goes_on(&redis, &damaged(&behind.input), &damaged(&behind.snapshot)).await;
    is_told(told_next(&mut behind.follow).await);
}
