//! Hostile callers against the real command, with a victim that plays beside them: it has no error,
//! and memory stays within bounds. Each takes a few seconds at most.

use std::time::Duration;

use futures_util::future::join_all;
use parlor::client::reason;
use parlor::proto::game_options::Game;
use parlor::proto::match_service_client::MatchServiceClient;
use parlor::proto::{GetMatchRequest, NeonOptions, StreamViewRequest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tonic::Request;

use crate::instance::Table;
use crate::process::Process;
use crate::wire::{HELLO, call, framed};

/// How much memory an attack may cost.
const COST: u64 = 96 * 1024 * 1024;

/// A server that is attacked, and a match that is played at it meanwhile.
struct Scene {
    process: Process,
    table: Table,
    memory: u64,
}

impl Scene {
    async fn set(flags: &[&str]) -> Self {
        let flags: Vec<_> =
            ["--rate-limits=on", "--seat-rate=off"].iter().chain(flags).copied().collect();
        let process = Process::start(&flags);
        let table = Table::create(&process.client(), Game::Neon(NeonOptions::default()), 3).await;
        table.play(1).await;
        let memory = process.memory();
        Self { process, table, memory }
    }

    /// Attacks while the victim plays a whole match; then looks at what is left.
    async fn attack<F: Future<Output = ()>>(mut self, attack: impl FnOnce(String, String) -> F) {
        let attack = attack(self.process.address().to_owned(), self.table.id.clone());
        let both = async { tokio::join!(attack, self.table.play(usize::MAX)) };
        let both = tokio::time::timeout(Duration::from_secs(10), both);
        let ((), played) = both.await.expect("the victim plays to the end in time");
        assert!(played > 0);
        let grown = self.process.memory().saturating_sub(self.memory);
        assert!(grown < COST, "{} KiB more", grown / 1024);
        self.process.terminate();
        assert_eq!(self.process.ended().await.code(), Some(0));
    }
}

async fn connect(address: &str) -> TcpStream {
    TcpStream::connect(address).await.expect("it listens")
}

/// Waits until the server has closed the connection.
async fn closed(mut socket: TcpStream) {
    // A reset is an end, too.
    let _ = socket.read_to_end(&mut Vec::new()).await;
}

#[tokio::test]
async fn many_connections_that_say_nothing() {
    let scene = Scene::set(&["--preface=500ms", "--first-request=1s"]).await;
    scene
        .attack(async |address, _| {
            let sockets = join_all((0..300).map(|_| connect(&address))).await;
            join_all(sockets.into_iter().map(closed)).await;
        })
        .await;
}

#[tokio::test]
async fn calls_that_are_reset_as_soon_as_they_are_made() {
    let scene = Scene::set(&[]).await;
    scene
        .attack(async |address, _| {
            for _ in 0..3 {
                let (mut calls, connection) =
                    h2::client::handshake(connect(&address).await).await.unwrap();
                let mut driving = JoinSet::new();
                driving.spawn(connection);
                for _ in 0..2000 {
                    let Ok(ready) = calls.ready().await else { break };
                    calls = ready;
                    let Ok((answer, mut sending)) = calls.send_request(call("GetView"), false)
                    else {
                        break;
                    };
                    sending.send_reset(h2::Reason::CANCEL);
                    drop(answer);
                }
            }
        })
        .await;
}

#[tokio::test]
async fn headers_that_never_end() {
    let scene = Scene::set(&[]).await;
    scene
        .attack(async |address, _| {
            let mut socket = connect(&address).await;
            socket.write_all(HELLO).await.unwrap();
            // Headers of stream 1 that go on, and go on: type 1, then type 9, never the last.
            socket.write_all(b"\0\0\x01\x01\0\0\0\0\x01\x82").await.unwrap();
            let mut more = b"\0\x10\0\x09\0\0\0\0\x01".to_vec();
            more.extend([0x82; 4096]);
            for _ in 0..10_000 {
                if socket.write_all(&more).await.is_err() {
                    return;
                }
            }
            panic!("it took 40 MB of headers");
        })
        .await;
}

#[tokio::test]
async fn viewers_with_huge_windows_that_read_nothing() {
    let flags = ["--spectators=off", "--write-stall=1s"];
    let scene = Scene::set(&flags).await;
    scene
        .attack(async |address, match_id| {
            let mut builder = h2::client::Builder::new();
            builder.initial_window_size(1 << 30).initial_connection_window_size(1 << 30);
            let socket = connect(&address).await;
            let (mut calls, connection) = builder.handshake(socket).await.unwrap();
            let mut driving = JoinSet::new();
            driving.spawn(connection);
            let request = StreamViewRequest {
                match_id,
                after_version: Some(0),
                ..StreamViewRequest::default()
            };
            let mut kept = Vec::new();
            for _ in 0..100 {
                calls = calls.ready().await.unwrap();
                let (answer, mut sending) = calls.send_request(call("StreamView"), false).unwrap();
                sending.send_data(framed(&request), true).unwrap();
                kept.push(answer);
            }
            for answer in &mut kept {
                answer.await.expect("a stream");
            }
        })
        .await;
}

#[tokio::test]
async fn messages_that_are_too_large() {
    let scene = Scene::set(&[]).await;
    scene
        .attack(async |address, _| {
            let mut raw = MatchServiceClient::connect(format!("http://{address}")).await.unwrap();
            for _ in 0..20 {
                let match_id = "x".repeat(4 << 20);
                let status =
                    raw.get_match(GetMatchRequest { match_id }).await.expect_err("refused");
                // The server may be gone before all was sent: then the client has no reason to show.
                let reason = reason(&status);
                assert!(reason.is_none_or(|reason| reason == "MESSAGE_TOO_LARGE"), "{status}");
            }
        })
        .await;
}

#[tokio::test]
async fn tokens_that_are_guessed() {
    let scene = Scene::set(&[]).await;
    scene
        .attack(async |address, match_id| {
            let mut raw = MatchServiceClient::connect(format!("http://{address}")).await.unwrap();
            let mut refused = 0;
            for guess in 0..500 {
                let mut request = Request::new(GetMatchRequest { match_id: match_id.clone() });
                let bearer = format!("Bearer {guess}").parse().unwrap();
                request.metadata_mut().insert("authorization", bearer);
                let status = raw.get_match(request).await.expect_err("a guess");
                refused += usize::from(reason(&status).as_deref() == Some("RATE_LIMITED"));
            }
            assert!(refused >= 480, "{refused} of 500");
        })
        .await;
}

#[tokio::test]
async fn a_thousand_streams_that_are_cancelled() {
    let scene = Scene::set(&[]).await;
    scene
        .attack(async |address, match_id| {
            let raw = MatchServiceClient::connect(format!("http://{address}")).await.unwrap();
            for _ in 0..20 {
                let streams = (0..50).map(|_| {
                    let (mut raw, match_id) = (raw.clone(), match_id.clone());
                    let request = StreamViewRequest { match_id, ..StreamViewRequest::default() };
                    async move {
                        // Those of the round before may not be gone yet: some are one too many.
                        let _ = raw.stream_view(request).await;
                    }
                });
                join_all(streams).await;
            }
        })
        .await;
}
