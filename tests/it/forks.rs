//! A store that loses what it had acknowledged: nobody goes on with a history that no longer is.

use std::sync::Arc;

use parlor::client::{AtMatch, Followed, reason};
use parlor::proto::game_options::Game;
use parlor::proto::{NeonOptions, RenewTokenRequest};
use parlor::store::{Store as _, StoreError};
use redis::AsyncCommands as _;
use uuid::Uuid;

use crate::instance::{Instance, Table};
use crate::redis_server::RedisServer;
use crate::store_contract::{at, change, match_at, request, snapshot};
use crate::store_down::bearer;

/// Everything that Redis holds of a match.
#[derive(PartialEq)]
pub struct Backup(Vec<(String, Vec<u8>)>);

impl Backup {
    pub async fn take(redis: &RedisServer, id: &str) -> Self {
        let mut admin = redis.admin().await;
        let mut keys: Vec<String> = admin.keys(format!("parlor1:{{{id}}}*")).await.expect("keys");
        keys.sort_unstable();
        let mut kept = Vec::new();
        for key in keys {
            let dump = redis::cmd("DUMP").arg(&key).query_async(&mut admin).await;
            kept.push((key, dump.expect("a dump")));
        }
        Self(kept)
    }

    /// What an old file would bring back.
    pub async fn restore(&self, redis: &RedisServer) {
        let mut admin = redis.admin().await;
        for (key, dump) in &self.0 {
            let mut restore = redis::cmd("RESTORE");
            restore.arg(key).arg(0).arg(dump).arg("REPLACE");
            restore.exec_async(&mut admin).await.expect("restored");
        }
    }
}

/// Takes the last legal action of whoever is to act, where [`Table::play`] takes the first. While a
/// first round is played these always differ; the same actions would make the same history.
async fn play_otherwise(table: &Table) {
    let decision = table.seats[0].view().await.expect("a view").decisions[0];
    let seat = &table.seats[decision.seat as usize];
    let action = seat.view().await.expect("a view").legal_actions.pop().expect("an action");
    seat.act(action, None).await.expect("a legal action");
}

#[tokio::test]
async fn viewers_start_over_and_writers_are_told_when_the_store_went_back() {
    let redis = RedisServer::start().await;
    let warm = Instance::start(Arc::new(redis.store().await), &[]);
    let cold = Instance::start(Arc::new(redis.store().await), &[]);
    let table = Table::create(&warm.client(), Game::Neon(NeonOptions::default()), 3).await;
    table.play(1).await;

    let backup = Backup::take(&redis, &table.id).await;
    let mut follow = table.seats[0].follow();
    assert!(matches!(follow.next().await, Ok(Some(Followed::Snapshot { .. }))));
    table.play(2).await;
    for _ in 0..2 {
        assert!(matches!(follow.next().await, Ok(Some(Followed::Update { .. }))));
    }

    backup.restore(&redis).await;
    let elsewhere = Table {
        seats: table.at(&cold.client()),
        id: table.id.clone(),
        created: table.created.clone(),
    };
    for _ in 0..3 {
        play_otherwise(&elsewhere).await;
    }

    // The viewer had seen version 4 of the history that was lost.
    let told = follow.next().await.expect("no error").expect("a message");
    let Followed::Snapshot { view, forget } = told else { panic!("it went on: {told:?}") };
    assert!(forget, "what was told before is to be forgotten");
    assert!(view.version >= 2, "no older than what was restored");
    // From there on it goes on as ever.
    let mut last = view.version;
    while last < 5 {
        let told = follow.next().await.expect("no error").expect("a message");
        let Followed::Update { version, .. } = told else { panic!("no update: {told:?}") };
        assert_eq!(version, last + 1);
        last = version;
    }
}

#[tokio::test]
async fn a_warm_instance_does_not_write_on_a_history_that_was_lost() {
    let redis = RedisServer::start().await;
    let warm = Instance::start(Arc::new(redis.store().await), &[]);
    let cold = Instance::start(Arc::new(redis.store().await), &[]);
    let table = Table::create(&warm.client(), Game::Neon(NeonOptions::default()), 3).await;
    table.play(1).await;
    let backup = Backup::take(&redis, &table.id).await;
    table.play(1).await;

    // The action to come, decided on the version that will be lost.
    let decision = table.seats[0].view().await.unwrap().decisions[0];
    let seat = &table.seats[decision.seat as usize];
    let action = seat.view().await.unwrap().legal_actions[0].clone();

    backup.restore(&redis).await;
    let elsewhere = Table {
        seats: table.at(&cold.client()),
        id: table.id.clone(),
        created: table.created.clone(),
    };
    play_otherwise(&elsewhere).await;

    let status = seat.act(action, None).await.expect_err("its match is gone");
    assert_eq!(reason(&status).as_deref(), Some("HISTORY_FORKED"));
    let view = seat.view().await.expect("the match goes on");
    assert_eq!(view.version, 3);
}

#[tokio::test]
async fn a_token_that_the_store_lost_keeps_its_seat_and_its_renewal_revokes_all() {
    let redis = RedisServer::start().await;
    let instance = Instance::start(Arc::new(redis.store().await), &[]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let at = |token: &str| instance.client().at(&table.id, Some(token)).expect("a token");
    let renewed = async |seat: AtMatch| {
        seat.renew_token().await.expect("renewed").seat_token.expect("a token").token
    };
    let mut tokens = vec![table.created.seat_tokens[0].token.clone()];
    tokens.push(renewed(at(&tokens[0])).await);
    let backup = Backup::take(&redis, &table.id).await;
    for _ in 0..2 {
        tokens.push(renewed(at(tokens.last().expect("a token"))).await);
    }
    backup.restore(&redis).await;

    // It is the only one that its player still has.
    let lost = at(&tokens[3]);
    let mut follow = lost.follow();
    assert!(matches!(follow.next().await, Ok(Some(Followed::Snapshot { .. }))));
    let (mut raw, request_id) = (instance.raw().await, Uuid::new_v4().to_string());
    let renew = RenewTokenRequest { match_id: table.id.clone(), request_id };
    let mut answers = Vec::new();
    for replayed in [false, true] {
        let answer = raw.renew_token(bearer(&renew, &tokens[3])).await.expect("renewed");
        let answer = answer.into_inner();
        assert_eq!(answer.replayed, replayed);
        answers.push(answer.seat_token.expect("a token").token);
    }
    assert_eq!(answers[0], answers[1], "a repeat has the same answer");

    for token in &tokens {
        let status = at(token).view().await.expect_err("it is revoked");
        assert_eq!(reason(&status).as_deref(), Some("TOKEN_REVOKED"));
    }
    assert_eq!(at(&answers[0]).view().await.expect("the new token").seat, Some(0));
}

#[tokio::test]
async fn a_resume_token_of_a_lost_history_starts_over() {
    use parlor::proto::stream_view_response::Message;
    use parlor::proto::{SnapshotReason, StreamViewRequest};

    let redis = RedisServer::start().await;
    let instance = Instance::start(Arc::new(redis.store().await), &[]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 3).await;
    table.play(1).await;
    let backup = Backup::take(&redis, &table.id).await;
    table.play(2).await;
    let request = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let mut stream = instance.raw().await.stream_view(request).await.unwrap().into_inner();
    let token = stream.message().await.unwrap().expect("a snapshot").resume_token;
    drop(stream);

    backup.restore(&redis).await;
    // Once behind the lost version, once at the same version of another history, at an instance
    // that knows nothing and at one that had seen the lost one.
    let fresh = Instance::start(Arc::new(redis.store().await), &[]);
    let elsewhere = Table {
        seats: table.at(&fresh.client()),
        id: table.id.clone(),
        created: table.created.clone(),
    };
    for _ in 0..2 {
        for instance in [&fresh, &instance] {
            let request = StreamViewRequest {
                match_id: table.id.clone(),
                resume_token: token.clone(),
                after_version: None,
            };
            let mut stream = instance.raw().await.stream_view(request).await.unwrap().into_inner();
            let first = stream.message().await.unwrap().expect("a message").message;
            let Some(Message::Snapshot(snapshot)) = first else { panic!("it went on: {first:?}") };
            assert_eq!(snapshot.reason(), SnapshotReason::HistoryForked);
        }
        for _ in 0..2 {
            play_otherwise(&elsewhere).await;
        }
    }
}

/// A script is not undone where it fails: its first write is the one that can be refused.
#[tokio::test]
async fn a_change_that_the_log_refuses_changes_nothing_else() {
    let redis = RedisServer::start().await;
    let store = redis.store().await;
    let id = match_at(&store, 2).await;
    let log = format!("parlor1:{{{id}}}:l");
    redis.run::<String>(&["XADD", &log, "3-0", "digest", "other", "input", "other"]).await;
    let refused = store.commit(id, change(2, request(2))).await;
    assert!(matches!(refused, Err(StoreError::Corrupt(_))), "{refused:?}");
    let loaded = store.load(id, None, Some((3, request(2).id))).await.unwrap().unwrap();
    assert_eq!((loaded.position, loaded.snapshot), (at(2), Some(snapshot(2))));
    assert_eq!(loaded.answered, None);
}
