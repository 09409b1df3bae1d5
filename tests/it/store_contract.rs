//! What every store promises: the same tests for each of them.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use parlor::store::{
    Answered, Commit, Committed, Digest, Entry, Hint, Loaded, MatchId, MemoryStore, Position,
    Request, Store, StoreError, Version, Watch,
};
use uuid::Uuid;

use crate::eventually;

/// Longer than any test.
pub const KEEP: Duration = Duration::from_secs(60);

/// A digest that is told apart by this number, and has bytes of all kinds.
pub fn digest(number: u64) -> Digest {
    let mut bytes = [0xff; 16];
    bytes[1..9].copy_from_slice(&number.to_be_bytes());
    bytes[9] = b'\n';
    Digest(bytes)
}

/// Where the history is that these tests write.
pub fn at(version: Version) -> Position {
    Position { version, digest: digest(version) }
}

pub fn input(version: Version) -> Bytes {
    Bytes::from(format!("input\0{version}\r\n"))
}

pub fn snapshot(version: Version) -> Bytes {
    Bytes::from(format!("snapshot\0{version}"))
}

/// The request that this test names with this number.
pub fn request(number: u128) -> Request {
    Request { scope: 3, id: Uuid::from_u128(number), digest: digest(1_000) }
}

pub fn entry(version: Version) -> Entry {
    Entry { position: at(version), input: input(version) }
}

/// The change after this version.
pub fn change(base: Version, request: Request) -> Commit {
    Commit {
        base: at(base),
        digest: digest(base + 1),
        request,
        input: input(base + 1),
        snapshot: snapshot(base + 1),
        keep: KEEP,
    }
}

/// A new match at version 1.
pub async fn new_match(store: &impl Store) -> MatchId {
    let id = MatchId(Uuid::new_v4());
    assert_eq!(store.create(id, entry(1), snapshot(1), KEEP).await, Ok(true));
    id
}

/// A new match at this version, with a request for each change.
pub async fn match_at(store: &impl Store, version: Version) -> MatchId {
    let id = new_match(store).await;
    for base in 1..version {
        let change = change(base, request(u128::from(base)));
        assert_eq!(store.commit(id, change).await, Ok(Committed::Done));
    }
    id
}

/// Waits until the watch has heard this.
pub async fn hears(watch: &mut Watch, hint: Hint) {
    let hearing = async { while watch.changed().await != hint {} };
    let heard = tokio::time::timeout(Duration::from_secs(10), hearing).await;
    assert!(heard.is_ok(), "{hint:?} is never heard");
}

pub async fn position(store: &impl Store, id: MatchId) -> Option<Position> {
    let loaded = store.load(id, None, None).await.expect("the store works");
    loaded.map(|loaded| loaded.position)
}

async fn a_match_is_created_once(store: &impl Store) {
    let id = new_match(store).await;
    let other = Entry { position: at(1), input: Bytes::from_static(b"other") };
    assert_eq!(store.create(id, other, snapshot(9), KEEP).await, Ok(false));
    let loaded = store.load(id, None, None).await.unwrap().unwrap();
    assert_eq!(loaded.snapshot, Some(snapshot(1)));
    let log = store.log(id, 0, 10).await.unwrap().unwrap();
    assert_eq!(log.entries, [entry(1)]);
}

async fn a_claim_is_kept_by_who_comes_first(store: &impl Store) {
    let key = format!("key:{}", Uuid::new_v4());
    let (first, second) = (Bytes::from_static(b"first\0"), Bytes::from_static(b"second"));
    assert_eq!(store.claim(&key, first.clone(), KEEP).await, Ok(first.clone()));
    assert_eq!(store.claim(&key, second.clone(), KEEP).await, Ok(first));
    assert_eq!(store.claim(&format!("{key}!"), second.clone(), KEEP).await, Ok(second));
}

async fn a_claim_ends(store: &impl Store) {
    let key = format!("key:{}", Uuid::new_v4());
    let (first, second) = (Bytes::from_static(b"first"), Bytes::from_static(b"second"));
    store.claim(&key, first, Duration::from_millis(40)).await.unwrap();
    eventually("the claim ends", async || {
        (store.claim(&key, second.clone(), KEEP).await == Ok(second.clone())).then_some(())
    })
    .await;
}

async fn what_is_not_there_is_not_found(store: &impl Store) {
    let id = MatchId(Uuid::new_v4());
    assert_eq!(store.load(id, None, None).await, Ok(None));
    assert_eq!(store.load(id, Some(at(1)), Some((3, id.0))).await, Ok(None));
    assert_eq!(store.log(id, 0, 10).await, Ok(None));
    assert_eq!(store.commit(id, change(1, request(1))).await, Ok(Committed::Gone));
    assert_eq!(position(store, id).await, None);
}

async fn a_snapshot_is_left_out_for_who_knows_it(store: &impl Store) {
    let id = match_at(store, 2).await;
    let load = async |known| store.load(id, known, None).await.unwrap().unwrap();
    let known = Loaded { position: at(2), snapshot: None, answered: None };
    let unknown = Loaded { snapshot: Some(snapshot(2)), ..known.clone() };
    assert_eq!(load(Some(at(2))).await, known);
    assert_eq!(load(None).await, unknown);
    assert_eq!(load(Some(at(1))).await, unknown);
    let other_history = Position { version: 2, digest: digest(77) };
    assert_eq!(load(Some(other_history)).await, unknown);
}

async fn a_request_is_remembered_under_its_scope(store: &impl Store) {
    let id = match_at(store, 3).await;
    let load = async |scope, number| {
        let request = Some((scope, Uuid::from_u128(number)));
        store.load(id, None, request).await.unwrap().unwrap().answered
    };
    assert_eq!(load(3, 1).await, Some(Answered { version: 2, digest: digest(1_000) }));
    assert_eq!(load(3, 2).await, Some(Answered { version: 3, digest: digest(1_000) }));
    assert_eq!(load(3, 3).await, None);
    assert_eq!(load(4, 1).await, None);
}

async fn a_change_is_kept_whole(store: &impl Store) {
    let id = new_match(store).await;
    assert_eq!(store.commit(id, change(1, request(5))).await, Ok(Committed::Done));
    let loaded = store.load(id, None, Some((3, Uuid::from_u128(5)))).await.unwrap().unwrap();
    let answered = Some(Answered { version: 2, digest: digest(1_000) });
    assert_eq!(loaded, Loaded { position: at(2), snapshot: Some(snapshot(2)), answered });
    let log = store.log(id, 0, 10).await.unwrap().unwrap();
    assert_eq!((log.head, log.entries), (at(2), vec![entry(1), entry(2)]));
}

async fn a_change_of_an_older_version_is_a_conflict(store: &impl Store) {
    let id = match_at(store, 3).await;
    assert_eq!(store.commit(id, change(2, request(99))).await, Ok(Committed::Conflict));
    assert_eq!(position(store, id).await, Some(at(3)));
}

async fn a_version_with_more_digits_is_the_later_one(store: &impl Store) {
    let id = match_at(store, 10).await;
    assert_eq!(store.commit(id, change(9, request(99))).await, Ok(Committed::Conflict));
    assert_eq!(store.commit(id, change(11, request(99))).await, Ok(Committed::Forked));
}

async fn a_change_of_another_history_is_a_fork(store: &impl Store) {
    let id = match_at(store, 3).await;
    let same_version =
        Commit { base: Position { version: 3, digest: digest(77) }, ..change(3, request(99)) };
    assert_eq!(store.commit(id, same_version).await, Ok(Committed::Forked));
    assert_eq!(store.commit(id, change(4, request(99))).await, Ok(Committed::Forked));
    assert_eq!(position(store, id).await, Some(at(3)));
    let log = store.log(id, 0, 10).await.unwrap().unwrap();
    assert_eq!(log.entries.len(), 3);
}

async fn a_repeated_request_is_found_before_the_base_is_compared(store: &impl Store) {
    let id = match_at(store, 4).await;
    let repeated = Committed::Repeated(Answered { version: 2, digest: digest(1_000) });
    for base in [1, 3, 4, 9] {
        assert_eq!(store.commit(id, change(base, request(1))).await, Ok(repeated));
    }
    let forked = Commit {
        base: Position { version: 4, digest: digest(77) },
        request: Request { digest: digest(2_000), ..request(1) },
        ..change(4, request(1))
    };
    assert_eq!(store.commit(id, forked).await, Ok(repeated));
    assert_eq!(position(store, id).await, Some(at(4)));
}

async fn a_request_of_another_scope_is_another_request(store: &impl Store) {
    let id = match_at(store, 2).await;
    let other = Request { scope: Request::JOIN, ..request(1) };
    assert_eq!(store.commit(id, change(2, other)).await, Ok(Committed::Done));
}

async fn a_log_is_read_in_pages(store: &impl Store) {
    let id = match_at(store, 12).await;
    let log = async |after, limit| {
        let log = store.log(id, after, limit).await.unwrap().unwrap();
        assert_eq!(log.head, at(12));
        log.entries
    };
    let entries = |from, to| (from..=to).map(entry).collect::<Vec<_>>();
    assert_eq!(log(0, 5).await, entries(1, 5));
    assert_eq!(log(5, 5).await, entries(6, 10));
    assert_eq!(log(10, 5).await, entries(11, 12));
    assert_eq!(log(0, usize::MAX).await, entries(1, 12));
    assert_eq!(log(11, 1).await, entries(12, 12));
    assert_eq!(log(3, 0).await, []);
    assert_eq!(log(12, 5).await, []);
    assert_eq!(log(99, 5).await, []);
    assert_eq!(log(Version::MAX, 5).await, []);
}

async fn of_many_changes_of_one_base_one_is_done(store: &impl Store) {
    let id = new_match(store).await;
    for base in 1..=20 {
        let racing = (0..8).map(|racer| {
            let request = request(u128::from(base) * 100 + racer);
            store.commit(id, change(base, request))
        });
        let outcomes = futures_util::future::try_join_all(racing).await.unwrap();
        let done = outcomes.iter().filter(|outcome| **outcome == Committed::Done).count();
        let conflicts = outcomes.iter().filter(|outcome| **outcome == Committed::Conflict).count();
        assert_eq!((done, conflicts), (1, 7), "base {base}");
    }
    assert_eq!(position(store, id).await, Some(at(21)));
}

async fn of_one_change_sent_many_times_one_is_done(store: &impl Store) {
    let id = new_match(store).await;
    let sent = (0..16).map(|_| store.commit(id, change(1, request(1))));
    let outcomes = futures_util::future::try_join_all(sent).await.unwrap();
    let repeated = Committed::Repeated(Answered { version: 2, digest: digest(1_000) });
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Committed::Done).count(), 1);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == repeated).count(), 15);
}

async fn a_watch_hears_of_changes(store: &impl Store) {
    let id = new_match(store).await;
    let (mut first, mut second) = (store.watch(id).await, store.watch(id).await);
    store.commit(id, change(1, request(1))).await.unwrap();
    hears(&mut first, Hint::At(at(2))).await;
    hears(&mut second, Hint::At(at(2))).await;
    drop(first);
    store.commit(id, change(2, request(2))).await.unwrap();
    hears(&mut second, Hint::At(at(3))).await;
}

async fn a_watch_after_the_last_one_hears_of_changes(store: &impl Store) {
    let id = new_match(store).await;
    drop(store.watch(id).await);
    let mut watch = store.watch(id).await;
    store.commit(id, change(1, request(1))).await.unwrap();
    hears(&mut watch, Hint::At(at(2))).await;
}

async fn a_watch_of_what_is_not_there_hears_that(store: &impl Store) {
    let mut watch = store.watch(MatchId(Uuid::new_v4())).await;
    hears(&mut watch, Hint::Gone).await;
}

async fn a_match_ends_unless_it_changes(store: &impl Store) {
    let short = Duration::from_millis(60);
    let (kept, left) = (MatchId(Uuid::new_v4()), MatchId(Uuid::new_v4()));
    for id in [kept, left] {
        assert_eq!(store.create(id, entry(1), snapshot(1), short).await, Ok(true));
    }
    assert_eq!(store.commit(kept, change(1, request(1))).await, Ok(Committed::Done));
    eventually("the match ends", async || position(store, left).await.is_none().then_some(()))
        .await;
    assert_eq!(store.log(left, 0, 10).await, Ok(None));
    assert_eq!(store.commit(left, change(1, request(1))).await, Ok(Committed::Gone));
    assert_eq!(position(store, kept).await, Some(at(2)));
    let log = store.log(kept, 0, 10).await.unwrap().unwrap();
    assert_eq!(log.entries.len(), 2);
}

async fn a_match_that_is_over_is_kept_no_longer_than_that(store: &impl Store) {
    let id = match_at(store, 2).await;
    let last = Commit { keep: Duration::from_millis(40), ..change(2, request(2)) };
    assert_eq!(store.commit(id, last).await, Ok(Committed::Done));
    eventually("the match ends", async || position(store, id).await.is_none().then_some(())).await;
    assert_eq!(store.log(id, 0, 10).await, Ok(None));
}

async fn what_is_kept_very_long_is_kept(store: &impl Store) {
    let id = MatchId(Uuid::new_v4());
    let ever = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    assert_eq!(store.create(id, entry(1), snapshot(1), ever).await, Ok(true));
    let change = Commit { keep: ever, ..change(1, request(1)) };
    assert_eq!(store.commit(id, change).await, Ok(Committed::Done));
    assert_eq!(position(store, id).await, Some(at(2)));
}

async fn matches_do_not_meet(store: &impl Store) {
    let ids: HashSet<_> = futures_util::future::join_all((0..20).map(|_| match_at(store, 3)))
        .await
        .into_iter()
        .collect();
    assert_eq!(ids.len(), 20);
    for id in ids {
        assert_eq!(position(store, id).await, Some(at(3)));
    }
}

/// Runs each test on each store.
macro_rules! contract {
    ($($test:ident)+) => {
        mod memory {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test(&super::MemoryStore::default()).await;
                }
            )+
        }

        /// Runs them all, one after the other, on one store.
        pub async fn holds_for(store: &impl Store) {
            $($test(store).await;)+
        }

        mod redis {
            use crate::redis_server::RedisServer;

            $(
                #[tokio::test]
                async fn $test() {
                    let server = RedisServer::start().await;
                    let store = server.store().await;
                    super::$test(&store).await;
                    store.close().await;
                }
            )+
        }
    };
}

contract! {
    a_match_is_created_once
    a_claim_is_kept_by_who_comes_first
    a_claim_ends
    what_is_not_there_is_not_found
    a_snapshot_is_left_out_for_who_knows_it
    a_request_is_remembered_under_its_scope
    a_change_is_kept_whole
    a_change_of_an_older_version_is_a_conflict
    a_version_with_more_digits_is_the_later_one
    a_change_of_another_history_is_a_fork
    a_repeated_request_is_found_before_the_base_is_compared
    a_request_of_another_scope_is_another_request
    a_log_is_read_in_pages
    of_many_changes_of_one_base_one_is_done
    of_one_change_sent_many_times_one_is_done
    a_watch_hears_of_changes
    a_watch_after_the_last_one_hears_of_changes
    a_watch_of_what_is_not_there_hears_that
    a_match_ends_unless_it_changes
    a_match_that_is_over_is_kept_no_longer_than_that
    what_is_kept_very_long_is_kept
    matches_do_not_meet
}

#[tokio::test]
async fn the_embedded_store_refuses_more_than_it_holds() {
    let store = MemoryStore::with_capacity(2);
    let (first, _second) = (new_match(&store).await, new_match(&store).await);
    let third = MatchId(Uuid::new_v4());
    let refused = store.create(third, entry(1), snapshot(1), KEEP).await;
    assert!(matches!(refused, Err(StoreError::Full(_))), "{refused:?}");
    assert_eq!(position(&store, third).await, None);
    // What it holds goes on.
    assert_eq!(store.commit(first, change(1, request(1))).await, Ok(Committed::Done));
}

#[tokio::test(start_paused = true)]
async fn the_embedded_store_makes_room_when_matches_end() {
    let store = MemoryStore::with_capacity(1);
    let id = new_match(&store).await;
    let mut watch = store.watch(id).await;
    tokio::time::advance(KEEP).await;
    new_match(&store).await;
    hears(&mut watch, Hint::Gone).await;
}
