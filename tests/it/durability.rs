//! The profiles of durability: what is looked up, and what it means to wait for a replica.

use std::sync::Arc;

use parlor::client::reason;
use parlor::proto::game_options::Game;
use parlor::proto::{NeonOptions, SubmitActionRequest};
use parlor::store::{
    Answered, Committed, Durability, MatchId, RedisConfig, RedisStore, Store, StoreError,
};
use tonic::Code;
use uuid::Uuid;

use crate::eventually;
use crate::instance::{Instance, Table};
use crate::redis_faults::{assert_whole, hasty};
use crate::redis_server::RedisServer;
use crate::redis_topologies::replica_of;
use crate::store_contract::{
    KEEP, change, digest, entry, holds_for, input, match_at, new_match, request, snapshot,
};

const PENDING: fn(&StoreError) -> bool = |error| matches!(error, StoreError::DurabilityPending(_));

async fn replicated(server: &RedisServer) -> RedisStore {
    replicated_with(hasty(server.config())).await
}

/// The same, which gives a replica as long as a busy machine takes.
async fn patiently_replicated(server: &RedisServer) -> RedisStore {
    replicated_with(server.config()).await
}

async fn replicated_with(config: RedisConfig) -> RedisStore {
    let config = RedisConfig { durability: Durability::Replicated, ..config };
    RedisStore::connect(config).await.expect("the server is there")
}

#[tokio::test]
async fn with_a_replica_all_promises_hold() {
    let server = RedisServer::start().await;
    let _replica = replica_of(&server).await;
    holds_for(&replicated(&server).await).await;
}

#[tokio::test]
async fn a_change_that_no_replica_has_is_not_acknowledged_however_often_it_is_sent() {
    let server = RedisServer::start().await;
    let replica = replica_of(&server).await;
    let id = match_at(&server.store().await, 2).await;
    let store = replicated(&server).await;
    replica.pause();

    let sent = change(2, request(2));
    for _ in 0..3 {
        // On whichever connection it comes, and whichever way it is asked whether it is done.
        let pending = store.commit(id, sent.clone()).await.expect_err("it is not safe");
        assert!(PENDING(&pending), "{pending:?}");
        let asked = Some((sent.request.scope, sent.request.id));
        let pending = store.load(id, None, asked).await.expect_err("it is not safe");
        assert!(PENDING(&pending), "{pending:?}");
    }
    // A new instance has written nothing itself.
    let other = replicated(&server).await;
    let pending = other.commit(id, sent.clone()).await.expect_err("it is not safe");
    assert!(PENDING(&pending), "{pending:?}");
    // Whoever only looks is answered, and so is who is refused anyway.
    assert_whole(&store, id, 3).await;
    assert_eq!(store.commit(id, change(2, request(9))).await, Ok(Committed::Conflict));

    replica.go_on();
    let repeated = Committed::Repeated(Answered { version: 3, digest: digest(1_000) });
    let settled = eventually("it is settled", async || store.commit(id, sent.clone()).await.ok());
    assert_eq!(settled.await, repeated);
    let settled = eventually("for all", async || other.commit(id, sent.clone()).await.ok());
    assert_eq!(settled.await, repeated);
    assert_whole(&store, id, 3).await;
}

#[tokio::test]
async fn a_match_and_a_claim_that_no_replica_has_are_not_acknowledged_either() {
    let server = RedisServer::start().await;
    let replica = replica_of(&server).await;
    let store = replicated(&server).await;
    replica.pause();
    let id = MatchId(Uuid::new_v4());
    for _ in 0..2 {
        let pending = store.create(id, entry(1), snapshot(1), KEEP).await.expect_err("not safe");
        assert!(PENDING(&pending), "{pending:?}");
        let pending = store.claim("key", input(1), KEEP).await.expect_err("not safe");
        assert!(PENDING(&pending), "{pending:?}");
        // Not even by who has written nothing itself.
        let other = replicated(&server).await;
        let pending = other.create(id, entry(1), snapshot(1), KEEP).await.expect_err("not safe");
        assert!(PENDING(&pending), "{pending:?}");
        let pending = other.claim("key", input(2), KEEP).await.expect_err("not safe");
        assert!(PENDING(&pending), "{pending:?}");
    }
    replica.go_on();
    eventually("the claim is kept", async || {
        (store.claim("key", input(2), KEEP).await == Ok(input(1))).then_some(())
    })
    .await;
    eventually("the match is kept", async || {
        (store.create(id, entry(1), snapshot(1), KEEP).await == Ok(false)).then_some(())
    })
    .await;
    assert_whole(&store, id, 1).await;
    // What is written again keeps its end.
    let left: i64 = server.run(&["PTTL", "parlor1:c:key"]).await;
    assert!(left > 0, "{left}");
}

/// How often a command was called, by scripts too.
pub async fn calls(server: &RedisServer, command: &str) -> usize {
    let info: String = server.run(&["INFO", "commandstats"]).await;
    let line = format!("cmdstat_{command}:calls=");
    let count = info.lines().find_map(|found| found.strip_prefix(&line));
    count.and_then(|count| count.split(',').next()?.parse().ok()).unwrap_or(0)
}

/// `WAIT` is about what was written on the same connection. Servers up to version 7.0 take all that was
/// written before for that, so there it only shows in what is written.
#[tokio::test]
async fn what_is_repeated_is_written_again() {
    let server = RedisServer::start().await;
    let _replica = replica_of(&server).await;
    let store = patiently_replicated(&server).await;
    let id = match_at(&store, 2).await;
    store.claim("key", input(1), KEEP).await.unwrap();

    let before = (calls(&server, "hset").await, calls(&server, "set").await);
    store.commit(id, change(1, request(1))).await.unwrap();
    assert_eq!(calls(&server, "hset").await, before.0 + 1);
    store.create(id, entry(1), snapshot(1), KEEP).await.unwrap();
    assert_eq!(calls(&server, "hset").await, before.0 + 2);
    store.load(id, None, Some((3, request(1).id))).await.unwrap();
    assert_eq!(calls(&server, "hset").await, before.0 + 3);
    store.claim("key", input(2), KEEP).await.unwrap();
    assert_eq!(calls(&server, "set").await, before.1 + 1);

    // Nothing of that where nobody waits.
    let store = server.store().await;
    let before = (calls(&server, "hset").await, calls(&server, "set").await);
    store.commit(id, change(1, request(1))).await.unwrap();
    store.create(id, entry(1), snapshot(1), KEEP).await.unwrap();
    store.load(id, None, Some((3, request(1).id))).await.unwrap();
    store.claim("key", input(2), KEEP).await.unwrap();
    assert_eq!((calls(&server, "hset").await, calls(&server, "set").await), before);
    assert_whole(&store, id, 2).await;
}

#[tokio::test]
async fn many_who_wait_for_a_replica_are_waited_for_together() {
    let server = RedisServer::start().await;
    let _replica = replica_of(&server).await;
    let store = patiently_replicated(&server).await;
    let ids = futures_util::future::join_all((0..64).map(|_| new_match(&store))).await;
    let before = calls(&server, "wait").await;
    let sent = ids.iter().map(|id| store.commit(*id, change(1, request(1))));
    for outcome in futures_util::future::join_all(sent).await {
        assert_eq!(outcome, Ok(Committed::Done));
    }
    let waited = calls(&server, "wait").await - before;
    assert!((1..=32).contains(&waited), "{waited} for 64 changes");
}

#[tokio::test]
async fn who_only_looks_is_not_held_up_by_who_waits_for_a_replica() {
    let server = RedisServer::start().await;
    let replica = replica_of(&server).await;
    let store = patiently_replicated(&server).await;
    let id = match_at(&store, 2).await;
    replica.pause();
    let looking = async {
        eventually("the change is seen", async || {
            let position = store.load(id, None, None).await.expect("an answer").unwrap().position;
            (position.version == 3).then_some(())
        })
        .await;
        for _ in 0..16 {
            assert_whole(&store, id, 3).await;
        }
    };
    tokio::select! {
        outcome = store.commit(id, change(2, request(2))) => panic!("{outcome:?}"),
        () = looking => {}
    }
}

#[tokio::test]
async fn players_are_told_that_an_action_is_not_safe_yet_and_the_same_again_settles_it() {
    let server = RedisServer::start().await;
    let replica = replica_of(&server).await;
    let instance = Instance::start(Arc::new(replicated(&server).await), &[]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let decision = table.seats[0].view().await.expect("a view").decisions[0];
    let seat = decision.seat as usize;
    let action = table.seats[seat].view().await.expect("a view").legal_actions[0].clone();
    let action = SubmitActionRequest {
        match_id: table.id.clone(),
        action_id: Uuid::new_v4().to_string(),
        action: Some(action),
        decision: Some(decision.decision),
    };
    let submit = async || {
        let mut request = tonic::Request::new(action.clone());
        let token = format!("Bearer {}", table.created.seat_tokens[seat].token);
        request.metadata_mut().insert("authorization", token.parse().expect("a token"));
        instance.raw().await.submit_action(request).await
    };

    replica.pause();
    for _ in 0..2 {
        let status = submit().await.expect_err("it is not safe");
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(reason(&status).as_deref(), Some("DURABILITY_PENDING"));
    }
    replica.go_on();
    let answer = eventually("it is settled", async || submit().await.ok()).await.into_inner();
    assert_eq!((answer.version, answer.replayed), (2, true));
    assert_eq!(table.seats[0].view().await.expect("a view").version, 2);
}

/// A primary that was replaced does not know what was done since: by what it has, a repeat of what its
/// successor has carried out would be refused.
#[tokio::test]
async fn nothing_is_decided_by_what_a_primary_has_that_no_replica_follows() {
    let server = RedisServer::start().await;
    let replica = replica_of(&server).await;
    let store = patiently_replicated(&server).await;
    let id = match_at(&store, 2).await;
    let asked = Some((request(7).scope, request(7).id));
    assert!(store.load(id, None, asked).await.is_ok());

    replica.run::<()>(&["REPLICAOF", "NO", "ONE"]).await;
    eventually("it is noticed", async || {
        let loaded = store.load(id, None, asked).await;
        matches!(loaded, Err(StoreError::Failover(_))).then_some(())
    })
    .await;
    assert_whole(&store, id, 2).await;

    let port = server.port().to_string();
    replica.run::<()>(&["REPLICAOF", "127.0.0.1", &port]).await;
    eventually("it follows again", async || store.load(id, None, asked).await.ok()).await;
}

#[tokio::test]
async fn a_store_without_a_replica_says_so_and_serves_questions() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = match_at(&store, 3).await;
    let store = replicated(&server).await;
    assert!(store.info().to_string().ends_with("; what is acknowledged, a replica has too"));
    assert_whole(&store, id, 3).await;
    let pending = store.commit(id, change(3, request(3))).await.expect_err("not safe");
    assert!(PENDING(&pending), "{pending:?}");
}

#[tokio::test]
async fn who_may_not_wait_for_replicas_is_told_at_the_start() {
    let server = RedisServer::start().await;
    server.run::<()>(&["ACL", "SETUSER", "parlor", "-wait"]).await;
    let config = RedisConfig { durability: Durability::Replicated, ..server.config() };
    let refused = RedisStore::connect(config).await.err();
    assert!(matches!(refused, Some(StoreError::Misconfigured(_))), "{refused:?}");
}
