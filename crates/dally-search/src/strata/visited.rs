//! The visited states: whether a state that was reached is new.

mod byte_strings;
mod exact;
mod fingerprints;
mod growth_lock;
mod memory;
mod numbers;
mod table;

use dally_core::report::CachePolicy;
use exact::Exact;
pub(crate) use exact::Numbered;
use fingerprints::Fingerprints;
pub(crate) use numbers::NumberList;
use std::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use table::{Lookup, Table};

/// A set of visited states that many threads insert into.
///
/// [`VisitedStates`] is the one for the threads of a process. One for many processes has to hold
/// to the same contract: of all threads that insert the same state, at the same time or not, one is
/// told that it is [new](Visit::New), if states are stored at all. A search that is told so more
/// than once visits a state more than once and is still right; a search that is told
/// [known](Visit::Known) of a new state misses states.
pub trait Visited: Send + Sync {
    /// The right of one thread to insert. Each thread has its own.
    type Slot: Send;

    /// A slot for one more thread.
    fn slot(&self) -> Self::Slot;

    /// Visits the state of this identity; `parts` gives its parts, one after the other, to the
    /// function that it gets. A set that stores identities alone does not ask for them.
    fn insert(
        &self,
        slot: &mut Self::Slot,
        identity: u64,
        parts: impl FnOnce(&mut dyn FnMut(&[u8])),
    ) -> Visit;

    /// Whether the state of this identity was visited. `false` may be wrong, `true` may not: a
    /// search asks in order to pass over transitions that lead to visited states.
    fn holds(&self, identity: u64) -> bool {
        let _ = identity;
        false
    }

    /// Called before [`Visited::holds`] is asked for this identity.
    fn prefetch(&self, identity: u64) {
        let _ = identity;
    }

    /// Called before this identity is probably inserted.
    fn prefetch_to_write(&self, identity: u64) {
        let _ = identity;
    }

    /// How many bytes the set takes.
    fn bytes(&self) -> u64;

    /// How many times a state was forgotten or, for want of room, not stored.
    fn dropped(&self) -> u64 {
        0
    }

    /// How many states are expected to have been taken for others with the same identity.
    fn expected_omissions(&self) -> f64 {
        0.0
    }
}

/// What is known of a state that was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visit {
    /// It was not known, and is stored now.
    New,
    /// It was visited before, but for [omissions](Visited::expected_omissions).
    Known,
    /// It is not known and was not stored.
    Unstored,
    /// It is not known and does not fit, although all states were to be stored.
    NoRoom,
}

/// The visited states of a search in one process, within a budget of memory: by their fingerprints,
/// whole, or not at all. A single thread pays for no locks.
///
/// ```
/// use dally_search::strata::{CachePolicy, Visit, Visited, VisitedStates};
///
/// let visited = VisitedStates::new(CachePolicy::All, false, 1 << 20, 1);
/// let mut slot = visited.slot();
/// assert_eq!(visited.insert(&mut slot, 7, |_| {}), Visit::New);
/// assert_eq!(visited.insert(&mut slot, 7, |_| {}), Visit::Known);
/// assert!(visited.holds(7) && !visited.holds(8));
/// ```
pub struct VisitedStates {
    /// For how many threads the set was made, and, in `taken`, how many have a slot.
    slots: usize,
    taken: AtomicUsize,
    /// What an insertion returns for a new state that is not stored.
    refusal: Visit,
    store: Store,
}

enum Store {
    Nothing,
    Fingerprints(Fingerprints),
    Exact(Exact),
}

/// The slot of one thread, which no other thread uses.
#[derive(Debug)]
pub struct ThreadSlot(usize);

impl ThreadSlot {
    fn number(&self) -> usize {
        self.0
    }
}

impl VisitedStates {
    /// An empty set of `budget` bytes for `threads` threads. Nothing is allocated before there are
    /// states; fingerprints take 64 bytes for every 8 states, so less than that is room for none.
    ///
    /// The budget covers tables and stored states, also while a table grows: there is never a
    /// second table, but for the first 512 bytes of each. The system rounds up to pages.
    ///
    /// Of `exact` states, the older half is dropped when the younger half is full.
    pub fn new(policy: CachePolicy, exact: bool, budget: u64, threads: usize) -> VisitedStates {
        let store = match policy {
            CachePolicy::None => Store::Nothing,
            _ if exact => Store::Exact(Exact::new(policy, budget, threads)),
            _ => Store::Fingerprints(Fingerprints::new(policy, budget, threads)),
        };
        let refusal = if policy == CachePolicy::All { Visit::NoRoom } else { Visit::Unstored };
        VisitedStates { slots: threads.max(1), taken: AtomicUsize::new(0), refusal, store }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> u64 {
        match &self.store {
            Store::Nothing => 0,
            Store::Fingerprints(store) => store.len(),
            Store::Exact(store) => store.len(),
        }
    }
}

impl Visited for VisitedStates {
    type Slot = ThreadSlot;

    /// # Panics
    ///
    /// If more threads ask for a slot than the set was made for.
    fn slot(&self) -> ThreadSlot {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        assert!(number < self.slots, "{} slots are taken", self.slots);
        ThreadSlot(number)
    }

    #[inline]
    fn insert(
        &self,
        slot: &mut ThreadSlot,
        identity: u64,
        parts: impl FnOnce(&mut dyn FnMut(&[u8])),
    ) -> Visit {
        let visit = match &self.store {
            Store::Nothing => None,
            Store::Fingerprints(store) => store.insert(slot, identity),
            Store::Exact(store) => store.insert(identity, parts),
        };
        visit.unwrap_or(self.refusal)
    }

    /// Always `false` where states are stored whole: an identity alone does not tell.
    #[inline]
    fn holds(&self, identity: u64) -> bool {
        matches!(&self.store, Store::Fingerprints(store) if store.holds(identity))
    }

    #[inline]
    fn prefetch(&self, identity: u64) {
        if let Store::Fingerprints(store) = &self.store {
            store.prefetch(identity);
        }
    }

    #[inline]
    fn prefetch_to_write(&self, identity: u64) {
        if let Store::Fingerprints(store) = &self.store {
            store.prefetch_to_write(identity);
        }
    }

    fn bytes(&self) -> u64 {
        match &self.store {
            Store::Nothing => 0,
            Store::Fingerprints(store) => store.bytes(),
            Store::Exact(store) => store.bytes(),
        }
    }

    fn dropped(&self) -> u64 {
        match &self.store {
            Store::Nothing => 0,
            Store::Fingerprints(store) => store.dropped(),
            Store::Exact(store) => store.dropped(),
        }
    }

    fn expected_omissions(&self) -> f64 {
        match &self.store {
            Store::Nothing | Store::Exact(_) => 0.0,
            Store::Fingerprints(store) => expected_omissions(store.len(), store.dropped()),
        }
    }
}

/// How many states are expected to have been taken for others because of equal fingerprints. What
/// can be reached only through them was then not visited either.
///
/// A new state meets one of `k` stored fingerprints by chance with probability `k / 2^64`. Over `n`
/// states stored one after the other this sums to `n (n - 1) / 2^65`; those that were dropped met
/// at most `n` each.
pub(crate) fn expected_omissions(stored: u64, dropped: u64) -> f64 {
    let (stored, dropped) = (stored as f64, dropped as f64);
    let pairs = stored * (stored - 1.0).max(0.0) / 2.0 + dropped * stored;
    pairs / 2_f64.powi(64)
}

#[cfg(test)]
mod tests;
