//! What concerns every call alike, one concern a file.

mod calls;
mod deadline;
mod methods;
mod read;
mod shed;
mod transport_faults;

pub use self::calls::{CallLayer, TRACE_ID};
pub use self::deadline::DeadlineLayer;
pub use self::read::{MessageSizes, ReadLayer};
pub use self::shed::ShedLayer;
pub use self::transport_faults::explain;

/// The status that a response begins with, if it is already the end: a refusal has no body.
fn early_status(headers: &http::HeaderMap) -> Option<tonic::Status> {
    headers.get("grpc-status").and_then(|_| tonic::Status::from_header_map(headers))
}
