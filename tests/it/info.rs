//! What an instance says of itself to operators, and that it is true, also after the store has become
//! another one.

use std::collections::BTreeMap;
use std::time::Duration;

use parlor::store::{Durability, RedisConfig, RedisInfo, RedisStore, Store as _, StoreInfo};
use serde_json::{Value, json};

use crate::metrics::get;
use crate::process::{KEY, Process};
use crate::redis_server::RedisServer;
use crate::redis_topologies::{AGREEMENT, Sentinels};
use crate::{eventually, within};

/// The page of a process.
async fn page(process: &Process) -> Value {
    let (status, text) = get(&process.admin().expect("it has a port for operators"), "/info").await;
    assert_eq!(status, 200);
    serde_json::from_str(&text).expect("JSON")
}

#[tokio::test]
async fn the_page_says_what_runs_and_nothing_secret() {
    let redis = RedisServer::start().await;
    redis.run::<()>(&["CONFIG", "SET", "appendfsync", "everysec"]).await;
    let store = format!("--store={}", redis.url());
    let flags = [&store, "--api-keys=game:CANARY-api-key-0123456789", "--seat-rate=5/s:7"];
    let process = Process::start(&[&flags[..], &["--admin-listen=127.0.0.1:0"]].concat());
    let page = page(&process).await;
    let text = page.to_string();
    for secret in ["secret", KEY, "CANARY"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }

    let started = page["started"].as_str().expect("a time");
    assert!(humantime::parse_rfc3339(started).is_ok(), "{started}");
    assert_eq!(page["version"], env!("CARGO_PKG_VERSION"));
    let games = page["rules_versions"].as_object().expect("the games").keys();
    assert!(games.eq({
        let mut ids = parlor::games::IDS.to_vec();
        ids.sort_unstable();
        ids
    }));
    assert_eq!(page["schema"], parlor::matches::SCHEMA);
    let limits = &page["limits"];
    assert_eq!(limits["max_request"], 16_384);
    assert_eq!(limits["keep_idle"], "1day");
    assert_eq!(limits["seat_rate"], Value::Null, "tests are not held to rates");

    let address = format!("127.0.0.1:{}", redis.port());
    let version = page["store"]["primaries"][0]["version"].clone();
    let less = "a crash or a power loss takes up to two seconds of what it acknowledged";
    let expected = json!({
        "kind": "redis",
        "address": address,
        "prefix": "parlor1",
        "durability": "always",
        "found": "everysec",
        "missing": [format!("{address}: {less}")],
        "primaries": [{
            "address": address,
            "version": version,
            "settings": {
                "appendonly": "yes",
                "appendfsync": "everysec",
                "no-appendfsync-on-rewrite": "no",
                "maxmemory-policy": "noeviction",
            },
            "replicas": 0,
        }],
    });
    assert_eq!(page["store"], expected);
    process.stop().await;
}

#[tokio::test]
async fn rates_and_a_store_in_memory_are_on_the_page_too() {
    let flags = ["--rate-limits=on", "--seat-rate=5/s:7", "--streams=off"];
    let process = Process::start(&[&flags[..], &["--admin-listen=127.0.0.1:0"]].concat());
    let page = page(&process).await;
    assert_eq!(page["limits"]["seat_rate"], json!({ "every": "200ms", "at_once": 7 }));
    assert_eq!(page["limits"]["streams"], Value::Null);
    assert_eq!(page["store"], json!({ "kind": "memory", "capacity": 100_000 }));
    process.stop().await;
}

/// The profiles that the metric says were found, each with whether it is the one now.
async fn counted(process: &Process) -> BTreeMap<String, bool> {
    let (_, text) = get(&process.admin().expect("a port for operators"), "/metrics").await;
    let found = text.lines().filter_map(|line| {
        let labels = line.strip_prefix("parlor_store_durability{asked=\"always\",found=\"")?;
        let (found, value) = labels.split_once("\"} ")?;
        Some((found.to_owned(), value == "1"))
    });
    found.collect()
}

#[tokio::test]
async fn a_successor_that_keeps_less_is_found_out() {
    let mut sentinels = Sentinels::start().await;
    // Its replica leaves it to the system when it writes to the disk.
    sentinels.primary.run::<()>(&["CONFIG", "SET", "appendfsync", "always"]).await;
    let store = format!("--store={}", sentinels.config().url);
    let process = Process::start(&[&store, "--admin-listen=127.0.0.1:0"]);
    let before = page(&process).await["store"].clone();
    assert_eq!(
        (&before["found"], &before["missing"], &before["primaries"][0]["replicas"]),
        (&json!("always"), &json!([]), &json!(1))
    );
    assert_eq!(counted(&process).await, BTreeMap::from([("always".to_owned(), true)]));

    sentinels.primary.kill();
    let after = within(AGREEMENT, "the successor is looked at", async || {
        let now = page(&process).await["store"].clone();
        (now["found"] != before["found"]).then_some(now)
    })
    .await;
    let address = format!("127.0.0.1:{}", sentinels.replica.port());
    assert_eq!(
        (&after["found"], &after["primaries"][0]["address"]),
        (&Value::Null, &json!(address))
    );
    let now = BTreeMap::from([("always".to_owned(), false), ("none".to_owned(), true)]);
    assert_eq!(counted(&process).await, now);
    let log = process.stop().await;
    let warned = |line: &&str| line.contains("WARN") && line.contains("less is kept");
    let warning = log.lines().find(warned).expect("a warning");
    assert!(warning.contains(&address), "{warning}");
}

fn redis_info(store: &RedisStore) -> RedisInfo {
    let StoreInfo::Redis(info) = store.info() else { panic!("it is in Redis") };
    info
}

#[tokio::test]
async fn what_changes_at_the_server_is_noticed_in_time() {
    let mut server = RedisServer::start().await;
    let config = RedisConfig { durability: Durability::Everysec, ..server.config() };
    let store = RedisStore::connect(config).await.expect("the server is there");
    assert_eq!(redis_info(&store).found, None);
    server.run::<()>(&["CONFIG", "SET", "appendfsync", "always"]).await;
    eventually("it keeps what it should", async || {
        (redis_info(&store).found == Some(Durability::Everysec)).then_some(())
    })
    .await;
    // It was started with another setting than it was given since, and is again.
    server.kill();
    server.start_again().await;
    eventually("it keeps less again", async || redis_info(&store).found.is_none().then_some(()))
        .await;
}

#[tokio::test]
async fn a_server_started_again_is_looked_at_at_once() {
    let mut server = RedisServer::start().await;
    let config = RedisConfig { poll_every: Duration::from_secs(3_600), ..server.config() };
    let store = RedisStore::connect(config).await.expect("the server is there");
    let policy = |store: &RedisStore| {
        redis_info(store).primaries[0].settings.clone().expect("permitted")["maxmemory-policy"]
            .clone()
    };
    server.run::<()>(&["CONFIG", "SET", "maxmemory-policy", "volatile-lru"]).await;
    // Only because a connection is opened again.
    server.run::<()>(&["CLIENT", "KILL", "TYPE", "normal"]).await;
    eventually("it is looked up", async || (policy(&store) == "volatile-lru").then_some(())).await;
    server.kill();
    server.start_again().await;
    eventually("it is looked up", async || (policy(&store) == "noeviction").then_some(())).await;
}
