//! How long streams last, and how many there may be.

use std::sync::Arc;

use parlor::client::{Followed, reason};
use parlor::proto::game_options::Game;
use parlor::proto::stream_view_response::Message;
use parlor::proto::{EndReason, NeonOptions, StreamViewRequest, StreamViewResponse};
use parlor::store::MemoryStore;
use tonic::{Code, Request, Streaming};
use tonic_types::StatusExt as _;

use crate::eventually;
use crate::instance::{Instance, Table};

async fn start(flags: &[&str]) -> (Instance, Table) {
    let instance = Instance::start(Arc::new(MemoryStore::default()), flags);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    (instance, table)
}

/// A stream of a spectator, or with a token of its seat.
async fn watch(
    instance: &Instance,
    table: &Table,
    token: Option<&str>,
) -> Result<Streaming<StreamViewResponse>, tonic::Status> {
    let match_id = table.id.clone();
    let mut request = Request::new(StreamViewRequest { match_id, ..StreamViewRequest::default() });
    if let Some(token) = token {
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
    }
    Ok(instance.raw().await.stream_view(request).await?.into_inner())
}

/// Why a stream ends, and how long its viewer is to wait.
async fn end(mut stream: Streaming<StreamViewResponse>) -> (EndReason, u32) {
    while let Some(reply) = stream.message().await.expect("no error") {
        if let Some(Message::End(end)) = reply.message {
            assert!(!reply.resume_token.is_empty());
            assert_eq!(stream.message().await.expect("no error"), None, "the end is the last");
            return (end.reason(), end.after_ms);
        }
    }
    panic!("it ended untold");
}

#[tokio::test]
async fn a_stream_that_has_lasted_long_enough_is_ended_and_followers_go_on() {
    let (instance, table) = start(&["--stream-age=20ms", "--heartbeat=5ms"]).await;
    let stream = watch(&instance, &table, None).await.expect("a stream");
    assert_eq!(end(stream).await, (EndReason::StreamMaxAge, 0));

    let mut follow = table.seats[0].follow();
    assert!(matches!(follow.next().await, Ok(Some(Followed::Snapshot { .. }))));
    for expected in 2..6 {
        let (told, ()) = tokio::join!(follow.next(), async {
            let stream = watch(&instance, &table, None).await.expect("a stream");
            end(stream).await;
            table.play(1).await;
        });
        let told = told.expect("no error").expect("an update");
        assert!(matches!(told, Followed::Update { version, .. } if version == expected));
    }
    assert!(follow.resumed() > 0);
}

#[tokio::test]
async fn the_newest_stream_of_a_seat_ends_the_oldest() {
    let (instance, table) = start(&[]).await;
    let token = &table.created.seat_tokens[0].token;
    let first = watch(&instance, &table, Some(token)).await.expect("a stream");
    let mut second = watch(&instance, &table, Some(token)).await.expect("a stream");
    let _third = watch(&instance, &table, Some(token)).await.expect("a stream");
    assert_eq!(end(first).await, (EndReason::StreamSuperseded, 0));
    second.message().await.expect("it goes on").expect("a snapshot");
    table.play(1).await;
    second.message().await.expect("it goes on").expect("an update");
}

#[tokio::test]
async fn a_spectator_too_many_is_told_so_and_may_come_when_another_has_left() {
    let (instance, table) = start(&["--spectators=2"]).await;
    let first = watch(&instance, &table, None).await.expect("a stream");
    let _second = watch(&instance, &table, None).await.expect("a stream");
    let status = watch(&instance, &table, None).await.expect_err("the third");
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(reason(&status).as_deref(), Some("STREAM_QUOTA"));
    let details = status.get_error_details();
    let violations = &details.quota_failure().expect("a QuotaFailure").violations;
    assert_eq!(violations[0].subject, "spectators of the match");

    let token = &table.created.seat_tokens[0].token;
    watch(&instance, &table, Some(token)).await.expect("a player is no spectator");
    drop(first);
    eventually("there is room", async || watch(&instance, &table, None).await.ok()).await;
}

#[tokio::test]
async fn an_instance_has_only_so_many_streams() {
    let (instance, table) = start(&["--streams=1"]).await;
    let _first = watch(&instance, &table, None).await.expect("a stream");
    let token = &table.created.seat_tokens[0].token;
    let status = watch(&instance, &table, Some(token)).await.expect_err("the second");
    assert_eq!(reason(&status).as_deref(), Some("STREAM_QUOTA"));
}

#[tokio::test]
async fn viewers_that_are_told_to_leave_are_told_to_spread_their_return() {
    let (instance, table) = start(&["--reconnect-spread=1h"]).await;
    let one = watch(&instance, &table, None).await.expect("a stream");
    let other = watch(&instance, &table, None).await.expect("a stream");
    instance.stop().await;
    let ((why, first), (_, second)) = (end(one).await, end(other).await);
    assert_eq!(why, EndReason::Draining);
    assert!(first > 0 && first != second, "{first} and {second} ms");
}
