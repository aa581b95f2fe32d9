//! Visited states by their fingerprints.

use super::super::plan::CachePolicy;
use super::Seen;
use super::table::{Found, Table};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

/// The most shards: many more than threads, so that while one grows the others serve.
const MOST: u64 = 64;

/// What a shard must be able to grow to: with less, one is better than many small ones.
const WORTHWHILE: u64 = 1 << 16;

/// How many buckets from its home a state may be, where states replace each other: all buckets
/// are full in the end, and looking further would be looking everywhere.
const REACH: usize = 8;

pub(super) struct Fingerprints {
    /// Whether several threads insert. One alone needs no locks, nor atomic exchanges.
    shared: bool,
    replace: bool,
    /// The bytes that each shard may take.
    budget: u64,
    /// A power of two; the first bits of a key say which.
    shards: Box<[Shard]>,
    /// How many bits say it.
    bits: u32,
}

/// A table in cache lines of its own.
#[repr(align(128))]
struct Shard {
    /// Held by those who read and add, alone by the one who makes the table grow.
    gate: RwLock<()>,
    stored: AtomicU64,
    /// How many states it holds before it must grow.
    limit: AtomicU64,
    /// Whether it is full and cannot grow.
    closed: AtomicBool,
    dropped: AtomicU64,
    table: Table<0>,
}

enum Put {
    Known,
    Added,
    Replaced,
    Refused,
    Full,
}

impl Fingerprints {
    pub(super) fn new(policy: CachePolicy, budget: u64, threads: usize) -> Fingerprints {
        let shared = threads > 1;
        let most = if shared { (budget / WORTHWHILE).clamp(1, MOST) } else { 1 };
        let count = 1_usize << most.ilog2();
        let budget = budget / count as u64;
        let shard = |_| Shard {
            gate: RwLock::new(()),
            stored: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            table: Table::new(budget, count),
        };
        let shards = (0..count).map(shard).collect();
        Fingerprints {
            shared,
            replace: policy == CachePolicy::Replace,
            budget,
            shards,
            bits: count.ilog2(),
        }
    }

    /// Visits a state. Of the threads that visit the same state at the same time, one is told
    /// that it is new. `None` if it is new and was not stored.
    #[inline]
    pub(super) fn insert(&self, hash: u64) -> Option<Seen> {
        let (shard, key) = self.place(hash);
        loop {
            let gate =
                self.shared.then(|| shard.gate.read().unwrap_or_else(PoisonError::into_inner));
            let put = shard.put(key, self.shared, self.replace);
            match put {
                Put::Known => return Some(Seen::Known),
                Put::Added => {
                    // Counted inside the gate: who makes the table grow sees the true number.
                    let stored = add(&shard.stored, self.shared);
                    if stored >= shard.limit.load(Relaxed) && !shard.closed.load(Relaxed) {
                        drop(gate);
                        self.grow(shard);
                    }
                    return Some(Seen::New);
                }
                Put::Full => {
                    drop(gate);
                    self.grow(shard);
                }
                Put::Replaced | Put::Refused => {
                    add(&shard.dropped, self.shared);
                    return matches!(put, Put::Replaced).then_some(Seen::New);
                }
            }
        }
    }

    /// Whether a state is stored; a table that grows may hide some. No gate: a key that is seen
    /// was added by somebody, also while the table grows.
    #[inline]
    pub(super) fn holds(&self, hash: u64) -> bool {
        let (shard, key) = self.place(hash);
        shard.table.holds(key)
    }

    /// Has the memory brought that [`Fingerprints::holds`] will look at.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        let (shard, key) = self.place(hash);
        shard.table.prefetch(key);
    }

    pub(super) fn len(&self) -> u64 {
        self.shards.iter().map(|shard| shard.stored.load(Relaxed)).sum()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.shards.iter().map(|shard| shard.dropped.load(Relaxed)).sum()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.table.bytes()).sum()
    }

    /// The shard and the key of a hash. Homes and shards are told by a key's first bits, and
    /// fingerprints can be as poor as counters: an odd factor makes all bits count there, and
    /// tells apart what was apart. But 0 means an empty slot, so that one has to be another.
    #[inline]
    fn place(&self, hash: u64) -> (&Shard, u64) {
        let hash = if hash == 0 { 0x6a09_e667_f3bc_c909 } else { hash };
        let last = self.shards.len() - 1;
        let key = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(self.bits);
        (&self.shards[key as usize & last], key)
    }

    /// Makes room if it is needed (another thread may have done it), or closes the table.
    #[cold]
    fn grow(&self, shard: &Shard) {
        let _gate = self.shared.then(|| shard.gate.write().unwrap_or_else(PoisonError::into_inner));
        let stored = shard.stored.load(Relaxed);
        // Where reach is bounded it can be used up before the limit.
        if shard.closed.load(Relaxed) || stored < shard.limit.load(Relaxed) && !self.replace {
            return;
        }
        let grown = shard.table.grow(self.budget);
        let limit = shard.table.limit(!grown);
        shard.limit.store(limit, Relaxed);
        shard.closed.store(!grown && (stored >= limit || self.replace), Relaxed);
    }
}

impl Shard {
    /// Finds or adds a key.
    #[inline]
    fn put(&self, key: u64, shared: bool, replace: bool) -> Put {
        let closed = self.closed.load(Relaxed);
        let reach = if replace { REACH } else { usize::MAX };
        loop {
            let (slot, old) = match self.table.find(key, reach, |_| true) {
                Found::Word(_) => return Put::Known,
                Found::Free(slot) if !closed || replace => (slot, 0),
                Found::Full if !closed => return Put::Full,
                Found::Full if replace && self.table.bytes() > 0 => {
                    let slot = self.table.slot(key);
                    (slot, slot.load(Relaxed))
                }
                Found::Free(_) | Found::Full => return Put::Refused,
            };
            if old == key {
                return Put::Known;
            }
            let put = if old == 0 { Put::Added } else { Put::Replaced };
            if !shared {
                slot.store(key, Relaxed);
                return put;
            }
            // Relaxed: a fingerprint stands for itself, nothing is published with it.
            match slot.compare_exchange(old, key, Relaxed, Relaxed) {
                Ok(_) => return put,
                Err(now) if now == key => return Put::Known,
                Err(_) => {}
            }
        }
    }
}

/// Counts one more.
#[inline]
fn add(counter: &AtomicU64, shared: bool) -> u64 {
    if shared {
        return counter.fetch_add(1, Relaxed) + 1;
    }
    let count = counter.load(Relaxed) + 1;
    counter.store(count, Relaxed);
    count
}
