//! Work that goes on to its end, even if nobody waits for it any more.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::trace::Span;

/// Does the work as part of whoever waits for it, and becomes a task of its own only when it is
/// dropped before its end: most callers stay, and a task for each change would cost them time.
pub(super) struct Uncut<F: Future<Output: Send + 'static> + Send + 'static> {
    work: Option<Pin<Box<F>>>,
    /// What it goes on in.
    span: Span,
    tasks: TaskTracker,
    /// Counts among the tasks from the beginning.
    _token: TaskTrackerToken,
}

impl<F: Future<Output: Send + 'static> + Send + 'static> Uncut<F> {
    pub(super) fn new(work: F, tasks: &TaskTracker) -> Self {
        let (work, tasks, token) = (Some(Box::pin(work)), tasks.clone(), tasks.token());
        Self { work, span: Span::here(), tasks, _token: token }
    }
}

impl<F: Future<Output: Send + 'static> + Send + 'static> Future for Uncut<F> {
    type Output = F::Output;

    /// # Panics
    /// When the work does, or when it has ended.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // Taken out, so that what panics is not done again.
        let mut work = self.work.take().expect("not polled after its end");
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl<F: Future<Output: Send + 'static> + Send + 'static> Drop for Uncut<F> {
    fn drop(&mut self) {
        // Without a runtime there is nothing left to go on in.
        if let (Some(work), Ok(runtime)) = (self.work.take(), Handle::try_current()) {
            self.tasks.spawn_on(self.span.clone().carry(work), &runtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn what_is_not_waited_for_goes_on_to_its_end() {
        let tasks = TaskTracker::new();
        let (go_on, wait) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let work = async move {
            wait.await.expect("told to go on");
            done.send(()).expect("someone waits");
        };
        let mut uncut = Box::pin(Uncut::new(work, &tasks));
        assert!(futures_util::poll!(&mut uncut).is_pending());
        drop(uncut);
        go_on.send(()).expect("it goes on");
        is_done.await.expect("it came to its end");
        tasks.close();
        tasks.wait().await;
    }

    #[tokio::test]
    async fn what_is_dropped_before_it_began_is_done_too() {
        let tasks = TaskTracker::new();
        let (done, is_done) = oneshot::channel();
        drop(Uncut::new(async move { done.send(()).expect("someone waits") }, &tasks));
        is_done.await.expect("it was done");
    }

    #[tokio::test]
    async fn the_end_of_all_tasks_waits_for_it() {
        let tasks = TaskTracker::new();
        let uncut = Uncut::new(async {}, &tasks);
        tasks.close();
        assert!(futures_util::poll!(Box::pin(tasks.wait())).is_pending());
        uncut.await;
        tasks.wait().await;
    }
}
