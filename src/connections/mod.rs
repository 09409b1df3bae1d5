//! Accepted connections: how many there may be, and for how long each may say or take nothing.
//!
//! HTTP/2 has its own limits and signs of life, but they begin only once a caller speaks it: what
//! says nothing at all, or reads nothing, is ended here.

mod answers;
mod guarded;
mod serving;
mod tls;
mod turned_away;

use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{Stream, stream};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

pub use self::answers::is_given_up;
pub use self::guarded::Guarded;
pub use self::serving::serve;
pub use self::tls::{BadCertificates, Tls, TlsFiles};
pub use self::turned_away::{Cause, TurnedAway};
use crate::memory::Memory;

/// How long to wait when no connection can be accepted, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How much the system takes of what is written to a caller beyond what it can send, in bytes.
///
/// Linux would take up to 4 MiB, out of the memory of the container, for each who reads nothing.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 128 * 1024;

/// What a [`Limits::write_stall`] may be: TCP counts it in milliseconds.
pub const WRITE_STALLS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(24 * 24 * 60 * 60);

/// What a [`Limits::tcp_keepalive`] may be: TCP counts it in seconds, up to 32,767.
pub const TCP_KEEPALIVES: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(9 * 60 * 60);

/// What connections are allowed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many there may be at once.
    pub most: usize,
    /// How long a caller may take until it is clear what it speaks.
    pub preface: Duration,
    /// How long a caller may take until its first request.
    pub first_request: Duration,
    /// How long a caller may read nothing of what is written to it.
    pub write_stall: Duration,
    /// After how long it is told to go and come back; how it does is its own affair.
    pub age: Duration,
    /// After how long it is ended, whatever goes on.
    pub hard_age: Duration,
    /// How long it may be silent until TCP asks whether it is still there.
    pub tcp_keepalive: Duration,
    /// How long an answer may wait for its reader.
    pub stream_stall: Duration,
    /// What it may do over HTTP/2.
    pub http2: Http2,
}

/// What a connection may do over HTTP/2, sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Http2 {
    /// How many streams it may have open.
    pub streams: u32,
    /// What may be sent ahead to us on a stream.
    pub stream_window: u32,
    /// What may be sent ahead to us on all streams together.
    pub connection_window: u32,
    /// The most that the headers of a request may take.
    pub headers: u32,
    /// The most that a frame may hold.
    pub frame: u32,
    /// How much of an answer is kept for who does not read it.
    pub send_buffer: usize,
    /// How many streams may be reset before we have looked at them.
    pub pending_resets: usize,
    /// How many streams may be reset for what their caller did wrong.
    pub error_resets: usize,
    /// How long it may be silent until it is asked whether it is still there.
    pub keepalive: Duration,
    /// How long it may take to answer that.
    pub keepalive_timeout: Duration,
}

/// The connections that are open, counted. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Open(Arc<AtomicUsize>);

impl Open {
    /// Counts one more, if there may be one more.
    fn one_more(&self, most: usize) -> Option<Slot> {
        let one_more = |open| (open < most).then_some(open + 1);
        let counted = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        counted.ok().map(|_| {
            tracing::info!(name: "parlor.connections.open", target: "metric", value = 1);
            Slot(self.clone())
        })
    }
}

/// A connection's place among the open ones.
#[derive(Debug)]
struct Slot(Open);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
        tracing::info!(name: "parlor.connections.open", target: "metric", value = -1);
    }
}

/// Who is at the other end of a connection; every request of it carries this.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// Whether it has made a request.
    asked: Arc<AtomicBool>,
}

impl Peer {
    fn new(address: SocketAddr) -> Self {
        Self { address, asked: Arc::default() }
    }

    fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Notes that it makes a request.
    fn asks(&self) {
        if !self.has_asked() {
            self.asked.store(true, Ordering::Relaxed);
        }
    }
}

/// The connections that come in. One too many is accepted and closed, so that its caller knows.
///
/// Who is slow to agree on TLS keeps nobody else waiting.
pub fn incoming(
    listener: TcpListener,
    open: Open,
    limits: Limits,
    memory: Memory,
    tls: Option<Tls>,
    turned_away: TurnedAway,
) -> impl Stream<Item = Guarded> {
    let door = Door { listener, open, limits, memory, tls, turned_away, agreeing: JoinSet::new() };
    stream::unfold(door, |mut door| async move {
        let accepted = door.next().await;
        Some((accepted, door))
    })
}

/// Tells the system what a connection is allowed, where it decides that.
fn tune(socket: &TcpStream, limits: &Limits) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let socket = SockRef::from(socket);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(limits.tcp_keepalive))?;
    #[cfg(target_os = "linux")]
    {
        socket.set_tcp_notsent_lowat(UNSENT)?;
        // Also once it is closed here, when nobody else looks whether the rest of it is taken.
        socket.set_tcp_user_timeout(Some(limits.write_stall))?;
    }
    Ok(())
}

/// Where connections come in.
struct Door {
    listener: TcpListener,
    open: Open,
    limits: Limits,
    memory: Memory,
    tls: Option<Tls>,
    turned_away: TurnedAway,
    /// Those that are agreeing on TLS.
    agreeing: JoinSet<Option<Guarded>>,
}

impl Door {
    async fn next(&mut self) -> Guarded {
        loop {
            let accepted = tokio::select! {
                Some(agreed) = self.agreeing.join_next() => {
                    match agreed {
                        Ok(Some(agreed)) => return agreed,
                        Ok(None) | Err(_) => continue,
                    }
                }
                accepted = self.listener.accept() => accepted,
            };
            match accepted {
                Ok((socket, address)) => {
                    if let Some(accepted) = self.meet(socket, Peer::new(address)) {
                        return accepted;
                    }
                }
                Err(error) => {
                    self.turned_away.note(Cause::System);
                    tracing::debug!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// The connection, if it needs no TLS and there is room for it.
    fn meet(&mut self, socket: TcpStream, peer: Peer) -> Option<Guarded> {
        let limits = self.limits;
        if self.memory.is_full() {
            self.turned_away.note(Cause::Memory);
            return None;
        }
        let Some(slot) = self.open.one_more(limits.most) else {
            self.turned_away.note(Cause::Connections);
            return None;
        };
        tune(&socket, &limits).ok()?;
        let Some(tls) = &self.tls else {
            return Some(Guarded::new(socket, peer, slot, limits));
        };
        let agreed = tls.acceptor().accept(socket);
        self.agreeing.spawn(async move {
            match tokio::time::timeout(limits.preface, agreed).await {
                Ok(Ok(encrypted)) => Some(Guarded::new(encrypted, peer, slot, limits)),
                Ok(Err(error)) => {
                    tracing::debug!(peer = %peer.address, %error, "TLS was not agreed on");
                    None
                }
                Err(_) => {
                    tracing::debug!(peer = %peer.address, "TLS was not agreed on in time");
                    None
                }
            }
        });
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::pin::pin;

    use futures_util::StreamExt as _;
    use procfs::net::{TcpState, tcp};
    use tokio::io::AsyncWriteExt as _;

    use super::guarded::tests::LIMITS;
    use super::*;

    /// A connection, and this side of it.
    async fn met(limits: Limits) -> (TcpStream, Guarded) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (open, memory, turned_away) = Default::default();
        let mut incoming = pin!(incoming(listener, open, limits, memory, None, turned_away));
        let (far, near) = tokio::join!(TcpStream::connect(address), incoming.next());
        (far.expect("met"), near.expect("met"))
    }

    /// How many bytes can be written to who does not read.
    async fn fill(near: &mut Guarded) -> usize {
        let mut taken = 0;
        let writing = async {
            loop {
                taken += near.write(&[0; 16 * 1024]).await.expect("it may be slow");
            }
        };
        let _: Result<(), _> = tokio::time::timeout(Duration::from_millis(100), writing).await;
        taken
    }

    #[tokio::test]
    async fn the_system_allows_what_may_be_set() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let socket = TcpStream::connect(listener.local_addr().expect("one")).await.expect("met");
        for end in [RangeInclusive::start, RangeInclusive::end] {
            let (write_stall, tcp_keepalive) = (*end(&WRITE_STALLS), *end(&TCP_KEEPALIVES));
            tune(&socket, &Limits { write_stall, tcp_keepalive, ..LIMITS }).expect("allowed");
        }
    }

    #[tokio::test]
    async fn the_system_keeps_little_for_who_reads_nothing() {
        let (_far, mut near) = met(LIMITS).await;
        // What the other end takes before anyone reads there is not ours.
        let taken = fill(&mut near).await;
        assert!(taken < 1 << 20, "{taken} bytes");
    }

    #[tokio::test]
    async fn the_system_does_not_keep_it_for_long_when_the_connection_is_closed() {
        let write_stall = Duration::from_millis(500);
        let (far, mut near) = met(Limits { write_stall, ..LIMITS }).await;
        fill(&mut near).await;
        drop(near);
        let far = far.local_addr().expect("an address");
        let kept = || {
            let mut all = tcp().expect("what connections there are").into_iter();
            all.any(|one| one.remote_address == far && one.state == TcpState::FinWait1)
        };
        assert!(kept(), "nothing is left of it");
        let forgotten = async {
            while kept() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let forgotten = tokio::time::timeout(Duration::from_secs(20), forgotten).await;
        forgotten.expect("it is kept for ever");
    }
}
