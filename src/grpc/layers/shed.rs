//! Refuses calls that are too many at once, or that would take memory that there is not, before
//! anything is done for them.
//!
//! Not more are let in than can be answered in time: those that are too many would make all late.
//! While the process takes too much memory, it takes no more matches and streams, and goes on with
//! those that it has.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either, Ready, ready};
use http::{Request, Response};
use tokio::sync::Semaphore;
use tonic::body::Body;
use tower::{Layer, Service};

use crate::connections::Cause;
use crate::grpc::errors::Fault;
use crate::memory::Memory;

/// What our own services are called; health and reflection are always answered.
const OURS: &str = "/parlor.";

/// What keeps memory for longer than it takes to answer.
const KEEPING: [&str; 2] =
    ["/parlor.v1.MatchService/CreateMatch", "/parlor.v1.MatchService/StreamView"];

/// Lets only so many calls in at once, of all services that have a clone of it. A stream counts
/// until it is open.
#[derive(Clone, Debug)]
pub struct ShedLayer {
    room: Option<Arc<Semaphore>>,
    memory: Memory,
}

impl ShedLayer {
    /// Lets so many in, all without a number, and what keeps memory as long as there is some.
    #[must_use]
    pub fn new(most: Option<usize>, memory: Memory) -> Self {
        let room = most.map(|most| Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))));
        Self { room, memory }
    }
}

impl<S> Layer<S> for ShedLayer {
    type Service = ShedService<S>;

    fn layer(&self, inner: S) -> ShedService<S> {
        ShedService { inner, room: self.room.clone(), memory: self.memory.clone() }
    }
}

/// See [`ShedLayer`].
#[derive(Clone, Debug)]
pub struct ShedService<S> {
    inner: S,
    room: Option<Arc<Semaphore>>,
    memory: Memory,
}

type Answer<E> = Result<Response<Body>, E>;

impl<S, B> Service<Request<B>> for ShedService<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future =
        Either<Either<S::Future, BoxFuture<'static, Answer<S::Error>>>, Ready<Answer<S::Error>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let path = request.uri().path();
        if self.memory.is_full() && KEEPING.contains(&path) {
            return Either::Right(ready(Ok(refusal(Cause::Memory))));
        }
        let room = self.room.as_ref().filter(|_| path.starts_with(OURS));
        match room.map(|room| Arc::clone(room).try_acquire_owned()) {
            None => Either::Left(Either::Left(self.inner.call(request))),
            Some(Ok(permit)) => {
                let answer = self.inner.call(request);
                let answer = answer.map(move |answer| {
                    drop(permit);
                    answer
                });
                Either::Left(Either::Right(answer.boxed()))
            }
            Some(Err(_)) => Either::Right(ready(Ok(refusal(Cause::Overload)))),
        }
    }
}

/// The answer to who is turned away; it says to the layers around why.
fn refusal(cause: Cause) -> Response<Body> {
    let mut response = Fault::OVERLOADED.with_retry().into_http();
    response.extensions_mut().insert(cause);
    response
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tokio::sync::Barrier;
    use tower::{ServiceExt as _, service_fn};

    use super::*;

    fn asking(path: &str) -> Request<()> {
        Request::builder().uri(path).body(()).expect("a request")
    }

    fn is_refused(response: &Response<Body>) -> bool {
        super::super::early_status(response.headers())
            .is_some_and(|status| status.message() == Fault::OVERLOADED.message)
    }

    #[tokio::test]
    async fn without_memory_what_would_keep_some_is_refused_before_anything_is_done_for_it() {
        let inner =
            service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(Body::default())));
        let service = ShedLayer::new(Some(1), Memory::full()).layer(inner);
        let calls = [
            ("/parlor.v1.MatchService/CreateMatch", Some(Cause::Memory)),
            ("/parlor.v1.MatchService/StreamView", Some(Cause::Memory)),
            ("/parlor.v1.MatchService/SubmitAction", None),
            ("/parlor.v1.MatchService/GetView", None),
            ("/grpc.health.v1.Health/Check", None),
        ];
        for (path, cause) in calls {
            let Ok(answer) = service.clone().oneshot(asking(path)).await;
            assert_eq!(answer.extensions().get().copied(), cause, "{path}");
            assert_eq!(is_refused(&answer), cause.is_some(), "{path}");
        }
    }

    #[tokio::test]
    async fn a_call_too_many_is_refused_and_health_is_always_answered() {
        let both = Arc::new(Barrier::new(2));
        let inner = service_fn(|request: Request<()>| {
            let both = Arc::clone(&both);
            async move {
                if request.uri().path().ends_with("Slow") {
                    both.wait().await;
                }
                Ok::<_, Infallible>(Response::new(Body::default()))
            }
        });
        let service = ShedLayer::new(Some(1), Memory::default()).layer(inner);
        let ask = |path: &str| service.clone().oneshot(asking(path));
        let first = ask("/parlor.v1.MatchService/Slow");
        let others = async {
            let Ok(refused) = ask("/parlor.v1.MatchService/Quick").await;
            let Ok(health) = ask("/grpc.health.v1.Health/Check").await;
            both.wait().await;
            (is_refused(&refused), is_refused(&health))
        };
        let (Ok(first), others) = tokio::join!(first, others);
        assert_eq!((is_refused(&first), others), (false, (true, false)));
        let Ok(later) = ask("/parlor.v1.MatchService/Quick").await;
        assert!(!is_refused(&later));
    }
}
