//! Who takes part in a simulation takes turns on one thread, and whose turn it is comes from the seed.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use rand::RngExt as _;

use super::Rng;

/// Futures that are all driven to their end, in an order that the seed alone decides.
///
/// A runtime polls tasks in the order in which they were woken, and wakes those who wait for the same
/// in an order of its own. Here it only matters who is awake.
pub struct Actors<'a> {
    all: Vec<Option<Pin<Box<dyn Future<Output = ()> + 'a>>>>,
    turns: Arc<Turns>,
    chance: Rng,
}

/// Who is awake, and how to say so.
#[derive(Default)]
struct Turns {
    awake: Mutex<BTreeSet<usize>>,
    caller: Mutex<Option<Waker>>,
}

/// Wakes one of them.
struct Turn {
    of: usize,
    turns: Arc<Turns>,
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        self.turns.awake.lock().unwrap().insert(self.of);
        let caller = self.turns.caller.lock().unwrap().take();
        caller.into_iter().for_each(Waker::wake);
    }
}

impl<'a> Actors<'a> {
    pub fn new(chance: Rng) -> Self {
        Self { all: Vec::new(), turns: Arc::default(), chance }
    }

    pub fn add(&mut self, actor: impl Future<Output = ()> + 'a) {
        self.turns.awake.lock().unwrap().insert(self.all.len());
        self.all.push(Some(Box::pin(actor)));
    }

    /// Any of those who are awake.
    fn any(&mut self) -> Option<usize> {
        let mut awake = self.turns.awake.lock().unwrap();
        if awake.is_empty() {
            return None;
        }
        let chosen = self.chance.random_range(0..awake.len());
        let of = awake.iter().copied().nth(chosen)?;
        awake.remove(&of);
        Some(of)
    }
}

impl Future for Actors<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        *self.turns.caller.lock().unwrap() = Some(context.waker().clone());
        // A few turns, and then those of the tasks that run beside.
        for _ in 0..self.chance.random_range(1..=3) {
            let Some(of) = self.any() else { break };
            let waker = Waker::from(Arc::new(Turn { of, turns: Arc::clone(&self.turns) }));
            let actor = &mut self.all[of];
            let done = actor.as_mut().is_none_or(|actor| {
                actor.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
            });
            if done {
                *actor = None;
            }
        }
        if self.all.iter().all(Option::is_none) {
            return Poll::Ready(());
        }
        if !self.turns.awake.lock().unwrap().is_empty() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
