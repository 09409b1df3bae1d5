//! What the operator sees of a call: a span, and when it has ended one line and one sample, with
//! method, code, reason and duration.
//!
//! The span belongs to the trace that the caller names, and the trace's id goes back to it. The span
//! of a stream ends when the stream has begun: what is delivered on it are spans of their own.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::{Frame, SizeHint};
use tokio::time::Instant;
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};
use tower::{Layer, Service};

use super::methods::Method;
use super::transport_faults::explain_end;
use crate::connections::{self, Cause, TurnedAway};
use crate::grpc::errors::Fault;
use crate::trace::{KeyValue, Span};

/// The header with the id of the trace that a call belongs to.
pub const TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");

/// Traces, counts and logs each call.
#[derive(Clone, Debug)]
pub struct CallLayer(pub TurnedAway);

impl<S> Layer<S> for CallLayer {
    type Service = CallService<S>;

    fn layer(&self, inner: S) -> CallService<S> {
        CallService { inner, turned_away: self.0.clone() }
    }
}

/// See [`CallLayer`].
#[derive(Clone, Debug)]
pub struct CallService<S> {
    inner: S,
    turned_away: TurnedAway,
}

impl<S, B> Service<Request<B>> for CallService<S>
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
        let method = Method::of(request.uri().path());
        let mut call = Call::new(method, request.headers(), self.turned_away.clone());
        let answer = call.span.clone().carry(call.span.within(|| self.inner.call(request)));
        Box::pin(async move {
            let mut response = answer.await?;
            call.cause = response.extensions().get().copied();
            if let Some(trace) = call.span.trace() {
                let mut id = HeaderValue::try_from(hex::encode(trace.to_bytes()))
                    .expect("hexadecimal digits");
                // It never comes again: compression is to remember other headers.
                id.set_sensitive(true);
                response.headers_mut().insert(TRACE_ID, id);
            }
            match super::early_status(response.headers()) {
                Some(status) => call.ended(&status),
                None if call.method.streams => call.began_to_stream(),
                None => {}
            }
            Ok(response.map(|body| Body::new(ObservedBody { body, call })))
        })
    }
}

/// A call that is under way. It is logged once: when its status is known, or when it is dropped
/// without one, because the caller hung up or does not read the answer.
#[derive(Debug)]
struct Call {
    method: &'static Method,
    began: Instant,
    ended: bool,
    /// Nothing, where no traces are exported.
    span: Span,
    turned_away: TurnedAway,
    /// Why the caller was turned away, where the reason alone does not say it.
    cause: Option<Cause>,
}

impl Call {
    fn new(method: &'static Method, headers: &HeaderMap, turned_away: TurnedAway) -> Self {
        let header = |name: &str| headers.get(name)?.to_str().ok();
        let span = Span::of_call(&header, method.name.as_str(), || {
            let method = KeyValue::new("rpc.method", method.name.as_str());
            vec![KeyValue::new("rpc.system.name", "grpc"), method]
        });
        Self { method, began: Instant::now(), ended: false, span, turned_away, cause: None }
    }

    /// The span does not live as long as the stream.
    fn began_to_stream(&mut self) {
        self.end_span(Code::Ok, "");
    }

    fn ended(&mut self, status: &Status) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let details = match status.code() {
            Code::Ok => ErrorDetails::new(),
            _ => status.get_error_details(),
        };
        let reason = details.error_info().map_or("", |info| info.reason.as_str());
        self.span.within(|| self.log(status.code(), reason));
        self.measure(status.code());
        count_refusal(reason);
        self.end_span(status.code(), reason);
    }

    fn end_span(&self, code: Code, reason: &str) {
        self.span.set("rpc.response.status_code", name(code));
        if !reason.is_empty() {
            self.span.set("parlor.reason", reason.to_owned());
        }
        if is_our_fault(code) {
            self.span.set("error.type", name(code));
            self.span.fail();
        }
        self.span.end();
    }

    fn measure(&self, code: Code) {
        let (method, code) = (self.method.name.as_str(), name(code));
        tracing::info!(name: "parlor.calls", target: "metric", method, code);
        if !self.method.streams {
            tracing::info!(
                name: "rpc.server.call.duration",
                target: "metric",
                value = self.began.elapsed().as_secs_f64(),
                rpc.method = method,
                rpc.response.status_code = code,
            );
        }
    }

    fn log(&self, code: Code, reason: &str) {
        let millis = self.began.elapsed().as_secs_f64() * 1000.0;
        let method = self.method.name.as_str();
        if let Some(cause) = self.cause.or_else(|| turned_away_for(reason)) {
            self.turned_away.note(cause);
            tracing::debug!(method, ?code, reason, millis, "call turned away");
            return;
        }
        match code {
            Code::Internal | Code::DataLoss | Code::Unknown => {
                tracing::error!(method, ?code, reason, millis, "call failed");
            }
            Code::Unavailable | Code::ResourceExhausted => {
                tracing::warn!(method, ?code, reason, millis, "call failed");
            }
            Code::Ok => tracing::info!(method, ?code, millis, "call"),
            _ => tracing::info!(method, ?code, reason, millis, "call refused"),
        }
    }
}

/// Why a caller was turned away, if that is what the reason says.
fn turned_away_for(reason: &str) -> Option<Cause> {
    let causes = [(Fault::RATE_LIMITED, Cause::Rate), (Fault::STREAM_QUOTA, Cause::Streams)];
    causes.into_iter().find(|(fault, _)| fault.reason == reason).map(|(_, cause)| cause)
}

/// Counts what was refused for its token; most calls were not.
fn count_refusal(reason: &str) {
    const TOKENS: [(Fault, &str); 5] = [
        (Fault::TOKEN_MISSING, "missing"),
        (Fault::TOKEN_INVALID, "invalid"),
        (Fault::TOKEN_EXPIRED, "expired"),
        (Fault::TOKEN_SCOPE, "scope"),
        (Fault::TOKEN_REVOKED, "revoked"),
    ];
    if let Some((_, reason)) = TOKENS.iter().find(|(fault, _)| fault.reason == reason) {
        tracing::info!(name: "parlor.tokens.refused", target: "metric", reason);
    }
}

/// The code as gRPC's own documents write it.
fn name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// Whether the code tells of a failure of this server, as the conventions for spans see it.
fn is_our_fault(code: Code) -> bool {
    matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    )
}

impl Drop for Call {
    fn drop(&mut self) {
        if connections::is_given_up() {
            self.ended(&Fault::SLOW_CONSUMER.status());
        } else {
            self.ended(&Status::cancelled("the caller hung up"));
        }
    }
}

/// A response's body that sees its trailers.
#[derive(Debug)]
struct ObservedBody {
    body: Body,
    call: Call,
}

impl ObservedBody {
    fn saw(&mut self, trailers: &mut HeaderMap) {
        // Most calls succeed, and then there is nothing more to read.
        if trailers.get("grpc-status").is_some_and(|code| code == "0") {
            self.call.ended(&Status::ok(""));
        } else if let Some(status) = Status::from_header_map(trailers) {
            self.call.ended(&explain_end(trailers, status));
        }
    }
}

impl http_body::Body for ObservedBody {
    type Data = bytes::Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Status>>> {
        let mut frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &mut frame
            && let Some(trailers) = frame.trailers_mut()
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
