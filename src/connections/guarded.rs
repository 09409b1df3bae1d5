//! One connection, ended when it says nothing, takes nothing, or is too old.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_rustls::server::TlsStream;

use super::{Limits, Peer, Slot};

/// How much a caller says before it is clear what it speaks: the preface of HTTP/2.
const PREFACE: usize = 24;

/// A connection, plain or encrypted.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {
    /// Has the system reset it when it is dropped, rather than keep what was written until it is read:
    /// for minutes, where nobody reads.
    fn reset_on_drop(&self);
}

impl Connection for TcpStream {
    fn reset_on_drop(&self) {
        // It fails only where there is no connection any more.
        let _ = self.set_zero_linger();
    }
}

impl<S: Connection> Connection for TlsStream<S> {
    fn reset_on_drop(&self) {
        self.get_ref().0.reset_on_drop();
    }
}

/// A connection with deadlines; past one it is reset.
///
/// They are looked at whenever it is read from, which whoever serves it does all the time.
pub struct Guarded {
    io: Box<dyn Connection>,
    peer: Peer,
    limits: Limits,
    since: Instant,
    /// How many bytes were heard; no more are counted than matter.
    heard: usize,
    /// Since when nothing could be written.
    stalled: Option<Instant>,
    /// Wakes whoever serves it when the next deadline has passed.
    alarm: Pin<Box<Sleep>>,
    /// Lets the next one in when this is dropped.
    _slot: Slot,
}

impl Guarded {
    pub(super) fn new(
        io: impl Connection + 'static,
        peer: Peer,
        slot: Slot,
        limits: Limits,
    ) -> Self {
        let since = Instant::now();
        let alarm = Box::pin(sleep_until(since + limits.preface));
        Self { io: Box::new(io), peer, limits, since, heard: 0, stalled: None, alarm, _slot: slot }
    }

    pub(super) fn peer(&self) -> Peer {
        self.peer.clone()
    }

    /// The next deadline, and what is wrong once it has passed.
    fn deadline(&self) -> (Instant, &'static str) {
        let first = if self.heard < PREFACE {
            (self.since + self.limits.preface, "it said nothing")
        } else if !self.peer.has_asked() {
            (self.since + self.limits.first_request, "it asked nothing")
        } else {
            (self.since + self.limits.hard_age, "it is too old")
        };
        let stall = self.stalled.map(|at| (at + self.limits.write_stall, "it reads nothing"));
        stall.into_iter().fold(first, std::cmp::min)
    }

    /// An error, once a deadline has passed.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let (at, why) = self.deadline();
        if self.alarm.deadline() != at {
            self.alarm.as_mut().reset(at);
        }
        if self.alarm.as_mut().poll(context).is_pending() {
            return Ok(());
        }
        tracing::debug!(peer = %self.peer.address, why, "a connection was ended");
        self.io.reset_on_drop();
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    }

    /// Notes whether it takes what is written.
    fn wrote<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
        } else {
            self.stalled.get_or_insert_with(Instant::now);
            self.check(context)?;
        }
        written
    }
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        self.heard = PREFACE.min(self.heard + buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.wrote(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(context, slices);
        self.wrote(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(context);
        self.wrote(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(context);
        self.wrote(context, shut)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::net::TcpListener;

    use super::super::{Http2, Open};
    use super::*;

    pub(in super::super) const LIMITS: Limits = Limits {
        most: 1,
        preface: Duration::from_secs(5),
        first_request: Duration::from_secs(10),
        write_stall: Duration::from_secs(20),
        age: Duration::from_secs(600),
        hard_age: Duration::from_secs(1200),
        tcp_keepalive: Duration::from_secs(60),
        stream_stall: Duration::from_secs(10),
        http2: Http2 {
            streams: 100,
            stream_window: 64 * 1024,
            connection_window: 256 * 1024,
            headers: 8 * 1024,
            frame: 16 * 1024,
            send_buffer: 64 * 1024,
            pending_resets: 20,
            error_resets: 256,
            keepalive: Duration::from_secs(30),
            keepalive_timeout: Duration::from_secs(10),
        },
    };

    impl Connection for DuplexStream {
        fn reset_on_drop(&self) {}
    }

    fn guard(near: impl Connection + 'static) -> Guarded {
        let slot = Open::default().one_more(1).expect("the first");
        let peer = Peer::new("127.0.0.1:1".parse().expect("an address"));
        Guarded::new(near, peer, slot, LIMITS)
    }

    fn guarded() -> (DuplexStream, Guarded) {
        let (far, near) = duplex(64);
        (far, guard(near))
    }

    /// Reads until the end, and says after how many seconds that came, and why.
    async fn ended(mut guarded: Guarded) -> (u64, String) {
        let since = Instant::now();
        let error = guarded.read_to_end(&mut Vec::new()).await.expect_err("it is ended");
        (since.elapsed().as_secs(), error.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_ended_and_who_says_too_little() {
        let (_far, guarded) = guarded();
        assert_eq!(ended(guarded).await, (5, "it said nothing".to_owned()));
        let (mut far, guarded) = self::guarded();
        far.write_all(b"PRI * HTTP/2.0").await.expect("written");
        assert_eq!(ended(guarded).await, (5, "it said nothing".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_nothing_is_ended_and_who_asks_may_stay_until_it_is_too_old() {
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        let (mut far, guarded) = guarded();
        far.write_all(preface).await.expect("written");
        assert_eq!(ended(guarded).await, (10, "it asked nothing".to_owned()));
        let (mut far, guarded) = self::guarded();
        far.write_all(preface).await.expect("written");
        guarded.peer().asks();
        assert_eq!(ended(guarded).await, (1200, "it is too old".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_nothing_is_ended_and_who_reads_slowly_is_not() {
        let (mut far, mut guarded) = guarded();
        guarded.heard = PREFACE;
        guarded.peer.asks();
        let since = Instant::now();
        let written = tokio::join!(guarded.write_all(&[0; 256]), async {
            for _ in 0..2 {
                tokio::time::sleep(Duration::from_secs(15)).await;
                far.read_exact(&mut [0; 64]).await.expect("read");
            }
        });
        assert_eq!(written.0.expect_err("it is ended").to_string(), "it reads nothing");
        assert_eq!(since.elapsed().as_secs(), 50);
    }

    /// Otherwise the system keeps what it has of it, and the caller can read on.
    #[tokio::test]
    async fn what_was_written_to_who_reads_nothing_is_forgotten_with_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut far = TcpStream::connect(listener.local_addr().expect("one")).await.expect("met");
        let mut guarded = guard(listener.accept().await.expect("met").0);
        guarded.heard = PREFACE;
        guarded.peer.asks();
        guarded.limits.write_stall = Duration::from_millis(50);
        let error = guarded.write_all(&vec![0; 64 << 20]).await.expect_err("it is ended");
        assert_eq!(error.to_string(), "it reads nothing");
        drop(guarded);
        let error = far.read_to_end(&mut Vec::new()).await.expect_err("it is reset");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[test]
    fn no_more_are_open_than_may_be() {
        let open = Open::default();
        let (first, second) = (open.one_more(2), open.one_more(2));
        assert!(first.is_some() && second.is_some() && open.one_more(2).is_none());
        drop(first);
        assert!(open.one_more(2).is_some());
    }
}
