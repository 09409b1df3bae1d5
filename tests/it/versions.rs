//! Two versions of the service on one match, as in a roll-out: the older one refuses what it cannot
//! read before it writes anything, and callers go on at the newer one.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parlor::client::{Client, Followed, Patience, reason};
use parlor::proto::game_options::Game;
use parlor::proto::stream_view_response::Message;
use parlor::proto::{
    CreateMatchRequest, EndReason, GameOptions, NeonOptions, NewSeat, SeatKind, StreamViewRequest,
    Visibility,
};
use parlor::store::{
    Commit, Committed, Entry, Loaded, Log, MatchId, MemoryStore, Position, Result, Store,
    StoreInfo, Version, Watch,
};
use tonic::{Code, Status};
use uuid::Uuid;

use crate::instance::{Instance, Table};

/// What an instance of the next version makes of a store: it writes forms of the next number, and reads
/// those and the older ones.
#[derive(Debug)]
struct NextVersion(Arc<MemoryStore>);

/// The form of today in the next version's, which differs in its number.
fn newer(form: &Bytes) -> Bytes {
    [&[form[0] + 1], &form[1..]].concat().into()
}

/// The form of today of whatever the next version reads.
fn today(form: &Bytes, now: u8) -> Bytes {
    if form[0] > now { [&[now], &form[1..]].concat().into() } else { form.clone() }
}

/// The number of the form of today.
const NOW: u8 = 1;

#[async_trait]
impl Store for NextVersion {
    async fn claim(&self, key: &str, claim: Bytes, keep: Duration) -> Result<Bytes> {
        Ok(today(&self.0.claim(key, newer(&claim), keep).await?, NOW))
    }

    async fn create(
        &self,
        id: MatchId,
        first: Entry,
        snapshot: Bytes,
        keep: Duration,
    ) -> Result<bool> {
        let first = Entry { input: newer(&first.input), ..first };
        self.0.create(id, first, newer(&snapshot), keep).await
    }

    async fn load(
        &self,
        id: MatchId,
        known: Option<Position>,
        request: Option<(u8, Uuid)>,
    ) -> Result<Option<Loaded>> {
        let loaded = self.0.load(id, known, request).await?;
        Ok(loaded.map(|loaded| Loaded {
            snapshot: loaded.snapshot.as_ref().map(|snapshot| today(snapshot, NOW)),
            ..loaded
        }))
    }

    async fn commit(&self, id: MatchId, commit: Commit) -> Result<Committed> {
        let (input, snapshot) = (newer(&commit.input), newer(&commit.snapshot));
        self.0.commit(id, Commit { input, snapshot, ..commit }).await
    }

    async fn log(&self, id: MatchId, after: Version, limit: usize) -> Result<Option<Log>> {
        let mut log = self.0.log(id, after, limit).await?;
        for entry in log.iter_mut().flat_map(|log| &mut log.entries) {
            entry.input = today(&entry.input, NOW);
        }
        Ok(log)
    }

    async fn watch(&self, id: MatchId) -> Watch {
        self.0.watch(id).await
    }

    fn info(&self) -> StoreInfo {
        self.0.info()
    }
}

/// An instance of today and one of the next version, over one store.
fn instances() -> (Instance, Instance, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::default());
    let old = Instance::start(store.clone(), &[]);
    let new = Instance::start(Arc::new(NextVersion(store.clone())), &[]);
    (old, new, store)
}

fn neon() -> Game {
    Game::Neon(NeonOptions::default())
}

/// Fails unless the match was refused for being stored by a newer version.
fn is_too_new(status: &Status) {
    assert_eq!(status.code(), Code::FailedPrecondition, "{status:?}");
    assert_eq!(reason(status).as_deref(), Some("SCHEMA_TOO_NEW"));
}

/// Fails unless the call is refused for that; without trying again.
async fn refused<T: std::fmt::Debug>(call: impl Future<Output = std::result::Result<T, Status>>) {
    is_too_new(&call.await.expect_err("it is too new"));
}

#[tokio::test]
async fn what_is_too_new_is_refused_before_anything_is_written() {
    let (old, new, store) = instances();
    let impatient = |client: Client| {
        client.with_patience(Patience { total: Duration::ZERO, ..Patience::default() })
    };
    let (old, new) = (impatient(old.client()), new.client());
    // Full, created here and continued there; and one with an open seat, created there.
    let table = Table::create(&old, neon(), 2).await;
    table.play(2).await;
    let seats = table.at(&new);
    let continued = Table { seats, id: table.id.clone(), created: table.created.clone() };
    let seat = continued.seats[0].view().await.unwrap().decisions[0].seat as usize;
    let action = continued.seats[seat].view().await.unwrap().legal_actions[0].clone();
    continued.play(1).await;
    let request = CreateMatchRequest {
        request_id: Uuid::new_v4().to_string(),
        options: Some(GameOptions { game: Some(neon()) }),
        seats: [SeatKind::Taken, SeatKind::Open]
            .map(|kind| NewSeat { kind: kind.into(), ..NewSeat::default() })
            .to_vec(),
        visibility: Visibility::Public.into(),
    };
    let open = new.create_match(request.clone()).await.unwrap();

    let id = MatchId(table.id.parse().unwrap());
    let opened = MatchId(open.r#match.as_ref().unwrap().match_id.parse().unwrap());
    let stored = async || {
        let mut stored = Vec::new();
        for id in [id, opened] {
            let snapshot = store.load(id, None, None).await.unwrap().unwrap();
            stored.push((snapshot, store.log(id, 0, usize::MAX).await.unwrap().unwrap()));
        }
        stored
    };
    let before = stored().await;

    refused(table.seats[seat].act(action, None)).await;
    refused(table.seats[seat].view()).await;
    refused(table.seats[seat].get_match()).await;
    refused(table.seats[seat].renew_token()).await;
    refused(old.join_match(parlor::proto::JoinMatchRequest {
        join_code: open.join_code.clone(),
        ..Default::default()
    }))
    .await;
    refused(old.create_match(request.clone())).await;
    for mut follow in [table.seats[seat].follow(), table.seats[seat].follow_from_the_start()] {
        refused(follow.next()).await;
    }
    assert_eq!(stored().await, before, "nothing is written");

    // There it goes on.
    assert_eq!(continued.play(3).await, 3);
}

#[tokio::test]
async fn a_stream_of_what_becomes_too_new_is_taken_up_at_the_newer_version() {
    let (old, new, _) = instances();
    let table = Table::create(&old.client(), neon(), 2).await;
    let request = StreamViewRequest { match_id: table.id.clone(), ..StreamViewRequest::default() };
    let mut stream = old.raw().await.stream_view(request).await.unwrap().into_inner();
    table.play(1).await;
    for version in 1..=2 {
        assert_eq!(stream.message().await.unwrap().expect("a message").version, version);
    }

    let seats = table.at(&new.client());
    let continued = Table { seats, id: table.id.clone(), created: table.created.clone() };
    continued.play(2).await;
    let last = stream.message().await.unwrap().expect("an end");
    let Some(Message::End(end)) = last.message else { panic!("no end: {last:?}") };
    assert_eq!((end.reason(), last.version), (EndReason::Draining, 2));

    let resumed = StreamViewRequest {
        match_id: table.id.clone(),
        resume_token: last.resume_token,
        after_version: None,
    };
    let status = old.raw().await.stream_view(resumed.clone()).await.expect_err("too new");
    is_too_new(&status);
    let mut stream = new.raw().await.stream_view(resumed).await.unwrap().into_inner();
    for version in 3..=4 {
        assert_eq!(stream.message().await.unwrap().expect("an update").version, version);
    }
}

#[tokio::test]
async fn a_client_that_reaches_both_versions_plays_on() {
    let (old, new, _) = instances();
    let (first_pause, longest_pause) = (Duration::from_millis(1), Duration::from_millis(5));
    let patience = Patience { first_pause, longest_pause, ..Patience::default() };
    let both = Client::new(&[&old.url, &new.url]).unwrap().with_patience(patience);
    let table = Table::create(&both, neon(), 2).await;
    let mut follow = table.seats[0].follow();
    let mut last = match follow.next().await.unwrap() {
        Some(Followed::Snapshot { view, .. }) => view.version,
        other => panic!("no snapshot: {other:?}"),
    };
    table.play(12).await;
    while last < 13 {
        let told = follow.next().await.unwrap();
        let Some(Followed::Update { version, .. }) = told else { panic!("no update: {told:?}") };
        assert_eq!(version, last + 1);
        last = version;
    }
}
