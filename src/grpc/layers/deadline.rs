//! Reads `grpc-timeout`, and refuses what cannot be read or is already over.

use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::{Either, Ready, ready};
use http::{HeaderMap, Request, Response};
use tonic::body::Body;
use tower::{Layer, Service};

use crate::grpc::Deadlines;
use crate::grpc::errors::Fault;

/// How much sooner than the caller a call ends here, so that the caller gets our answer and not its
/// own: a tenth of its time, but no more than this.
const HEAD_START: Duration = Duration::from_millis(5);

/// Puts on each request until when it may take.
#[derive(Clone, Copy, Debug)]
pub struct DeadlineLayer(pub Deadlines);

impl<S> Layer<S> for DeadlineLayer {
    type Service = DeadlineService<S>;

    fn layer(&self, inner: S) -> DeadlineService<S> {
        DeadlineService { inner, deadlines: self.0 }
    }
}

/// See [`DeadlineLayer`].
#[derive(Clone, Debug)]
pub struct DeadlineService<S> {
    inner: S,
    deadlines: Deadlines,
}

impl<S, B> Service<Request<B>> for DeadlineService<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<Response<Body>, S::Error>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let refuse = |fault: Fault| Either::Right(ready(Ok(fault.status().into_http())));
        match timeout(request.headers()) {
            Err(Unreadable) => refuse(Fault::INVALID_TIMEOUT),
            Ok(Some(timeout)) if timeout < Duration::from_millis(1) => {
                refuse(Fault::DEADLINE_EXCEEDED)
            }
            Ok(timeout) => {
                let time =
                    timeout.map(|timeout| timeout.saturating_sub(HEAD_START.min(timeout / 10)));
                request.extensions_mut().insert(self.deadlines.after(time));
                Either::Left(self.inner.call(request))
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Unreadable;

/// The time that the caller gives: at most eight digits and a unit, as the gRPC protocol says.
fn timeout(headers: &HeaderMap) -> Result<Option<Duration>, Unreadable> {
    let Some(value) = headers.get("grpc-timeout") else { return Ok(None) };
    let text = value.to_str().map_err(|_| Unreadable)?;
    let (digits, unit) = text.split_at_checked(text.len().wrapping_sub(1)).ok_or(Unreadable)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Unreadable);
    }
    let count: u64 = digits.parse().map_err(|_| Unreadable)?;
    let timeout = match unit {
        "H" => Duration::from_secs(count * 60 * 60),
        "M" => Duration::from_secs(count * 60),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return Err(Unreadable),
    };
    Ok(Some(timeout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_digits_and_a_unit_and_nothing_else_is() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-timeout", text.parse().expect("a header value"));
            timeout(&headers)
        };
        assert_eq!(read("250m"), Ok(Some(Duration::from_millis(250))));
        assert_eq!(read("0n"), Ok(Some(Duration::ZERO)));
        assert_eq!(read("99999999H"), Ok(Some(Duration::from_secs(99_999_999 * 3600))));
        for text in ["", "m", "5", "5x", "-5m", "5.5S", "123456789m", "5 m", "5mm"] {
            assert_eq!(read(text), Err(Unreadable), "{text:?}");
        }
        assert_eq!(timeout(&HeaderMap::new()), Ok(None));
    }
}
