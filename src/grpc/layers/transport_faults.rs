//! Gives the faults that the transport finds in a message a code and a reason of ours.
//!
//! Our own statuses always have details; one without them was made below us. A request that cannot
//! be decoded is answered there with `INTERNAL`: it is the caller's doing, and `INTERNAL` is to stay
//! a sign of mistakes of ours. One of those is an answer that is too large, which is called
//! `OUT_OF_RANGE` there.

use http::{HeaderMap, Response};
use tonic::body::Body;
use tonic::{Code, Status};

use super::early_status;
use crate::grpc::errors::Fault;

/// The response, with the transport's status replaced by ours where that says more.
pub fn explain(response: Response<Body>) -> Response<Body> {
    match early_status(response.headers()) {
        Some(status) if is_bare(&status, Code::Internal) => {
            Fault::MALFORMED_MESSAGE.status().into_http()
        }
        _ => response,
    }
}

/// The status of an answer that had begun, replaced by ours where that says more.
pub(super) fn explain_end(trailers: &mut HeaderMap, status: Status) -> Status {
    if !is_bare(&status, Code::OutOfRange) {
        return status;
    }
    let ours = Fault::ANSWER_TOO_LARGE.status();
    // It has no characters that a header cannot have.
    let _ = ours.add_header(trailers);
    ours
}

fn is_bare(status: &Status, code: Code) -> bool {
    status.code() == code && status.details().is_empty()
}
