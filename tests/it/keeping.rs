//! For how long what is in Redis is kept.

use std::time::Duration;

use parlor::store::{Commit, Committed, Store as _};

use crate::redis_server::RedisServer;
use crate::store_contract::{KEEP, change, input, match_at, request};

#[tokio::test]
async fn nothing_is_kept_without_an_end() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    match_at(&store, 3).await;
    store.claim("key", input(1), KEEP).await.unwrap();
    let keys: Vec<String> = server.run(&["KEYS", "*"]).await;
    assert!(keys.len() >= 4, "{keys:?}");
    for key in keys {
        // What the store tried out at its start may have ended by now.
        let left: i64 = server.run(&["PTTL", &key]).await;
        assert_ne!(left, -1, "{key} has no end");
    }
}

#[tokio::test]
async fn a_change_lets_a_match_live_on_only_once_a_sixteenth_of_its_time_has_passed() {
    let server = RedisServer::start().await;
    let store = server.store().await;
    let id = match_at(&store, 2).await;
    let keys = ["s", "l", "d"].map(|what| format!("parlor1:{{{}}}:{what}", id.0));
    let minute = 60_000;
    let day = 24 * 60 * minute;
    // What is left of the day, and whether the next change makes it a day again.
    for (base, left, is_renewed) in
        [(2, day / 24 * 23, false), (3, day / 24 * 22, true), (4, 2 * day, true)]
    {
        for key in &keys {
            server.run::<()>(&["PEXPIRE", key, &left.to_string()]).await;
        }
        let keep = Duration::from_millis(day);
        let change = Commit { keep, ..change(base, request(u128::from(base))) };
        assert_eq!(store.commit(id, change).await, Ok(Committed::Done));
        for key in &keys {
            let now: u64 = server.run(&["PTTL", key]).await;
            let expected = if is_renewed { day } else { left };
            assert!((expected - minute..=expected).contains(&now), "{key}: {now} after {left}");
        }
    }
}
