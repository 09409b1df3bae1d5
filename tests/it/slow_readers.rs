//! Viewers that do not read what there is for them.

use std::sync::Arc;
use std::time::Duration;

use h2::client::ResponseFuture;
use h2::{Reason, RecvStream};
use parlor::proto::game_options::Game;
use parlor::proto::{NeonOptions, StreamViewRequest};
use parlor::store::MemoryStore;
use tokio::task::JoinSet;

use crate::eventually;
use crate::instance::{Instance, Table};
use crate::metrics::get;
use crate::process::Process;
use crate::wire::{Wire, call, framed};

/// A connection that grants each answer only so much room, and more only when it is told to.
struct Slow(Wire);

impl Slow {
    async fn connect(address: &str, window: u32) -> Self {
        Self(Wire::connect(address, h2::client::Builder::new().initial_window_size(window)).await)
    }

    /// Asks for a stream of the whole match, and does not wait for it.
    async fn ask(&mut self, match_id: &str) -> ResponseFuture {
        let request = StreamViewRequest {
            match_id: match_id.to_owned(),
            after_version: Some(0),
            ..StreamViewRequest::default()
        };
        let calls = self.0.ready().await;
        let (answer, mut sending) = calls.send_request(call("StreamView"), false).unwrap();
        sending.send_data(framed(&request), true).unwrap();
        answer
    }

    /// A stream of the whole match.
    async fn watch(&mut self, match_id: &str) -> RecvStream {
        let answer = self.ask(match_id).await.await.expect("an answer");
        assert!(answer.headers().get("grpc-status").is_none(), "refused: {answer:?}");
        answer.into_body()
    }
}

/// Reads until the stream ends, and gives no room for more; says why it ended, if early.
async fn end(stream: &mut RecvStream) -> Option<Reason> {
    let ended = async {
        while let Some(read) = stream.data().await {
            if let Err(error) = read {
                return error.reason();
            }
        }
        None
    };
    tokio::time::timeout(Duration::from_secs(30), ended).await.expect("it ends")
}

#[tokio::test]
async fn a_stream_that_is_not_read_is_reset_and_its_place_is_free_for_another() {
    let flags = ["--stream-stall=200ms", "--spectators=1", "--heartbeat=50ms"];
    let instance = Instance::start(Arc::new(MemoryStore::default()), &flags);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    for window in [0, 1, 200] {
        let mut slow = Slow::connect(instance.address(), window).await;
        let mut stream = eventually("the place of the one before is free", async || {
            let answer = slow.ask(&table.id).await.await.expect("an answer");
            answer.headers().get("grpc-status").is_none().then(|| answer.into_body())
        })
        .await;
        assert_eq!(end(&mut stream).await, Some(Reason::CANCEL), "with room for {window} bytes");
        // Nothing else happened to the connection.
        let again = slow.ask(&table.id).await.await.expect("an answer");
        assert_eq!(again.status(), 200);
        drop(again);
        assert!(slow.0.lives());
    }
    let mut follow = instance.client().at(&table.id, None).unwrap().follow();
    eventually("there is room for one who reads", async || follow.next().await.ok()).await;
}

#[tokio::test]
async fn a_viewer_that_reads_slowly_is_let_be_and_one_that_waits_for_news_too() {
    let flags = ["--stream-stall=200ms", "--heartbeat=1h"];
    let instance = Instance::start(Arc::new(MemoryStore::default()), &flags);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let mut slow = Slow::connect(instance.address(), 100).await;
    let mut stream = slow.watch(&table.id).await;
    let since = tokio::time::Instant::now();
    let mut read = 0;
    // Its first message takes several times the patience, a little at a time.
    while since.elapsed() < Duration::from_millis(600) {
        let more = tokio::time::timeout(Duration::from_millis(100), stream.data()).await;
        let Ok(more) = more else { continue };
        let more = more.expect("it goes on").expect("it is not reset");
        read += more.len();
        stream.flow_control().release_capacity(more.len()).unwrap();
    }
    assert!(read > 100, "it read only {read} bytes");
    table.play(1).await;
    let next = eventually("there is news", async || stream.data().await).await;
    assert!(!next.expect("it is not reset").is_empty());
}

#[tokio::test]
async fn a_hundred_who_do_not_read_cost_others_nothing_and_are_counted() {
    let flags = ["--stream-stall=500ms", "--spectators=off", "--admin-listen=127.0.0.1:0"];
    let process = Process::start(&flags);
    let admin = process.admin().expect("it says where its metrics are");
    let table = Table::create(&process.client(), Game::Neon(NeonOptions::default()), 4).await;
    table.play(1).await;
    let before = process.memory();
    let mut slow = Slow::connect(process.address(), 100).await;
    let mut stalled = Vec::new();
    for _ in 0..100 {
        stalled.push(slow.watch(&table.id).await);
    }
    let mut healthy = JoinSet::new();
    for _ in 0..100 {
        let mut follow = process.client().at(&table.id, None).unwrap().follow_from_the_start();
        healthy.spawn(async move {
            let mut seen = 0;
            while follow.next().await.expect("no error").is_some() {
                seen += 1;
            }
            (seen, follow.resumed())
        });
    }
    let played = table.play(usize::MAX).await;
    while let Some(saw) = healthy.join_next().await {
        // The match was made in one version, and each action was another.
        assert_eq!(saw.unwrap(), (played + 2, 0), "all of it, on one stream");
    }
    for stream in &mut stalled {
        assert_eq!(end(stream).await, Some(Reason::CANCEL));
    }
    eventually("they are counted", async || {
        let (_, text) = get(&admin, "/metrics").await;
        text.contains(r#"parlor_streams_ended_total{reason="slow"} 100"#).then_some(())
    })
    .await;
    let grown = process.memory().saturating_sub(before);
    assert!(grown < 64 << 20, "{} KiB more", grown / 1024);
    let log = process.stop().await;
    let told = log.lines().filter(|line| line.contains("SLOW_CONSUMER")).count();
    assert_eq!(told, 100, "each has its line");
}
