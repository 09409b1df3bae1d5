//! What the Redis store does when its server fails, forgets, refuses or is silent.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use parlor::store::{
    Answered, Commit, Committed, Hint, MatchId, Position, RedisConfig, RedisStore, Store,
    StoreError,
};
use redis::Value;
use tokio::time::Instant;
use uuid::Uuid;

use crate::eventually;
use crate::redis_server::RedisServer;
use crate::store_contract::{
    KEEP, at, change, digest, entry, hears, input, match_at, new_match, position, request, snapshot,
};

/// So long that nothing is seen because of it in a test.
pub const NEVER: Duration = Duration::from_secs(3_600);

/// A store that waits as long as one does outside of tests.
async fn impatient(server: &RedisServer) -> RedisStore {
    RedisStore::connect(hasty(server.config())).await.unwrap()
}

/// The same, with waits as short as outside of tests.
pub fn hasty(config: RedisConfig) -> RedisConfig {
    let RedisConfig { connect_timeout, response_timeout, .. } = RedisConfig::new("");
    RedisConfig { connect_timeout, response_timeout, ..config }
}

/// The change is made with this, whether it was before or not, as soon as the server lets it.
async fn sooner_or_later(store: &RedisStore, id: MatchId, change: &Commit) -> Committed {
    eventually("the change is made", async || store.commit(id, change.clone()).await.ok()).await
}

/// The match is at this version, whole: neither less nor more is kept of it.
pub async fn assert_whole(store: &RedisStore, id: MatchId, version: u64) {
    let loaded = store.load(id, None, None).await.unwrap().unwrap();
    assert_eq!((loaded.position, loaded.snapshot), (at(version), Some(snapshot(version))));
    let log = store.log(id, 0, 1_000).await.unwrap().unwrap();
    assert_eq!(log.head, at(version));
    assert_eq!(log.entries, (1..=version).map(entry).collect::<Vec<_>>());
}

/// Writes the log anew, so that all that is kept is on the disk, whatever comes.
pub async fn rewrite(server: &RedisServer) {
    server.run::<String>(&["BGREWRITEAOF"]).await;
    eventually("the log is rewritten", async || {
        let info: String = server.run(&["INFO", "persistence"]).await;
        let is = |line| info.lines().any(|found| found == line);
        (is("aof_rewrite_in_progress:0") && is("aof_rewrite_scheduled:0")).then_some(())
    })
    .await;
}

/// Makes a dump fail, which the server refuses writes for as soon as it is set to save dumps.
pub async fn cannot_save(server: &RedisServer) {
    // A dump cannot take the place of a folder.
    std::fs::create_dir(server.folder().join("dump.rdb")).unwrap();
    server.run::<String>(&["BGSAVE"]).await;
    eventually("the failed dump is noticed", async || {
        let info: String = server.run(&["INFO", "persistence"]).await;
        info.contains("rdb_last_bgsave_status:err").then_some(())
    })
    .await;
}

/// So many connections the service's user has.
async fn connections(server: &RedisServer) -> usize {
    let list: String = server.run(&["CLIENT", "LIST"]).await;
    list.lines().filter(|line| line.contains("user=parlor")).count()
}

/// So many clients have subscribed the match's channel.
async fn subscribers(server: &RedisServer, id: MatchId) -> usize {
    let channel = format!("parlor1:{{{id}}}:w");
    let (_, count): (String, usize) = server.run(&["PUBSUB", "NUMSUB", &channel]).await;
    count
}

async fn subscribed(server: &RedisServer, id: MatchId, count: usize) {
    eventually("the subscription", async || (subscribers(server, id).await == count).then_some(()))
        .await;
}

#[tokio::test]
async fn a_server_that_forgot_the_scripts_is_told_them_again() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = new_match(&store).await;
    for base in 1..=5 {
        server.run::<()>(&["SCRIPT", "FLUSH"]).await;
        let outcome = store.commit(id, change(base, request(u128::from(base)))).await;
        assert_eq!(outcome, Ok(Committed::Done));
        server.run::<()>(&["SCRIPT", "FLUSH"]).await;
        assert_whole(&store, id, base + 1).await;
    }
}

#[tokio::test]
async fn a_server_that_restarts_is_found_again_with_its_matches() {
    let mut server = RedisServer::start().await;
    let store = impatient(&server).await;
    let id = match_at(&store, 2).await;
    let mut watch = store.watch(id).await;
    hears(&mut watch, Hint::At(at(2))).await;

    server.kill();
    eventually("the loss is noticed", async || {
        matches!(store.load(id, None, None).await, Err(StoreError::Unavailable(_))).then_some(())
    })
    .await;
    let refused = store.commit(id, change(2, request(2))).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");

    server.start_again().await;
    let outcome = sooner_or_later(&store, id, &change(2, request(2))).await;
    assert_eq!(outcome, Committed::Done);
    assert_whole(&store, id, 3).await;
    hears(&mut watch, Hint::At(at(3))).await;
}

#[tokio::test]
async fn a_server_that_still_loads_its_data_is_waited_for() {
    // It takes its time over every key, but only where there are any.
    let slow = ["--key-load-delay", "10000", "--loading-process-events-interval-bytes", "1024"];
    let mut server =
        RedisServer::start_with(&|_, _| slow.iter().copied().map(str::to_owned).collect()).await;
    let store = impatient(&server).await;
    let id = match_at(&store, 3).await;
    for number in 0..100 {
        store.claim(&format!("key:{number}"), Bytes::from(vec![0; 100]), KEEP).await.unwrap();
    }
    rewrite(&server).await;

    server.kill();
    server.start_again().await;
    eventually("it is told that it loads", async || {
        let refused = store.load(id, None, None).await.expect_err("it loads");
        refused.to_string().contains("LOADING").then_some(())
    })
    .await;
    let outcome = sooner_or_later(&store, id, &change(3, request(3))).await;
    assert_eq!(outcome, Committed::Done);
    assert_whole(&store, id, 4).await;
}

#[tokio::test]
async fn while_the_server_is_down_the_answer_comes_at_once() {
    let mut server = RedisServer::start().await;
    let store = impatient(&server).await;
    server.kill();
    eventually("an outage is told at once", async || {
        let began = Instant::now();
        let refused = store.load(MatchId(Uuid::nil()), None, None).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        (began.elapsed() < Duration::from_millis(20)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_change_that_a_silent_server_got_is_made_once() {
    let server = RedisServer::start().await;
    let store = impatient(&server).await;
    let id = new_match(&store).await;
    let sent = change(1, request(1));

    server.pause();
    let unknown = store.commit(id, sent.clone()).await;
    assert!(matches!(unknown, Err(StoreError::OutcomeUnknown(_))), "{unknown:?}");
    let unknown = store.load(id, None, None).await;
    assert!(matches!(unknown, Err(StoreError::Unavailable(_))), "{unknown:?}");
    server.go_on();

    let repeated = Committed::Repeated(Answered { version: 2, digest: digest(1_000) });
    let outcome = sooner_or_later(&store, id, &sent).await;
    assert!(outcome == Committed::Done || outcome == repeated, "{outcome:?}");
    assert_eq!(store.commit(id, sent).await, Ok(repeated));
    assert_whole(&store, id, 2).await;
}

#[tokio::test]
async fn many_changes_under_a_silent_server_are_each_made_once() {
    let server = RedisServer::start().await;
    let store = impatient(&server).await;
    let ids = futures_util::future::join_all((0..64).map(|_| new_match(&store))).await;
    server.pause();
    let sent = ids.iter().map(|id| store.commit(*id, change(1, request(1))));
    for outcome in futures_util::future::join_all(sent).await {
        let unknown =
            matches!(outcome, Err(StoreError::OutcomeUnknown(_) | StoreError::Unavailable(_)));
        assert!(unknown, "{outcome:?}");
    }
    server.go_on();
    for id in ids {
        sooner_or_later(&store, id, &change(1, request(1))).await;
        assert_whole(&store, id, 2).await;
    }
}

#[tokio::test]
async fn a_change_whose_caller_left_is_whole_or_absent() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let mut absent = 0;
    let mut whole = 0;
    for polls in 0..24 {
        let id = new_match(&store).await;
        if polls % 3 == 0 {
            // It takes two round trips then, and can be left between them.
            server.run::<()>(&["SCRIPT", "FLUSH"]).await;
        }
        {
            let mut leaving = pin!(store.commit(id, change(1, request(1))));
            for _ in 0..polls {
                let ended = poll_fn(|context| Poll::Ready(leaving.as_mut().poll(context))).await;
                if ended.is_ready() {
                    break;
                }
                tokio::time::sleep(Duration::from_micros(50)).await;
            }
        }
        // Both lanes have answered to all that was sent before.
        for _ in 0..4 {
            store.log(id, 0, 1).await.unwrap();
        }
        let again = if position(&store, id).await == Some(at(1)) {
            absent += 1;
            assert_whole(&store, id, 1).await;
            Committed::Done
        } else {
            whole += 1;
            Committed::Repeated(Answered { version: 2, digest: digest(1_000) })
        };
        assert_eq!(store.commit(id, change(1, request(1))).await, Ok(again));
        assert_whole(&store, id, 2).await;
    }
    assert!(absent > 0 && whole > 0, "absent {absent}, whole {whole}");
}

#[tokio::test]
async fn two_instances_hear_of_each_other() {
    let server = RedisServer::start().await;
    let config = RedisConfig { poll_every: NEVER, ..server.config() };
    let one = RedisStore::connect(config.clone()).await.unwrap();
    let other = RedisStore::connect(config).await.unwrap();
    let id = new_match(&one).await;
    let mut watch = other.watch(id).await;
    hears(&mut watch, Hint::At(at(1))).await;
    assert_eq!(one.commit(id, change(1, request(1))).await, Ok(Committed::Done));
    hears(&mut watch, Hint::At(at(2))).await;
    assert_eq!(other.commit(id, change(1, request(2))).await, Ok(Committed::Conflict));
    assert_eq!(other.commit(id, change(2, request(2))).await, Ok(Committed::Done));
    assert_whole(&one, id, 3).await;
}

#[tokio::test]
async fn what_may_not_be_announced_is_seen_all_the_same() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = new_match(&store).await;
    let mut watch = store.watch(id).await;
    hears(&mut watch, Hint::At(at(1))).await;
    // This also ends the connection that had subscribed, which may not subscribe again.
    server.run::<()>(&["ACL", "SETUSER", "parlor", "resetchannels"]).await;
    for base in 1..=3 {
        let outcome = store.commit(id, change(base, request(u128::from(base)))).await;
        assert_eq!(outcome, Ok(Committed::Done));
        hears(&mut watch, Hint::At(at(base + 1))).await;
    }
    assert_whole(&store, id, 4).await;
    assert_eq!(subscribers(&server, id).await, 0);
}

#[tokio::test]
async fn what_was_not_announced_is_seen_all_the_same() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = new_match(&store).await;
    let mut watch = store.watch(id).await;
    hears(&mut watch, Hint::At(at(1))).await;
    subscribed(&server, id, 1).await;
    server.run::<()>(&["HSET", &format!("parlor1:{{{id}}}:s"), "version", "2"]).await;
    let position = Position { version: 2, digest: at(1).digest };
    hears(&mut watch, Hint::At(position)).await;
    server.run::<()>(&["DEL", &format!("parlor1:{{{id}}}:s")]).await;
    hears(&mut watch, Hint::Gone).await;
}

#[tokio::test]
async fn after_a_lost_connection_nothing_is_missed() {
    let server = RedisServer::start().await;
    let config = RedisConfig { poll_every: NEVER, ..server.config() };
    let store = RedisStore::connect(config).await.unwrap();
    let id = new_match(&store).await;
    let mut watch = store.watch(id).await;
    subscribed(&server, id, 1).await;
    for base in 1..=5 {
        server.run::<()>(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
        let outcome = store.commit(id, change(base, request(u128::from(base)))).await;
        assert_eq!(outcome, Ok(Committed::Done));
        hears(&mut watch, Hint::At(at(base + 1))).await;
        subscribed(&server, id, 1).await;
    }
}

#[tokio::test]
async fn a_match_watched_twice_is_subscribed_once() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = new_match(&store).await;
    let first = store.watch(id).await;
    let second = store.watch(id).await;
    subscribed(&server, id, 1).await;
    drop(first);
    let mut third = store.watch(id).await;
    drop(second);
    store.commit(id, change(1, request(1))).await.unwrap();
    hears(&mut third, Hint::At(at(2))).await;
    assert_eq!(subscribers(&server, id).await, 1);
    drop(third);
    subscribed(&server, id, 0).await;
}

#[tokio::test]
async fn twenty_thousand_watches_cost_one_connection() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = new_match(&store).await;
    let mut watches = Vec::new();
    for number in 0..20_000 {
        watches.push(store.watch(MatchId(Uuid::from_u128(number))).await);
    }
    let mut watch = store.watch(id).await;
    subscribed(&server, id, 1).await;
    for number in [0, 9_999, 19_999] {
        assert_eq!(subscribers(&server, MatchId(Uuid::from_u128(number))).await, 1);
    }
    assert_eq!(connections(&server).await, 3);
    store.commit(id, change(1, request(1))).await.unwrap();
    hears(&mut watch, Hint::At(at(2))).await;

    // All of them come back, too.
    server.run::<()>(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    store.commit(id, change(2, request(2))).await.unwrap();
    hears(&mut watch, Hint::At(at(3))).await;
    let channels = async || server.run::<Vec<String>>(&["PUBSUB", "CHANNELS"]).await.len();
    eventually("all channels", async || (channels().await == 20_001).then_some(())).await;

    drop(watches);
    eventually("one channel", async || (channels().await == 1).then_some(())).await;
}

#[tokio::test]
async fn a_full_server_keeps_what_it_has_and_takes_no_more() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = match_at(&store, 2).await;
    server.run::<()>(&["CONFIG", "SET", "maxmemory", "1"]).await;

    let full = store.commit(id, change(2, request(2))).await;
    assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
    let other = MatchId(Uuid::new_v4());
    let full = store.create(other, entry(1), snapshot(1), KEEP).await;
    assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
    let full = store.claim("key", input(1), KEEP).await;
    assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");

    // It answers questions, and nothing is half there.
    assert_whole(&store, id, 2).await;
    let loaded = store.load(id, None, Some((3, request(2).id))).await.unwrap().unwrap();
    assert_eq!(loaded.answered, None);
    assert_eq!(store.load(other, None, None).await, Ok(None));
    let repeated = Committed::Repeated(Answered { version: 2, digest: digest(1_000) });
    assert_eq!(store.commit(id, change(1, request(1))).await, Ok(repeated));

    server.run::<()>(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(store.commit(id, change(2, request(2))).await, Ok(Committed::Done));
    assert_whole(&store, id, 3).await;
    assert_eq!(store.create(other, entry(1), snapshot(1), KEEP).await, Ok(true));
}

#[tokio::test]
async fn a_server_that_cannot_save_takes_no_changes() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = new_match(&store).await;
    cannot_save(&server).await;
    server.run::<()>(&["CONFIG", "SET", "save", "3600 1"]).await;
    let refused = store.commit(id, change(1, request(1))).await;
    assert!(matches!(refused, Err(StoreError::ReadOnly(_))), "{refused:?}");
    assert_whole(&store, id, 1).await;
}

#[tokio::test]
async fn a_server_that_became_a_replica_is_left_until_it_is_a_primary_again() {
    let server = RedisServer::start().await;
    // So many lanes that not all of them are used here, and no looking now and then.
    let RedisConfig { connect_timeout, response_timeout, .. } = RedisConfig::new("");
    let poll_every = NEVER;
    let config = server.config();
    let config = RedisConfig { lanes: 8, connect_timeout, response_timeout, poll_every, ..config };
    let store = RedisStore::connect(config).await.unwrap();
    let id = match_at(&store, 2).await;
    let mut watch = store.watch(id).await;
    hears(&mut watch, Hint::At(at(2))).await;
    // Nothing listens on this port, so it keeps the data it has.
    server.run::<()>(&["REPLICAOF", "127.0.0.1", "1"]).await;

    let refused = store.commit(id, change(2, request(2))).await;
    assert!(matches!(refused, Err(StoreError::Failover(_))), "{refused:?}");
    // Nor is a replica asked: what it says may be old.
    let refused = store.load(id, None, None).await;
    assert!(matches!(refused, Err(StoreError::Failover(_))), "{refused:?}");

    server.run::<()>(&["REPLICAOF", "NO", "ONE"]).await;
    let outcome = sooner_or_later(&store, id, &change(2, request(2))).await;
    assert_eq!(outcome, Committed::Done);
    assert_whole(&store, id, 3).await;
    hears(&mut watch, Hint::At(at(3))).await;
}

#[tokio::test]
async fn a_replica_is_left_even_if_nothing_is_written() {
    let server = RedisServer::start().await;
    let store = impatient(&server).await;
    let id = new_match(&store).await;
    server.run::<()>(&["REPLICAOF", "127.0.0.1", "1"]).await;
    eventually("the demotion is noticed", async || {
        matches!(store.load(id, None, None).await, Err(StoreError::Failover(_))).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_server_that_lost_what_it_acknowledged_is_found_out() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = match_at(&store, 2).await;
    let mut watch = store.watch(id).await;
    let keys = ["s", "l", "d"].map(|what| format!("parlor1:{{{id}}}:{what}"));
    let mut before = Vec::new();
    for key in &keys {
        before.push(server.run::<Bytes>(&["DUMP", key]).await);
    }
    assert_eq!(store.commit(id, change(2, request(2))).await, Ok(Committed::Done));
    hears(&mut watch, Hint::At(at(3))).await;

    let mut admin = server.admin().await;
    for (key, dump) in keys.iter().zip(before) {
        let mut restore = redis::cmd("RESTORE");
        restore.arg(key).arg(0).arg(&dump[..]).arg("REPLACE");
        restore.exec_async(&mut admin).await.unwrap();
    }
    assert_eq!(store.commit(id, change(3, request(3))).await, Ok(Committed::Forked));
    hears(&mut watch, Hint::At(at(2))).await;

    // The same version again, on another history.
    let other = Commit { digest: digest(77), ..change(2, request(4)) };
    assert_eq!(store.commit(id, other).await, Ok(Committed::Done));
    assert_eq!(store.commit(id, change(3, request(3))).await, Ok(Committed::Forked));
    hears(&mut watch, Hint::At(Position { version: 3, digest: digest(77) })).await;
}

#[tokio::test]
async fn a_log_with_a_gap_is_not_given_out() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    for lost in [1, 3, 5] {
        let id = match_at(&store, 5).await;
        let log = format!("parlor1:{{{id}}}:l");
        server.run::<()>(&["XDEL", &log, &format!("{lost}-0")]).await;
        let refused = store.log(id, 0, 100).await;
        assert!(matches!(refused, Err(StoreError::Corrupt(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn a_key_of_another_kind_is_not_written_to() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = new_match(&store).await;
    server.run::<()>(&["SET", &format!("parlor1:{{{id}}}:d"), "text"]).await;
    let refused = store.commit(id, change(1, request(1))).await;
    assert!(matches!(refused, Err(StoreError::Corrupt(_))), "{refused:?}");
    assert_whole(&store, id, 1).await;
}

#[tokio::test]
async fn a_wrong_password_is_told_at_the_start() {
    let server = RedisServer::start().await;
    for (user, wrong) in [("parlor", "canary-1"), ("nobody", "canary-2"), ("default", "canary-3")] {
        let url = format!("redis://{user}:{wrong}@127.0.0.1:{}", server.port());
        let refused = RedisStore::connect(RedisConfig::new(url)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Misconfigured(_)), "{refused:?}");
        assert!(!refused.to_string().contains("canary"), "{refused}");
    }
    let anonymous = format!("redis://127.0.0.1:{}", server.port());
    let refused = RedisStore::connect(RedisConfig::new(anonymous)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Misconfigured(_)), "{refused:?}");
}

#[tokio::test]
async fn a_missing_permission_is_told_at_the_start() {
    let server = RedisServer::start().await;
    let needed = [
        "-evalsha", "-eval", "-exists", "-get", "-set", "-hget", "-hmget", "-hset", "-xadd",
        "-xrange", "-pexpire", "-pttl", "-ping",
    ];
    for missing in needed {
        server.run::<()>(&["ACL", "SETUSER", "parlor", missing]).await;
        server.run::<()>(&["SCRIPT", "FLUSH"]).await;
        let refused = RedisStore::connect(server.config()).await;
        assert!(matches!(refused, Err(StoreError::Misconfigured(_))), "{missing}: {refused:?}");
        let given_back = missing.replace('-', "+");
        server.run::<()>(&["ACL", "SETUSER", "parlor", &given_back]).await;
    }
    server.run::<()>(&["ACL", "SETUSER", "parlor", "resetkeys", "~other:*"]).await;
    let refused = RedisStore::connect(server.config()).await;
    assert!(matches!(refused, Err(StoreError::Misconfigured(_))), "{refused:?}");
}

#[tokio::test]
async fn a_wrong_configuration_is_told_at_the_start() {
    let server = RedisServer::start().await;
    let wrong = [
        RedisConfig::new("127.0.0.1"),
        RedisConfig::new("http://127.0.0.1"),
        RedisConfig::new("unix:///tmp/redis"),
        RedisConfig::new(format!("redis+cluster://parlor:secret@127.0.0.1:{}", server.port())),
        RedisConfig { url: format!("{}/99", server.url()), ..server.config() },
        RedisConfig { prefix: String::new(), ..server.config() },
        RedisConfig { prefix: "par{lor".to_owned(), ..server.config() },
    ];
    for config in wrong {
        let refused = RedisStore::connect(config.clone()).await;
        assert!(
            matches!(refused, Err(StoreError::Misconfigured(_))),
            "{} {config:?}: {refused:?}",
            config.url
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_at_the_start() {
    let mut server = RedisServer::start().await;
    server.kill();
    let refused = RedisStore::connect(server.config()).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
}

#[tokio::test]
async fn the_services_user_may_do_nothing_else() {
    let server = RedisServer::start().await;
    let forbidden: [&[&str]; 12] = [
        &["FLUSHALL"],
        &["FLUSHDB"],
        &["KEYS", "*"],
        &["SCAN", "0"],
        &["MONITOR"],
        &["CLIENT", "KILL", "TYPE", "normal"],
        &["CONFIG", "SET", "maxmemory", "1"],
        &["ACL", "LIST"],
        &["SHUTDOWN"],
        &["SCRIPT", "FLUSH"],
        &["GET", "other:key"],
        &["PUBLISH", "other", "text"],
    ];
    for command in forbidden {
        let refused = server.run_as_service(command).await.unwrap_err();
        assert_eq!(refused.code(), Some("NOPERM"), "{command:?}: {refused}");
    }
    let refused = server.run_as_service(&["EVAL", "return redis.call('KEYS', '*')", "0"]).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(server.run_as_service(&["GET", "parlor1:c:key"]).await, Ok(Value::Nil));
}

#[tokio::test]
async fn a_closed_store_leaves_no_connection() {
    let server = RedisServer::start().await;
    let store = impatient(&server).await;
    let id = new_match(&store).await;
    let watch = store.watch(id).await;
    subscribed(&server, id, 1).await;
    assert_eq!(connections(&server).await, 3);
    store.close().await;
    let refused = store.load(id, None, None).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    eventually("all is closed", async || (connections(&server).await == 0).then_some(())).await;
    drop(watch);
}

#[tokio::test]
async fn a_dropped_store_leaves_no_connection() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let watch = store.watch(new_match(&store).await).await;
    drop(store);
    eventually("all is closed", async || (connections(&server).await == 0).then_some(())).await;
    drop(watch);
}

#[tokio::test]
async fn the_store_says_what_it_is_and_what_that_means_for_data() {
    let server = RedisServer::start().await;
    let describe = async || {
        let text = server.store().await.info().to_string();
        assert!(text.contains(&format!(" at 127.0.0.1:{}, ", server.port())), "{text}");
        assert!(text.starts_with("redis ") && text.contains("keys under parlor1: "), "{text}");
        assert!(!text.contains("secret"), "{text}");
        text
    };
    let set = async |name, value| server.run::<()>(&["CONFIG", "SET", name, value]).await;
    assert!(describe().await.contains("survives a crash, but a power loss takes"));
    set("appendfsync", "everysec").await;
    assert!(describe().await.contains("takes up to two seconds of what it acknowledged"));
    set("appendfsync", "always").await;
    assert!(describe().await.ends_with("survives a crash and a power loss"));
    set("maxmemory-policy", "allkeys-lru").await;
    assert!(describe().await.contains("allkeys-lru lets it throw matches away"));
    set("appendonly", "no").await;
    assert!(describe().await.contains("its end takes all since its last dump"));
    server.run::<()>(&["ACL", "SETUSER", "parlor", "-config|get"]).await;
    assert!(describe().await.ends_with("what it keeps on disk may not be asked"));
    assert!(!format!("{:?}", server.config()).contains("secret"));
}
