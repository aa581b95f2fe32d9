//! Gates: many threads at once use a table, or one alone makes it grow.
//!
//! A lock of readers and writers would do, but its readers count themselves in one place: every
//! visit of a state would wait for the cache line that the other threads have just written. Here a
//! thread says in a line of its own where it is, and only who closes a gate looks at all of them.
//!
//! Why nobody is inside while a gate is closed: a thread that enters *says* that it is inside and
//! then *looks* whether the gate is closed; who closes it *says* so and then *looks* who is inside.
//! All four are sequentially consistent, so they have one order for all threads, and in any order
//! of the four one of the two looks after the other has said it:
//!
//! - The entering thread looks after the gate was said to be closed: it sees that, and withdraws.
//!   What it could see instead is an older or a younger value. The older is excluded by the order;
//!   the younger is written when this closing is over.
//! - It looks before: then it has said where it is before that, and the closing thread, which
//!   looks later, sees it there, and waits until it sees it gone. It was gone by a release, which
//!   is seen by an acquire: whatever was done inside is seen too.
//!
//! A gate is opened by a release, and whoever looks acquires it: who enters sees the table as it
//! has grown. Those that close the same gate do it one after the other, under its lock.
//!
//! A test goes through all interleavings of the protocol.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A way to a table, closed while the table grows.
#[derive(Default)]
pub(super) struct Gate {
    closed: AtomicBool,
    /// Held by who has closed it, and by those who wait for it to be opened.
    keeper: Mutex<()>,
}

/// Where a thread says which gate it has entered. It is written by this thread alone, so it
/// belongs into a cache line of the thread's own.
#[derive(Default)]
pub(super) struct Whereabouts(AtomicUsize);

/// Nobody has entered a gate with this number.
const OUTSIDE: usize = 0;

/// The thread is inside until this is dropped.
pub(super) struct Inside<'a>(&'a Whereabouts);

/// The gate is closed, and nobody inside, until this is dropped.
pub(super) struct Closed<'a> {
    gate: &'a Gate,
    _keeper: MutexGuard<'a, ()>,
}

impl Gate {
    /// Enters the gate with this number, other than 0; waits while it is closed. A thread is
    /// inside one gate at a time.
    #[inline]
    pub(super) fn enter<'a>(&self, number: usize, me: &'a Whereabouts) -> Inside<'a> {
        loop {
            me.0.store(number, Ordering::SeqCst);
            let inside = Inside(me);
            if !self.closed.load(Ordering::SeqCst) {
                return inside;
            }
            drop(inside);
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        drop(self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the gate with this number, and waits until all of these threads are outside. The
    /// one that closes it must be.
    pub(super) fn close<'a>(
        &'a self,
        number: usize,
        all: impl Iterator<Item = &'a Whereabouts>,
    ) -> Closed<'a> {
        let closed = Closed { _keeper: self.lock(), gate: self };
        self.closed.store(true, Ordering::SeqCst);
        for thread in all {
            // Nobody stays inside for longer than a look at the table, unless the system has
            // taken its processor away.
            let mut looks = 0_u32;
            while thread.0.load(Ordering::SeqCst) == number {
                looks += 1;
                if looks.is_multiple_of(64) {
                    std::thread::yield_now();
                } else {
                    std::hint::spin_loop();
                }
            }
        }
        closed
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(OUTSIDE, Ordering::Release);
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.gate.closed.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[test]
    fn who_closes_a_gate_is_alone_behind_it() {
        const THREADS: usize = 4;
        let gates: [Gate; 2] = Default::default();
        // What is behind each gate: not to be counted right by threads that are there together.
        let counts: [AtomicU64; 2] = Default::default();
        let stored: [[AtomicU64; 2]; THREADS] = Default::default();
        let all: [Whereabouts; THREADS] = Default::default();
        std::thread::scope(|scope| {
            for me in 0..THREADS {
                let (gates, counts, stored, all) = (&gates, &counts, &stored, &all);
                scope.spawn(move || {
                    for round in 0..20_000_usize {
                        let at = (round / 3 + me) % 2;
                        if round % 50 == me {
                            // All have added to what they alone write, and nobody does now.
                            let _closed = gates[at].close(at + 1, all.iter());
                            let sum = || stored.iter().map(|one| one[at].load(Relaxed)).sum();
                            let before: u64 = sum();
                            assert_eq!(before, counts[at].load(Relaxed));
                            std::hint::spin_loop();
                            assert_eq!(before, sum());
                        } else {
                            let _inside = gates[at].enter(at + 1, &all[me]);
                            stored[me][at].store(stored[me][at].load(Relaxed) + 1, Relaxed);
                            counts[at].fetch_add(1, Relaxed);
                        }
                    }
                });
            }
        });
    }

    /// Where a thread is in the protocol.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum At {
        Start,
        /// Has said that it is inside.
        Said,
        Inside,
        /// Has seen the gate closed, and gone outside.
        Waiting,
        /// Has the lock.
        Locked,
        /// Has said that the gate is closed, and seen so many threads outside.
        Looking(usize),
        /// Has seen all of them outside.
        Alone,
        /// Has opened the gate.
        Opened,
        Over,
    }

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    struct Protocol {
        closed: bool,
        locked: bool,
        said: [bool; 3],
        at: [At; 3],
        /// How many times each is still to enter, and then to close.
        left: [(u8, u8); 3],
        /// Whether threads look before they say, as they must not.
        hasty: bool,
    }

    impl Protocol {
        /// What a thread does next; `None` if it waits or is done. Every access to what others
        /// write is a step: the order of steps is the one order of all threads.
        fn step(&self, me: usize) -> Option<Protocol> {
            let mut next = self.clone();
            next.at[me] = match self.at[me] {
                At::Start if self.left[me].0 > 0 => {
                    next.said[me] = !self.hasty;
                    if self.hasty && self.closed { At::Waiting } else { At::Said }
                }
                At::Said if self.closed && !self.hasty => {
                    next.said[me] = false;
                    At::Waiting
                }
                At::Said => {
                    next.said[me] = true;
                    At::Inside
                }
                At::Inside => {
                    next.said[me] = false;
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
                    next.closed = true;
                    At::Looking(0)
                }
                At::Looking(3) => At::Alone,
                At::Looking(seen) if self.said[seen] => return None,
                At::Looking(seen) => At::Looking(seen + 1),
                At::Alone => {
                    next.closed = false;
                    At::Opened
                }
                At::Opened => {
                    next.locked = false;
                    next.left[me].1 -= 1;
                    At::Start
                }
                At::Over => return None,
            };
            Some(next)
        }
    }

    /// Goes through all interleavings: whether somebody is ever inside with who is alone.
    fn somebody_intrudes(hasty: bool) -> bool {
        let first = Protocol {
            closed: false,
            locked: false,
            said: [false; 3],
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
    fn nobody_intrudes_in_any_interleaving_since_all_say_before_they_look() {
        assert!(!somebody_intrudes(false));
        assert!(somebody_intrudes(true));
    }
}
