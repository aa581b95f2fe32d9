//! The frontier of a stratum: its entries, and which threads wait for one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The work of one stratum: entries that threads take and add until all are done.
///
/// A search fills it, has all its threads take entries, and drains the rest if it was stopped. What
/// lies beyond the bound of the stratum is not added here but given to the next [`Frontier::fill`].
///
/// [`WorkQueue`] is the one for the threads of a process. One for many processes has to hold to
/// the same contract: each entry is taken once, and [`Frontier::take`] answers `None` only when no
/// entry is left *and* all that were taken are [done](Frontier::done), since until then a worker
/// may add more. Its entries travel as [`WrittenEntry`](super::WrittenEntry).
///
/// ```
/// use dally_search::strata::{Frontier, WorkQueue};
///
/// let frontier = WorkQueue::default();
/// frontier.fill(vec![3]);
/// let mut taken = Vec::new();
/// while let Some(entry) = frontier.take(&|| false) {
///     taken.push(entry);
///     (0..entry).for_each(|more| frontier.push(more));
///     frontier.done();
/// }
/// assert_eq!(taken, [3, 0, 1, 2, 0, 0, 1, 0]);
/// ```
pub trait Frontier<T>: Send + Sync {
    /// Puts in the entries of a stratum, before any thread takes one.
    fn fill(&self, entries: Vec<T>);

    /// Takes out the entries that no thread has taken.
    fn drain(&self) -> Vec<T>;

    /// An entry; waits while others may add some. `None` when all are done, or if `stopped`.
    fn take(&self, stopped: &dyn Fn() -> bool) -> Option<T>;

    /// Takes up to so many entries more, if there are so many that no thread will miss them. Only
    /// who has taken one takes more, and each of them is to be [done](Frontier::done).
    fn take_more(&self, most: usize, into: &mut VecDeque<T>) {
        let _ = (most, into);
    }

    /// The calling thread has finished an entry that it took.
    fn done(&self);

    /// Adds an entry, for any thread.
    fn push(&self, entry: T);

    /// Whether a thread waits for work: then the others should [push](Frontier::push) a part of
    /// theirs. Asked often, so it has to be fast.
    fn has_idle_threads(&self) -> bool;
}

/// The frontier of the threads of a process: first in, first out.
pub struct WorkQueue<T> {
    inside: Mutex<Work<T>>,
    changed: Condvar,
    idle: AtomicUsize,
    /// The length of the list, to be read without the lock.
    waiting: AtomicUsize,
}

/// How often a thread looks for an entry before it sleeps: waking up takes longer than most pushes.
const LOOKS: u32 = 1000;

/// Of so many entries that wait, a thread takes one more than it needs at once.
const PLENTY: usize = 64;

struct Work<T> {
    list: VecDeque<T>,
    working: usize,
}

impl<T> Default for WorkQueue<T> {
    fn default() -> WorkQueue<T> {
        let inside = Work { list: VecDeque::new(), working: 0 };
        let (idle, waiting) = (AtomicUsize::new(0), AtomicUsize::new(0));
        WorkQueue { inside: Mutex::new(inside), changed: Condvar::new(), idle, waiting }
    }
}

impl<T> WorkQueue<T> {
    fn lock(&self) -> MutexGuard<'_, Work<T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called after each change of the list.
    fn recount(&self, inside: &Work<T>) {
        self.waiting.store(inside.list.len(), Ordering::Relaxed);
    }

    fn spin(&self) {
        for _ in 0..LOOKS {
            if self.waiting.load(Ordering::Relaxed) > 0 {
                return;
            }
            std::hint::spin_loop();
        }
    }
}

impl<T: Send> Frontier<T> for WorkQueue<T> {
    fn fill(&self, entries: Vec<T>) {
        let mut inside = self.lock();
        inside.list = entries.into();
        inside.working = 0;
        self.recount(&inside);
    }

    fn drain(&self) -> Vec<T> {
        let mut inside = self.lock();
        let list = std::mem::take(&mut inside.list);
        self.recount(&inside);
        list.into()
    }

    fn take(&self, stopped: &dyn Fn() -> bool) -> Option<T> {
        let mut inside = self.lock();
        loop {
            if stopped() {
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
            self.spin();
            inside = self.lock();
            if inside.list.is_empty() && inside.working > 0 {
                let waited = self.changed.wait_timeout(inside, Duration::from_millis(20));
                inside = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn take_more(&self, most: usize, into: &mut VecDeque<T>) {
        let mut inside = self.lock();
        let more = most.min(inside.list.len() / PLENTY);
        into.extend(inside.list.drain(..more));
        inside.working += more;
        self.recount(&inside);
    }

    fn done(&self) {
        let mut inside = self.lock();
        inside.working = inside.working.saturating_sub(1);
        if inside.working == 0 && self.has_idle_threads() {
            self.changed.notify_all();
        }
    }

    fn push(&self, entry: T) {
        let mut inside = self.lock();
        inside.list.push_back(entry);
        self.recount(&inside);
        drop(inside);
        self.changed.notify_one();
    }

    #[inline]
    fn has_idle_threads(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
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
            let queue = Arc::new(WorkQueue::default());
            let sum = Arc::new(AtomicU64::new(0));
            // Each number adds all below it, so n gives 2^n entries.
            queue.fill(vec![10u64]);
            let spawned: Vec<_> = (0..threads)
                .map(|_| {
                    let (queue, sum) = (queue.clone(), sum.clone());
                    std::thread::spawn(move || {
                        while let Some(n) = queue.take(&|| false) {
                            sum.fetch_add(1, Ordering::Relaxed);
                            (0..n).for_each(|less| queue.push(less));
                            queue.done();
                        }
                    })
                })
                .collect();
            spawned.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(sum.load(Ordering::Relaxed), 1 << 10);
        }
    }
}
