//! Answers that wait for their readers, and are given up when those do not read.
//!
//! Over HTTP/2, a caller grants each answer room of its own. While there is none, the library below
//! keeps one part of the answer in hand and asks ours for no more, so that neither the answer nor
//! whoever makes it can notice how long that takes. What can is the task that sends it: each has one
//! of its own, and ending it resets the stream and frees all that it held. Other streams of the
//! connection, which may belong to other players behind the same proxy, are not touched.
//!
//! A part that found some room, however little, is out of sight in the buffer of its stream, which is
//! bounded. That it goes no further shows when the next part has to wait, such as a sign of life.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::rt::Executor;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::task::TaskTracker;
use tonic::Status;
use tonic::body::Body;

tokio::task_local! {
    static SENDING: Sending;
}

/// How far a task is with the answer that it sends.
#[derive(Debug, Default)]
struct Sending {
    /// Since when a part of it waits for its reader.
    waits: Cell<Option<Instant>>,
    /// Whether it waited for too long.
    given_up: Cell<bool>,
}

/// Whether the answer that is being dropped here was given up, because its reader did not read.
pub fn is_given_up() -> bool {
    SENDING.try_with(|sending| sending.given_up.get()).unwrap_or(false)
}

/// Runs the tasks that send answers.
#[derive(Clone, Debug)]
pub(super) struct Senders {
    tasks: TaskTracker,
    /// How long an answer may wait for its reader.
    patience: Duration,
}

impl Senders {
    pub(super) fn new(patience: Duration) -> Self {
        Self { tasks: TaskTracker::new(), patience }
    }
}

impl<F> Executor<F> for Senders
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    fn execute(&self, answer: F) {
        self.tasks.spawn(SENDING.scope(Sending::default(), send(answer, self.patience)));
    }
}

/// Sends an answer, unless its reader lets it wait for too long.
async fn send(answer: impl Future, patience: Duration) {
    let mut answer = pin!(answer);
    let mut alarm: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|context| {
        if answer.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let Some(since) = SENDING.with(|sending| sending.waits.get()) else {
            alarm = None;
            return Poll::Pending;
        };
        let deadline = since + patience;
        let alarm = alarm.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if alarm.deadline() != deadline {
            alarm.as_mut().reset(deadline);
        }
        let late = alarm.as_mut().poll(context);
        late.map(|()| SENDING.with(|sending| sending.given_up.set(true)))
    })
    .await;
}

/// An answer's body that notes when a part of it was taken to be sent. The part waits until the next
/// one is asked for.
#[derive(Debug)]
pub(super) struct Answer(pub(super) Body);

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = Pin::new(&mut self.0).poll_frame(context);
        // Over HTTP/1 the connection's own task sends, and who does not read stalls the connection.
        let taken = frame.is_ready().then(Instant::now);
        let _ = SENDING.try_with(|sending| sending.waits.set(taken));
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
