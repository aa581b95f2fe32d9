//! From the identities of states to their numbers.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};
use std::sync::{Mutex, PoisonError};

use super::graph::{Node, OwnLine};
use crate::strata::{Lookup, Table};

/// The numbers of states, found by one half of a hash of their identities. The other half, the
/// *rest*, is kept with the states; a hash has the bits of its identity in another order, so both
/// halves tell states apart.
pub(super) struct Index {
    /// A power of two; one alone if one thread uses them.
    shards: Box<[Shard]>,
    /// The bytes that each may take.
    budget: u64,
}

struct Shard {
    /// Threads that only look for states read no line that this is in.
    adding: OwnLine<Adding>,
    /// In each word the upper half of a hash, and the number of the state plus 1.
    table: Table<32>,
}

/// What those use who add to a table.
#[derive(Default)]
struct Adding {
    /// Held by who adds, if there are several threads.
    lock: Mutex<()>,
    /// How many states are in the table.
    len: AtomicU64,
}

/// With so many shards for each thread, threads seldom wait for each other; and the fewer there are,
/// the more of them lies in huge pages.
const SHARDS_A_THREAD: usize = 4;

impl Index {
    pub(super) fn new(memory: u64, threads: usize) -> Index {
        let count = if threads > 1 { (SHARDS_A_THREAD * threads).next_power_of_two() } else { 1 };
        let budget = memory / count as u64;
        let shard = |_| Shard { adding: OwnLine::default(), table: Table::new(budget, count) };
        let shards = (0..count).map(shard).collect();
        Index { shards, budget }
    }

    /// The bytes of the table.
    pub(super) fn table_bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.table.bytes()).sum()
    }

    /// The number of the state of this identity, which `add` gives it and its rest if there is none,
    /// and whether it did. `None` if there is no room.
    #[inline]
    pub(super) fn find_or_add(
        &self,
        identity: u64,
        rest_of: impl Fn(Node) -> u32,
        add: impl FnOnce(u32) -> Option<Node>,
    ) -> Option<(Node, bool)> {
        let (key, rest, shard) = self.place(identity);
        let Shard { adding: OwnLine(adding), table } = shard;
        let shared = self.shards.len() > 1;
        let _adding = shared.then(|| adding.lock.lock().unwrap_or_else(PoisonError::into_inner));
        let mut found = table.find(key, usize::MAX, |word| is_same(word, rest, &rest_of));
        if let Lookup::Word(word) = found {
            return Some((node(word), false));
        }
        let len = adding.len.load(Relaxed);
        if len >= table.limit(false) {
            let grown = table.grow(self.budget);
            if !grown && len >= table.limit(true) {
                return None;
            }
            found = table.find(key, usize::MAX, |_| false);
        }
        let Lookup::Free(slot) = found else { return None };
        let node = add(rest)?;
        // Whoever is told of the state sees what was written before.
        fence(Release);
        slot.store(key | u64::from(node + 1), Relaxed);
        adding.len.store(len + 1, Relaxed);
        Some((node, true))
    }

    /// The number of the state of this identity, if there is one; a table that grows may hide some.
    /// No lock is needed: a number that is seen was added by some thread, also while the table grows.
    #[inline]
    pub(super) fn find(&self, identity: u64, rest_of: impl Fn(Node) -> u32) -> Option<Node> {
        let (key, rest, shard) = self.place(identity);
        shard.table.get(key, |word| is_same(word, rest, &rest_of)).map(node)
    }

    /// The same, before the rest is compared: mostly right, and always if there is none.
    #[inline]
    pub(super) fn likely(&self, identity: u64) -> Option<Node> {
        let (key, _, shard) = self.place(identity);
        shard.table.get(key, |word| word as u32 != 0).map(node)
    }

    /// The rest of the hash of an identity.
    #[inline]
    pub(super) fn rest(&self, identity: u64) -> u32 {
        hash(identity) as u32
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
        let hash = hash(identity);
        let shard = &self.shards[hash as usize >> 20 & (self.shards.len() - 1)];
        (Table::<32>::key(hash), hash as u32, shard)
    }
}

#[inline]
fn hash(identity: u64) -> u64 {
    identity.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn is_same(word: u64, rest: u32, rest_of: impl Fn(Node) -> u32) -> bool {
    fence(Acquire);
    // An empty slot has the key 0.
    word as u32 != 0 && rest_of(node(word)) == rest
}

#[inline]
fn node(word: u64) -> Node {
    (word as u32).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    /// The rests of states by number.
    fn rests(states: usize) -> Vec<AtomicU32> {
        (0..states).map(|_| AtomicU32::new(0)).collect()
    }

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
            let (index, rests) = (Index::new(1 << 20, threads), rests(80));
            let rest_of = |node: Node| rests[node as usize].load(Relaxed);
            let upper = (0..40_u64).map(|n| alike(n << 32));
            let lower = (1..40_u64).map(alike);
            for (identity, number) in upper.chain(lower).zip(0..) {
                assert_eq!(index.find(identity, rest_of), None);
                let add = |rest| {
                    rests[number as usize].store(rest, Relaxed);
                    Some(number)
                };
                assert_eq!(index.find_or_add(identity, rest_of, add), Some((number, true)));
                assert_eq!(index.find_or_add(identity, rest_of, |_| None), Some((number, false)));
                assert_eq!(index.find(identity, rest_of), Some(number));
                assert_eq!(index.rest(identity), rest_of(number));
                assert!(index.likely(identity).is_some());
            }
        }
    }

    #[test]
    fn threads_that_add_the_same_states_agree_on_their_numbers() {
        const STATES: u64 = 20_000;
        let (index, len) = (Index::new(1 << 22, 4), AtomicU32::new(0));
        let rests = rests(STATES as usize);
        let rest_of = |node: Node| rests[node as usize].load(Relaxed);
        let add = |rest| {
            let node = len.fetch_add(1, Relaxed);
            rests[node as usize].store(rest, Relaxed);
            Some(node)
        };
        let numbers: Vec<Vec<Node>> = std::thread::scope(|scope| {
            let all = (0..4).map(|_| {
                scope.spawn(|| {
                    let number = |identity| {
                        let (number, _) = index.find_or_add(identity, rest_of, add).unwrap();
                        // A table that grows hides states, and never takes one for another.
                        assert!(index.find(identity, rest_of).is_none_or(|found| found == number));
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
