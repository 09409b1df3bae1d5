//! Calls as HTTP/2 sees them, for callers that no library would let be what they are.

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tonic::Status;

/// What an HTTP/2 client says first: the preface, and settings of which none is set.
pub const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// How long the preface is in that.
pub const PREFACE: usize = 24;

/// Types of frames.
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

/// Flags of frames.
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// A frame, as it is written.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short payload").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The headers of a call of a method of the match service, compressed as little as can be.
pub fn headers(method: &str) -> Vec<u8> {
    let path = format!("/parlor.v1.MatchService/{method}");
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    // POST, http, a path, and two headers of other names.
    let mut block = vec![0x83, 0x86, 0x04];
    block.extend(text(&path));
    for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
        block.extend([vec![0], text(name), text(value)].concat());
    }
    block
}

/// A connection of HTTP/2.
pub struct Wire {
    pub calls: SendRequest<Bytes>,
    driving: JoinSet<Result<(), h2::Error>>,
}

impl Wire {
    /// Connects, with windows and whatever else is set.
    pub async fn connect(address: &str, builder: &Builder) -> Self {
        let socket = TcpStream::connect(address).await.expect("it listens");
        let (calls, connection) = builder.handshake(socket).await.expect("HTTP/2");
        let mut driving = JoinSet::new();
        driving.spawn(connection);
        Self { calls, driving }
    }

    /// Waits until another call may be made.
    pub async fn ready(&mut self) -> &mut SendRequest<Bytes> {
        self.calls = self.calls.clone().ready().await.expect("there is room");
        &mut self.calls
    }

    /// Whether the connection has not ended.
    pub fn lives(&mut self) -> bool {
        self.driving.try_join_next().is_none()
    }
}

/// The status in these headers or trailers.
pub fn status(headers: &http::HeaderMap) -> Option<Status> {
    Status::from_header_map(headers)
}

/// A call of a method of the match service.
pub fn call(method: &str) -> http::Request<()> {
    http::Request::post(format!("http://parlor.test/parlor.v1.MatchService/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .expect("a request")
}

/// A message with its length before it.
pub fn framed(message: &impl prost::Message) -> Bytes {
    let body = message.encode_to_vec();
    let length = u32::try_from(body.len()).expect("a short message").to_be_bytes();
    [&[0], &length[..], &body].concat().into()
}
