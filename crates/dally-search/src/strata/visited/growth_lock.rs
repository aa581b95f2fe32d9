//! A readers-writer lock for tables: many threads use a table at once, or one alone makes it grow.
//!
//! The readers of an ordinary lock share a counter: every visit of a state would wait for a cache
//! line that other threads have just written. Here each thread writes the table that it uses into a
//! cache line of its own, and only the writer reads all of them.
//!
//! Why no reader is inside while a writer has the lock: a reader *writes* its slot and then *reads*
//! whether the lock is held; the writer *writes* that it holds the lock and then *reads* all slots.
//! All four are sequentially consistent, so they have one order for all threads:
//!
//! - The reader reads after the writer has written: it sees the lock held, and withdraws. The order
//!   excludes an older value; a younger one is written when the writer has finished.
//! - The reader reads before that: then it wrote its slot even earlier, and the writer, which reads
//!   later, sees it there and waits until the slot is empty. The reader empties it by a release,
//!   which the writer's load acquires: the writer sees all that the reader did inside.
//!
//! The writer gives the lock up by a release, which readers acquire: a reader that enters sees the
//! grown table. A mutex orders the writers of one lock. A test runs all interleavings.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lock of one table.
#[derive(Default)]
pub(super) struct GrowthLock {
    held: AtomicBool,
    /// Held by the writer, and by readers that wait for it to finish.
    writer: Mutex<()>,
}

/// The lock that a thread has entered as a reader, in a cache line that only this thread writes.
#[derive(Default)]
pub(super) struct ReaderSlot(AtomicUsize);

/// The slot of a thread that is inside no lock.
const OUTSIDE: usize = 0;

/// The thread is a reader until this is dropped.
pub(super) struct ReadGuard<'a>(&'a ReaderSlot);

/// The lock is held, and no reader is inside, until this is dropped.
pub(super) struct WriteGuard<'a> {
    lock: &'a GrowthLock,
    _writer: MutexGuard<'a, ()>,
}

impl GrowthLock {
    /// Enters the lock of this number, other than 0, as a reader; waits while a writer holds it. A
    /// thread is inside one lock at a time.
    #[inline]
    pub(super) fn read<'a>(&self, number: usize, slot: &'a ReaderSlot) -> ReadGuard<'a> {
        loop {
            slot.0.store(number, Ordering::SeqCst);
            let guard = ReadGuard(slot);
            if !self.held.load(Ordering::SeqCst) {
                return guard;
            }
            drop(guard);
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        drop(self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock of this number once no reader is inside; the calling thread must not be one.
    pub(super) fn write<'a>(
        &'a self,
        number: usize,
        slots: impl Iterator<Item = &'a ReaderSlot>,
    ) -> WriteGuard<'a> {
        let guard = WriteGuard { _writer: self.lock(), lock: self };
        self.held.store(true, Ordering::SeqCst);
        for slot in slots {
            // A reader that is not preempted stays inside only for a look at the table.
            let mut looks = 0_u32;
            while slot.0.load(Ordering::SeqCst) == number {
                looks += 1;
                if looks.is_multiple_of(64) {
                    std::thread::yield_now();
                } else {
                    std::hint::spin_loop();
                }
            }
        }
        guard
    }
}

impl Drop for ReadGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(OUTSIDE, Ordering::Release);
    }
}

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        self.lock.held.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[test]
    fn a_writer_is_alone_inside() {
        const THREADS: usize = 4;
        let locks: [GrowthLock; 2] = Default::default();
        // Threads that are inside together would make these counts wrong.
        let counts: [AtomicU64; 2] = Default::default();
        let stored: [[AtomicU64; 2]; THREADS] = Default::default();
        let all: [ReaderSlot; THREADS] = Default::default();
        std::thread::scope(|scope| {
            for me in 0..THREADS {
                let (locks, counts, stored, all) = (&locks, &counts, &stored, &all);
                scope.spawn(move || {
                    for round in 0..20_000_usize {
                        let at = (round / 3 + me) % 2;
                        if round % 50 == me {
                            // Each thread has added to its own counts, and none does now.
                            let _guard = locks[at].write(at + 1, all.iter());
                            let sum = || stored.iter().map(|one| one[at].load(Relaxed)).sum();
                            let before: u64 = sum();
                            assert_eq!(before, counts[at].load(Relaxed));
                            std::hint::spin_loop();
                            assert_eq!(before, sum());
                        } else {
                            let _guard = locks[at].read(at + 1, &all[me]);
                            stored[me][at].store(stored[me][at].load(Relaxed) + 1, Relaxed);
                            counts[at].fetch_add(1, Relaxed);
                        }
                    }
                });
            }
        });
    }

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum At {
        Start,
        /// Has written its slot.
        Written,
        Inside,
        /// Has seen the lock held, and withdrawn.
        Waiting,
        /// Has the mutex.
        Locked,
        /// Has written that the lock is held, and seen so many slots empty.
        Looking(usize),
        /// Has seen all of them empty.
        Alone,
        /// Has given the lock up.
        Released,
        Over,
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    struct Protocol {
        held: bool,
        locked: bool,
        slots: [bool; 3],
        at: [At; 3],
        /// How often each thread is still to read, and then to write.
        left: [(u8, u8); 3],
        /// Whether readers read before they write, which is the error to be found.
        hasty: bool,
    }

    impl Protocol {
        /// The next step of a thread; `None` if it waits or is done. Every access to shared memory
        /// is a step, so the order of steps is the one order of all threads.
        fn step(&self, me: usize) -> Option<Protocol> {
            let mut next = self.clone();
            next.at[me] = match self.at[me] {
                At::Start if self.left[me].0 > 0 => {
                    next.slots[me] = !self.hasty;
                    if self.hasty && self.held { At::Waiting } else { At::Written }
                }
                At::Written if self.held && !self.hasty => {
                    next.slots[me] = false;
                    At::Waiting
                }
                At::Written => {
                    next.slots[me] = true;
                    At::Inside
                }
                At::Inside => {
                    next.slots[me] = false;
                    next.left[me].0 -= 1;
                    At::Start
                }
                At::Waiting if self.locked => return None,
                At::Waiting => At::Start,
                At::Start if self.left[me].1 == 0 => At::Over,
                At::Start if self.locked => return None,
                At::Start => {
                    next.locked = true;
                    At::Locked
                }
                At::Locked => {
                    next.held = true;
                    At::Looking(0)
                }
                At::Looking(3) => At::Alone,
                At::Looking(seen) if self.slots[seen] => return None,
                At::Looking(seen) => At::Looking(seen + 1),
                At::Alone => {
                    next.held = false;
                    At::Released
                }
                At::Released => {
                    next.locked = false;
                    next.left[me].1 -= 1;
                    At::Start
                }
                At::Over => return None,
            };
            Some(next)
        }
    }

    /// Goes through all interleavings.
    fn a_reader_is_inside_with_a_writer(hasty: bool) -> bool {
        let first = Protocol {
            held: false,
            locked: false,
            slots: [false; 3],
            at: [At::Start; 3],
            left: [(2, 2), (1, 1), (2, 0)],
            hasty,
        };
        let (mut seen, mut todo) = (BTreeSet::from([first.clone()]), vec![first]);
        let mut intruded = false;
        while let Some(state) = todo.pop() {
            let count = |what| state.at.iter().filter(|&&at| at == what).count();
            let (alone, inside) = (count(At::Alone), count(At::Inside));
            intruded |= alone > 1 || alone == 1 && inside > 0;
            let nexts: Vec<Protocol> = (0..3).filter_map(|me| state.step(me)).collect();
            assert!(!nexts.is_empty() || count(At::Over) == 3, "all wait: {state:?}");
            todo.extend(nexts.into_iter().filter(|next| seen.insert(next.clone())));
        }
        intruded
    }

    #[test]
    fn no_interleaving_lets_a_reader_in_with_a_writer_since_all_write_before_they_read() {
        assert!(!a_reader_is_inside_with_a_writer(false));
        assert!(a_reader_is_inside_with_a_writer(true));
    }
}
