//! Who has no good token learns nothing of a match, not even whether there is one: the store is not
//! asked, and all answers are the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parlor::client::reason;
use parlor::grpc::tokens::TokenKeys;
use parlor::proto::game_options::Game;
use parlor::proto::match_service_client::MatchServiceClient;
use parlor::proto::{
    GetMatchRequest, GetViewRequest, NeonOptions, RenewTokenRequest, StreamViewRequest,
    SubmitActionRequest,
};
use parlor::rules::Seat;
use parlor::store::MatchId;
use tonic::transport::Channel;
use tonic::{Request, Status};
use uuid::Uuid;

use crate::instance::{Instance, Table};
use crate::process::KEY;
use crate::redis_server::RedisServer;

/// What the service asks Redis for about matches. Besides, it looks at how Redis is set.
const ABOUT_MATCHES: [&str; 9] =
    ["eval", "evalsha", "exists", "get", "hget", "hmget", "set", "subscribe", "xrange"];

/// How often Redis was asked about matches.
async fn asked(redis: &RedisServer) -> BTreeMap<&'static str, u64> {
    let info: String = redis.run(&["INFO", "commandstats"]).await;
    let calls = |command: &str| {
        let line = format!("cmdstat_{command}:calls=");
        let found = info.lines().find_map(|found| found.strip_prefix(&line))?;
        found.split(',').next()?.parse().ok()
    };
    ABOUT_MATCHES.map(|command| (command, calls(command).unwrap_or(0))).into()
}

/// The answers of every method that takes a token, in order.
async fn refusals(
    raw: &mut MatchServiceClient<Channel>,
    match_id: &str,
    authorization: Option<&str>,
) -> Vec<Status> {
    fn request<T>(message: T, authorization: Option<&str>) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(authorization) = authorization {
            request.metadata_mut().insert("authorization", authorization.parse().unwrap());
        }
        request
    }
    let match_id = match_id.to_owned();
    let id = Uuid::from_u128(7).to_string();
    let submit = SubmitActionRequest {
        match_id: match_id.clone(),
        action_id: id.clone(),
        ..SubmitActionRequest::default()
    };
    let renew = RenewTokenRequest { match_id: match_id.clone(), request_id: id };
    let mut refusals = vec![
        raw.submit_action(request(submit, authorization)).await.expect_err("refused"),
        raw.renew_token(request(renew, authorization)).await.expect_err("refused"),
    ];
    // Who has no token at all may look at what is public.
    if authorization.is_some() {
        let look = GetViewRequest { match_id: match_id.clone() };
        let found = GetMatchRequest { match_id: match_id.clone() };
        let watch = StreamViewRequest { match_id, ..StreamViewRequest::default() };
        refusals.extend([
            raw.get_view(request(look, authorization)).await.expect_err("refused"),
            raw.get_match(request(found, authorization)).await.expect_err("refused"),
            raw.stream_view(request(watch, authorization)).await.expect_err("refused"),
        ]);
    }
    refusals
}

#[tokio::test]
async fn refused_tokens_cost_the_store_nothing_and_tell_nothing() {
    let redis = RedisServer::start().await;
    let instance = Instance::start(Arc::new(redis.store().await), &[]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    // It has nothing of the match in its cache.
    let cold = Instance::start(Arc::new(redis.store().await), &[]);
    let mut raw = cold.raw().await;

    let there = MatchId(table.id.parse().unwrap());
    let nowhere = MatchId(Uuid::from_u128(1));
    let ours: TokenKeys = format!("test:{KEY}").parse().expect("keys");
    let foreign: TokenKeys = format!("test:{}", "ab".repeat(32)).parse().expect("keys");
    let unknown: TokenKeys = format!("other:{KEY}").parse().expect("keys");
    let day = Duration::from_secs(24 * 60 * 60);
    let issue = |keys: &TokenKeys, id, issued_at| {
        let token = keys.issue(id, Some((Seat::default(), 0)), issued_at, day).expect("a token");
        format!("Bearer {token}")
    };
    let now = 4_000_000_000;
    let good = &table.created.seat_tokens[0].token;

    let before = asked(&redis).await;
    for id in [there, nowhere] {
        let other = if id == there { nowhere } else { there };
        let invalid = [
            issue(&foreign, id, now),
            issue(&unknown, id, now),
            format!("Bearer {}", &good[..good.len() - 1]),
            "Bearer garbled".to_owned(),
            "Basic dXNlcjpwYXNz".to_owned(),
        ];
        for authorization in &invalid {
            for status in refusals(&mut raw, &id.0.to_string(), Some(authorization)).await {
                let told = (status.code(), status.message(), status.details());
                let expected = parlor::grpc::errors::Fault::TOKEN_INVALID.status();
                let expected = (expected.code(), expected.message(), expected.details());
                assert_eq!(told, expected, "{authorization}");
            }
        }
        let cases = [
            (None, "TOKEN_MISSING", 2),
            (Some(issue(&ours, id, 1_000_000_000)), "TOKEN_EXPIRED", 5),
            (Some(issue(&ours, other, now)), "TOKEN_SCOPE", 5),
        ];
        for (authorization, expected, methods) in cases {
            let refused = refusals(&mut raw, &id.0.to_string(), authorization.as_deref()).await;
            assert_eq!(refused.len(), methods);
            for status in refused {
                assert_eq!(reason(&status).as_deref(), Some(expected));
            }
        }
    }
    assert_eq!(asked(&redis).await, before, "the store was asked");

    // And the count can tell.
    cold.client().at(&table.id, Some(good)).unwrap().view().await.expect("a view");
    assert_ne!(asked(&redis).await, before);
}
