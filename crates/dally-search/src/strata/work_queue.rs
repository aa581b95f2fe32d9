//! Work that threads share: a list of entries, and the summary of who has none.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A list that threads take from and push to until it is empty and nobody works any more.
pub(crate) struct WorkQueue<T> {
    inside: Mutex<Work<T>>,
    changed: Condvar,
    idle: AtomicUsize,
    /// How many entries wait in the list, to be looked at without the lock.
    waiting: AtomicUsize,
}

/// How many times a thread looks whether there is something for it before it sleeps: to be woken
/// takes longer than most others need to push something.
const LOOKS: u32 = 1000;

/// What is left to do, and how many threads do some of it.
struct Work<T> {
    list: VecDeque<T>,
    working: usize,
}

impl<T> WorkQueue<T> {
    pub(crate) fn new() -> WorkQueue<T> {
        let inside = Work { list: VecDeque::new(), working: 0 };
        let (idle, waiting) = (AtomicUsize::new(0), AtomicUsize::new(0));
        WorkQueue { inside: Mutex::new(inside), changed: Condvar::new(), idle, waiting }
    }

    fn lock(&self) -> MutexGuard<'_, Work<T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be called by who has changed the list.
    fn recount(&self, inside: &Work<T>) {
        self.waiting.store(inside.list.len(), Ordering::Relaxed);
    }

    /// Puts in all that there is to do, before anybody takes. Whoever takes it is counted as
    /// working by itself.
    pub(crate) fn fill(&self, list: Vec<T>) {
        let mut inside = self.lock();
        inside.list = list.into();
        inside.working = 0;
        self.recount(&inside);
    }

    /// Takes out what nobody has taken.
    pub(crate) fn drain(&self) -> Vec<T> {
        let mut inside = self.lock();
        let list = std::mem::take(&mut inside.list);
        self.recount(&inside);
        list.into()
    }

    /// The oldest entry; waits while others may still push some. `None` when all is done, or
    /// when `halted` says so.
    pub(crate) fn take(&self, halted: impl Fn() -> bool) -> Option<T> {
        let mut inside = self.lock();
        loop {
            if halted() {
                return None;
            }
            if let Some(entry) = inside.list.pop_front() {
                inside.working += 1;
                self.recount(&inside);
                return Some(entry);
            }
            if inside.working == 0 {
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            drop(inside);
            self.look_out();
            inside = self.lock();
            if inside.list.is_empty() && inside.working > 0 {
                let waited = self.changed.wait_timeout(inside, Duration::from_millis(20));
                inside = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Looks for a while whether there is something to take.
    fn look_out(&self) {
        for _ in 0..LOOKS {
            if self.waiting.load(Ordering::Relaxed) > 0 {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// What was taken is done.
    pub(crate) fn done(&self) {
        let mut inside = self.lock();
        inside.working = inside.working.saturating_sub(1);
        if inside.working == 0 && self.has_idle_threads() {
            self.changed.notify_all();
        }
    }

    /// Whether somebody waits for work.
    #[inline]
    pub(crate) fn has_idle_threads(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// Work for somebody else.
    pub(crate) fn push(&self, entry: T) {
        let mut inside = self.lock();
        inside.list.push_back(entry);
        self.recount(&inside);
        drop(inside);
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn all_that_is_given_is_taken_once_by_any_number_of_threads() {
        for threads in [1, 3] {
            let queue = Arc::new(WorkQueue::new());
            let sum = Arc::new(AtomicU64::new(0));
            // Each number gives all below it: 2^n are taken for n.
            queue.fill(vec![10u64]);
            let hands: Vec<_> = (0..threads)
                .map(|_| {
                    let (queue, sum) = (queue.clone(), sum.clone());
                    std::thread::spawn(move || {
                        while let Some(n) = queue.take(|| false) {
                            sum.fetch_add(1, Ordering::Relaxed);
                            (0..n).for_each(|less| queue.push(less));
                            queue.done();
                        }
                    })
                })
                .collect();
            hands.into_iter().for_each(|hand| hand.join().unwrap());
            assert_eq!(sum.load(Ordering::Relaxed), 1 << 10);
        }
    }
}
