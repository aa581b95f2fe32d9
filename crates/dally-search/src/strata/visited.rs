//! The states that were visited.

mod exact;
mod fingerprints;
mod growth_lock;
mod interner;
mod memory;
mod prefetch;
mod table;

use dally_core::report::CachePolicy;
use exact::Exact;
pub(crate) use exact::Numbered;
use fingerprints::Fingerprints;
use std::sync::atomic::{AtomicUsize, Ordering};
pub(crate) use table::{Lookup, Table};

/// Remembers the states that were visited, within a budget of memory.
///
/// As many threads may insert as it was made for, each by a slot of its own: one alone pays for no
/// locks.
pub(crate) struct Visited {
    /// How many slots there are, and how many are taken.
    slots: usize,
    taken: AtomicUsize,
    /// The answer to a new state that is not stored.
    refusal: Visit,
    store: Store,
}

enum Store {
    Nothing,
    Fingerprints(Fingerprints),
    Exact(Exact),
}

/// The right of one thread to insert; there is one for each, and none is ever used by two.
#[derive(Debug)]
pub(crate) struct ThreadSlot(usize);

impl ThreadSlot {
    fn number(&self) -> usize {
        self.0
    }
}

/// What is known of a state that was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Visit {
    /// It was not known, and is now.
    New,
    /// It was visited before. Only fingerprints may be wrong about that, see
    /// [`Visited::expected_omissions`].
    Known,
    /// It is not known and was not stored: it will be as unknown next time.
    Unstored,
    /// It is not known and was not stored: all states were to be stored, and there is no room.
    NoRoom,
}

impl Visited {
    /// An empty cache of `budget` bytes. Nothing is allocated for states before there are any;
    /// fingerprints take 64 bytes for every 8 states, so less than that is room for none.
    ///
    /// What counts are tables and stored states, also while a table grows: there is never a
    /// second one, but for the 512 bytes that each began with. The system rounds up to pages.
    ///
    /// `exact` states are replaced by generations: when the younger half of the cache is full,
    /// the older half is forgotten.
    pub(crate) fn new(policy: CachePolicy, exact: bool, budget: u64, threads: usize) -> Visited {
        let store = match policy {
            CachePolicy::None => Store::Nothing,
            _ if exact => Store::Exact(Exact::new(policy, budget, threads)),
            _ => Store::Fingerprints(Fingerprints::new(policy, budget, threads)),
        };
        let refusal = if policy == CachePolicy::All { Visit::NoRoom } else { Visit::Unstored };
        Visited { slots: threads.max(1), taken: AtomicUsize::new(0), refusal, store }
    }

    /// A slot that nobody has.
    ///
    /// # Panics
    ///
    /// If there is none: as many threads have asked as there were to be.
    pub(crate) fn slot(&self) -> ThreadSlot {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        assert!(number < self.slots, "{} slots are taken", self.slots);
        ThreadSlot(number)
    }

    /// Visits the state with this fingerprint. Of the threads that visit a new state at the same
    /// time, one is told that it is new.
    ///
    /// # Panics
    ///
    /// If states are stored whole.
    #[inline]
    pub(crate) fn insert(&self, slot: &mut ThreadSlot, hash: u64) -> Visit {
        match &self.store {
            Store::Nothing => self.refusal,
            Store::Fingerprints(store) => store.insert(slot, hash).unwrap_or(self.refusal),
            Store::Exact(_) => panic!("a state that is stored whole has parts"),
        }
    }

    /// Whether the state with this fingerprint was visited; `false` may be wrong while other
    /// threads visit. Not to be asked where states are stored whole or forgotten.
    #[inline]
    pub(crate) fn holds(&self, hash: u64) -> bool {
        matches!(&self.store, Store::Fingerprints(store) if store.holds(hash))
    }

    /// Has the memory brought that [`Visited::holds`] will look at.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        if let Store::Fingerprints(store) = &self.store {
            store.prefetch(hash);
        }
    }

    /// Has the memory brought that [`Visited::insert`] will probably write.
    #[inline]
    pub(crate) fn prefetch_to_write(&self, hash: u64) {
        if let Store::Fingerprints(store) = &self.store {
            store.prefetch_to_write(hash);
        }
    }

    /// Visits the state with this fingerprint and these parts: `parts` gives them, one after the
    /// other, to the function that it gets. Where states are not stored whole the fingerprint
    /// must do.
    pub(crate) fn insert_exact(
        &self,
        slot: &mut ThreadSlot,
        hash: u64,
        parts: impl FnOnce(&mut dyn FnMut(&[u8])),
    ) -> Visit {
        match &self.store {
            Store::Exact(store) => store.insert(hash, parts).unwrap_or(self.refusal),
            _ => self.insert(slot, hash),
        }
    }

    /// How many states are stored.
    #[cfg(test)]
    pub(crate) fn len(&self) -> u64 {
        match &self.store {
            Store::Nothing => 0,
            Store::Fingerprints(store) => store.len(),
            Store::Exact(store) => store.len(),
        }
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.store {
            Store::Nothing => 0,
            Store::Fingerprints(store) => store.bytes(),
            Store::Exact(store) => store.bytes(),
        }
    }

    /// How many times a state was forgotten or, for want of room, not stored.
    pub(crate) fn dropped(&self) -> u64 {
        match &self.store {
            Store::Nothing => 0,
            Store::Fingerprints(store) => store.dropped(),
            Store::Exact(store) => store.dropped(),
        }
    }

    /// How many states are expected to have been taken for others.
    pub(crate) fn expected_omissions(&self) -> f64 {
        match &self.store {
            Store::Nothing | Store::Exact(_) => 0.0,
            Store::Fingerprints(store) => expected_omissions(store.len(), store.dropped()),
        }
    }
}

/// How many states are expected to have been taken for others, because their fingerprints are the
/// same. What can be reached only through them was then not visited either.
///
/// A new state meets one of `k` stored fingerprints by chance with probability `k / 2^64`. Over
/// `n` states that were stored one after the other this sums to `n (n - 1) / 2^65`; those that
/// were dropped met at most `n` each.
pub(crate) fn expected_omissions(stored: u64, dropped: u64) -> f64 {
    let (stored, dropped) = (stored as f64, dropped as f64);
    let pairs = stored * (stored - 1.0).max(0.0) / 2.0 + dropped * stored;
    pairs / 2_f64.powi(64)
}

#[cfg(test)]
mod tests;
