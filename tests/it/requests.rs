//! Requests that are slow to come, not of gRPC, or asked for more than an answer may hold.

use std::sync::Arc;

use bytes::Bytes;
use h2::client::Builder;
use parlor::client::reason;
use parlor::proto::catalog_service_client::CatalogServiceClient;
use parlor::proto::game_options::Game;
use parlor::proto::{GetGameRequest, NeonOptions};
use parlor::store::MemoryStore;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::Code;

use crate::instance::{Instance, Table};
use crate::wire::{Wire, call, status};

fn instance(flags: &[&str]) -> Instance {
    Instance::start(Arc::new(MemoryStore::default()), flags)
}

#[tokio::test]
async fn a_request_that_does_not_come_takes_no_place_and_ends_in_time() {
    let instance = instance(&["--in-flight=1", "--deadline=300ms"]);
    let table = Table::create(&instance.client(), Game::Neon(NeonOptions::default()), 2).await;
    let mut wire = Wire::connect(instance.address(), &Builder::new()).await;
    let mut kept = Vec::new();
    for begun in [&[][..], b"\0\0\0", b"\0\0\0\0\x10abc"] {
        let calls = wire.ready().await;
        let (answer, mut sending) = calls.send_request(call("SubmitAction"), false).unwrap();
        sending.send_data(begun.into(), false).unwrap();
        kept.push((answer, sending));
    }
    assert_eq!(table.play(4).await, 4, "others are answered meanwhile");
    for (answer, _sending) in kept {
        let answer = answer.await.expect("an answer");
        let status = status(answer.headers()).expect("a refusal");
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert_eq!(reason(&status).as_deref(), Some("DEADLINE_EXCEEDED"));
    }
    assert!(wire.lives());
}

#[tokio::test]
async fn what_is_not_of_grpc_is_refused_before_it_is_read() {
    let instance = instance(&[]);
    let mut wire = Wire::connect(instance.address(), &Builder::new()).await;
    for kind in ["text/html", "application/json", ""] {
        let mut request = call("GetView");
        request.headers_mut().insert("content-type", kind.parse().unwrap());
        let (answer, _sending) = wire.ready().await.send_request(request, false).unwrap();
        let answer = answer.await.expect("an answer");
        assert_eq!(answer.status(), 415, "{kind}");
        let status = status(answer.headers()).expect("a status");
        assert_eq!(reason(&status).as_deref(), Some("NOT_GRPC"));
    }
    assert!(wire.lives());
}

#[tokio::test]
async fn what_is_not_of_grpc_is_refused_over_http_1_too() {
    let instance = instance(&[]);
    for request in [
        "GET / HTTP/1.1\r\nhost: parlor\r\n\r\n",
        "POST /parlor.v1.MatchService/GetView HTTP/1.1\r\nhost: parlor\r\ncontent-type: text/html\r\n\
         content-length: 2\r\n\r\nhi",
        "POST /parlor.v1.MatchService/GetView HTTP/1.1\r\nhost: parlor\r\ncontent-length: no\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: parlor\r\nx-much: MUCH\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        let mut socket = TcpStream::connect(instance.address()).await.unwrap();
        let request = request.replace("MUCH", &"x".repeat(20_000));
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        socket.read_exact(&mut answer).await.expect("an answer");
        assert!(answer.starts_with(b"HTTP/1.1 4"), "{request}: {}", answer.escape_ascii());
    }
    instance.client().list_games().await.expect("it goes on");
}

#[tokio::test]
async fn what_is_compressed_is_refused_and_never_unpacked() {
    let instance = instance(&[]);
    let mut wire = Wire::connect(instance.address(), &Builder::new()).await;
    // A message that says that it is compressed, and how; or not how.
    let cases = [
        (Some("gzip"), Code::Unimplemented, None),
        (Some("zstd"), Code::Unimplemented, None),
        (None, Code::InvalidArgument, Some("MALFORMED_MESSAGE")),
    ];
    for (encoding, code, expected) in cases {
        let mut request = call("GetView");
        if let Some(encoding) = encoding {
            request.headers_mut().insert("grpc-encoding", encoding.parse().unwrap());
        }
        let (answer, mut sending) = wire.ready().await.send_request(request, false).unwrap();
        sending.send_data(Bytes::from_static(b"\x01\0\0\0\x04\x1f\x8b\x08\0"), true).unwrap();
        let answer = answer.await.expect("an answer");
        let status = status(answer.headers()).expect("a refusal");
        assert_eq!((status.code(), reason(&status).as_deref()), (code, expected), "{encoding:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_sent_and_is_our_fault() {
    let instance = instance(&["--max-answer=1024"]);
    let mut raw = CatalogServiceClient::connect(instance.url.clone()).await.unwrap();
    let request = GetGameRequest { game_id: "candy".to_owned() };
    let status = raw.get_game(request).await.expect_err("far too large");
    assert_eq!(status.code(), Code::Internal);
    assert_eq!(reason(&status).as_deref(), Some("ANSWER_TOO_LARGE"));
}
