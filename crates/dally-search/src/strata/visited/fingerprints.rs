//! Visited states by their fingerprints.

use dally_core::report::CachePolicy;

use super::growth_lock::{GrowthLock, ReaderSlot};
use super::table::{Lookup, Table};
use super::{ThreadSlot, Visit};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

const MOST: usize = 64;

/// The least budget of a shard: many small ones would be worse than one.
const WORTHWHILE: u64 = 1 << 16;

/// How many buckets from its home a state may be, where states replace each other: all buckets
/// become full, and looking further would take ever longer.
const REACH: usize = 8;

/// The most room that a thread takes at once.
const SHARE: u64 = 1024;

/// Threads seldom write what they share: each counts its own states, and takes room for many states
/// at once. What is left of the room comes back when a table grows.
pub(super) struct Fingerprints {
    replace: bool,
    budget: u64,
    /// A power of two, indexed by the first bits of a key.
    shards: Box<[Shard]>,
    /// How many bits that are.
    bits: u32,
    /// What each thread writes. A single thread needs neither locks nor atomic exchanges.
    threads: Box<[PerThread]>,
}

#[repr(align(128))]
struct Shard {
    /// Held as a reader to read and add, as a writer to make the table grow.
    lock: GrowthLock,
    /// How many states it holds before it must grow.
    limit: AtomicU64,
    /// The part of `limit` that is neither used nor in the share of a thread.
    room: AtomicU64,
    full: AtomicBool,
    table: Table<0>,
}

/// What one thread writes, in cache lines of its own.
#[repr(align(128))]
struct PerThread {
    reader: ReaderSlot,
    stored: AtomicU64,
    dropped: AtomicU64,
    /// Its share of the room of each shard, which the writer of the shard's lock may write too.
    shares: [AtomicU64; MOST],
}

enum Insertion {
    Known,
    Added,
    Replaced,
    Refused,
    /// There is no room, or none within [`REACH`].
    Full,
}

impl Fingerprints {
    pub(super) fn new(policy: CachePolicy, budget: u64, threads: usize) -> Fingerprints {
        // All threads wait for a table that grows, and the tables grow at about the same time, each
        // by another thread, so one for each thread would be no better. And the fewer tables, the
        // more of them lies in huge pages.
        let worthwhile = usize::try_from(budget / WORTHWHILE).unwrap_or(MOST);
        let count = 1_usize << (threads / 2).min(worthwhile).clamp(1, MOST).ilog2();
        let budget = budget / count as u64;
        let shard = |_| Shard {
            lock: GrowthLock::default(),
            limit: AtomicU64::new(0),
            room: AtomicU64::new(0),
            full: AtomicBool::new(false),
            table: Table::new(budget, count),
        };
        let thread = |_| PerThread {
            reader: ReaderSlot::default(),
            stored: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            shares: [const { AtomicU64::new(0) }; MOST],
        };
        Fingerprints {
            replace: policy == CachePolicy::Replace,
            budget,
            shards: (0..count).map(shard).collect(),
            bits: count.ilog2(),
            threads: (0..threads.max(1)).map(thread).collect(),
        }
    }

    #[inline]
    fn shared(&self) -> bool {
        self.threads.len() > 1
    }

    /// Visits a state; `None` if it is new and was not stored. Of the threads that visit the same
    /// state at the same time, one is told that it is new.
    #[inline]
    pub(super) fn insert(&self, slot: &mut ThreadSlot, hash: u64) -> Option<Visit> {
        let thread = &self.threads[slot.number()];
        let (place, key) = self.place(hash);
        let shard = &self.shards[place];
        loop {
            let guard = self.shared().then(|| shard.lock.read(place + 1, &thread.reader));
            let inserted = self.put(shard, &thread.shares[place], key);
            match inserted {
                Insertion::Known => return Some(Visit::Known),
                Insertion::Added => {
                    count(&thread.stored);
                    return Some(Visit::New);
                }
                Insertion::Replaced | Insertion::Refused => {
                    count(&thread.dropped);
                    return matches!(inserted, Insertion::Replaced).then_some(Visit::New);
                }
                Insertion::Full => {
                    let bytes = shard.table.bytes();
                    drop(guard);
                    self.grow(place, bytes);
                }
            }
        }
    }

    /// Whether a state is stored; a table that grows may hide some. This needs no lock: a key that
    /// is seen was added by some thread, also while the table grows.
    #[inline]
    pub(super) fn holds(&self, hash: u64) -> bool {
        let (place, key) = self.place(hash);
        self.shards[place].table.holds(key)
    }

    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        let (place, key) = self.place(hash);
        self.shards[place].table.prefetch(key);
    }

    #[inline]
    pub(super) fn prefetch_to_write(&self, hash: u64) {
        // A single thread has no cache line to take from others.
        if self.shared() {
            let (place, key) = self.place(hash);
            self.shards[place].table.prefetch_to_write(key);
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.threads.iter().map(|thread| thread.stored.load(Relaxed)).sum()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.threads.iter().map(|thread| thread.dropped.load(Relaxed)).sum()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.table.bytes()).sum()
    }

    /// The shard and the key of a hash. The first bits of a key decide both shard and home, and
    /// fingerprints may be as weak as counters: an odd factor makes all bits count, and keeps keys
    /// distinct. 0 means an empty slot, so that hash is replaced.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        let hash = if hash == 0 { 0x6a09_e667_f3bc_c909 } else { hash };
        let last = self.shards.len() - 1;
        let key = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(self.bits);
        (key as usize & last, key)
    }

    /// Finds or adds a key, from the share of a thread.
    #[inline]
    fn put(&self, shard: &Shard, share: &AtomicU64, key: u64) -> Insertion {
        let full = shard.full.load(Relaxed);
        let reach = if self.replace { REACH } else { usize::MAX };
        loop {
            let (slot, old) = match shard.table.find(key, reach, |_| true) {
                Lookup::Word(_) => return Insertion::Known,
                Lookup::Free(_) if !full && !self.has_room(shard, share) => return Insertion::Full,
                Lookup::Free(slot) if !full || self.replace => (slot, 0),
                Lookup::Full if !full => return Insertion::Full,
                Lookup::Full if self.replace && shard.table.bytes() > 0 => {
                    let slot = shard.table.slot(key);
                    (slot, slot.load(Relaxed))
                }
                Lookup::Free(_) | Lookup::Full => return Insertion::Refused,
            };
            if old == key {
                return Insertion::Known;
            }
            if self.shared() {
                // Relaxed: nothing is published together with a fingerprint.
                match slot.compare_exchange(old, key, Relaxed, Relaxed) {
                    Ok(_) => {}
                    Err(now) if now == key => return Insertion::Known,
                    Err(_) => continue,
                }
            } else {
                slot.store(key, Relaxed);
            }
            if old != 0 {
                return Insertion::Replaced;
            }
            if !full {
                share.store(share.load(Relaxed) - 1, Relaxed);
            }
            return Insertion::Added;
        }
    }

    /// Whether a thread may add a state; takes another share of the room if its own is used up.
    #[inline]
    fn has_room(&self, shard: &Shard, share: &AtomicU64) -> bool {
        share.load(Relaxed) > 0 || self.take_share(shard, share)
    }

    /// Takes the less at once the less is left, so that unused shares stay small.
    #[cold]
    fn take_share(&self, shard: &Shard, share: &AtomicU64) -> bool {
        let most = if self.shared() { SHARE } else { u64::MAX };
        let part = |room: u64| room.div_ceil(4 * self.threads.len() as u64 - 3).min(most);
        let less = |room: u64| Some(room - part(room)).filter(|_| room > 0);
        let Ok(room) = shard.room.fetch_update(Relaxed, Relaxed, less) else { return false };
        share.store(part(room), Relaxed);
        true
    }

    /// Makes room in a shard that had none at this size, unless another thread has done it.
    #[cold]
    fn grow(&self, place: usize, bytes: u64) {
        let shard = &self.shards[place];
        let all = self.threads.iter().map(|thread| &thread.reader);
        let _guard = self.shared().then(|| shard.lock.write(place + 1, all));
        let mut room = shard.room.load(Relaxed);
        // With a bounded reach, a state may find no slot although there is room.
        if shard.table.bytes() != bytes || shard.full.load(Relaxed) || room > 0 && !self.replace {
            return;
        }
        for thread in &self.threads {
            room += thread.shares[place].swap(0, Relaxed);
        }
        let grown = shard.table.grow(self.budget);
        let limit = shard.table.limit(!grown);
        room += limit - shard.limit.swap(limit, Relaxed);
        shard.room.store(room, Relaxed);
        shard.full.store(!grown && (room == 0 || self.replace), Relaxed);
    }
}

/// Increments a counter that one thread alone writes.
#[inline]
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}
