//! Where a game reports what happens.

/// Takes the events of a game in the order in which they happen.
///
/// An event is handed over as a closure, so that a sink that keeps nothing pays nothing.
pub trait Sink<E> {
    /// Takes one event.
    fn report(&mut self, event: impl FnOnce() -> E);
}

/// Keeps nothing: for simulations, and wherever only the state counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl<E> Sink<E> for NoEvents {
    fn report(&mut self, _event: impl FnOnce() -> E) {}
}

impl<E> Sink<E> for Vec<E> {
    fn report(&mut self, event: impl FnOnce() -> E) {
        self.push(event());
    }
}

/// Hands each event on as another type.
#[derive(Debug)]
pub struct Mapped<'a, S, F> {
    sink: &'a mut S,
    change: F,
}

impl<'a, S, F> Mapped<'a, S, F> {
    /// A sink that hands what `change` makes of each event on to `sink`.
    pub fn new(sink: &'a mut S, change: F) -> Self {
        Self { sink, change }
    }
}

impl<A, B, S: Sink<B>, F: Fn(A) -> B> Sink<A> for Mapped<'_, S, F> {
    fn report(&mut self, event: impl FnOnce() -> A) {
        let change = &self.change;
        self.sink.report(|| change(event()));
    }
}
