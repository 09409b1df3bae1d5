//! Reads requests whole before anything is done for them: none that is too large, too slow, or not
//! of gRPC gets any further.
//!
//! So whoever is slow to send takes no place from others, and how large a request may be is each
//! method's own affair.

use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::{BoxFuture, Either};
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use tokio::time::timeout_at;
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::methods::Method;
use crate::grpc::deadline::Deadline;
use crate::grpc::errors::Fault;

/// The method whose requests may be larger than others.
const CREATE_MATCH: &str = "parlor.v1.MatchService/CreateMatch";

/// What goes before a message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// How large messages may be, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct MessageSizes {
    /// A request for a new match, which can name many cards.
    pub creation: usize,
    /// Any other request.
    pub request: usize,
    /// An answer, or one message of a stream.
    pub answer: usize,
}

impl MessageSizes {
    /// How large a request of this method may be.
    fn of(&self, method: &Method) -> usize {
        if method.name == CREATE_MATCH { self.creation } else { self.request }
    }
}

/// Reads each request, in time and no further than it may be large.
#[derive(Clone, Copy, Debug)]
pub struct ReadLayer(pub MessageSizes);

impl<S> Layer<S> for ReadLayer {
    type Service = ReadService<S>;

    fn layer(&self, inner: S) -> ReadService<S> {
        ReadService { inner, sizes: self.0 }
    }
}

/// See [`ReadLayer`].
#[derive(Clone, Debug)]
pub struct ReadService<S> {
    inner: S,
    sizes: MessageSizes,
}

type Answer<E> = Result<Response<Body>, E>;

impl<S, B> Service<Request<B>> for ReadService<S>
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + 'static,
    S::Future: Send,
    B: http_body::Body<Data = Bytes, Error: Into<tonic::codegen::StdError>> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, BoxFuture<'static, Answer<S::Error>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let method = Method::of(request.uri().path());
        if method.asks_in_a_stream {
            return Either::Left(self.inner.call(request.map(Body::new)));
        }
        let most = self.sizes.of(method);
        // The one that was asked whether it is ready is the one to call.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        Either::Right(Box::pin(async move {
            if !is_grpc(&request) {
                let mut refusal = Fault::NOT_GRPC.status().into_http();
                *refusal.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                return Ok(refusal);
            }
            match read(request, most).await {
                Ok(request) => inner.call(request).await,
                Err(status) => Ok(status.into_http()),
            }
        }))
    }
}

fn is_grpc<B>(request: &Request<B>) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// The request with its whole message.
async fn read<B>(request: Request<B>, most: usize) -> Result<Request<Body>, Status>
where
    B: http_body::Body<Data = Bytes, Error: Into<tonic::codegen::StdError>>,
{
    let until = Deadline::of(request.extensions()).until;
    let (head, body) = request.into_parts();
    let read = timeout_at(until, Limited::new(body, most + PREFIX).collect()).await;
    match read.map_err(|_| Fault::DEADLINE_EXCEEDED.status())? {
        Ok(body) => Ok(Request::from_parts(head, Body::new(Full::new(body.to_bytes())))),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Fault::MESSAGE_TOO_LARGE.with_metadata("maxBytes", most as u64))
        }
        Err(_) => Err(Status::cancelled("the caller hung up")),
    }
}
