//! Serving connections: HTTP/2 or HTTP/1 on each, until it ends, is old, or all are told to go.
//!
//! tonic could do that too, but it would keep to itself what is needed here: who runs the tasks
//! that [send answers](super::answers), how much of an answer is kept for who does not read, and how
//! old each connection gets.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rand::RngExt as _;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tower::{Service, ServiceExt as _};

use super::answers::{Answer, Senders};
use super::{Guarded, Http2, Limits};

/// Serves connections as they come in, until `stop`; then lets no more in, tells those that there
/// are to go, and waits until they have.
pub async fn serve<S>(
    incoming: impl Stream<Item = Guarded>,
    service: S,
    limits: Limits,
    stop: impl Future<Output = ()>,
) where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
{
    let builder = builder(&limits);
    let leave = CancellationToken::new();
    let mut open = JoinSet::new();
    {
        let (mut incoming, mut stop) = (pin!(incoming), pin!(stop));
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(_) = open.join_next() => {}
                Some(accepted) = incoming.next() => {
                    let going = told_to_go(limits.age, leave.clone());
                    open.spawn(attend(accepted, builder.clone(), service.clone(), going));
                    // However many come at once, those that are there have their turn in between.
                    tokio::task::yield_now().await;
                }
            }
        }
    }
    leave.cancel();
    while open.join_next().await.is_some() {}
}

fn builder(limits: &Limits) -> Builder<Senders> {
    let Http2 {
        streams,
        stream_window,
        connection_window,
        headers,
        frame,
        send_buffer,
        pending_resets,
        error_resets,
        keepalive,
        keepalive_timeout,
    } = limits.http2;
    let mut builder = Builder::new(Senders::new(limits.stream_stall));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(streams)
        .initial_stream_window_size(stream_window)
        .initial_connection_window_size(connection_window)
        .max_header_list_size(headers)
        .max_frame_size(frame)
        .max_send_buf_size(send_buffer)
        .max_pending_accept_reset_streams(pending_resets)
        .max_local_error_reset_streams(error_resets)
        .keep_alive_interval(keepalive)
        .keep_alive_timeout(keepalive_timeout);
    // With a timer, headers that take longer than half a minute end the connection.
    builder.http1().timer(TokioTimer::new()).max_buf_size(HTTP1_BUFFER.max(headers as usize));
    builder
}

/// The least that HTTP/1 reads at once.
const HTTP1_BUFFER: usize = 8 * 1024;

/// Waits until a connection is to go: because it is old, by its own measure so that those that came
/// together do not come back together, or because all are.
async fn told_to_go(age: Duration, leave: CancellationToken) {
    #[expect(clippy::disallowed_methods, reason = "nothing of a match depends on it")]
    let age = age.mul_f64(rand::rng().random_range(0.9..=1.1));
    // Whatever comes first.
    let _ = tokio::time::timeout(age, leave.cancelled()).await;
}

/// Serves one connection.
async fn attend<S>(
    accepted: Guarded,
    builder: Builder<Senders>,
    service: S,
    going: impl Future<Output = ()>,
) where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
{
    let peer = accepted.peer();
    let service = service
        .map_request(move |mut request: Request<Incoming>| {
            peer.asks();
            request.extensions_mut().insert(peer.clone());
            request.map(Body::new)
        })
        .map_response(|response| response.map(Answer));
    let service = TowerToHyperService::new(service);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(accepted), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = going => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error, "a connection has failed");
    }
}
