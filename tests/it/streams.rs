//! Streams: every version once and in order, from anywhere, through anything.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use parlor::client::Followed;
use parlor::games::AnyGame;
use parlor::matches::{self, Beginning, Caller, Matches, Settings, SystemChance, SystemClock};
use parlor::proto::game_options::Game;
use parlor::proto::match_service_client::MatchServiceClient;
use parlor::proto::stream_view_response::Message;
use parlor::proto::{
    EndReason, NeapolitanOptions, NeonOptions, StreamViewRequest, StreamViewResponse,
};
use parlor::store::{MatchId, MemoryStore};
use tonic::transport::Endpoint;
use tonic::{Code, Request};

use crate::instance::{Instance, Table};

fn neon() -> Game {
    Game::Neon(NeonOptions::default())
}

/// Everything that one stream tells a spectator, until it ends.
async fn told(instance: &Instance, request: StreamViewRequest) -> Vec<StreamViewResponse> {
    let stream = instance.raw().await.stream_view(request).await;
    let mut stream = stream.expect("a stream").into_inner();
    let mut told = Vec::new();
    while let Some(reply) = stream.message().await.expect("no error") {
        told.push(reply);
    }
    told
}

/// The versions of the updates.
fn updated(told: &[StreamViewResponse]) -> Vec<u64> {
    let updates = told.iter().filter(|reply| matches!(reply.message, Some(Message::Update(_))));
    updates.map(|reply| reply.version).collect()
}

#[tokio::test]
async fn a_stream_resumes_after_every_version_without_gap_or_repeat() {
    let store = Arc::new(MemoryStore::default());
    let (one, other) = (Instance::start(store.clone(), &[]), Instance::start(store, &[]));
    let table = Table::create(&one.client(), neon(), 3).await;
    table.play(usize::MAX).await;

    let from_the_start = StreamViewRequest {
        match_id: table.id.clone(),
        after_version: Some(0),
        ..StreamViewRequest::default()
    };
    let all = told(&one, from_the_start).await;
    let last = updated(&all).len() as u64;
    assert_eq!(updated(&all), (1..=last).collect::<Vec<_>>());
    let Some(Message::End(end)) = &all.last().expect("an end").message else { panic!("no end") };
    assert_eq!(end.reason(), EndReason::MatchOver);

    for (i, reply) in all.iter().enumerate() {
        let resumed = StreamViewRequest {
            match_id: table.id.clone(),
            resume_token: reply.resume_token.clone(),
            after_version: None,
        };
        let rest = told(&other, resumed).await;
        let expected = if i + 1 == all.len() { &all[i..] } else { &all[i + 1..] };
        assert_eq!(rest, expected, "after version {}", reply.version);
    }
}

#[tokio::test]
async fn who_is_told_of_the_past_is_sent_elsewhere_when_the_instance_stops() {
    let store = Arc::new(MemoryStore::default());
    let one = Instance::start(store.clone(), &["--send-buffer=1024"]);
    let other = Instance::start(store, &[]);
    let table = Table::create(&one.client(), neon(), 6).await;
    let last = 1 + table.play(usize::MAX).await as u64;

    // The viewer has room for so little that most of the match is yet to be sent.
    let channel = Endpoint::from_shared(one.url.clone()).unwrap();
    let channel = channel.initial_stream_window_size(1024).connect().await.unwrap();
    let match_id = table.id.clone();
    let request =
        StreamViewRequest { match_id, after_version: Some(0), ..StreamViewRequest::default() };
    let stream = MatchServiceClient::new(channel).stream_view(request).await;
    let mut stream = stream.expect("a stream").into_inner();
    stream.message().await.expect("no error").expect("the first version");
    let rest = async {
        let mut rest = Vec::new();
        while let Some(reply) = stream.message().await.expect("no error") {
            rest.push(reply);
        }
        rest
    };
    let (rest, ()) = tokio::join!(rest, one.stop());
    let end = rest.last().expect("an end");
    let Some(Message::End(told_why)) = &end.message else { panic!("no end: {end:?}") };
    assert_eq!(told_why.reason(), EndReason::Draining);
    assert!(end.version < last, "{} of {last}", end.version);
    let resumed = StreamViewRequest {
        match_id: table.id.clone(),
        resume_token: end.resume_token.clone(),
        after_version: None,
    };
    let expected: Vec<_> = (end.version + 1..=last).collect();
    assert_eq!(updated(&told(&other, resumed).await), expected);
}

#[tokio::test]
async fn viewers_without_room_for_more_keep_nobody_from_the_past() {
    let store = Arc::new(MemoryStore::default());
    let instance = Instance::start(store.clone(), &[]);
    let table = Table::create(&instance.client(), neon(), 2).await;
    table.play(10).await;

    let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
    let matches = Matches::<AnyGame>::new(store, clock, chance, Settings::default());
    let id = MatchId(table.id.parse().expect("an id"));
    let watch = || matches.watch(id, Caller::Anyone, Beginning::After(0));
    let mut stuck = Vec::new();
    for _ in 0..64 {
        let mut watcher = watch().await.expect("a public match");
        let mut next = Box::pin(async move { watcher.next().await });
        // It has begun, and nobody asks for more of it.
        assert!(next.as_mut().now_or_never().is_none());
        stuck.push(next);
    }
    let mut watcher = watch().await.expect("a public match");
    for version in 1..=11 {
        let told = tokio::time::timeout(Duration::from_secs(10), watcher.next()).await;
        assert!(matches!(told, Ok(Some(Ok(matches::Message::Update(..))))), "{version}: {told:?}");
    }
    drop(stuck);
}

#[tokio::test]
async fn a_stream_that_begins_after_a_version_goes_on_from_there() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let table = Table::create(&instance.client(), neon(), 2).await;
    table.play(usize::MAX).await;
    let request = |after_version, resume_token| StreamViewRequest {
        match_id: table.id.clone(),
        after_version,
        resume_token,
    };
    let all = told(&instance, request(Some(0), Vec::new())).await;
    let last = updated(&all).len() as u64;
    for after in [1, 2, last - 1, last] {
        let rest = told(&instance, request(Some(after), Vec::new())).await;
        assert_eq!(updated(&rest), (after + 1..=last).collect::<Vec<_>>());
    }

    let mut raw = instance.raw().await;
    let status = raw.stream_view(request(Some(last + 1), Vec::new())).await.expect_err("too far");
    assert_eq!(status.code(), Code::OutOfRange);
    let both = request(Some(1), all[0].resume_token.clone());
    let status = raw.stream_view(both).await.expect_err("two beginnings");
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_viewer_that_reads_late_gets_every_version_all_the_same() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let game = Game::Neapolitan(NeapolitanOptions::default());
    let table = Table::create(&instance.client(), game, 5).await;
    let mut follow = table.seats[0].follow();
    assert!(matches!(follow.next().await, Ok(Some(Followed::Snapshot { .. }))));
    let played = table.play(150).await as u64;
    assert!(played > 64, "more than is kept for watchers");
    for expected in 2..=played + 1 {
        let told = follow.next().await.expect("no error").expect("an update");
        let Followed::Update { version, view, .. } = told else { panic!("a gap: {told:?}") };
        assert_eq!((version, view.version), (expected, expected));
    }
}

#[tokio::test]
async fn a_quiet_stream_gives_signs_of_life() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &["--heartbeat=50ms"]);
    let table = Table::create(&instance.client(), neon(), 2).await;
    let request = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let mut stream = instance.raw().await.stream_view(request).await.unwrap().into_inner();
    let mut messages = Vec::new();
    for _ in 0..3 {
        let reply = stream.message().await.expect("no error").expect("a message");
        assert_eq!(reply.version, 1);
        messages.push(reply.message.expect("a message"));
    }
    assert!(matches!(
        messages[..],
        [Message::Snapshot(_), Message::Heartbeat(_), Message::Heartbeat(_)]
    ));
}

#[tokio::test]
async fn the_deadline_of_the_call_ends_the_stream() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let table = Table::create(&instance.client(), neon(), 2).await;
    let mut request = Request::new(StreamViewRequest {
        match_id: table.id.clone(),
        ..StreamViewRequest::default()
    });
    // Said to the server alone: the client itself would wait for ever.
    request.metadata_mut().insert("grpc-timeout", "150m".parse().expect("a timeout"));
    let mut stream = instance.raw().await.stream_view(request).await.unwrap().into_inner();
    assert!(stream.message().await.expect("in time").is_some());
    let status = tokio::time::timeout(Duration::from_secs(5), stream.message());
    let status = status.await.expect("the server ends it").expect_err("with an error");
    assert_eq!(status.code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn a_stopping_instance_says_so_and_another_goes_on() {
    let store = Arc::new(MemoryStore::default());
    let (one, other) = (Instance::start(store.clone(), &[]), Instance::start(store, &[]));
    let table = Table::create(&other.client(), neon(), 2).await;

    let request = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let mut stream = one.raw().await.stream_view(request).await.unwrap().into_inner();
    let snapshot = stream.message().await.unwrap().expect("a snapshot");
    one.stop().await;
    let last = stream.message().await.expect("a proper end").expect("an end");
    let Some(Message::End(end)) = last.message else { panic!("no end: {last:?}") };
    assert_eq!(end.reason(), EndReason::Draining);

    table.play(3).await;
    let resumed = StreamViewRequest {
        match_id: table.id.clone(),
        resume_token: snapshot.resume_token,
        after_version: None,
    };
    let mut stream = other.raw().await.stream_view(resumed).await.unwrap().into_inner();
    for version in 2..=4 {
        assert_eq!(stream.message().await.unwrap().expect("an update").version, version);
    }
}

#[tokio::test]
async fn a_replaced_token_ends_its_streams_and_acts_no_more() {
    let instance = Instance::start(Arc::new(MemoryStore::default()), &[]);
    let table = Table::create(&instance.client(), neon(), 2).await;
    let mut follow = table.seats[0].follow();
    assert!(follow.next().await.expect("no error").is_some());

    let renewed = table.seats[0].renew_token().await.expect("renewed").seat_token.unwrap();
    assert_eq!(follow.next().await.expect("a proper end"), None);
    let status = table.seats[0].view().await.expect_err("the old token");
    assert_eq!(parlor::client::reason(&status).as_deref(), Some("TOKEN_REVOKED"));
    let seat = instance.client().at(&table.id, Some(&renewed.token)).unwrap();
    assert_eq!(seat.view().await.expect("the new token").seat, Some(0));

    let mut history = seat.follow_from_the_start();
    for version in 1..=2 {
        let told = history.next().await.expect("no error").expect("its own history");
        assert!(matches!(told, Followed::Update { version: v, .. } if v == version));
    }
}
