//! The fingerprint of a system, kept up to date for what changed.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use dally_core::fingerprint::{self, Fingerprint};

/// Cached shares of the parts of a state, and which of them are out of date. Most executions
/// change and are never asked, so a change sets a bit and no more.
#[derive(Default)]
pub(crate) struct Digest {
    /// Whose share is out of date: one bit per worker, by slot. Cleared only under the lock of
    /// the cache.
    stale: Vec<AtomicU64>,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    /// The share of each worker, by slot.
    shares: Vec<u64>,
    /// The sum of the shares.
    sum: u64,
    /// The share of the monitors, while it is up to date.
    monitors: Option<u64>,
}

impl Digest {
    /// The worker in this slot is not what it was.
    #[inline]
    pub(crate) fn touch(&mut self, slot: usize) {
        if let Some(word) = self.stale.get_mut(slot / 64) {
            *word.get_mut() |= 1 << (slot % 64);
        }
    }

    /// There is a new worker in this slot.
    pub(crate) fn add(&mut self, slot: usize) {
        self.stale.resize_with(slot / 64 + 1, AtomicU64::default);
        self.touch(slot);
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
        for (number, word) in self.stale.iter().enumerate() {
            let mut stale = word.load(Relaxed);
            while stale != 0 {
                let slot = number * 64 + stale.trailing_zeros() as usize;
                let share = worker(slot);
                if slot >= cache.shares.len() {
                    cache.shares.resize(slot + 1, 0);
                }
                cache.sum = cache.sum.wrapping_sub(cache.shares[slot]).wrapping_add(share);
                cache.shares[slot] = share;
                stale &= stale - 1;
                word.store(stale, Relaxed);
            }
        }
        let monitors = *cache.monitors.get_or_insert_with(monitors);
        Fingerprint(cache.sum.wrapping_add(monitors))
    }

    /// Becomes a copy, in the same memory.
    pub(crate) fn copy_from(&mut self, saved: &Digest) {
        let own = self.cache.get_mut().unwrap_or_else(PoisonError::into_inner);
        let saved_cache = saved.cache.lock().unwrap_or_else(PoisonError::into_inner);
        self.stale.resize_with(saved.stale.len(), AtomicU64::default);
        for (own, saved) in self.stale.iter_mut().zip(&saved.stale) {
            *own.get_mut() = saved.load(Relaxed);
        }
        own.shares.clone_from(&saved_cache.shares);
        own.sum = saved_cache.sum;
        own.monitors = saved_cache.monitors;
    }
}

/// The share of one worker.
pub(crate) fn share(id: u64, encoding: &[u8]) -> u64 {
    fingerprint::part(id, fingerprint::of_bytes(encoding))
}
