//! Hostile callers against the real command, with players beside them: none has an error, memory
//! stays within bounds, and afterwards all is as before. Each takes a few seconds at most.

mod scene;

use std::time::Duration;

use futures_util::future::join_all;
use h2::client::Builder;
use parlor::client::reason;
use parlor::proto::match_service_client::MatchServiceClient;
use parlor::proto::{GetMatchRequest, StreamViewRequest};
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};
use tonic::Request;

use self::scene::Scene;
use crate::wire::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, HELLO, PING, PREFACE, RST_STREAM,
    SETTINGS, WINDOW_UPDATE, Wire, call, frame, framed, headers,
};

/// For how long who can go on for ever does.
const FLOOD: Duration = Duration::from_secs(2);

async fn connect(address: &str) -> TcpStream {
    TcpStream::connect(address).await.expect("it listens")
}

/// Waits until the server has closed the connection.
async fn closed(mut socket: TcpStream) {
    // A reset is an end, too.
    let _ = socket.read_to_end(&mut Vec::new()).await;
}

/// Says this and then, again and again, that, and reads nothing; until the server takes no more of
/// it, or there was enough. Says whether the server ended it.
async fn flood(address: &str, first: &[u8], again: &[u8]) -> bool {
    let mut socket = connect(address).await;
    let again = again.repeat(1 + 16 * 1024 / again.len());
    let flooding = async {
        socket.write_all(first).await?;
        loop {
            socket.write_all(&again).await?;
        }
    };
    let ended: Result<Result<(), std::io::Error>, _> = timeout(FLOOD, flooding).await;
    ended.is_ok()
}

#[tokio::test]
async fn connections_that_say_nothing() {
    let scene = Scene::set(&["--preface=500ms", "--first-request=1s"]).await;
    scene
        .attack(async |address, _| {
            let sockets = join_all((0..300).map(|_| connect(address))).await;
            join_all(sockets.into_iter().map(closed)).await;
        })
        .await;
}

#[tokio::test]
async fn connections_that_are_too_many() {
    let scene = Scene::set(&["--connections=20", "--preface=500ms", "--first-request=500ms"]).await;
    scene
        .attack(async |address, _| {
            for _ in 0..10 {
                let sockets = join_all((0..100).map(|_| connect(address))).await;
                // All but some are closed at once, and those when they have asked nothing.
                join_all(sockets.into_iter().map(closed)).await;
            }
        })
        .await;
}

#[tokio::test]
async fn headers_that_come_a_byte_at_a_time() {
    let scene = Scene::set(&["--preface=1s", "--first-request=1s"]).await;
    scene
        .attack(async |address, _| {
            join_all((0..100).map(|_| async {
                let mut socket = connect(address).await;
                socket.write_all(HELLO).await.unwrap();
                let since = Instant::now();
                let slowly = headers("GetView").into_iter().cycle();
                for byte in
                    frame(HEADERS, 0, 1, &vec![0x82; 4096])[..9].iter().copied().chain(slowly)
                {
                    if socket.write_all(&[byte]).await.is_err() {
                        break;
                    }
                    assert!(since.elapsed() < Duration::from_secs(20), "it waits for ever");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }))
            .await;
        })
        .await;
}

#[tokio::test]
async fn headers_that_never_end() {
    let scene = Scene::set(&[]).await;
    scene
        .attack(async |address, _| {
            // Headers of stream 1 that go on, and go on, and never end.
            let first = [HELLO, &frame(HEADERS, 0, 1, &[0x82])].concat();
            let again = frame(CONTINUATION, 0, 1, &[0x82; 4096]);
            assert!(flood(address, &first, &again).await, "it takes them for ever");
        })
        .await;
}

#[tokio::test]
async fn headers_that_are_too_large() {
    let scene = Scene::set(&[]).await;
    scene
        .attack(async |address, _| {
            let mut wire = Wire::connect(address, &Builder::new()).await;
            // Who asks nothing that can be answered is ended for that, and not for its headers.
            let (answer, _) = wire.ready().await.send_request(call("GetView"), true).unwrap();
            assert_eq!(answer.await.expect("an answer").status(), 200);
            for _ in 0..500 {
                let mut request = call("GetView");
                request.headers_mut().insert("x-much", "x".repeat(12_000).parse().unwrap());
                let (answer, _) = wire.ready().await.send_request(request, true).unwrap();
                assert_eq!(answer.await.expect("an answer").status(), 431);
            }
            assert!(wire.lives());
        })
        .await;
}

#[tokio::test]
async fn settings_that_are_never_settled() {
    let scene = Scene::set(&["--write-stall=1s"]).await;
    scene
        .attack(async |address, _| {
            flood(address, HELLO, &frame(SETTINGS, 0, 0, &[])).await;
        })
        .await;
}

#[tokio::test]
async fn pings_without_number() {
    let scene = Scene::set(&["--write-stall=1s"]).await;
    scene
        .attack(async |address, _| {
            flood(address, HELLO, &frame(PING, 0, 0, &[7; 8])).await;
        })
        .await;
}

#[tokio::test]
async fn data_that_is_empty() {
    let scene = Scene::set(&["--write-stall=1s"]).await;
    scene
        .attack(async |address, _| {
            let headers = frame(HEADERS, END_HEADERS, 1, &headers("SubmitAction"));
            flood(address, &[HELLO, &headers].concat(), &frame(DATA, 0, 1, &[])).await;
        })
        .await;
}

#[tokio::test]
async fn calls_that_are_reset_as_soon_as_they_are_made() {
    let scene = Scene::set(&[]).await;
    scene
        .attack(async |address, _| {
            let headers = headers("GetView");
            let calls = (0..5000).map(|call| 1 + 2 * call);
            let calls = calls.flat_map(|stream| {
                let call = frame(HEADERS, END_HEADERS, stream, &headers);
                [call, frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])].concat()
            });
            let calls: Vec<u8> = calls.collect();
            for _ in 0..3 {
                let mut socket = connect(address).await;
                socket.write_all(HELLO).await.unwrap();
                // The server may have had enough before all is said.
                let _ = socket.write_all(&calls).await;
                timeout(FLOOD, closed(socket)).await.expect("it has enough of that");
            }
        })
        .await;
}

#[tokio::test]
async fn requests_that_never_come() {
    let scene = Scene::set(&["--deadline=1s", "--in-flight=16"]).await;
    scene
        .attack(async |address, _| {
            for _ in 0..3 {
                let mut wire = Wire::connect(address, &Builder::new()).await;
                let mut kept = Vec::new();
                for _ in 0..100 {
                    let calls = wire.ready().await;
                    kept.push(calls.send_request(call("SubmitAction"), false).unwrap());
                }
                join_all(kept.iter_mut().map(|(answer, _)| answer)).await;
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
async fn bytes_that_are_neither_http_1_nor_http_2() {
    const SEED: u64 = 1;
    let scene = Scene::set(&["--preface=500ms", "--first-request=1s"]).await;
    scene
        .attack(async |address, _| {
            let mut chance = ChaCha8Rng::seed_from_u64(SEED);
            let begun: [&[u8]; 8] = [
                b"",
                b"GET / HTTP/1.1\r\n",
                b"POST /parlor.v1.MatchService/GetView HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
                b"POST /parlor.v1.MatchService/GetView HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n",
                b"PRI * HTTP/2.0\r\n\r\n",
                HELLO,
                b"\x16\x03\x01\x02\x00\x01\x00",
                b"GET / HTTP/9.9\r\n\r\n",
            ];
            let sockets = (0..240).map(|i| {
                let mut said = begun[i % begun.len()].to_vec();
                let length = said.len();
                said.resize(length + chance.random_range(0..4000), 0);
                chance.fill_bytes(&mut said[length..]);
                async move {
                    let mut socket = connect(address).await;
                    // The server may be gone before all was said.
                    let _ = socket.write_all(&said).await;
                    closed(socket).await;
                }
            });
            timeout(Duration::from_secs(30), join_all(sockets)).await.expect("all are ended");
        })
        .await;
}

/// Asks to watch the match so many times on one connection, any of which may be sent a gigabyte, and
/// reads nothing; then only shows signs of life, until the server has ended it.
async fn watch_and_read_nothing(address: &str, match_id: &str, streams: u32) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut socket = socket.connect(address.parse().unwrap()).await.expect("it listens");
    let settings = frame(SETTINGS, 0, 0, b"\0\x04\x40\0\0\0");
    let window = frame(WINDOW_UPDATE, 0, 0, &(1_u32 << 30).to_be_bytes());
    let hello = [&HELLO[..PREFACE], &settings, &window].concat();
    let message = framed(&StreamViewRequest {
        match_id: match_id.to_owned(),
        after_version: Some(0),
        ..StreamViewRequest::default()
    });
    let asking = async {
        socket.write_all(&hello).await?;
        for stream in (1..2 * streams).step_by(2) {
            let call = frame(HEADERS, END_HEADERS, stream, &headers("StreamView"));
            let message = frame(DATA, END_STREAM, stream, &message);
            socket.write_all(&[call, message].concat()).await?;
        }
        loop {
            socket.write_all(&frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes())).await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let ended: Result<Result<(), std::io::Error>, _> =
        timeout(Duration::from_secs(30), asking).await;
    assert!(ended.expect("it is ended").is_err());
}

#[tokio::test]
async fn viewers_with_huge_windows_that_read_nothing() {
    let flags = ["--spectators=off", "--spectator-rate=off", "--write-stall=1s"];
    let scene = Scene::set(&flags).await;
    // So that there is much for each of them.
    scene.play_what_is_known().await;
    scene
        .attack(async |address, match_id| {
            // As many as a connection may have.
            join_all((0..4).map(|_| watch_and_read_nothing(address, match_id, 100))).await;
        })
        .await;
}

#[tokio::test]
async fn viewers_without_number_that_read_nothing() {
    let scene = Scene::set(&["--write-stall=1s"]).await;
    scene.play_what_is_known().await;
    scene
        .attack(async |address, match_id| {
            watch_and_read_nothing(address, match_id, u32::MAX / 4).await;
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
                let mut request = Request::new(GetMatchRequest { match_id: match_id.to_owned() });
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
async fn ten_thousand_streams_that_are_cancelled() {
    let scene = Scene::set(&["--spectators=50", "--spectator-rate=off"]).await;
    scene
        .attack(async |address, match_id| {
            let message = framed(&StreamViewRequest {
                match_id: match_id.to_owned(),
                ..StreamViewRequest::default()
            });
            let mut wire = Wire::connect(address, &Builder::new()).await;
            let mut begun = 0;
            while begun < 10_000 {
                let mut answers = Vec::new();
                for _ in 0..50 {
                    let calls = wire.ready().await;
                    let (answer, mut sending) =
                        calls.send_request(call("StreamView"), false).unwrap();
                    sending.send_data(message.clone(), true).unwrap();
                    answers.push(answer);
                }
                // Those of the round before may not be gone yet: some are one too many.
                let answers = join_all(answers).await;
                let answers = answers.into_iter().map(|answer| answer.expect("an answer"));
                begun +=
                    answers.filter(|answer| !answer.headers().contains_key("grpc-status")).count();
            }
            // Each place was given back, and none twice: there are as many as at first.
            let mut kept = Vec::new();
            while kept.len() < 50 {
                let calls = wire.ready().await;
                let (answer, mut sending) = calls.send_request(call("StreamView"), false).unwrap();
                sending.send_data(message.clone(), true).unwrap();
                let answer = answer.await.expect("an answer");
                if answer.headers().contains_key("grpc-status") {
                    tokio::task::yield_now().await;
                } else {
                    kept.push(answer);
                }
            }
            let calls = wire.ready().await;
            let (answer, mut sending) = calls.send_request(call("StreamView"), false).unwrap();
            sending.send_data(message, true).unwrap();
            let one_too_many = answer.await.expect("an answer");
            assert!(
                one_too_many.headers().contains_key("grpc-status"),
                "there is a place too many"
            );
        })
        .await;
}
