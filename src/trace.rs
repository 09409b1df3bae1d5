//! What every layer may know of traces: which one it works in, how a call joins that of its caller,
//! and how what came of an action is linked to it when it is delivered later.
//!
//! Spans are written with `tracing`, under the target `span`; only those of recorded traces are made
//! at all. All others have no more than their id, for log lines. What exports spans is
//! [installed](install) when the process starts; without it, there are no traces.

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::OnceLock;

use tracing::Span;

/// The trace that something belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its id.
    pub id: u128,
    /// Whether its spans are exported.
    pub recorded: bool,
}

/// The id, in hexadecimal.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.id)
    }
}

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
    /// The trace that these headers name, or else a new one; and the span that begins there, made
    /// only if it is recorded.
    fn join(&self, headers: &Headers<'_>, begin: &dyn Fn() -> Span) -> (Trace, Span);

    /// The span that is entered here, if it is recorded.
    fn origin(&self) -> Option<Origin>;

    /// Links a span to another.
    fn link(&self, span: &Span, origin: Origin);
}

/// The headers of a call, by their names.
pub type Headers<'a> = dyn Fn(&str) -> Option<String> + 'a;

static TRACER: OnceLock<Box<dyn Tracer>> = OnceLock::new();

thread_local! {
    static HERE: Cell<Option<Trace>> = const { Cell::new(None) };
}

/// Exports the spans of this process from now on. Only the first call counts.
pub fn install(tracer: Box<dyn Tracer>) {
    let _ = TRACER.set(tracer);
}

/// See [`Tracer::join`]; no trace, where none are exported.
pub fn join(headers: &Headers<'_>, begin: impl Fn() -> Span) -> (Option<Trace>, Span) {
    match TRACER.get().map(|tracer| tracer.join(headers, &begin)) {
        Some((trace, span)) => (Some(trace), span),
        None => (None, Span::none()),
    }
}

/// The trace that is worked in here.
pub fn here() -> Option<Trace> {
    HERE.get()
}

/// Works in this trace.
pub fn within<T>(trace: Option<Trace>, work: impl FnOnce() -> T) -> T {
    /// Goes back to what was before, also when the work panics.
    struct Before(Option<Trace>);
    impl Drop for Before {
        fn drop(&mut self) {
            HERE.set(self.0);
        }
    }
    let _before = Before(HERE.replace(trace));
    work()
}

/// Works in this trace, whenever it is polled.
pub async fn carry<F: Future>(trace: Option<Trace>, work: F) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|context| within(trace, || work.as_mut().poll(context))).await
}

/// A span of what is done here, made only if the trace is recorded.
///
/// Nobody else sees to that: to `tracing`, layers that each want nothing of a span want it together.
pub fn span(make: impl FnOnce() -> Span) -> Span {
    if here().is_some_and(|trace| trace.recorded) { make() } else { Span::none() }
}

/// See [`Tracer::origin`].
pub fn origin() -> Option<Origin> {
    here().filter(|trace| trace.recorded).and_then(|_| TRACER.get()?.origin())
}

/// See [`Tracer::link`].
pub fn link(span: &Span, origin: Origin) {
    if let Some(tracer) = TRACER.get() {
        tracer.link(span, origin);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    const ONE: Option<Trace> = Some(Trace { id: 1, recorded: false });
    const OTHER: Option<Trace> = Some(Trace { id: 2, recorded: true });

    #[test]
    fn a_trace_is_left_where_its_work_ends_even_in_a_panic() {
        let panicked = std::panic::catch_unwind(|| {
            within(ONE, || {
                within(OTHER, || assert_eq!(here(), OTHER));
                assert_eq!(here(), ONE);
                panic!("a mistake");
            });
        });
        assert!(panicked.is_err());
        assert_eq!(here(), None);
    }

    #[test]
    fn spans_are_made_only_where_they_are_recorded() {
        let count = Cell::new(0);
        for trace in [None, ONE, OTHER] {
            within(trace, || {
                span(|| {
                    count.set(count.get() + 1);
                    Span::none()
                })
            });
        }
        assert_eq!(count.get(), 1);
    }

    #[tokio::test]
    async fn work_is_in_its_trace_only_while_it_is_polled() {
        let polled = Cell::new(0);
        let mut work = pin!(carry(
            ONE,
            poll_fn(|_| {
                polled.set(polled.get() + 1);
                assert_eq!(here(), ONE);
                if polled.get() < 3 { Poll::Pending } else { Poll::Ready(()) }
            })
        ));
        poll_fn(|context| {
            let done = work.as_mut().poll(context);
            assert_eq!(here(), None);
            context.waker().wake_by_ref();
            done
        })
        .await;
        assert_eq!(polled.get(), 3);
    }
}
