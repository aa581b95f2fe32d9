//! From the identities of states to their numbers.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::fence;
use std::sync::{Mutex, PoisonError};

use super::graph::Node;
use crate::strata::{Lookup, NumberList, Table};

/// The numbers of states, found by one half of a hash of their identities. The other half is kept by
/// number; a hash has the bits of its identity in another order, so both halves tell states apart.
pub(super) struct Index {
    /// A power of two.
    shards: Box<[Shard]>,
    /// The bytes that each may take.
    budget: u64,
    rests: NumberList,
}

#[repr(align(128))]
struct Shard {
    /// Whoever adds to the table has the lock, which knows how many states are in it.
    len: Mutex<u64>,
    /// In each word the upper half of a hash, and the number of the state plus 1.
    table: Table<32>,
}

/// The bytes that a state takes here besides its part of the table.
pub(super) const BYTES: usize = size_of::<u32>();

/// With so many shards for each thread, threads seldom wait for each other; and the fewer there are,
/// the more of them lies in huge pages.
const SHARDS_A_THREAD: usize = 4;

impl Index {
    pub(super) fn new(memory: u64, threads: usize) -> Index {
        let count = if threads > 1 { (SHARDS_A_THREAD * threads).next_power_of_two() } else { 1 };
        let budget = memory / count as u64;
        let shard = |_| Shard { len: Mutex::new(0), table: Table::new(budget, count) };
        let shards = (0..count).map(shard).collect();
        Index { shards, budget, rests: NumberList::new(memory) }
    }

    /// The bytes of the table.
    pub(super) fn table_bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.table.bytes()).sum()
    }

    /// Whether there is room for the states before this number.
    #[inline]
    pub(super) fn has_room(&self, end: usize) -> bool {
        self.rests.has_room(end)
    }

    /// The number of the state of this identity, which `add` gives it if there is none, and whether
    /// it did. `None` if there is no room.
    #[inline]
    pub(super) fn find_or_add(
        &self,
        identity: u64,
        add: impl FnOnce() -> Option<Node>,
    ) -> Option<(Node, bool)> {
        let (key, rest, shard) = self.place(identity);
        let mut len = shard.len.lock().unwrap_or_else(PoisonError::into_inner);
        let table = &shard.table;
        let mut found = table.find(key, usize::MAX, |word| self.is_same(word, rest));
        if let Lookup::Word(word) = found {
            return Some((node(word), false));
        }
        if *len >= table.limit(false) {
            let grown = table.grow(self.budget);
            if !grown && *len >= table.limit(true) {
                return None;
            }
            found = table.find(key, usize::MAX, |_| false);
        }
        let Lookup::Free(slot) = found else { return None };
        let node = add()?;
        self.rests.set(node as usize, rest);
        // Whoever is told of the state sees what was written before.
        fence(Release);
        slot.store(key | u64::from(node + 1), Relaxed);
        *len += 1;
        Some((node, true))
    }

    /// The number of the state of this identity, if there is one; a table that grows may hide some.
    /// No lock is needed: a number that is seen was added by some thread, also while the table grows.
    #[inline]
    pub(super) fn find(&self, identity: u64) -> Option<Node> {
        let (key, rest, shard) = self.place(identity);
        shard.table.get(key, |word| self.is_same(word, rest)).map(node)
    }

    #[inline]
    fn is_same(&self, word: u64, rest: u32) -> bool {
        fence(Acquire);
        // An empty slot has the key 0.
        word as u32 != 0 && self.rests.at(node(word) as usize).load(Relaxed) == rest
    }

    /// This identity will be looked for soon.
    #[inline]
    pub(super) fn prefetch(&self, identity: u64) {
        let (key, _, shard) = self.place(identity);
        shard.table.prefetch(key);
    }

    /// The key of an identity, the rest of its hash, and its shard. None of the bits of an identity
    /// need be good: an odd factor makes all of them count in the upper half, which is the key. No two
    /// identities have the same product.
    #[inline]
    fn place(&self, identity: u64) -> (u64, u32, &Shard) {
        let hash = identity.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let shard = &self.shards[hash as usize >> 20 & (self.shards.len() - 1)];
        (Table::<32>::key(hash), hash as u32, shard)
    }
}

#[inline]
fn node(word: u64) -> Node {
    (word as u32).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    /// The identities of which all bits of the hash but these are the same.
    fn alike(bits: u64) -> u64 {
        // The inverse of the factor modulo 2^64, by Newton's iteration.
        let factor = 0x9e37_79b9_7f4a_7c15_u64;
        let mut inverse = factor;
        for _ in 0..6 {
            let error = 2_u64.wrapping_sub(factor.wrapping_mul(inverse));
            inverse = inverse.wrapping_mul(error);
        }
        assert_eq!(factor.wrapping_mul(inverse), 1);
        bits.wrapping_mul(inverse)
    }

    #[test]
    fn identities_that_differ_in_one_half_of_their_hash_are_different_states() {
        for threads in [1, 3] {
            let index = Index::new(1 << 20, threads);
            let upper = (0..40_u64).map(|n| alike(n << 32));
            let lower = (1..40_u64).map(alike);
            for (identity, number) in upper.chain(lower).zip(0..) {
                assert_eq!(index.find(identity), None);
                assert_eq!(index.find_or_add(identity, || Some(number)), Some((number, true)));
                assert_eq!(index.find_or_add(identity, || None), Some((number, false)));
                assert_eq!(index.find(identity), Some(number));
            }
        }
    }

    #[test]
    fn threads_that_add_the_same_states_agree_on_their_numbers() {
        const STATES: u64 = 20_000;
        let (index, len) = (Index::new(1 << 22, 4), AtomicU32::new(0));
        let has_room = index.has_room(STATES as usize);
        assert!(has_room);
        let add = || Some(len.fetch_add(1, Relaxed));
        let numbers: Vec<Vec<Node>> = std::thread::scope(|scope| {
            let all = (0..4).map(|_| {
                scope.spawn(|| {
                    let number = |identity| {
                        let (number, _) = index.find_or_add(identity, add).unwrap();
                        // A table that grows hides states, and never takes one for another.
                        assert!(index.find(identity).is_none_or(|found| found == number));
                        number
                    };
                    (0..STATES).map(number).collect()
                })
            });
            let all: Vec<_> = all.collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(u64::from(len.load(Relaxed)), STATES);
        assert!(numbers.iter().all(|all| *all == numbers[0]));
    }
}
