//! A call's deadline ends it while the store is silent, and leaves nothing running.

use std::time::Duration;

use h2::client::Builder;
use parlor::proto::game_options::Game;
use parlor::proto::{GetViewRequest, NeonOptions, StreamViewRequest};
use prost::Message;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tonic::{Code, Status};

use crate::eventually;
use crate::instance::{Instance, Table};
use crate::redis_server::RedisServer;
use crate::store_down::{assert_told, instance, next_action};
use crate::wire::{Wire, call, framed, status};

/// How much later than its deadline a call may end, on a machine that has much else to do.
const LATE: Duration = Duration::from_millis(500);

/// A caller that says its deadline and does not keep it itself, as generated clients do.
struct Caller(Wire);

impl Caller {
    async fn at(instance: &Instance) -> Self {
        Self(Wire::connect(instance.address(), &Builder::new()).await)
    }

    /// How a call ends that says this timeout, and after how long.
    async fn ask(
        &self,
        method: &str,
        message: &impl Message,
        token: &str,
        timeout: &str,
    ) -> (Status, Duration) {
        let began = Instant::now();
        let mut request = call(method);
        let headers = request.headers_mut();
        headers.insert("grpc-timeout", timeout.parse().expect("a header"));
        headers.insert("authorization", format!("Bearer {token}").parse().expect("a header"));
        let mut calls = self.0.calls.clone().ready().await.expect("a connection");
        let (answer, mut sending) = calls.send_request(request, false).expect("sent");
        sending.send_data(framed(message), true).expect("sent");
        let (head, mut body) = answer.await.expect("an answer").into_parts();
        while let Some(data) = body.data().await {
            let length = data.expect("no reset").len();
            body.flow_control().release_capacity(length).expect("it is ours");
        }
        let trailers = body.trailers().await.expect("no reset").unwrap_or_default();
        let status = status(&head.headers).or_else(|| status(&trailers));
        (status.expect("a status"), began.elapsed())
    }
}

#[tokio::test]
async fn who_waits_no_longer_than_the_store_takes_is_told_that_it_may_be_done() {
    let redis = RedisServer::start().await;
    let instance = instance(&redis).await;
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;
    let caller = Caller::at(&instance).await;
    redis.pause();
    let (status, _) = caller.ask("SubmitAction", &action, &token, "100m").await;
    assert_told(&status, Code::DeadlineExceeded, "OUTCOME_UNKNOWN", false);
    redis.go_on();
}

#[tokio::test]
async fn calls_end_at_their_deadline_under_a_silent_store_and_nothing_is_left_running() {
    let redis = RedisServer::start().await;
    let instance = instance(&redis).await;
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;
    let look = GetViewRequest { match_id: table.id.clone() };
    let watch = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    drop(table);
    let caller = Caller::at(&instance).await;
    let tasks = || Handle::current().metrics().num_alive_tasks();
    // Everything was done once: what is kept for the next time is there.
    let (status, _) = caller.ask("StreamView", &watch, &token, "50m").await;
    assert_eq!(status.code(), Code::DeadlineExceeded);
    let before = eventually("all is quiet", async || {
        let before = tasks();
        tokio::time::sleep(Duration::from_millis(50)).await;
        (tasks() == before).then_some(before)
    })
    .await;

    redis.pause();
    let mut by_deadline = 0;
    for millis in [1, 5, 20, 100, 300, 1_000] {
        let (timeout, text) = (Duration::from_millis(millis), format!("{millis}m"));
        let answers = tokio::join!(
            caller.ask("SubmitAction", &action, &token, &text),
            caller.ask("GetView", &look, &token, &text),
            caller.ask("StreamView", &watch, &token, &text),
        );
        for (status, took) in <[_; 3]>::from(answers) {
            assert!(took < timeout + LATE, "{text}: {took:?}");
            // Who waits longer than the service does for the store is told that it is away.
            let code = status.code();
            assert!(matches!(code, Code::DeadlineExceeded | Code::Unavailable), "{text}: {code}");
            by_deadline += usize::from(code == Code::DeadlineExceeded);
        }
    }
    assert!(by_deadline >= 9, "{by_deadline} of 18 ended by their deadline");
    redis.go_on();
    eventually("nothing is left running", async || (tasks() <= before).then_some(())).await;
    eventually("it heals", async || {
        (caller.ask("GetView", &look, &token, "5S").await.0.code() == Code::Ok).then_some(())
    })
    .await;
}
