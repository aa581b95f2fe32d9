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
    list: Mutex<VecDeque<T>>,
    changed: Condvar,
    idle: AtomicUsize,
    /// The length of the list, to be read without the lock.
    waiting: AtomicUsize,
    /// How many entries are taken and not done. It rises under the lock, and what is done has pushed all
    /// it will push: whoever has the lock and sees neither entries nor work knows that there is none.
    working: AtomicUsize,
}

/// How often a thread looks for an entry before it sleeps: waking up takes longer than most pushes.
const LOOKS: u32 = 1000;

/// Of so many entries that wait, a thread takes one more than it needs at once.
const PLENTY: usize = 64;

impl<T> Default for WorkQueue<T> {
    fn default() -> WorkQueue<T> {
        let list = Mutex::new(VecDeque::new());
        let [idle, waiting, working] = [const { AtomicUsize::new(0) }; 3];
        WorkQueue { list, changed: Condvar::new(), idle, waiting, working }
    }
}

impl<T> WorkQueue<T> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called after each change of the list.
    fn recount(&self, list: &VecDeque<T>) {
        self.waiting.store(list.len(), Ordering::Relaxed);
    }

    fn is_working(&self) -> bool {
        self.working.load(Ordering::SeqCst) > 0
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
        let mut list = self.lock();
        *list = entries.into();
        self.working.store(0, Ordering::SeqCst);
        self.recount(&list);
    }

    fn drain(&self) -> Vec<T> {
        let mut list = self.lock();
        let all = std::mem::take(&mut *list);
        self.recount(&list);
        all.into()
    }

    fn take(&self, stopped: &dyn Fn() -> bool) -> Option<T> {
        let mut list = self.lock();
        loop {
            if stopped() {
                return None;
            }
            if let Some(entry) = list.pop_front() {
                self.working.fetch_add(1, Ordering::SeqCst);
                self.recount(&list);
                return Some(entry);
            }
            if !self.is_working() {
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            drop(list);
            self.spin();
            list = self.lock();
            if list.is_empty() && self.is_working() {
                let waited = self.changed.wait_timeout(list, Duration::from_millis(20));
                list = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn take_more(&self, most: usize, into: &mut VecDeque<T>) {
        let mut list = self.lock();
        let more = most.min(list.len() / PLENTY);
        into.extend(list.drain(..more));
        self.working.fetch_add(more, Ordering::SeqCst);
        self.recount(&list);
    }

    fn done(&self) {
        let one_less = |working: usize| working.checked_sub(1);
        let before = self.working.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        if before == Ok(1) && self.has_idle_threads() {
            // Who is about to wait has the lock until then, and would miss this.
            drop(self.lock());
            self.changed.notify_all();
        }
    }

    fn push(&self, entry: T) {
        let mut list = self.lock();
        list.push_back(entry);
        self.recount(&list);
        drop(list);
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
