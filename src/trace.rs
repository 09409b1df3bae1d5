//! What every layer may know of traces: spans, how a call joins the trace of its caller, and how what
//! came of an action is linked to it when it is delivered later.
//!
//! A span is one of OpenTelemetry, and what is done in it is done in its context: whatever begins
//! meanwhile is part of it. Only spans of recorded traces are made, but for that of a call, which
//! carries the trace's id to log lines and to the caller. What makes spans is [installed](install)
//! when the process starts; without it, there are no traces.

use std::sync::OnceLock;

pub use opentelemetry::KeyValue;
use opentelemetry::propagation::Extractor;
use opentelemetry::trace::{
    FutureExt as _, Link, SpanBuilder, SpanContext, SpanId, Status, TraceContextExt as _,
    TraceFlags, TraceState, WithContext,
};
pub use opentelemetry::trace::{SpanKind, TraceId};
use opentelemetry::{Context, global};

/// Begins a span in a context, and gives the context in it.
type Begin = dyn Fn(SpanBuilder, &Context) -> Context + Send + Sync;

static BEGIN: OnceLock<Box<Begin>> = OnceLock::new();

/// Makes the spans of this process from now on. Only the first call counts.
pub fn install(begin: impl Fn(SpanBuilder, &Context) -> Context + Send + Sync + 'static) {
    let _ = BEGIN.set(Box::new(begin));
}

/// The id of the trace that is worked in here.
pub fn here() -> Option<TraceId> {
    Context::map_current(id)
}

fn id(context: &Context) -> Option<TraceId> {
    let span = context.span();
    let span = span.span_context();
    span.is_valid().then(|| span.trace_id())
}

/// A header of a call, by its name.
pub type Header<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

/// The headers that say which trace a call belongs to.
struct Headers<'a>(Header<'a>);

impl Extractor for Headers<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        (self.0)(name)
    }

    fn keys(&self) -> Vec<&str> {
        Vec::new()
    }
}

/// A span; nothing, where none is recorded. Clones are the same one: it ends with the last of them,
/// or [before](Self::end).
#[derive(Clone, Debug, Default)]
pub struct Span(Option<Context>);

impl Span {
    /// The span of a call: in the trace that its headers name or else, and also where they are
    /// malformed, in a new one.
    pub fn of_call(
        header: Header<'_>,
        name: &'static str,
        attributes: impl FnOnce() -> Vec<KeyValue>,
    ) -> Self {
        let Some(begin) = BEGIN.get() else { return Self::default() };
        let caller = match header("traceparent") {
            None => Context::new(),
            Some(_) => global::get_text_map_propagator(|propagator| {
                propagator.extract_with_context(&Context::new(), &Headers(header))
            }),
        };
        let call = begin(SpanBuilder::from_name(name).with_kind(SpanKind::Server), &caller);
        // Most are not recorded: what they would say of themselves is not made.
        if call.span().is_recording() {
            call.span().set_attributes(attributes());
        }
        Self(Some(call))
    }

    /// A span of a part of what is done here.
    pub fn part(name: &'static str) -> Self {
        Self::begin(name, SpanKind::Internal, Vec::new)
    }

    /// A span of what is done here.
    pub fn begin(
        name: &'static str,
        kind: SpanKind,
        attributes: impl FnOnce() -> Vec<KeyValue>,
    ) -> Self {
        let Some(begin) = BEGIN.get() else { return Self::default() };
        Self(Context::map_current(|here| {
            here.span().span_context().is_sampled().then(|| {
                let span = SpanBuilder::from_name(name).with_kind(kind);
                begin(span.with_attributes(attributes()), here)
            })
        }))
    }

    /// A span in a trace of its own, linked to another.
    pub fn linked(
        origin: Origin,
        name: &'static str,
        kind: SpanKind,
        attributes: Vec<KeyValue>,
    ) -> Self {
        let link = Link::with_context(SpanContext::new(
            origin.trace,
            origin.span,
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        ));
        let span = SpanBuilder::from_name(name).with_kind(kind);
        let span = span.with_attributes(attributes).with_links(vec![link]);
        Self(BEGIN.get().map(|begin| begin(span, &Context::new())))
    }

    /// The span that is worked in here.
    pub fn here() -> Self {
        Self(Context::map_current(|here| here.has_active_span().then(|| here.clone())))
    }

    /// The id of its trace.
    pub fn trace(&self) -> Option<TraceId> {
        self.0.as_ref().and_then(id)
    }

    /// Works in it.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _here = self.0.clone().map(Context::attach);
        work()
    }

    /// Works in it, whenever the work is polled.
    pub fn carry<F: Future>(self, work: F) -> WithContext<F> {
        match self.0 {
            Some(context) => work.with_context(context),
            None => work.with_current_context(),
        }
    }

    /// Says more of it.
    pub fn set(&self, key: &'static str, value: impl Into<opentelemetry::Value>) {
        if let Some(context) = &self.0 {
            context.span().set_attribute(KeyValue::new(key, value));
        }
    }

    /// Says that what was done failed.
    pub fn fail(&self) {
        if let Some(context) = &self.0 {
            context.span().set_status(Status::error(""));
        }
    }

    /// Ends it, whoever still works in it.
    pub fn end(&self) {
        if let Some(context) = &self.0 {
            context.span().end();
        }
    }
}

/// A span that is recorded, for links to it that outlive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    trace: TraceId,
    span: SpanId,
}

impl Origin {
    /// The span that is worked in here, if it is recorded.
    pub fn here() -> Option<Self> {
        Context::map_current(|here| {
            let span = here.span();
            let span = span.span_context();
            span.is_sampled().then(|| Self { trace: span.trace_id(), span: span.span_id() })
        })
    }
}
