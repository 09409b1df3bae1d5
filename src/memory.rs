//! How much memory the process takes, and whether that is more than it may.
//!
//! Each connection, stream and match is bounded, and so are their numbers, but all of them at their
//! bounds together take more than any instance is given. So the whole is watched too: while there is
//! too much of it, whatever would take more is turned away, and what is under way goes on.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use memory_stats::memory_stats;

/// How often it is looked at.
const PERIOD: Duration = Duration::from_millis(100);

/// How often memory was found to be full.
static ASKED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What that number was when this thread gave back memory last.
    static GIVEN: Cell<usize> = const { Cell::new(0) };
}

/// Knows whether the process takes more memory than it may. Clones know the same.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// How much it may take, in bytes; nothing for as much as there is.
    most: Option<usize>,
    full: Arc<AtomicBool>,
}

impl Memory {
    /// The process may take so many bytes; nothing where the system does not say how much it takes.
    pub fn new(most: Option<usize>) -> Option<Self> {
        if most.is_some() {
            resident()?;
        }
        Some(Self { most, full: Arc::default() })
    }

    /// One that is full.
    #[cfg(test)]
    pub(crate) fn full() -> Self {
        Self { most: None, full: Arc::new(AtomicBool::new(true)) }
    }

    /// Whether it takes too much.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Looks from now on for ever, and does this whenever it has become too much.
    pub async fn watch(&self, relieve: impl Fn()) {
        let Some(most) = self.most else { return std::future::pending().await };
        loop {
            if let Some(resident) = resident()
                && let Some(is_full) = self.judge(resident, most)
            {
                if is_full {
                    tracing::warn!(resident, most, "memory is full: nothing new is let in");
                    relieve();
                } else {
                    tracing::info!(resident, most, "there is memory again");
                }
            }
            if self.is_full() {
                ASKED.fetch_add(1, Ordering::Relaxed);
                give_back();
            }
            tokio::time::sleep(PERIOD).await;
        }
    }

    /// Whether so much is too much, where that has changed. There is room again only once a tenth is
    /// free, so that what is let in then is not turned away at once.
    fn judge(&self, resident: usize, most: usize) -> Option<bool> {
        let was_full = self.is_full();
        let is_full = resident > if was_full { most - most / 10 } else { most };
        // Others may look too: only one of them says so.
        (self.full.swap(is_full, Ordering::Relaxed) != is_full).then_some(is_full)
    }
}

/// How much memory of this process is in use, in bytes, where the system says it.
fn resident() -> Option<usize> {
    memory_stats().map(|stats| stats.physical_mem)
}

/// Lets the allocator give back to the system what this thread has freed, if memory was found to be
/// full since it did so last. To be called on every thread when it has nothing else to do: freed memory
/// that nobody gives back would keep everybody out for ever.
///
/// mimalloc keeps what a thread has freed until that thread looks through it, which it does with every
/// ten thousandth allocation that is not small.
pub fn give_back() {
    const ALLOCATIONS: usize = 10_000;
    const NOT_SMALL: usize = 4096;
    let asked = ASKED.load(Ordering::Relaxed);
    if GIVEN.replace(asked) != asked {
        for _ in 0..ALLOCATIONS {
            drop(std::hint::black_box(Vec::<u8>::with_capacity(NOT_SMALL)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_full_above_what_it_may_take_until_a_tenth_is_free() {
        let memory = Memory::new(Some(1000)).expect("the system says it");
        let seen = [999, 1000, 1001, 950, 1001, 901, 900, 1000, 1001];
        let told = seen.map(|resident| memory.judge(resident, 1000));
        let (full, free) = (Some(true), Some(false));
        assert_eq!(told, [None, None, full, None, None, None, free, None, full]);
        assert!(memory.clone().is_full());
    }

    #[tokio::test(start_paused = true)]
    async fn what_can_be_given_up_is_given_up_once() {
        let memory = Memory::new(Some(1)).expect("the system says it");
        let relieved = Cell::new(0);
        let watching = memory.watch(|| relieved.set(relieved.get() + 1));
        let _ = tokio::time::timeout(PERIOD * 10, watching).await;
        assert_eq!((memory.is_full(), relieved.get()), (true, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_it_is_never_full() {
        let memory = Memory::new(None).expect("nobody is asked");
        let _ = tokio::time::timeout(PERIOD * 10, memory.watch(|| ())).await;
        assert!(!memory.is_full());
    }
}
