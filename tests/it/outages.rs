//! Whole outages of the store, as callers of the real server see them: they are told in time, the
//! server stays alive and ready, and when the store is back, so is the service, by itself.

use std::sync::Arc;
use std::time::Duration;

use parlor::client::{Followed, reason};
use parlor::proto::game_options::Game;
use parlor::proto::{NeonOptions, SubmitActionRequest};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::Code;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::instance::Table;
use crate::metrics::get;
use crate::process::Process;
use crate::redis_server::RedisServer;
use crate::store_down::{bearer, next_action};
use crate::within;

/// How long the store is away: unless `PARLOR_TEST_OUTAGE_SECS` says otherwise, long enough that those
/// who try to connect again do so as seldom as they ever do.
fn outage() -> Duration {
    Duration::from_secs(crate::number("PARLOR_TEST_OUTAGE_SECS").unwrap_or(4))
}

/// What a call takes at most that names no deadline.
const DEADLINE: Duration = Duration::from_secs(2);

/// When the store is back, so is the service after no longer than this.
const HEALED: Duration = Duration::from_secs(5);

/// A server, a match at it, and the action that comes next.
struct Scene {
    process: Process,
    table: Table,
    action: (SubmitActionRequest, String),
}

impl Scene {
    async fn set(store: &str) -> Self {
        let store = format!("--store={store}");
        let process = Process::start(&[&store, "--admin-listen=127.0.0.1:0"]);
        let table = Table::create(&process.client(), Game::Neon(NeonOptions::default()), 2).await;
        let action = next_action(&table).await;
        Self { process, table, action }
    }

    /// While the store is away, every caller is told so in time, and the server is ready.
    async fn callers_are_told(&self) {
        let (action, token) = &self.action;
        let mut raw = self.process.raw().await;
        let channel = Endpoint::from_shared(self.process.url.clone()).expect("an address");
        let mut health = HealthClient::new(channel.connect().await.expect("it listens"));
        let admin = self.process.admin().expect("it has a port for operators");
        let began = Instant::now();
        while began.elapsed() < outage() {
            let asked = Instant::now();
            let status = raw.submit_action(bearer(action, token)).await.expect_err("it is away");
            assert!(asked.elapsed() < DEADLINE, "{:?}", asked.elapsed());
            let reason = reason(&status);
            let known = ["STORE_UNAVAILABLE", "STORE_FAILOVER", "OUTCOME_UNKNOWN"];
            assert_eq!(status.code(), Code::Unavailable, "{status:?}");
            assert!(known.contains(&reason.as_deref().unwrap_or_default()), "{status:?}");
            assert_eq!(get(&admin, "/readyz").await.0, 200);
            let service = "parlor.v1.MatchService".to_owned();
            let health = health.check(HealthCheckRequest { service }).await.expect("an answer");
            assert_eq!(health.into_inner().status, 1, "serving");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Now that the store is back, the action is carried out, once, and who watches sees it.
    async fn heals(self) {
        let Self { process, table, action: (action, token) } = self;
        let raw = process.raw().await;
        let answer = within(HEALED, "it heals", async || {
            raw.clone().submit_action(bearer(&action, &token)).await.ok()
        });
        assert_eq!(answer.await.into_inner().version, 2);
        let mut history = table.seats[0].follow_from_the_start();
        for expected in 1..=2 {
            let told = history.next().await.expect("no error").expect("its history");
            assert!(matches!(told, Followed::Update { version, .. } if version == expected));
        }
        // The same process that was started.
        process.stop().await;
    }
}

#[tokio::test]
async fn a_store_that_ends_and_is_started_again() {
    let mut redis = RedisServer::start().await;
    let scene = Scene::set(&redis.url()).await;
    redis.kill();
    scene.callers_are_told().await;
    redis.start_again().await;
    scene.heals().await;
}

#[tokio::test]
async fn a_store_that_stops_in_its_tracks() {
    let redis = RedisServer::start().await;
    let scene = Scene::set(&redis.url()).await;
    redis.pause();
    scene.callers_are_told().await;
    redis.go_on();
    scene.heals().await;
}

#[tokio::test]
async fn a_store_that_is_no_primary_for_a_while() {
    let redis = RedisServer::start().await;
    let scene = Scene::set(&redis.url()).await;
    redis.run::<()>(&["REPLICAOF", "127.0.0.1", "1"]).await;
    scene.callers_are_told().await;
    redis.run::<()>(&["REPLICAOF", "NO", "ONE"]).await;
    scene.heals().await;
}

#[tokio::test]
async fn a_store_that_loads_its_data() {
    // It takes its time over every key: half a second.
    let slow = ["--key-load-delay", "500000", "--loading-process-events-interval-bytes", "1024"];
    let long = ["--rdbcompression", "no"];
    let words = |_: &_, _| slow.iter().chain(&long).copied().map(str::to_owned).collect();
    let mut redis = RedisServer::start_with(&words).await;
    let scene = Scene::set(&redis.url()).await;
    let mut admin = redis.admin().await;
    for number in 0..2 * (outage().as_secs() + 1) {
        let key = format!("key:{number}");
        redis::cmd("SET").arg(key).arg("x".repeat(2_048)).exec_async(&mut admin).await.unwrap();
    }
    redis.rewrite().await;
    redis.kill();
    redis.start_again().await;
    scene.callers_are_told().await;
    within(Duration::from_secs(30), "it has loaded all", async || {
        let info: String = redis.run(&["INFO", "persistence"]).await;
        info.lines().any(|line| line == "loading:0").then_some(())
    })
    .await;
    scene.heals().await;
}

/// What passes between the service and the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passes {
    All,
    Nothing,
    /// The commands. Their answers are replaced by an error that no Redis has.
    Commands,
}

/// What lies between the service and the store, as a proxy does: it takes connections, and passes on
/// what comes over them.
struct Between {
    url: String,
    passes: watch::Sender<Passes>,
    _passing: JoinSet<()>,
}

impl Between {
    async fn start(to: &RedisServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let own = listener.local_addr().expect("an address").port();
        let url = to.url().replace(&to.port().to_string(), &own.to_string());
        let (passes, heard) = watch::channel(Passes::All);
        let address = Arc::new(format!("127.0.0.1:{}", to.port()));
        let mut passing = JoinSet::new();
        passing.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(&*address).await.expect("the store is there");
                let (near, far) = (near.into_split(), far.into_split());
                connections.spawn(pass(near.0, far.1, heard.clone(), <[u8]>::to_vec));
                connections.spawn(pass(far.0, near.1, heard.clone(), refusals));
            }
        });
        Self { url, passes, _passing: passing }
    }
}

/// Passes on what comes, while it may; where only commands pass, what this makes of it.
async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut passes: watch::Receiver<Passes>,
    replace: fn(&[u8]) -> Vec<u8>,
) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut buffer = vec![0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let passes = match passes.wait_for(|passes| *passes != Passes::Nothing).await {
            Ok(passes) => *passes,
            Err(_) => return,
        };
        let read = &buffer[..read];
        let told = if passes == Passes::All { read.to_vec() } else { replace(read) };
        if to.write_all(&told).await.is_err() {
            return;
        }
    }
}

/// As many errors as there are answers.
fn refusals(mut answers: &[u8]) -> Vec<u8> {
    let mut parser = redis::Parser::new();
    let answers = std::iter::from_fn(|| parser.parse_value(&mut answers).ok());
    answers.flat_map(|_| *b"-upstream failure\r\n").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_nothing_gets_through_to() {
    let redis = RedisServer::start().await;
    let between = Between::start(&redis).await;
    let scene = Scene::set(&between.url).await;
    between.passes.send_replace(Passes::Nothing);
    scene.callers_are_told().await;
    between.passes.send_replace(Passes::All);
    scene.heals().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_behind_a_proxy_with_errors_of_its_own() {
    let redis = RedisServer::start().await;
    let between = Between::start(&redis).await;
    let scene = Scene::set(&between.url).await;
    between.passes.send_replace(Passes::Commands);
    let (action, token) = &scene.action;
    let refused = scene.process.raw().await.submit_action(bearer(action, token)).await;
    let refused = refused.expect_err("whether it is done cannot be known");
    assert_eq!(reason(&refused).as_deref(), Some("OUTCOME_UNKNOWN"), "{refused:?}");
    scene.callers_are_told().await;
    between.passes.send_replace(Passes::All);
    scene.heals().await;
}
