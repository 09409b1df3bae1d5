//! Callers that ask too often, or all at once: what they are told, and that it helps to obey.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use parlor::client::reason;
use parlor::proto::game_options::Game;
use parlor::proto::{GetMatchRequest, NeonOptions, StreamViewRequest};
use parlor::store::MemoryStore;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt as _;

use crate::instance::{Instance, Table};
use crate::process::Process;

async fn start(flags: &[&str]) -> (Instance, Table) {
    let instance = Instance::start(Arc::new(MemoryStore::default()), flags);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    (instance, table)
}

/// How long the status asks to wait.
fn delay(status: &Status) -> Duration {
    let details = status.get_error_details();
    details.retry_info().expect("a RetryInfo").retry_delay.expect("a delay")
}

#[tokio::test]
async fn a_client_that_is_pushed_back_comes_back_in_time() {
    let (_instance, table) = start(&["--seat-rate=20/s:1"]).await;
    let since = tokio::time::Instant::now();
    let played = table.play(6).await;
    assert_eq!(played, 6);
    // Two seats act in turn; each may act at once and then every 50 ms.
    assert!(since.elapsed() >= Duration::from_millis(100), "{:?}", since.elapsed());
}

#[tokio::test]
async fn a_client_without_patience_is_told_what_it_did_too_often_and_how_long_to_wait() {
    let (instance, table) = start(&["--match-rate=1/min"]).await;
    table.play(1).await;
    let seat = table.seats[0].view().await.unwrap().decisions[0].seat as usize;
    let action = table.seats[seat].view().await.unwrap().legal_actions[0].clone();
    let mut raw = instance.raw().await;
    let mut request = Request::new(parlor::proto::SubmitActionRequest {
        match_id: table.id.clone(),
        action_id: "0a0a0a0a-0000-4000-8000-000000000001".to_owned(),
        action: Some(action),
        decision: None,
    });
    let bearer = format!("Bearer {}", table.created.seat_tokens[seat].token);
    request.metadata_mut().insert("authorization", bearer.parse().unwrap());
    let status = raw.submit_action(request).await.expect_err("too often");
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(reason(&status).as_deref(), Some("RATE_LIMITED"));
    let details = status.get_error_details();
    let subject = &details.quota_failure().expect("a QuotaFailure").violations[0].subject;
    assert_eq!(subject, "actions of the match");
    let delay = delay(&status);
    assert!(delay > Duration::from_secs(50) && delay < Duration::from_secs(70), "{delay:?}");
    let pushback = status.metadata().get("grpc-retry-pushback-ms").expect("a pushback");
    assert_eq!(pushback.to_str().unwrap(), delay.as_millis().to_string());
}

#[tokio::test]
async fn who_guesses_tokens_is_soon_told_nothing_and_good_tokens_go_on_working() {
    let (instance, table) = start(&["--guess-rate=5/min"]).await;
    let mut raw = instance.raw().await;
    let mut told = Vec::new();
    for guess in 0..10 {
        let match_id = table.id.clone();
        let mut request = Request::new(GetMatchRequest { match_id });
        let bearer = format!("Bearer guess-{guess}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        let status = raw.get_match(request).await.expect_err("a guess");
        told.push(reason(&status).unwrap_or_default());
    }
    let expected = [["TOKEN_INVALID"; 5], ["RATE_LIMITED"; 5]].concat();
    assert_eq!(told, expected);
    assert_eq!(table.seats[0].view().await.expect("a good token").seat, Some(0));
}

#[tokio::test]
async fn spectators_that_come_too_often_are_told_to_wait_and_those_of_other_matches_are_not() {
    let (instance, table) = start(&["--spectator-rate=1/min:2"]).await;
    let other = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let mut raw = instance.raw().await;
    let mut watch = async |match_id: &str, token: Option<&str>| {
        let match_id = match_id.to_owned();
        let mut request =
            Request::new(StreamViewRequest { match_id, ..StreamViewRequest::default() });
        if let Some(token) = token {
            let bearer = format!("Bearer {token}").parse().unwrap();
            request.metadata_mut().insert("authorization", bearer);
        }
        raw.stream_view(request).await
    };
    for _ in 0..2 {
        drop(watch(&table.id, None).await.expect("not yet too often"));
    }
    let status = watch(&table.id, None).await.expect_err("too often");
    assert_eq!(reason(&status).as_deref(), Some("RATE_LIMITED"));
    let details = status.get_error_details();
    let subject = &details.quota_failure().expect("a QuotaFailure").violations[0].subject;
    assert_eq!(subject, "streams opened by spectators of the match");
    assert!(delay(&status) > Duration::from_secs(20), "{:?}", delay(&status));
    watch(&other.id, None).await.expect("another match");
    watch(&table.id, Some(&table.created.seat_tokens[0].token)).await.expect("a player");
}

#[tokio::test]
async fn calls_that_are_too_many_at_once_are_shed_and_come_back_later() {
    let (instance, table) = start(&["--in-flight=1", "--create-rate=off"]).await;
    let raw = instance.raw().await;
    let asked = join_all((0..64).map(|_| {
        let (mut raw, match_id) = (raw.clone(), table.id.clone());
        async move { raw.get_match(GetMatchRequest { match_id }).await }
    }));
    let (answered, shed): (Vec<_>, Vec<_>) = asked.await.into_iter().partition(Result::is_ok);
    assert!(!answered.is_empty());
    for status in shed.into_iter().map(|shed| shed.expect_err("a refusal")) {
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(reason(&status).as_deref(), Some("OVERLOADED"));
        assert!(delay(&status) <= Duration::from_secs(1));
    }

    let client = instance.client();
    let at = client.at(&table.id, None).unwrap();
    let patient = join_all((0..16).map(|_| at.get_match())).await;
    assert!(patient.iter().all(Result::is_ok), "{patient:?}");
}

#[tokio::test]
async fn who_is_turned_away_does_not_fill_the_log() {
    let process = Process::start(&["--rate-limits=on", "--guess-rate=1/min", "--connections=1"]);
    let mut raw = process.raw().await;
    for guess in 0..200 {
        let mut request = Request::new(GetMatchRequest { match_id: uuid::Uuid::nil().into() });
        let bearer = format!("Bearer guess-{guess}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        raw.get_match(request).await.expect_err("a guess");
    }
    for _ in 0..50 {
        let mut one_too_many = TcpStream::connect(process.address()).await.unwrap();
        // Closed, whether or not with a reset.
        let _ = one_too_many.read(&mut [0; 1]).await;
    }
    drop(raw);
    let log = process.stop().await;
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.len() < 20, "{log}");
    let told = |field: &str| lines.iter().filter_map(|line| line[field].as_u64()).sum::<u64>();
    assert_eq!((told("rate_limited"), told("connections")), (199, 50));
}
