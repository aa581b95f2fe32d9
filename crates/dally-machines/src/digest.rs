//! The fingerprint of a system, kept up to date for what changed.

use std::sync::{Mutex, PoisonError};

use dally_core::fingerprint::{self, Fingerprint};

/// Cached shares of the parts of a state, and which of them are out of date.
#[derive(Default)]
pub(crate) struct Digest {
    cache: Mutex<Cache>,
}

#[derive(Clone, Default)]
struct Cache {
    /// One bit per worker, by slot.
    stale: Vec<u64>,
    /// The share of each worker, by slot.
    shares: Vec<u64>,
    /// The sum of the shares.
    sum: u64,
    /// The share of the monitors, while it is up to date.
    monitors: Option<u64>,
}

impl Digest {
    /// The worker in this slot is not what it was, or is new.
    pub(crate) fn touch(&mut self, slot: usize) {
        let cache = self.cache.get_mut().unwrap_or_else(PoisonError::into_inner);
        let word = slot / 64;
        if word >= cache.stale.len() {
            cache.stale.resize(word + 1, 0);
        }
        cache.stale[word] |= 1 << (slot % 64);
    }

    /// The monitors are not what they were.
    pub(crate) fn touch_monitors(&mut self) {
        self.cache.get_mut().unwrap_or_else(PoisonError::into_inner).monitors = None;
    }

    /// The sum of all shares; `worker` and `monitors` compute those that are out of date.
    pub(crate) fn sum(
        &self,
        mut worker: impl FnMut(usize) -> u64,
        monitors: impl FnOnce() -> u64,
    ) -> Fingerprint {
        // A panic in a user's `Hash` leaves the cache as it was before that worker.
        let mut guard = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = &mut *guard;
        for word in 0..cache.stale.len() {
            while cache.stale[word] != 0 {
                let slot = word * 64 + cache.stale[word].trailing_zeros() as usize;
                let share = worker(slot);
                if slot >= cache.shares.len() {
                    cache.shares.resize(slot + 1, 0);
                }
                cache.sum = cache.sum.wrapping_sub(cache.shares[slot]).wrapping_add(share);
                cache.shares[slot] = share;
                cache.stale[word] &= cache.stale[word] - 1;
            }
        }
        let monitors = *cache.monitors.get_or_insert_with(monitors);
        Fingerprint(cache.sum.wrapping_add(monitors))
    }

    /// Becomes a copy, in the same memory.
    pub(crate) fn copy_from(&mut self, saved: &Digest) {
        let own = self.cache.get_mut().unwrap_or_else(PoisonError::into_inner);
        let saved = saved.cache.lock().unwrap_or_else(PoisonError::into_inner);
        own.stale.clone_from(&saved.stale);
        own.shares.clone_from(&saved.shares);
        own.sum = saved.sum;
        own.monitors = saved.monitors;
    }
}

/// The share of one worker.
pub(crate) fn share(id: u64, encoding: &[u8]) -> u64 {
    fingerprint::part(id, fingerprint::of_bytes(encoding))
}
