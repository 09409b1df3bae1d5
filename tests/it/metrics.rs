//! Metrics, as Prometheus reads them and as a collector gets them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser as _;
use parlor::admin::Admin;
use parlor::cli::Cli;
use parlor::config::Settings;
use parlor::grpc::tokens::TokenKeys;
use parlor::info::Info;
use parlor::matches::SystemClock;
use parlor::proto::game_options::Game;
use parlor::proto::{
    GetViewRequest, NeapolitanOptions, NeonOptions, RenewTokenRequest, StreamViewRequest,
    SubmitActionRequest,
};
use parlor::store::{MatchId, MemoryStore};
use parlor::telemetry::Scraper;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Request, Status};
use uuid::Uuid;

use crate::collector::Collector;
use crate::eventually;
use crate::instance::Table;
use crate::process::{KEY, Process};
use crate::redis_server::RedisServer;

/// What is found under a path of a port for operators, with its status.
pub async fn get(address: &str, path: &str) -> (u16, String) {
    let address = address.strip_prefix("http://").unwrap_or(address);
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: parlor\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    (head[9..12].parse().expect("a status"), body.to_owned())
}

/// The samples of a scrape: their names with labels, and their values.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let samples = lines.map(|line| {
        let (name, value) = line.rsplit_once(' ').expect("a name and a value");
        (name.to_owned(), value.parse().expect("a number"))
    });
    samples.collect()
}

/// The samples of one metric, by their labels.
fn of<'a>(samples: &'a BTreeMap<String, f64>, metric: &str) -> BTreeMap<&'a str, f64> {
    let found = samples.iter().filter_map(|(name, value)| {
        let labels = name.strip_prefix(metric)?;
        (labels.is_empty() || labels.starts_with('{')).then_some((labels, *value))
    });
    found.collect()
}

/// What a server does not show as long as nothing has gone wrong, without TLS, and as it is no probe.
const NOT_SHOWN: [&str; 7] = [
    "parlor_calls_shed",
    "parlor_forks",
    "parlor_store_reconnects",
    "parlor_probe_matches",
    "parlor_probe_duration",
    "parlor_panics",
    "parlor_certificate_expires",
];

/// The metrics of the program's table, as Prometheus writes their names, but for their ends.
fn all_metrics() -> Vec<String> {
    let table = include_str!("../../src/telemetry/metrics.rs").lines();
    let names = table.filter_map(|line| line.trim().strip_prefix(r#"name: ""#));
    names.map(|name| name.trim_end_matches("\",").replace('.', "_")).collect()
}

fn assert_shows_all(text: &str) {
    let is_missing = |name: &String| !text.contains(&format!("# HELP {name}"));
    let missing: Vec<_> = all_metrics().into_iter().filter(is_missing).collect();
    assert_eq!(missing, NOT_SHOWN, "all others are there");
}

#[test]
fn every_metric_stands_in_the_readme() {
    let readme = include_str!("../../README.md");
    let missing: Vec<_> = all_metrics().into_iter().filter(|name| !readme.contains(name)).collect();
    assert!(missing.is_empty() && all_metrics().len() > 20, "{missing:?}");
}

/// A caller that counts what it is answered.
#[derive(Default)]
struct Counts(BTreeMap<(String, &'static str), f64>);

impl Counts {
    fn saw<T>(&mut self, method: &str, answer: Result<T, Status>) -> Result<T, Status> {
        let code = match &answer {
            Ok(_) => "OK",
            Err(status) => match status.code() {
                Code::FailedPrecondition => "FAILED_PRECONDITION",
                Code::InvalidArgument => "INVALID_ARGUMENT",
                Code::NotFound => "NOT_FOUND",
                Code::Unauthenticated => "UNAUTHENTICATED",
                other => panic!("not expected here: {other:?}"),
            },
        };
        *self.0.entry((format!("parlor.v1.MatchService/{method}"), code)).or_default() += 1.0;
        answer
    }
}

fn bearer<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

#[tokio::test]
async fn a_scrape_after_a_known_load_has_the_counts_that_the_caller_saw() {
    let redis = RedisServer::start().await;
    let store = format!("--store={}", redis.url());
    let server = Process::start(&[&store, "--admin-listen=127.0.0.1:0"]);
    let admin = server.admin().expect("it says where its metrics are");
    let mut counts = Counts::default();
    let mut raw = server.raw().await;

    // Two tables, and a stream at the first one until its match is over.
    let table = Table::create(&server.client(), Game::Neon(NeonOptions::default()), 2).await;
    let game = Game::Neapolitan(NeapolitanOptions::default());
    Table::create(&server.client(), game, 3).await;
    for _ in 0..2 {
        counts.saw("CreateMatch", Ok(())).expect("created");
    }
    let watch = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let stream = raw.stream_view(watch).await;
    let mut stream = counts.saw("StreamView", stream).expect("a stream").into_inner();
    stream.message().await.expect("a message").expect("a snapshot");

    let look = GetViewRequest { match_id: table.id.clone() };
    let mut accepted = 0.0;
    let mut last = None;
    loop {
        let view = counts.saw("GetView", raw.get_view(look.clone()).await).expect("a view");
        let view = view.into_inner().view.expect("a view");
        let Some(decision) = view.decisions.first() else { break };
        let seat = decision.seat as usize;
        let token = table.created.seat_tokens[seat].token.clone();
        let view = raw.get_view(bearer(look.clone(), &token)).await;
        let view = counts.saw("GetView", view).expect("a view").into_inner().view.unwrap();
        let request = SubmitActionRequest {
            match_id: table.id.clone(),
            action_id: Uuid::new_v4().to_string(),
            action: Some(view.legal_actions[0].clone()),
            decision: None,
        };
        let other = &table.created.seat_tokens[1 - seat].token;
        let wrong = raw.submit_action(bearer(request.clone(), other)).await;
        counts.saw("SubmitAction", wrong).expect_err("another seat's turn");
        let right = raw.submit_action(bearer(request.clone(), &token)).await;
        counts.saw("SubmitAction", right).expect("accepted");
        accepted += 1.0;
        last = Some((request, token));
    }
    let (request, token) = last.expect("something was played");
    let again = raw.submit_action(bearer(request.clone(), &token)).await;
    assert!(counts.saw("SubmitAction", again).expect("the same").into_inner().replayed);
    let garbled = raw.submit_action(bearer(request, "garbled")).await;
    counts.saw("SubmitAction", garbled).expect_err("no token");
    let mut updates = 0.0;
    while let Some(message) = stream.message().await.expect("a message") {
        let is_update = matches!(
            message.message,
            Some(parlor::proto::stream_view_response::Message::Update(_))
        );
        updates += f64::from(u8::from(is_update));
    }
    assert!(updates >= accepted);

    let text = eventually("the stream's end is counted", async || {
        let (status, text) = get(&admin, "/metrics").await;
        assert_eq!(status, 200);
        let ended = text.contains("parlor_streams_ended_total");
        (ended && text.contains("parlor_runtime_lag_seconds")).then_some(text)
    });
    let text = text.await;
    assert_shows_all(&text);
    let found = samples(&text);
    let calls = of(&found, "parlor_calls_total");
    let expected = counts
        .0
        .iter()
        .map(|((method, code), count)| (format!(r#"{{code="{code}",method="{method}"}}"#), *count));
    let expected: BTreeMap<_, _> = expected.collect();
    let calls: BTreeMap<_, _> = calls.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    assert_eq!(calls, expected);
    let timed: f64 = of(&found, "rpc_server_call_duration_seconds_count").values().sum();
    assert!((timed - (calls.values().sum::<f64>() - 1.0)).abs() < 0.5, "all but the stream");

    let commits = of(&found, "parlor_commits_total");
    assert_eq!(commits, BTreeMap::from([(r#"{result="done"}"#, accepted)]));
    let actions: f64 = of(&found, "parlor_actions_total").values().sum();
    assert!((actions - accepted).abs() < 0.5);
    let created = of(&found, "parlor_matches_created_total");
    let each = [(r#"{game="neapolitan"}"#, 1.0), (r#"{game="neon"}"#, 1.0)];
    assert_eq!(created, BTreeMap::from(each));
    assert!((of(&found, "parlor_matches_finished_total").values().sum::<f64>() - 1.0).abs() < 0.5);
    assert_eq!(
        of(&found, "parlor_streams_ended_total"),
        BTreeMap::from([(r#"{reason="match_over"}"#, 1.0)])
    );
    assert_eq!(of(&found, "parlor_streams_open"), BTreeMap::from([("", 0.0)]));
    assert_eq!(of(&found, "parlor_stream_lag_count"), BTreeMap::from([("", updates)]));
    let delivered = of(&found, "parlor_delivery_duration_seconds_count");
    assert_eq!(delivered, BTreeMap::from([(r#"{made="here"}"#, updates)]));
    let scripts = of(&found, "db_client_operation_duration_seconds_count");
    let of_script = |name: &str| -> f64 {
        let name = format!(r#"db_operation_name="{name}""#);
        scripts.iter().filter(|(labels, _)| labels.contains(&name)).map(|(_, count)| count).sum()
    };
    // One more of each, to try them out at the start.
    assert!((of_script("commit") - accepted - 1.0).abs() < 0.5, "{scripts:?}");
    assert!((of_script("create") - 3.0).abs() < 0.5, "{scripts:?}");
    server.stop().await;
}

#[tokio::test]
async fn conflicts_lost_connections_and_unknown_methods_are_counted() {
    let redis = RedisServer::start().await;
    let store = format!("--store={}", redis.url());
    let server = Process::start(&[&store, "--admin-listen=127.0.0.1:0"]);
    let other = Process::start(&[&store]);
    let admin = server.admin().expect("it says where its metrics are");
    let game = NeapolitanOptions { cherry_on_top: true, ..NeapolitanOptions::default() };
    let table = Table::create(&server.client(), Game::Neapolitan(game), 3).await;
    let there = table.at(&other.client());
    let action = there[0].view().await.expect("a view").legal_actions[0].clone();
    there[0].act(action, None).await.expect("accepted");
    // This server does not know of that yet.
    let action = there[1].view().await.expect("a view").legal_actions[0].clone();
    table.seats[1].act(action, None).await.expect("accepted");

    let _: redis::Value = redis.run(&["CLIENT", "KILL", "TYPE", "normal"]).await;
    let channel = tonic::transport::Channel::from_shared(server.url.clone()).unwrap();
    let mut client = tonic::client::Grpc::new(channel.connect().await.expect("it listens"));
    client.ready().await.expect("connected");
    let path = http::uri::PathAndQuery::from_static("/parlor.v1.MatchService/Cheat");
    let codec = tonic_prost::ProstCodec::<GetViewRequest, GetViewRequest>::default();
    let call = client.unary(Request::new(GetViewRequest::default()), path, codec);
    assert_eq!(call.await.expect_err("no such method").code(), Code::Unimplemented);

    let text = eventually("the connections are counted", async || {
        let (_, text) = get(&admin, "/metrics").await;
        text.contains("parlor_store_reconnects_total").then_some(text)
    });
    let found = samples(&text.await);
    assert_eq!(
        of(&found, "parlor_commits_total"),
        BTreeMap::from([(r#"{result="conflict"}"#, 1.0), (r#"{result="done"}"#, 1.0)])
    );
    assert_eq!(
        of(&found, "parlor_change_retries_total"),
        BTreeMap::from([(r#"{because="conflict"}"#, 1.0)])
    );
    let calls = of(&found, "parlor_calls_total");
    assert!((calls[r#"{code="UNIMPLEMENTED",method="_OTHER"}"#] - 1.0).abs() < 0.5);
    server.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn what_only_a_look_has_found_is_counted_as_missed() {
    let redis = RedisServer::start().await;
    let store = format!("--store={}", redis.url());
    let server = Process::start(&[&store, "--admin-listen=127.0.0.1:0"]);
    let other = Process::start(&[&store]);
    let admin = server.admin().expect("it says where its metrics are");
    let table = Table::create(&server.client(), Game::Neon(NeonOptions::default()), 2).await;
    let watch = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let mut stream = server.raw().await.stream_view(watch).await.expect("a stream").into_inner();
    stream.message().await.expect("a message").expect("a snapshot");
    // The first change is announced, so that the server knows where the match is; then no more.
    let elsewhere = Table { seats: table.at(&other.client()), ..table };
    elsewhere.play(1).await;
    stream.message().await.expect("a message").expect("an update");
    let _: redis::Value = redis.run(&["ACL", "SETUSER", "parlor", "resetchannels"]).await;
    let _: redis::Value = redis.run(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    elsewhere.play(1).await;
    let next = tokio::time::timeout(Duration::from_secs(10), stream.message());
    next.await.expect("within seconds").expect("a message").expect("an update");
    let (_, text) = get(&admin, "/metrics").await;
    let heard = samples(&text);
    let heard = of(&heard, "parlor_announcements_total");
    assert!((heard[r#"{by="missed"}"#] - 1.0).abs() < 0.5, "{heard:?}");
    drop(stream);
    server.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn what_is_refused_is_counted_by_why() {
    let server = Process::start(&[
        "--admin-listen=127.0.0.1:0",
        "--rate-limits=on",
        "--seat-rate=1/min",
        "--spectators=1",
        "--connections=4",
    ]);
    let admin = server.admin().expect("it says where its metrics are");
    let table = Table::create(&server.client(), Game::Neon(NeonOptions::default()), 2).await;
    let other = Table::create(&server.client(), Game::Neon(NeonOptions::default()), 2).await;
    let mut raw = server.raw().await;
    let token = |seat: usize| table.created.seat_tokens[seat].token.clone();
    let act = SubmitActionRequest { match_id: table.id.clone(), ..SubmitActionRequest::default() };
    let look = GetViewRequest { match_id: table.id.clone() };

    let keys: TokenKeys = format!("test:{KEY}").parse().expect("a key");
    let id = MatchId(table.id.parse().expect("a match's id"));
    let expired = keys.issue(id, None, 0, Duration::from_secs(1)).expect("a token");
    raw.submit_action(act.clone()).await.expect_err("no token");
    raw.get_view(bearer(look.clone(), "garbled")).await.expect_err("no token of ours");
    raw.get_view(bearer(look.clone(), &expired)).await.expect_err("one of long ago");
    let elsewhere = &other.created.seat_tokens[0].token;
    raw.get_view(bearer(look.clone(), elsewhere)).await.expect_err("of another match");
    let request_id = Uuid::new_v4().to_string();
    let renew = RenewTokenRequest { match_id: table.id.clone(), request_id };
    raw.renew_token(bearer(renew, &token(1))).await.expect("a new token");
    raw.get_view(bearer(look, &token(1))).await.expect_err("the old token");

    for _ in 0..2 {
        raw.submit_action(bearer(act.clone(), &token(0))).await.expect_err("not an action");
    }
    let watch = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let _first = raw.stream_view(watch.clone()).await.expect("the first spectator");
    raw.stream_view(watch).await.expect_err("one spectator too many");
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(TcpStream::connect(server.address()).await.expect("it listens"));
    }

    let text = eventually("a connection is closed", async || {
        let (_, text) = get(&admin, "/metrics").await;
        text.contains(r#"reason="connections""#).then_some(text)
    });
    let found = samples(&text.await);
    let tokens = of(&found, "parlor_tokens_refused_total");
    let each = ["expired", "invalid", "missing", "revoked", "scope"];
    let each = each.map(|reason| (format!(r#"{{reason="{reason}"}}"#), 1.0));
    let tokens: BTreeMap<_, _> = tokens.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    assert_eq!(tokens, BTreeMap::from(each));
    let shed = of(&found, "parlor_calls_shed_total");
    let once =
        |reason: &str| (shed[format!(r#"{{reason="{reason}"}}"#).as_str()] - 1.0).abs() < 0.5;
    assert!(once("rate") && once("streams"), "{shed:?}");
    assert_eq!(of(&found, "parlor_connections_open"), BTreeMap::from([("", 4.0)]));
    server.stop().await;
}

#[tokio::test]
async fn the_limits_in_force_and_what_the_process_takes_can_be_read() {
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let flag = |flag: &str, name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        format!("--tls-{flag}={}", path.display())
    };
    let server = Process::start(&[
        "--admin-listen=127.0.0.1:0",
        "--rate-limits=on",
        "--create-rate=30/min",
        "--create-rate-all=off",
        "--in-flight=7",
        "--streams=off",
        &flag("cert", "cert.pem", &certificate.cert.pem()),
        &flag("key", "key.pem", &certificate.signing_key.serialize_pem()),
    ]);
    let admin = server.admin().expect("it says where its metrics are");
    let text = eventually("a second is over", async || {
        let (_, text) = get(&admin, "/metrics").await;
        text.contains("parlor_runtime_lag_seconds_count").then_some(text)
    });
    let found = samples(&text.await);
    let limits = of(&found, "parlor_limits");
    let limit = |name: &str| limits.get(format!(r#"{{limit="{name}"}}"#).as_str()).copied();
    assert_eq!((limit("in_flight"), limit("create_rate")), (Some(7.0), Some(0.5)));
    assert_eq!((limit("streams"), limit("create_rate_all")), (None, None));
    assert_eq!((limit("deadline"), limit("max_request")), (Some(2.0), Some(16384.0)));
    // That is when the certificates of rcgen expire.
    let expires = of(&found, "parlor_certificate_expires_seconds");
    assert_eq!(expires, BTreeMap::from([("", 67_090_118_400.0)]));

    let of_process = |what: &str| of(&found, &format!("process_{what}"))[""];
    let kib = f64::from(u32::try_from(server.memory() / 1024).expect("not that much"));
    assert!((of_process("resident_memory_bytes") / 1024.0 / kib - 1.0).abs() < 0.5);
    assert!(of_process("open_fds") >= 10.0 && of_process("max_fds") > of_process("open_fds"));
    assert!(of_process("cpu_seconds_total") < 60.0);
    assert!(of_process("start_time_seconds") > 1.7e9);
    server.stop().await;
}

#[tokio::test]
async fn the_collector_gets_the_same_metrics() {
    let collector = Collector::start().await;
    let endpoint = format!("--otlp-endpoint={}", collector.url);
    let server = Process::start(&[&endpoint]);
    let table = Table::create(&server.client(), Game::Neon(NeonOptions::default()), 2).await;
    table.play(5).await;
    server.stop().await;
    let names: BTreeSet<_> = collector.metrics().into_iter().collect();
    for name in ["parlor.calls", "rpc.server.call.duration", "parlor.actions", "parlor.build"] {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }
}

#[tokio::test]
async fn who_is_told_to_stop_lives_and_is_not_ready() {
    let admin = Admin::bind("127.0.0.1:0".parse().unwrap()).await.expect("a free port");
    let address = admin.address().to_string();
    let stop = CancellationToken::new();
    let settings = Settings::try_from(&Cli::parse_from(["parlor"]).serve).expect("good settings");
    let info = Info::new(&settings, Arc::new(MemoryStore::default()), &SystemClock);
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    tokio::spawn(admin.serve(Scraper::default(), Some(info), stop.clone()));
    assert_eq!(get(&address, "/readyz").await.0, 200);
    stop.cancel();
    assert_eq!(get(&address, "/readyz").await.0, 503);
    assert_eq!(get(&address, "/livez").await.0, 200);
    assert_eq!(get(&address, "/metrics").await, (200, String::new()));
}
