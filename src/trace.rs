//! What every layer may know of traces: how a span joins the trace of a caller, and how what came of
//! an action is linked to it when it is delivered later.
//!
//! Spans are written with `tracing`, under the target `span`; they are not made at all unless
//! traces are exported. What exports them is [installed](install) when the process starts.

use std::fmt;
use std::sync::OnceLock;

use tracing::Span;

/// A span that is recorded, for links to it that outlive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The id of its trace.
    pub trace: [u8; 16],
    /// Its own id.
    pub span: [u8; 8],
}

/// What exports spans.
pub trait Tracer: fmt::Debug + Send + Sync {
    /// Makes a span that has not been entered yet part of the trace that these headers name, or of a
    /// new one. Gives the id of the trace, in hexadecimal.
    fn adopt(&self, span: &Span, headers: &dyn Fn(&str) -> Option<String>) -> Option<String>;

    /// The span that is entered here, if it is recorded.
    fn here(&self) -> Option<Origin>;

    /// Links a span to another.
    fn link(&self, span: &Span, origin: Origin);
}

static TRACER: OnceLock<Box<dyn Tracer>> = OnceLock::new();

/// Exports the spans of this process from now on. Only the first call counts.
pub fn install(tracer: Box<dyn Tracer>) {
    let _ = TRACER.set(tracer);
}

/// See [`Tracer::adopt`]; nothing, where no traces are exported.
pub fn adopt(span: &Span, headers: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    TRACER.get().and_then(|tracer| tracer.adopt(span, headers))
}

/// See [`Tracer::here`].
pub fn here() -> Option<Origin> {
    TRACER.get().and_then(|tracer| tracer.here())
}

/// See [`Tracer::link`].
pub fn link(span: &Span, origin: Origin) {
    if let Some(tracer) = TRACER.get() {
        tracer.link(span, origin);
    }
}
