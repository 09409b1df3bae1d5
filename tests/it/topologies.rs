//! Every way to run Redis: what a store promises holds for each, and a match of each game is played to
//! its end; and what happens when its servers change their places.

use std::sync::Arc;
use std::time::Duration;

use parlor::client::Followed;
use parlor::proto::game_options::Game;
use parlor::proto::{CandyOptions, MatchState, NeapolitanOptions, NeonOptions};
use parlor::store::{
    Committed, Durability, Hint, MatchId, RedisConfig, RedisStore, RedisTls, Store, StoreError,
};
use uuid::Uuid;

use crate::durability::calls;
use crate::instance::{Instance, Table};
use crate::redis_faults::{NEVER, assert_whole, hasty};
use crate::redis_server::RedisServer;
use crate::redis_topologies::{AGREEMENT, Cluster, Encrypted, Sentinels, follows};
use crate::store_contract::{at, change, hears, holds_for, match_at, new_match, request};
use crate::{eventually, within};

/// All that a store promises, and a whole match of each game through two instances that take turns.
async fn all_is_well(config: RedisConfig) {
    let store = RedisStore::connect(config.clone()).await.expect("the servers are there");
    holds_for(&store).await;
    store.close().await;

    let games = [
        (Game::Neon(NeonOptions::default()), 2),
        (Game::Neapolitan(NeapolitanOptions::default()), 3),
        (Game::Candy(CandyOptions::default()), 2),
    ];
    let store = async || Arc::new(RedisStore::connect(config.clone()).await.expect("as before"));
    let (one, other) = (Instance::start(store().await, &[]), Instance::start(store().await, &[]));
    for (game, seats) in games {
        let mut table = Table::create(&one.client(), game, seats).await;
        let mut played = 0;
        for instance in [&one, &other].into_iter().cycle() {
            table.seats = table.at(&instance.client());
            let now = table.play(10).await;
            played += now;
            if now < 10 {
                break;
            }
        }
        let view = table.seats[0].view().await.expect("a view");
        assert_eq!((view.state(), view.version), (MatchState::Over, played as u64 + 1));
    }
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn one_server() {
    all_is_well(RedisServer::start().await.config()).await;
}

#[tokio::test]
async fn a_primary_that_sentinels_watch() {
    all_is_well(Sentinels::start().await.config()).await;
}

#[tokio::test]
async fn a_cluster() {
    all_is_well(Cluster::start().await.config()).await;
}

#[tokio::test]
async fn a_server_that_encrypts() {
    all_is_well(Encrypted::start().await.config()).await;
}

#[tokio::test]
async fn an_encrypted_server_that_is_not_trusted_is_told_at_the_start() {
    let encrypted = Encrypted::start().await;
    let good = encrypted.config();
    let stranger = Encrypted::start().await;
    let authority = |pem: &str| RedisTls::new(Some(pem.as_bytes()), None).expect("a certificate");
    let wrong = [
        // Another authority; no certificate of our own; another name than the certificate's.
        RedisConfig { tls: stranger.config().tls, ..good.clone() },
        RedisConfig { tls: Some(authority(&encrypted.authority)), ..good.clone() },
        RedisConfig { url: encrypted.url("127.0.0.1"), ..good.clone() },
    ];
    let refused = async |config: &RedisConfig| RedisStore::connect(config.clone()).await.err();
    for config in [&wrong[0], &wrong[2]] {
        let refused = refused(config).await;
        assert!(matches!(refused, Some(StoreError::Misconfigured(_))), "{refused:?}");
    }
    // The server hangs up on who shows none.
    assert!(refused(&wrong[1]).await.is_some());
    assert_eq!(refused(&good).await, None);
}

#[tokio::test]
async fn sentinels_that_do_not_know_the_primary_or_us_are_told_at_the_start() {
    let sentinels = Sentinels::start().await;
    let good = sentinels.config().url;
    for (right, wrong) in [("/main", "/other"), ("sentry", "canary"), ("secret", "canary")] {
        let config = RedisConfig { url: good.replace(right, wrong), ..sentinels.config() };
        let refused = RedisStore::connect(config).await.err();
        assert!(matches!(refused, Some(StoreError::Misconfigured(_))), "{wrong}: {refused:?}");
    }
    let direct = format!("redis://admin:admin@127.0.0.1:{}", sentinels.watchers[0].port());
    let refused =
        RedisStore::connect(RedisConfig { url: direct, ..sentinels.config() }).await.err();
    assert!(matches!(refused, Some(StoreError::Misconfigured(_))), "{refused:?}");
}

#[tokio::test]
async fn a_sentinel_that_is_away_is_not_missed() {
    let mut sentinels = Sentinels::start().await;
    sentinels.watchers[0].pause();
    sentinels.watchers[1].kill();
    let store = RedisStore::connect(hasty(sentinels.config())).await.expect("one is enough");
    assert_whole(&store, match_at(&store, 2).await, 2).await;
    sentinels.watchers[0].go_on();
}

/// The primary is lost while many matches are written, and every change that was acknowledged is there
/// when its replica has taken its place.
#[tokio::test]
async fn a_failover_takes_nothing_that_a_replica_was_waited_for() {
    let mut sentinels = Sentinels::start().await;
    let config = hasty(sentinels.config());
    let config = RedisConfig { durability: Durability::Replicated, ..config };
    let store = &RedisStore::connect(config).await.expect("the servers are there");
    let ids = futures_util::future::join_all((0..16).map(|_| new_match(store))).await;
    let mut watch = store.watch(ids[0]).await;

    // Each is changed again and again until something goes wrong; what was acknowledged is counted.
    let writing = ids.iter().map(async |&id| {
        let mut acknowledged = 1;
        loop {
            let sent = change(acknowledged, request(u128::from(acknowledged)));
            match store.commit(id, sent).await {
                Ok(outcome) => assert_eq!(outcome, Committed::Done),
                Err(_) => return acknowledged,
            }
            acknowledged += 1;
        }
    });
    let killing = async {
        within(AGREEMENT, "some changes are made", async || {
            let loaded = store.load(ids[0], None, None).await.expect("the store works");
            loaded.filter(|loaded| loaded.position.version > 20)
        })
        .await;
        sentinels.primary.kill();
    };
    let (acknowledged, ()) = tokio::join!(futures_util::future::join_all(writing), killing);
    sentinels.fail_over().await;

    for (&id, acknowledged) in ids.iter().zip(acknowledged) {
        let loaded = within(AGREEMENT, "it heals", async || store.load(id, None, None).await.ok());
        let version = loaded.await.expect("the match is there").position.version;
        assert!(version >= acknowledged, "{version} of {acknowledged}");
        assert_whole(store, id, version).await;
    }
    let version = store.load(ids[0], None, None).await.unwrap().unwrap().position.version;
    hears(&mut watch, Hint::At(at(version))).await;
}

#[tokio::test]
async fn a_match_goes_on_after_a_failover() {
    let mut sentinels = Sentinels::start().await;
    let store = RedisStore::connect(hasty(sentinels.config())).await.expect("they are there");
    let instance = Instance::start(Arc::new(store), &[]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 3).await;
    assert_eq!(table.play(3).await, 3);
    let replicated = async || {
        let info: String = sentinels.primary.run(&["INFO", "replication"]).await;
        let of = |name: &str| {
            let at = info.find(name)? + name.len();
            info[at..].split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
        };
        (of("offset=") >= of("master_repl_offset:")).then_some(())
    };
    eventually("the replica has all", replicated).await;
    sentinels.primary.kill();
    let view = within(AGREEMENT, "it heals", async || table.seats[0].view().await.ok());
    assert_eq!(view.await.version, 4);
    table.play(1_000).await;
    assert_eq!(table.seats[0].view().await.expect("a view").state(), MatchState::Over);
}

/// A primary that comes back does not know that it has a successor.
#[tokio::test]
async fn a_primary_that_was_replaced_is_left() {
    let sentinels = Sentinels::start().await;
    let config = hasty(sentinels.config());
    let store = RedisStore::connect(config).await.expect("the servers are there");
    let id = match_at(&store, 3).await;
    sentinels.primary.pause();
    sentinels.fail_over().await;
    sentinels.primary.go_on();
    let outcome =
        within(AGREEMENT, "it heals", async || store.commit(id, change(3, request(3))).await.ok());
    assert_eq!(outcome.await, Committed::Done);
    within(AGREEMENT, "the change is at the new primary", async || {
        let key = format!("parlor1:{{{id}}}:s");
        let version: String = sentinels.replica.run(&["HGET", &key, "version"]).await;
        (version == "4").then_some(())
    })
    .await;
}

/// Its sentinels have lost a primary and named another one, and it does not know: nobody told it.
#[tokio::test]
async fn a_primary_that_its_sentinels_have_lost_is_left_too() {
    let sentinels = Sentinels::start().await;
    let config = hasty(sentinels.config());
    let store = RedisStore::connect(config).await.expect("the servers are there");
    let id = match_at(&store, 3).await;
    // From here on nobody but the service gets in.
    let mut admin = sentinels.primary.admin().await;
    for words in
        [&["ACL", "SETUSER", "admin", "resetpass"][..], &["CLIENT", "KILL", "USER", "admin"]]
    {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]).exec_async(&mut admin).await.expect("permitted");
    }
    sentinels.fail_over().await;
    within(AGREEMENT, "changes are made at the new primary", async || {
        let _ = store.commit(id, change(3, request(3))).await;
        let key = format!("parlor1:{{{id}}}:s");
        let version: String = sentinels.replica.run(&["HGET", &key, "version"]).await;
        (version == "4").then_some(())
    })
    .await;
}

#[tokio::test]
async fn sentinels_are_asked_once_for_all_connections() {
    let sentinels = Sentinels::start().await;
    let config = RedisConfig { lanes: 32, ..sentinels.config() };
    let _store = RedisStore::connect(config).await.expect("the servers are there");
    let checks = async || calls(&sentinels.primary, "hello").await;
    // Every question comes over a connection of its own.
    let questions = async || {
        let info: String = sentinels.watchers[0].run(&["INFO", "stats"]).await;
        let line = info.lines().find_map(|it| it.strip_prefix("total_connections_received:"));
        line.expect("a figure").parse::<usize>().expect("a number")
    };
    eventually("all are open", async || (checks().await > 100).then_some(())).await;
    // Every connection is checked again and again; whether another server is the primary now is found
    // out for all of them.
    let before = (checks().await, questions().await);
    eventually("they are checked", async || (checks().await > before.0 + 320).then_some(())).await;
    let (checked, asked) = (checks().await - before.0, questions().await - before.1);
    assert!(asked < checked / 2, "{asked} questions for {checked} checks");
}

/// A match whose slot the node with this number serves, at version 2, and its slot.
async fn match_on(cluster: &Cluster, store: &RedisStore, node: usize) -> (MatchId, u16) {
    loop {
        let id = new_match(store).await;
        let key = format!("{{{id}}}");
        let slot: u16 = cluster.nodes[0].run(&["CLUSTER", "KEYSLOT", &key]).await;
        if Cluster::first_owner(slot) == node {
            let outcome = store.commit(id, change(1, request(1))).await;
            assert_eq!(outcome, Ok(Committed::Done));
            return (id, slot);
        }
    }
}

#[tokio::test]
async fn a_match_whose_slot_moves_is_followed() {
    let cluster = Cluster::start().await;
    let config = RedisConfig { poll_every: NEVER, ..cluster.config() };
    let store = RedisStore::connect(config).await.expect("the nodes are there");
    let (id, slot) = match_on(&cluster, &store, 0).await;
    let mut watch = store.watch(id).await;
    hears(&mut watch, Hint::At(at(2))).await;

    let [from, to, other] = &cluster.nodes[..] else { panic!("three nodes") };
    let name = async |node: &RedisServer| node.run::<String>(&["CLUSTER", "MYID"]).await;
    let (from_name, to_name) = (name(from).await, name(to).await);
    let slot = slot.to_string();
    to.run::<()>(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_name]).await;
    from.run::<()>(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_name]).await;
    // Half of the match is here and half there: it waits, and nothing is changed.
    let key = |what| format!("parlor1:{{{id}}}:{what}");
    let port = to.port().to_string();
    let (state, log, requests) = (key("s"), key("l"), key("d"));
    let migrate = ["MIGRATE", "127.0.0.1", &port, "", "0", "5000"];
    let with = ["AUTH2", "admin", "admin", "KEYS"];
    let migrate = |keys: &[&str]| {
        let words = migrate.iter().chain(&with).copied().chain(keys.iter().copied());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let run = async |words: Vec<String>| {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        from.run::<String>(&words).await
    };
    assert_eq!(run(migrate(&[&log])).await, "OK");
    let refused = store.commit(id, change(2, request(2))).await;
    assert!(matches!(refused, Err(StoreError::Failover(_))), "{refused:?}");
    // All of it is there, but the slot is not yet.
    assert_eq!(run(migrate(&[&state, &requests])).await, "OK");
    assert_eq!(store.commit(id, change(2, request(2))).await, Ok(Committed::Done));
    hears(&mut watch, Hint::At(at(3))).await;
    // The slot is there too.
    for node in [to, from, other] {
        node.run::<()>(&["CLUSTER", "SETSLOT", &slot, "NODE", &to_name]).await;
    }
    assert_eq!(store.commit(id, change(3, request(3))).await, Ok(Committed::Done));
    assert_whole(&store, id, 4).await;
    hears(&mut watch, Hint::At(at(4))).await;
    // That is known by now, so that the node where it was is not asked any more.
    from.pause();
    within(Duration::from_secs(20), "the node where it is is asked", async || {
        store.commit(id, change(4, request(4))).await.ok()
    })
    .await;
    from.go_on();
}

#[tokio::test]
async fn a_node_that_is_lost_is_missed_by_its_own_matches_alone() {
    let mut cluster = Cluster::start().await;
    for node in &cluster.nodes {
        node.run::<()>(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]).await;
    }
    let store = RedisStore::connect(hasty(cluster.config())).await.expect("they are there");
    let (lost, _) = match_on(&cluster, &store, 2).await;
    let (kept, _) = match_on(&cluster, &store, 1).await;
    let mut watch = store.watch(kept).await;
    let mut lost_watch = store.watch(lost).await;
    hears(&mut lost_watch, Hint::At(at(2))).await;

    cluster.nodes[2].kill();
    eventually("the loss is noticed", async || store.load(lost, None, None).await.err()).await;
    assert_eq!(store.commit(kept, change(2, request(2))).await, Ok(Committed::Done));
    hears(&mut watch, Hint::At(at(3))).await;

    cluster.nodes[2].start_again().await;
    let outcome = within(AGREEMENT, "it heals", async || {
        store.commit(lost, change(2, request(2))).await.ok()
    });
    assert_eq!(outcome.await, Committed::Done);
    assert_whole(&store, lost, 3).await;
    hears(&mut lost_watch, Hint::At(at(3))).await;
}

/// The player whose match it is sees only that it takes a while, and so does who watches.
#[tokio::test]
async fn a_match_goes_on_after_its_primary_in_a_cluster_is_lost() {
    let mut cluster = Cluster::start_with_replicas().await;
    let config = RedisConfig { durability: Durability::Replicated, ..hasty(cluster.config()) };
    let store = RedisStore::connect(config).await.expect("they are there");
    let instance = Instance::start(Arc::new(store), &[]);
    // One whose slot is served by the only node that the service was told of.
    let table = loop {
        let game = Game::Neon(NeonOptions::default());
        let table = Table::create(&instance.client(), game, 3).await;
        let key = format!("{{{}}}", table.id);
        let slot: u16 = cluster.nodes[0].run(&["CLUSTER", "KEYSLOT", &key]).await;
        if Cluster::first_owner(slot) == 0 {
            break table;
        }
    };
    let mut follow = table.seats[0].follow();
    assert_eq!(table.play(3).await, 3);

    cluster.nodes[0].kill();
    let view = within(AGREEMENT, "it heals", async || table.seats[0].view().await.ok());
    assert_eq!(view.await.version, 4, "what a replica was waited for is there");
    // The successor has no replica: no change is acknowledged until there is one.
    cluster.nodes[0].start_again().await;
    follows(&cluster.replicas[0]).await;
    let played = 3 + table.play(1_000).await as u64;
    let view = table.seats[0].view().await.expect("a view");
    assert_eq!((view.state(), view.version), (MatchState::Over, played + 1));

    let told = follow.next().await.expect("no error").expect("a message");
    let Followed::Snapshot { view, .. } = told else { panic!("no snapshot: {told:?}") };
    let mut last = view.version;
    while let Some(told) = follow.next().await.expect("no error") {
        let Followed::Update { version, .. } = told else { panic!("no update: {told:?}") };
        assert_eq!(version, last + 1);
        last = version;
    }
    assert_eq!(last, played + 1);
}

#[tokio::test]
async fn matches_are_watched_on_all_nodes_over_one_connection() {
    let cluster = Cluster::start().await;
    let config = RedisConfig { poll_every: Duration::from_secs(3_600), ..cluster.config() };
    let store = RedisStore::connect(config).await.expect("the nodes are there");
    for node in 0..3 {
        let (id, _) = match_on(&cluster, &store, node).await;
        let mut watch = store.watch(id).await;
        hears(&mut watch, Hint::At(at(2))).await;
        assert_eq!(store.commit(id, change(2, request(2))).await, Ok(Committed::Done));
        hears(&mut watch, Hint::At(at(3))).await;
    }
    let gone = MatchId(Uuid::new_v4());
    hears(&mut store.watch(gone).await, Hint::Gone).await;
}
