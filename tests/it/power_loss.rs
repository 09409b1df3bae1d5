//! What a power loss takes: Redis is made to keep in memory what it has not synced, and killed.

use std::path::Path;
use std::process::Command;

use parlor::store::{Committed, Hint, RedisStore, Store};

use crate::eventually;
use crate::redis_server::RedisServer;
use crate::store_contract::{change, new_match, request};

/// So many changes are acknowledged before the power is lost.
const ACKNOWLEDGED: u64 = 200;

/// What was left of a match.
struct Loss {
    /// Up to which version a viewer had seen it.
    seen: u64,
    /// Which version it has when the power is back.
    left: u64,
}

/// The library that takes the place of the disk's cache.
fn compiled(folder: &Path) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/power_loss.c");
    let library = folder.join("power_loss.so");
    let status = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    assert!(status.expect("there is a C compiler").success(), "it does not compile");
    library.to_str().expect("a plain path").to_owned()
}

/// Changes a match again and again, and turns the power off after the last acknowledgement.
async fn power_loss(appendfsync: &str) -> Loss {
    let folder = tempfile::tempdir().expect("a folder");
    let library = compiled(folder.path());
    let words = ["--appendfsync", appendfsync].map(str::to_owned).to_vec();
    let mut server = RedisServer::start_preloaded(&library, &words).await;
    let store = server.store().await;
    let id = new_match(&store).await;
    let mut watch = store.watch(id).await;
    // What was before is on the disk, whatever comes.
    server.rewrite().await;

    let mut seen = 1;
    let writing = async {
        for base in 1..=ACKNOWLEDGED {
            let outcome = store.commit(id, change(base, request(u128::from(base)))).await;
            assert_eq!(outcome, Ok(Committed::Done));
        }
    };
    let viewing = async {
        loop {
            if let Hint::At(position) = watch.changed().await {
                seen = position.version;
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = viewing => {}
    }
    server.kill();
    store.close().await;
    server.start_again().await;

    let store = eventually("it has loaded what is left", async || {
        RedisStore::connect(server.config()).await.ok()
    })
    .await;
    let left = store.load(id, None, None).await.unwrap().map_or(0, |it| it.position.version);
    let log = store.log(id, 0, usize::MAX).await.unwrap().map_or(0, |log| log.head.version);
    assert_eq!(left, log, "the match is whole");
    Loss { seen, left }
}

#[tokio::test]
async fn a_power_loss_takes_nothing_that_was_always_synced() {
    let Loss { seen, left } = power_loss("always").await;
    assert_eq!(left, ACKNOWLEDGED + 1);
    assert!(seen > 1, "the viewer saw nothing");
    assert!(seen <= left, "a viewer saw {seen} of {left}");
}

#[tokio::test]
async fn a_power_loss_takes_what_was_not_synced_yet() {
    // Once a second all is synced, which by chance may have been at the last moment.
    let lost = eventually("something is lost", async || {
        let left = power_loss("everysec").await.left;
        (left < ACKNOWLEDGED + 1).then_some(ACKNOWLEDGED + 1 - left)
    });
    assert!(lost.await > 0);
}
