//! Matches that no instance of today would have stored: played by rules that it does not have, or left
//! in a state on which its rules fail, as where they have a mistake.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use parlor::client::{Client, Patience};
use parlor::games::{AnyGame, AnyOptions, neapolitan};
use parlor::matches::{Record, SCHEMA};
use parlor::proto::game_options::Game;
use parlor::proto::{
    CreateMatchRequest, GameOptions, GetMatchRequest, GetViewRequest, NeonOptions, NewSeat,
    RenewTokenRequest, SeatKind, StreamViewRequest, SubmitActionRequest, Visibility,
};
use parlor::store::{Entry, MatchId, MemoryStore, Store};
use serde_json::{Value, json};
use sha2::Sha256;
use tonic::{Code, Status};
use uuid::Uuid;

use crate::instance::{Instance, Table};
use crate::metrics::get;
use crate::process::Process;
use crate::redis_server::RedisServer;
use crate::store_contract::KEEP;
use crate::store_down::{assert_told, bearer, next_action};

/// A match of NeoN for two that was just created, in a store of its own.
struct Doctored {
    request: CreateMatchRequest,
    /// The next action, and the token of whose it is.
    action: (SubmitActionRequest, String),
    claim: Bytes,
    first: Entry,
    record: Record<AnyGame>,
}

impl Doctored {
    async fn new() -> Self {
        let store = Arc::new(MemoryStore::default());
        let instance = Instance::start(store.clone(), &[]);
        let request = CreateMatchRequest {
            request_id: Uuid::new_v4().to_string(),
            options: Some(GameOptions { game: Some(Game::Neon(NeonOptions::default())) }),
            seats: vec![NewSeat { kind: SeatKind::Taken.into(), ..NewSeat::default() }; 2],
            visibility: Visibility::Public.into(),
        };
        let table = Table::create_as(&instance.client(), request.clone()).await;
        let action = next_action(&table).await;
        let claim = store.claim(&claim_key(&request), Bytes::new(), KEEP).await.expect("a claim");
        let id = MatchId(table.id.parse().expect("an id"));
        let first = store.log(id, 0, 1).await.expect("a log").expect("a match").entries.remove(0);
        let snapshot =
            store.load(id, None, None).await.expect("a match").expect("a match").snapshot;
        let (schema, record) =
            postcard::from_bytes::<(u16, _)>(&snapshot.expect("a snapshot")).expect("a record");
        assert_eq!(schema, SCHEMA);
        Self { request, action, claim, first, record }
    }

    /// The same with another state of the game.
    fn game(mut self, change: impl Fn(&mut Value)) -> Self {
        let mut game = serde_json::to_value(&self.record.game).expect("JSON");
        change(&mut game["Neon"]);
        self.record.game = serde_json::from_value(game).expect("a game");
        self
    }

    /// The same with another setup, in the log alone.
    fn setup(mut self, change: impl Fn(&mut Value)) -> Self {
        let mut creation = (*self.record.creation).clone();
        let mut setup = serde_json::to_value(&creation.setup).expect("JSON");
        change(&mut setup);
        creation.setup = serde_json::from_value(setup).expect("a setup");
        let input = postcard::to_allocvec(&(SCHEMA, 0_u32, &creation)).expect("written");
        let mut digest = Hmac::<Sha256>::new_from_slice(&creation.history_key).expect("a key");
        digest.update(&[&[0; 16], &1_u64.to_be_bytes()[..], &input].concat());
        let digest = digest.finalize().into_bytes();
        self.first.position.digest.0.copy_from_slice(&digest[..16]);
        self.first.input = input.into();
        self
    }

    /// Puts it into a store.
    async fn keep(&self, store: &impl Store) {
        store.claim(&claim_key(&self.request), self.claim.clone(), KEEP).await.expect("a claim");
        let snapshot = postcard::to_allocvec(&(SCHEMA, &self.record)).expect("written").into();
        let created = store.create(self.id(), self.first.clone(), snapshot, KEEP).await;
        assert_eq!(created, Ok(true));
    }

    /// A store that has it, and an instance over that.
    async fn instance(&self) -> (Arc<MemoryStore>, Instance) {
        let store = Arc::new(MemoryStore::default());
        self.keep(&*store).await;
        (store.clone(), Instance::start(store, &[]))
    }

    fn id(&self) -> MatchId {
        MatchId(self.action.0.match_id.parse().expect("an id"))
    }
}

/// The key of what is claimed by a request that shows no API key.
fn claim_key(request: &CreateMatchRequest) -> String {
    format!("anyone:{}", request.request_id)
}

/// Fails unless the call was refused for this.
fn is_told<T: std::fmt::Debug>(answer: Result<T, Status>, (code, reason): (Code, &str)) {
    assert_told(&answer.expect_err(reason), code, reason, false);
}

#[tokio::test]
async fn a_match_by_rules_that_are_not_here_is_refused_and_not_written() {
    let mut doctored = Doctored::new().await;
    Arc::make_mut(&mut doctored.record.creation).rules_version += 1;
    doctored.first.input =
        postcard::to_allocvec(&(SCHEMA, 0_u32, &doctored.record.creation)).unwrap().into();
    let (store, instance) = doctored.instance().await;
    let stored = async || {
        let id = doctored.id();
        (store.load(id, None, None).await, store.log(id, 0, 9).await)
    };
    let before = stored().await;

    let retired = (Code::FailedPrecondition, "RULES_VERSION_RETIRED");
    let (action, token) = &doctored.action;
    let match_id = action.match_id.clone();
    let mut raw = instance.raw().await;
    is_told(raw.submit_action(bearer(action, token)).await, retired);
    let view = GetViewRequest { match_id: match_id.clone() };
    is_told(raw.get_view(bearer(&view, token)).await, retired);
    let public = GetMatchRequest { match_id: match_id.clone() };
    is_told(raw.get_match(public).await, retired);
    let request_id = Uuid::new_v4().to_string();
    let renew = RenewTokenRequest { match_id: match_id.clone(), request_id };
    is_told(raw.renew_token(bearer(&renew, token)).await, retired);
    let stream = StreamViewRequest { match_id, after_version: Some(0), ..Default::default() };
    is_told(raw.stream_view(bearer(&stream, token)).await, retired);
    is_told(raw.create_match(doctored.request.clone()).await, retired);
    assert_eq!(stored().await, before, "nothing is written");
}

#[tokio::test]
async fn a_client_finds_the_instance_that_has_the_rules_of_a_match() {
    let doctored = Doctored::new().await;
    let (_, knows) = doctored.instance().await;
    let mut other = doctored;
    Arc::make_mut(&mut other.record.creation).rules_version += 1;
    let (_, refuses) = other.instance().await;
    let (first_pause, longest_pause) = (Duration::from_millis(1), Duration::from_millis(5));
    let patience = Patience { first_pause, longest_pause, ..Patience::default() };
    let both = Client::new(&[&knows.url, &refuses.url]).unwrap().with_patience(patience);
    let at = both.at(&other.action.0.match_id, None).unwrap();
    for _ in 0..20 {
        assert_eq!(at.view().await.expect("a view").version, 1);
    }
}

#[tokio::test]
async fn an_action_on_which_the_rules_fail_is_told_so_and_changes_nothing() {
    // There is no place for another play.
    let play = json!({ "seat": 0, "cards": 1 });
    let doctored = Doctored::new().await.game(|neon| neon["plays"] = json!(vec![&play; 6]));
    let (store, instance) = doctored.instance().await;
    let (action, token) = &doctored.action;
    let mut raw = instance.raw().await;
    for _ in 0..2 {
        let failed = raw.submit_action(bearer(action, token)).await;
        is_told(failed, (Code::Internal, "RULES_PANIC"));
    }
    let log = store.log(doctored.id(), 0, 9).await.unwrap().unwrap();
    assert_eq!(log.entries, [doctored.first], "nothing is written");
    let view = GetViewRequest { match_id: action.match_id.clone() };
    let view = raw.get_view(bearer(&view, token)).await.expect("a view").into_inner().view;
    assert_eq!(view.expect("a view").version, 1);
    let others = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    assert_eq!(others.play(4).await, 4);
}

/// A state that cannot be shown: someone chooses for a play that is not there.
fn unseeable(neon: &mut Value) {
    neon["to_choose"] = json!([5]);
}

#[tokio::test]
async fn a_view_that_fails_is_told_so_and_others_on_its_connection_go_on() {
    let doctored = Doctored::new().await.game(unseeable);
    let (_, instance) = doctored.instance().await;
    let mut raw = instance.raw().await;
    let others = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let stream = StreamViewRequest { match_id: others.id.clone(), ..Default::default() };
    let mut others_stream = raw.stream_view(stream).await.expect("a stream").into_inner();
    others_stream.message().await.expect("no error").expect("a snapshot");

    let failed = (Code::Internal, "PANIC");
    let match_id = doctored.action.0.match_id.clone();
    is_told(raw.get_view(GetViewRequest { match_id: match_id.clone() }).await, failed);
    let stream = StreamViewRequest { match_id, ..Default::default() };
    let mut stream = raw.stream_view(stream).await.expect("a stream").into_inner();
    is_told(stream.message().await, failed);

    assert_eq!(others.play(1).await, 1);
    let update = others_stream.message().await.expect("no error").expect("an update");
    assert_eq!(update.version, 2);
}

/// A setup that the rules fail on: the game is not for two.
fn unplayable(setup: &mut Value) {
    setup["options"] = json!(AnyOptions::from(neapolitan::Options::default()));
}

#[tokio::test]
async fn a_viewer_of_a_past_that_the_rules_fail_on_is_told_so() {
    let doctored = Doctored::new().await.setup(unplayable);
    let (_, instance) = doctored.instance().await;
    let (action, token) = &doctored.action;
    let mut raw = instance.raw().await;
    let failed = (Code::Internal, "RULES_PANIC");
    let mut stream = StreamViewRequest { match_id: action.match_id.clone(), ..Default::default() };
    for past in [Some(0), None] {
        stream.after_version = past;
        let mut told =
            raw.stream_view(bearer(&stream, token)).await.expect("it is there").into_inner();
        let first = tokio::time::timeout(Duration::from_secs(10), told.message()).await;
        let first = first.expect("it is told in time");
        match past {
            Some(_) => is_told(first, failed),
            None => assert_eq!(first.expect("a snapshot").expect("a message").version, 1),
        }
    }
}

#[tokio::test]
async fn what_fails_is_counted() {
    let redis = RedisServer::start().await;
    let unseeable = Doctored::new().await.game(unseeable);
    let unplayable = Doctored::new().await.setup(unplayable);
    let store = format!("--store={}", redis.url());
    let process = Process::start(&[&store, "--admin-listen=127.0.0.1:0"]);
    let failures = [(unseeable, None, "PANIC"), (unplayable, Some(0), "RULES_PANIC")];
    for (doctored, after_version, reason) in failures {
        doctored.keep(&redis.store().await).await;
        let match_id = doctored.action.0.match_id.clone();
        let stream = StreamViewRequest { match_id, after_version, ..Default::default() };
        let stream = process.raw().await.stream_view(stream).await;
        is_told(stream.expect("a stream").into_inner().message().await, (Code::Internal, reason));
    }

    let (_, metrics) = get(&process.admin().expect("a port for operators"), "/metrics").await;
    for counted in [
        r#"parlor_panics_total{where="handler"} 1"#,
        r#"parlor_panics_total{where="rules"} 1"#,
        r#"parlor_streams_ended_total{reason="failed"} 2"#,
    ] {
        assert!(metrics.lines().any(|line| line == counted), "no {counted} in {metrics}");
    }
    process.stop().await;
}
