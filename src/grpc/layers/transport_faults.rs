//! Gives the faults that the transport finds in a request a code and a reason of ours.
//!
//! Our own statuses always have details; one without them was made below us. A message that cannot
//! be decoded is answered there with `INTERNAL`, and one that is too large with `OUT_OF_RANGE`:
//! both are the caller's doing, and `INTERNAL` is to stay a sign of mistakes of ours.

use http::Response;
use tonic::body::Body;
use tonic::{Code, Status};

use super::early_status;
use crate::grpc::errors::Fault;

/// The response, with the transport's status replaced by ours where that says more.
pub fn explain(response: Response<Body>, max_request: usize) -> Response<Body> {
    match early_status(response.headers()) {
        Some(status) if status.details().is_empty() => match ours(&status, max_request) {
            Some(ours) => ours.into_http(),
            None => response,
        },
        _ => response,
    }
}

fn ours(status: &Status, max_request: usize) -> Option<Status> {
    match status.code() {
        Code::Internal => Some(Fault::MALFORMED_MESSAGE.status()),
        Code::OutOfRange => {
            Some(Fault::MESSAGE_TOO_LARGE.with_metadata("maxBytes", max_request as u64))
        }
        _ => None,
    }
}
