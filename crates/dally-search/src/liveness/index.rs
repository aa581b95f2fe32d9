//! From the identities of states to their numbers.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::fence;
use std::sync::{Mutex, PoisonError};

use super::graph::Node;
use crate::strata::{Lookup, Table};

/// The numbers of states, found by a half of their identities; whoever asks has them compared whole.
pub(super) struct Index {
    /// A power of two.
    shards: Box<[Shard]>,
    /// The bytes that each may take.
    budget: u64,
}

#[repr(align(128))]
struct Shard {
    /// Whoever adds to the table has the lock, which knows how many states are in it.
    len: Mutex<u64>,
    table: Table<32>,
}

/// What a first look at the table shows of an identity.
#[derive(Clone, Copy)]
pub(crate) enum Guess {
    /// It probably has this number.
    Perhaps(Node),
    /// There is no state of this identity.
    Absent,
    Unknown,
}

/// With as many shards as this, threads hardly ever wait for each other.
const MANY: usize = 64;

impl Index {
    pub(super) fn new(memory: u64, threads: usize) -> Index {
        let count = if threads > 1 { MANY } else { 1 };
        let budget = memory / count as u64;
        let shard = |_| Shard { len: Mutex::new(0), table: Table::new(budget, count) };
        Index { shards: (0..count).map(shard).collect(), budget }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.table.bytes()).sum()
    }

    /// The number of the state of this identity, which `add` gives it if there is none, and whether
    /// it did. `None` if there is no room.
    #[inline]
    pub(super) fn find_or_add(
        &self,
        identity: u64,
        identity_of: impl Fn(Node) -> u64,
        add: impl FnOnce() -> Option<Node>,
    ) -> Option<(Node, bool)> {
        let (key, shard) = self.place(identity);
        let mut len = shard.len.lock().unwrap_or_else(PoisonError::into_inner);
        let table = &shard.table;
        let known = |word: u64| identity_of(word as Node) == identity;
        let mut found = table.find(key, usize::MAX, known);
        if let Lookup::Word(word) = found {
            return Some((word as Node, false));
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
        // Whoever is told of the state sees what was written before.
        fence(Release);
        slot.store(key | u64::from(node), Relaxed);
        *len += 1;
        Some((node, true))
    }

    /// The number of the state of this identity, if there is one; a table that grows may hide some.
    /// No lock is needed: a number that is seen was added by some thread, also while the table grows.
    #[inline]
    pub(super) fn find(&self, identity: u64, identity_of: impl Fn(Node) -> u64) -> Option<Node> {
        let (key, shard) = self.place(identity);
        let known = |word: u64| {
            fence(Acquire);
            identity_of(word as Node) == identity
        };
        number(shard.table.find(key, usize::MAX, known))
    }

    /// What shows of the state of this identity where it is looked for first.
    #[inline]
    pub(super) fn guess(&self, identity: u64) -> Guess {
        let (key, shard) = self.place(identity);
        match shard.table.find(key, 1, |_| true) {
            Lookup::Word(word) => {
                fence(Acquire);
                Guess::Perhaps(word as Node)
            }
            Lookup::Free(_) => Guess::Absent,
            Lookup::Full => Guess::Unknown,
        }
    }

    /// This identity will be looked for soon.
    #[inline]
    pub(super) fn prefetch(&self, identity: u64) {
        let (key, shard) = self.place(identity);
        shard.table.prefetch(key);
    }

    /// The key of an identity, and its shard. None of the bits of an identity need be good: an odd
    /// factor makes all of them count in the upper half, which is the key.
    #[inline]
    fn place(&self, identity: u64) -> (u64, &Shard) {
        let hash = identity.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let key = Table::<32>::key(hash).max(1 << 32);
        (key, &self.shards[hash as usize >> 20 & (self.shards.len() - 1)])
    }
}

fn number(found: Lookup<'_>) -> Option<Node> {
    match found {
        Lookup::Word(word) => Some(word as Node),
        Lookup::Free(_) | Lookup::Full => None,
    }
}
