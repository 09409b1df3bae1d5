//! What callers are told when the store fails, and that nothing is lost or half done by it.

use std::sync::Arc;
use std::time::Duration;

use parlor::proto::game_options::Game;
use parlor::proto::{GetViewRequest, NeonOptions, SubmitActionRequest};
use parlor::store::RedisConfig;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt as _;
use uuid::Uuid;

use crate::eventually;
use crate::instance::{Instance, Table};
use crate::redis_server::RedisServer;

/// An instance over the server, which waits no longer for it than an instance does by default.
async fn instance(redis: &RedisServer) -> Instance {
    let config = RedisConfig { response_timeout: Duration::from_millis(400), ..redis.config() };
    let store = parlor::store::RedisStore::connect(config).await.expect("the server is there");
    Instance::start(Arc::new(store), &[])
}

/// The next action of a match, and the token of whose it is.
async fn next_action(table: &Table) -> (SubmitActionRequest, String) {
    let decision = table.seats[0].view().await.expect("a view").decisions[0];
    let seat = decision.seat as usize;
    let action = table.seats[seat].view().await.expect("a view").legal_actions[0].clone();
    let request = SubmitActionRequest {
        match_id: table.id.clone(),
        action_id: Uuid::new_v4().to_string(),
        action: Some(action),
        decision: Some(decision.decision),
    };
    (request, table.created.seat_tokens[seat].token.clone())
}

fn bearer<T>(message: &T, token: &str) -> Request<T>
where
    T: Clone,
{
    let mut request = Request::new(message.clone());
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

fn assert_told(status: &Status, code: Code, reason: &str, retry: bool) {
    let details = status.get_error_details();
    let told = details.error_info().map(|info| info.reason.as_str());
    assert_eq!((status.code(), told), (code, Some(reason)));
    assert_eq!(details.retry_info().is_some(), retry, "{reason}");
}

#[tokio::test]
async fn a_silent_store_leaves_the_outcome_unknown_and_the_same_action_settles_it() {
    let redis = RedisServer::start().await;
    let instance = instance(&redis).await;
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;
    let mut raw = instance.raw().await;

    redis.pause();
    let status = raw.submit_action(bearer(&action, &token)).await.expect_err("no answer");
    assert_told(&status, Code::Unavailable, "OUTCOME_UNKNOWN", true);
    let look = GetViewRequest { match_id: table.id.clone() };
    let status = raw.get_view(bearer(&look, &token)).await.expect_err("no answer");
    assert_told(&status, Code::Unavailable, "STORE_UNAVAILABLE", true);
    redis.go_on();

    let answer = eventually("the same action is settled", async || {
        raw.clone().submit_action(bearer(&action, &token)).await.ok()
    });
    assert_eq!(answer.await.into_inner().version, 2);
    assert_eq!(table.seats[0].view().await.expect("a view").version, 2, "it was done once");
}

#[tokio::test]
async fn a_caller_whose_time_is_over_before_the_store_answers_is_told_that_it_may_be_done() {
    let redis = RedisServer::start().await;
    let instance = instance(&redis).await;
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;

    redis.pause();
    let mut request = bearer(&action, &token);
    request.metadata_mut().insert("grpc-timeout", "100m".parse().expect("a timeout"));
    let status = instance.raw().await.submit_action(request).await.expect_err("too late");
    assert_told(&status, Code::DeadlineExceeded, "OUTCOME_UNKNOWN", false);
    redis.go_on();
}

#[tokio::test]
async fn a_store_that_is_away_is_told_at_once_and_its_return_heals_everything() {
    let mut redis = RedisServer::start().await;
    let instance = instance(&redis).await;
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;
    let mut raw = instance.raw().await;

    redis.kill();
    let status = eventually("the loss is noticed", async || {
        let refused = raw.clone().submit_action(bearer(&action, &token)).await.err()?;
        let details = refused.get_error_details();
        let reason = details.error_info().map(|info| info.reason.clone());
        (reason.as_deref() == Some("STORE_UNAVAILABLE")).then_some(refused)
    });
    assert_told(&status.await, Code::Unavailable, "STORE_UNAVAILABLE", true);

    redis.start_again().await;
    let answer =
        eventually("it heals", async || raw.submit_action(bearer(&action, &token)).await.ok());
    assert_eq!(answer.await.into_inner().version, 2);
}

#[tokio::test]
async fn a_full_store_refuses_changes_and_still_answers_questions() {
    let redis = RedisServer::start().await;
    let instance = instance(&redis).await;
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;
    let mut raw = instance.raw().await;

    redis.run::<()>(&["CONFIG", "SET", "maxmemory", "1"]).await;
    let status = raw.submit_action(bearer(&action, &token)).await.expect_err("no room");
    assert_told(&status, Code::ResourceExhausted, "STORE_FULL", false);
    assert_eq!(table.seats[0].view().await.expect("a view").version, 1, "nothing was done");
    redis.run::<()>(&["CONFIG", "SET", "maxmemory", "0"]).await;
    let answer = raw.submit_action(bearer(&action, &token)).await.expect("there is room again");
    assert_eq!(answer.into_inner().version, 2);
}

#[tokio::test]
async fn a_demoted_store_is_told_as_a_failover() {
    let redis = RedisServer::start().await;
    let instance = instance(&redis).await;
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;
    let mut raw = instance.raw().await;

    redis.run::<()>(&["REPLICAOF", "127.0.0.1", "1"]).await;
    let status = raw.submit_action(bearer(&action, &token)).await.expect_err("a replica");
    assert_told(&status, Code::Unavailable, "STORE_FAILOVER", true);
    redis.run::<()>(&["REPLICAOF", "NO", "ONE"]).await;
    let answer =
        eventually("it heals", async || raw.submit_action(bearer(&action, &token)).await.ok());
    assert_eq!(answer.await.into_inner().version, 2);
}
