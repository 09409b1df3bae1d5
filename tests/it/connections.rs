//! Connections, seen from the wire: when they are closed, and what they are told before.

use std::sync::Arc;
use std::time::Duration;

use parlor::store::MemoryStore;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::eventually;
use crate::instance::Instance;
use crate::wire::{END_HEADERS, GOAWAY, HEADERS, HELLO, RST_STREAM, frame, headers};

fn instance(flags: &[&str]) -> Instance {
    Instance::start(Arc::new(MemoryStore::default()), flags)
}

async fn connect(instance: &Instance) -> TcpStream {
    TcpStream::connect(instance.address()).await.expect("it listens")
}

/// Everything that is sent until the connection is closed.
async fn rest(mut socket: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), socket.read_to_end(&mut bytes));
    // A reset is an end, too.
    let _ = read.await.expect("it is closed");
    bytes
}

/// The types of the frames, and the last four bytes of each, which say why a stream is reset.
fn frames(mut bytes: &[u8]) -> Vec<(u8, u32)> {
    let mut found = Vec::new();
    while let [a, b, c, kind, _, _, _, _, _, rest @ ..] = bytes {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let Some((payload, next)) = rest.split_at_checked(length) else { break };
        let why = payload.last_chunk().copied().map_or(0, u32::from_be_bytes);
        found.push((*kind, why));
        bytes = next;
    }
    found
}

/// Whether it is told to go.
fn is_told_to_go(bytes: &[u8]) -> bool {
    frames(bytes).iter().any(|&(kind, _)| kind == GOAWAY)
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let instance = instance(&["--preface=50ms", "--first-request=10s"]);
    assert_eq!(rest(connect(&instance).await).await, b"");
}

#[tokio::test]
async fn a_connection_that_asks_nothing_is_closed_and_one_that_asked_is_not() {
    let instance = instance(&["--preface=50ms", "--first-request=100ms"]);
    let asking = instance.raw().await;
    asking.clone().get_match(parlor::proto::GetMatchRequest::default()).await.unwrap_err();

    let mut silent = connect(&instance).await;
    silent.write_all(HELLO).await.unwrap();
    assert!(!is_told_to_go(&rest(silent).await), "it is cut off");
    // The silent one came later and is gone: the one that asked has outlived the same deadline.
    let status = asking.clone().get_match(parlor::proto::GetMatchRequest::default()).await;
    assert_eq!(status.unwrap_err().code(), tonic::Code::InvalidArgument);
}

#[tokio::test]
async fn a_connection_that_is_old_is_told_to_go() {
    let instance = instance(&["--connection-age=100ms"]);
    let mut socket = connect(&instance).await;
    socket.write_all(HELLO).await.unwrap();
    let mut bytes = Vec::new();
    let told = async {
        while !is_told_to_go(&bytes) {
            assert_ne!(socket.read_buf(&mut bytes).await.unwrap(), 0, "it was cut off untold");
        }
    };
    tokio::time::timeout(Duration::from_secs(5), told).await.expect("it is told");
}

#[tokio::test]
async fn a_stream_too_many_on_a_connection_is_refused_and_the_others_go_on() {
    const REFUSED_STREAM: u32 = 7;
    let instance = instance(&["--connection-streams=3"]);
    let mut socket = connect(&instance).await;
    let calls = (0..5).map(|call| frame(HEADERS, END_HEADERS, 1 + 2 * call, &headers("GetView")));
    socket.write_all(&[HELLO, &calls.collect::<Vec<_>>().concat()].concat()).await.unwrap();
    let mut bytes = Vec::new();
    // Two are refused; the requests of the others do not come, so that their time runs out.
    let told = async {
        loop {
            let told = frames(&bytes);
            let refused = told.iter().filter(|&&told| told == (RST_STREAM, REFUSED_STREAM));
            let answered = told.iter().filter(|(kind, _)| *kind == HEADERS);
            if (refused.count(), answered.count()) == (2, 3) {
                break;
            }
            assert_ne!(socket.read_buf(&mut bytes).await.unwrap(), 0, "it was cut off");
        }
    };
    tokio::time::timeout(Duration::from_secs(10), told).await.expect("it is told");
    assert!(!is_told_to_go(&bytes));
}

#[tokio::test]
async fn a_connection_too_many_is_closed_at_once_and_there_is_room_again_later() {
    let instance = instance(&["--connections=2"]);
    let mut kept = Vec::new();
    for _ in 0..2 {
        let mut socket = connect(&instance).await;
        socket.write_all(HELLO).await.unwrap();
        assert_ne!(socket.read(&mut [0; 64]).await.unwrap(), 0, "the server's settings");
        kept.push(socket);
    }
    assert_eq!(rest(connect(&instance).await).await, b"");
    kept.pop();
    eventually("there is room again", async || {
        let mut socket = connect(&instance).await;
        socket.write_all(HELLO).await.ok()?;
        socket.read(&mut [0; 64]).await.ok().filter(|&read| read > 0)
    })
    .await;
}
