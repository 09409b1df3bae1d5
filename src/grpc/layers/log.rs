//! One line for each call, when it has ended: method, code, reason, duration.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, Response, Uri};
use http_body::{Frame, SizeHint};
use tokio::time::Instant;
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;
use tower::{Layer, Service};

/// Logs each call.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogLayer;

impl<S> Layer<S> for LogLayer {
    type Service = LogService<S>;

    fn layer(&self, inner: S) -> LogService<S> {
        LogService { inner }
    }
}

/// See [`LogLayer`].
#[derive(Clone, Debug)]
pub struct LogService<S> {
    inner: S,
}

impl<S, B> Service<Request<B>> for LogService<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let mut call = Call::new(request.uri().clone());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let response = answer.await?;
            if let Some(status) = super::early_status(response.headers()) {
                call.ended(&status);
            }
            Ok(response.map(|body| Body::new(LoggedBody { body, call })))
        })
    }
}

/// A call that is under way. It is logged once: when its status is known, or when it is dropped
/// without one, because the caller hung up.
#[derive(Debug)]
struct Call {
    /// Its path is the method.
    uri: Uri,
    began: Instant,
    logged: bool,
}

impl Call {
    fn new(uri: Uri) -> Self {
        Self { uri, began: Instant::now(), logged: false }
    }

    fn ended(&mut self, status: &Status) {
        if std::mem::replace(&mut self.logged, true) {
            return;
        }
        let millis = self.began.elapsed().as_secs_f64() * 1000.0;
        let (method, code) = (self.uri.path(), status.code());
        if code == Code::Ok {
            tracing::info!(method, ?code, millis, "call");
            return;
        }
        let details = status.get_error_details();
        let reason = details.error_info().map_or("", |info| info.reason.as_str());
        match code {
            Code::Internal | Code::DataLoss | Code::Unknown => {
                tracing::error!(method, ?code, reason, millis, "call failed");
            }
            Code::Unavailable | Code::ResourceExhausted => {
                tracing::warn!(method, ?code, reason, millis, "call failed");
            }
            _ => tracing::info!(method, ?code, reason, millis, "call refused"),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.ended(&Status::cancelled("the caller hung up"));
    }
}

/// A response's body that sees its trailers.
#[derive(Debug)]
struct LoggedBody {
    body: Body,
    call: Call,
}

impl LoggedBody {
    fn saw(&mut self, trailers: &HeaderMap) {
        // Most calls succeed, and then there is nothing more to read.
        if trailers.get("grpc-status").is_some_and(|code| code == "0") {
            self.call.ended(&Status::ok(""));
        } else if let Some(status) = Status::from_header_map(trailers) {
            self.call.ended(&status);
        }
    }
}

impl http_body::Body for LoggedBody {
    type Data = bytes::Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Status>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(trailers) = frame.trailers_ref()
        {
            self.saw(trailers);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
