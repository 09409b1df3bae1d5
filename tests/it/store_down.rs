//! What callers are told when the store fails, and that nothing is lost or half done by it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parlor::client::reason;
use parlor::proto::game_options::Game;
use parlor::proto::stream_view_response::Message;
use parlor::proto::{
    EndReason, GetViewRequest, NeonOptions, StreamViewRequest, SubmitActionRequest,
};
use parlor::store::{
    Commit, Committed, Entry, Loaded, Log, MatchId, MemoryStore, Position, RedisConfig,
    Request as StoreRequest, Result as StoreResult, Store, StoreError, StoreInfo, Version, Watch,
};
use tonic::{Code, Request, Status};
use tonic_types::StatusExt as _;
use uuid::Uuid;

use crate::eventually;
use crate::instance::{Instance, Table};
use crate::redis_server::RedisServer;

/// An instance over the server, which waits no longer for it than an instance does by default.
pub async fn instance(redis: &RedisServer) -> Instance {
    let config = RedisConfig { response_timeout: Duration::from_millis(400), ..redis.config() };
    let store = parlor::store::RedisStore::connect(config).await.expect("the server is there");
    Instance::start(Arc::new(store), &[])
}

/// The next action of a match, and the token of whose it is.
pub async fn next_action(table: &Table) -> (SubmitActionRequest, String) {
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

pub fn bearer<T>(message: &T, token: &str) -> Request<T>
where
    T: Clone,
{
    let mut request = Request::new(message.clone());
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

pub fn assert_told(status: &Status, code: Code, reason: &str, retry: bool) {
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

type Commands = &'static [&'static [&'static str]];

/// What a store is brought to refuse by, what callers are told then, whether they are to try again, and
/// what brings the store back.
const REFUSALS: [(Commands, Code, &str, bool, Commands); 7] = [
    // READONLY: it is no primary any more.
    (
        &[&["REPLICAOF", "127.0.0.1", "1"]],
        Code::Unavailable,
        "STORE_FAILOVER",
        true,
        &[&["REPLICAOF", "NO", "ONE"]],
    ),
    // MASTERDOWN: nor does it reach its own.
    (
        &[&["CONFIG", "SET", "replica-serve-stale-data", "no"], &["REPLICAOF", "127.0.0.1", "1"]],
        Code::Unavailable,
        "STORE_FAILOVER",
        true,
        &[&["REPLICAOF", "NO", "ONE"]],
    ),
    // NOREPLICAS: too few follow it for it to take writes.
    (
        &[&["CONFIG", "SET", "min-replicas-to-write", "1"]],
        Code::Unavailable,
        "STORE_FAILOVER",
        true,
        &[&["CONFIG", "SET", "min-replicas-to-write", "0"]],
    ),
    // MISCONF: it is to save its data, and could not.
    (
        &[&["CONFIG", "SET", "save", "3600 1"]],
        Code::Unavailable,
        "STORE_READ_ONLY",
        true,
        &[&["CONFIG", "SET", "save", ""]],
    ),
    // NOPERM: the user may not do what it must; and the same within a script.
    (
        &[&["ACL", "SETUSER", "parlor", "-evalsha"]],
        Code::Internal,
        "STORE_MISCONFIGURED",
        false,
        &[&["ACL", "SETUSER", "parlor", "+evalsha"]],
    ),
    (
        &[&["ACL", "SETUSER", "parlor", "-xadd"]],
        Code::Internal,
        "STORE_MISCONFIGURED",
        false,
        &[&["ACL", "SETUSER", "parlor", "+xadd"]],
    ),
    // WRONGPASS: the user has another password, which shows when connections are opened anew.
    (
        &[
            &["ACL", "SETUSER", "parlor", "resetpass", ">other"],
            &["CLIENT", "KILL", "USER", "parlor"],
        ],
        Code::Internal,
        "STORE_MISCONFIGURED",
        false,
        &[&["ACL", "SETUSER", "parlor", "resetpass", ">secret"]],
    ),
];

#[tokio::test]
async fn every_refusal_of_the_store_has_its_reason_and_changes_nothing() {
    let redis = RedisServer::start().await;
    redis.fail_to_save().await;
    let run = async |commands: Commands| {
        for command in commands {
            let _: redis::Value = redis.run(command).await;
        }
    };
    let instance = instance(&redis).await;
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let raw = instance.raw().await;
    for (version, (broken_by, code, because, retry, mended_by)) in (2..).zip(REFUSALS) {
        let (action, token) = next_action(&table).await;
        let submit = async || raw.clone().submit_action(bearer(&action, &token)).await;
        run(broken_by).await;
        let told = eventually(because, async || {
            let status = submit().await.expect_err(because);
            // Where connections are lost, it takes a moment until they are opened anew.
            let is_it = reason(&status).as_deref() == Some(because);
            assert!(is_it || status.code() == Code::Unavailable, "{because}: {status:?}");
            is_it.then_some(status)
        });
        assert_told(&told.await, code, because, retry);
        run(mended_by).await;
        let answer = eventually("it heals", async || submit().await.ok()).await.into_inner();
        assert_eq!((answer.version, answer.replayed), (version, false), "{because}");
    }
}

/// Runs what somebody else's mistake may make it run.
#[tokio::test]
async fn a_store_that_a_script_holds_up_is_told_as_away() {
    let redis = RedisServer::start().await;
    let instance = instance(&redis).await;
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;
    let raw = instance.raw().await;
    redis.run::<()>(&["CONFIG", "SET", "busy-reply-threshold", "1"]).await;
    let mut admin = redis.admin().await;
    let held_up = async {
        let mut endless = redis::cmd("EVAL");
        endless.arg("while true do end").arg(0);
        endless.exec_async(&mut admin).await.expect_err("it is ended");
    };
    let told = async {
        let told = eventually("the script holds it up", async || {
            raw.clone().submit_action(bearer(&action, &token)).await.err()
        });
        assert_told(&told.await, Code::Unavailable, "STORE_UNAVAILABLE", true);
        redis.run::<()>(&["SCRIPT", "KILL"]).await;
    };
    tokio::join!(held_up, told);
    let answer = eventually("it heals", async || {
        raw.clone().submit_action(bearer(&action, &token)).await.ok()
    });
    assert_eq!(answer.await.into_inner().version, 2);
}

/// What the first seat sees.
async fn look(instance: &Instance, table: &Table) -> Result<parlor::proto::View, Status> {
    let request = GetViewRequest { match_id: table.id.clone() };
    let token = &table.created.seat_tokens[0].token;
    let answer = instance.raw().await.get_view(bearer(&request, token)).await?;
    Ok(answer.into_inner().view.expect("a view"))
}

/// What becomes of commits.
#[derive(Debug)]
enum Fate {
    /// Somebody else is always faster.
    TooLate,
    /// They are made, but the first answer is lost.
    AnswerLost,
    /// They are made, but cannot be read again.
    Unread,
}

/// A store with a fate.
#[derive(Debug)]
struct Fated {
    store: MemoryStore,
    fate: Fate,
    /// What was asked to be committed.
    requests: Mutex<Vec<StoreRequest>>,
}

impl Fated {
    fn new(fate: Fate) -> Arc<Self> {
        Arc::new(Self { store: MemoryStore::default(), fate, requests: Mutex::default() })
    }
}

#[async_trait]
impl Store for Fated {
    async fn claim(&self, key: &str, claim: Bytes, keep: Duration) -> StoreResult<Bytes> {
        self.store.claim(key, claim, keep).await
    }

    async fn create(
        &self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> StoreResult<bool> {
        self.store.create(id, first, snapshot, keep).await
    }

    async fn load(
        &self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> StoreResult<Option<Loaded>> {
        self.store.load(id, known, request).await
    }

    async fn commit(&self, id: MatchId, commit: Commit) -> StoreResult<Committed> {
        let first = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(commit.request);
            requests.len() == 1
        };
        if matches!(self.fate, Fate::TooLate) {
            return Ok(Committed::Conflict);
        }
        let committed = self.store.commit(id, commit).await?;
        if first { Err(StoreError::OutcomeUnknown("lost".to_owned())) } else { Ok(committed) }
    }

    async fn log(&self, id: MatchId, after: Version, limit: usize) -> StoreResult<Option<Log>> {
        if matches!(self.fate, Fate::Unread) {
            return Err(StoreError::Unavailable("away".to_owned()));
        }
        self.store.log(id, after, limit).await
    }

    async fn watch(&self, id: MatchId) -> Watch {
        self.store.watch(id).await
    }

    fn info(&self) -> StoreInfo {
        self.store.info()
    }
}

#[tokio::test]
async fn who_is_always_too_slow_is_told_to_try_again_after_some_tries() {
    let store = Fated::new(Fate::TooLate);
    let instance = Instance::start(store.clone(), &[]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;
    let status = instance.raw().await.submit_action(bearer(&action, &token)).await;
    assert_told(&status.expect_err("too slow"), Code::Aborted, "CONTENTION", true);
    let tries = store.requests.lock().unwrap().len();
    assert!((2..=6).contains(&tries), "{tries} tries");
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_sent_again_as_the_same() {
    let store = Fated::new(Fate::AnswerLost);
    let instance = Instance::start(store.clone(), &[]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let (action, token) = next_action(&table).await;
    let answer = instance.raw().await.submit_action(bearer(&action, &token)).await;
    assert_eq!(answer.expect("it is done").into_inner().version, 2);
    let requests = store.requests.lock().unwrap().clone();
    assert!(requests.len() == 2 && requests[0] == requests[1], "{requests:?}");
    assert_eq!(look(&instance, &table).await.expect("a view").version, 2, "it was done once");
}

#[tokio::test]
async fn who_waits_for_what_cannot_be_read_has_signs_of_life_and_an_end() {
    let flags = ["--heartbeat=50ms", "--stream-age=500ms"];
    let instance = Instance::start(Fated::new(Fate::Unread), &flags);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let request = StreamViewRequest {
        match_id: table.id.clone(),
        after_version: Some(0),
        ..StreamViewRequest::default()
    };
    let mut stream = instance.raw().await.stream_view(request).await.unwrap().into_inner();
    let mut told = Vec::new();
    while let Some(reply) = stream.message().await.expect("no error") {
        assert_eq!((reply.version, reply.resume_token.len()), (0, 0));
        told.push(reply.message.expect("a message"));
    }
    let (last, before) = told.split_last().expect("an end");
    assert!(matches!(last, Message::End(end) if end.reason() == EndReason::StreamMaxAge));
    assert!(!before.is_empty() && before.iter().all(|one| matches!(one, Message::Heartbeat(_))));
}
