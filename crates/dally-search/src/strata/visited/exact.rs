//! Visited states as a whole, in parts that are kept once.

use super::Visit;
use super::byte_strings::{self, ByteStrings, Interned};
use dally_core::fingerprint;
use dally_core::report::CachePolicy;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most shards. Each has its own parts: the fewer shards, the fewer parts are kept twice.
const MOST: u64 = 16;

/// The least budget of a shard: many small ones would be worse than one.
const WORTHWHILE: u64 = 1 << 20;

pub(super) struct Exact {
    /// A power of two, indexed by the hash of a state.
    shards: Box<[Mutex<Shard>]>,
}

struct Shard {
    young: Generation,
    /// The generation before, if states are replaced.
    old: Option<Generation>,
    replace: bool,
    dropped: u64,
    parts: Parts,
}

/// The parts of the state that is inserted. Used for all states, to save allocations.
#[derive(Default)]
struct Parts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The numbers of the parts, by which the state is stored.
    numbers: Vec<u8>,
}

/// States as sequences of the numbers of their parts.
struct Generation {
    parts: ByteStrings,
    states: ByteStrings,
    budget: u64,
    shards: usize,
}

impl Exact {
    pub(super) fn new(policy: CachePolicy, budget: u64, threads: usize) -> Exact {
        let most = if threads > 1 { (budget / WORTHWHILE).clamp(1, MOST) } else { 1 };
        let count = 1_usize << most.ilog2();
        let replace = policy == CachePolicy::Replace;
        let budget = budget / count as u64 / if replace { 2 } else { 1 };
        let shard = |_| {
            let young = Generation::new(budget, count, false);
            Mutex::new(Shard { young, old: None, replace, dropped: 0, parts: Parts::default() })
        };
        Exact { shards: (0..count).map(shard).collect() }
    }

    /// Visits a state; `None` if it is new and was not stored.
    pub(super) fn insert(
        &self,
        hash: u64,
        parts: impl FnOnce(&mut dyn FnMut(&[u8])),
    ) -> Option<Visit> {
        let place = fingerprint::mix(hash, 0) as usize % self.shards.len();
        let mut shard = lock(&self.shards[place]);
        let shard = &mut *shard;
        shard.parts.collect(parts);
        let seen = shard.insert(hash);
        shard.dropped += u64::from(seen.is_none());
        seen
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> u64 {
        self.sum(|shard| shard.generations().map(|some| some.states.len()).sum())
    }

    pub(super) fn bytes(&self) -> u64 {
        self.sum(|shard| shard.generations().map(Generation::bytes).sum())
    }

    pub(super) fn dropped(&self) -> u64 {
        self.sum(|shard| shard.dropped)
    }

    fn sum(&self, of: impl Fn(&Shard) -> u64) -> u64 {
        self.shards.iter().map(|shard| of(&lock(shard))).sum()
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whole states, each with a number by which the graph of a search for cycles knows it.
pub(crate) struct Numbered {
    all: Generation,
    parts: Parts,
}

impl Numbered {
    pub(crate) fn new(budget: u64) -> Numbered {
        Numbered { all: Generation::new(budget, 1, true), parts: Parts::default() }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.all.bytes()
    }

    /// The number of a state; `None` if there is no room for it.
    pub(crate) fn number(
        &mut self,
        hash: u64,
        parts: impl FnOnce(&mut dyn FnMut(&[u8])),
    ) -> Option<u32> {
        self.parts.collect(parts);
        Some(self.all.intern(hash, &mut self.parts)?.number)
    }
}

impl Shard {
    fn insert(&mut self, hash: u64) -> Option<Visit> {
        if self.old.as_ref().is_some_and(|old| old.holds(hash, &mut self.parts)) {
            return Some(Visit::Known);
        }
        let seen = self.young.insert(hash, &mut self.parts);
        if seen.is_some() || !self.replace || self.young.states.len() == 0 {
            return seen;
        }
        self.dropped += self.old.take().map_or(0, |old| old.states.len());
        let younger = Generation::new(self.young.budget, self.young.shards, false);
        self.old = Some(std::mem::replace(&mut self.young, younger));
        self.young.insert(hash, &mut self.parts)
    }

    fn generations(&self) -> impl Iterator<Item = &Generation> {
        std::iter::once(&self.young).chain(&self.old)
    }
}

impl Parts {
    fn collect(&mut self, parts: impl FnOnce(&mut dyn FnMut(&[u8]))) {
        self.bytes.clear();
        self.ends.clear();
        parts(&mut |part| {
            self.bytes.extend_from_slice(part);
            self.ends.push(self.bytes.len());
        });
    }

    /// Writes the number of each part; `None` if a part has none.
    fn number(&mut self, mut number: impl FnMut(u64, &[u8]) -> Option<u32>) -> Option<&[u8]> {
        self.numbers.clear();
        let mut start = 0;
        for &end in &self.ends {
            let part = &self.bytes[start..end];
            let number = number(fingerprint::of_bytes(part), part)?;
            byte_strings::write(number.into(), &mut self.numbers);
            start = end;
        }
        Some(&self.numbers)
    }
}

impl Generation {
    fn new(budget: u64, shards: usize, numbered: bool) -> Generation {
        Generation {
            parts: ByteStrings::new(true, budget, shards),
            states: ByteStrings::new(numbered, budget, shards),
            budget,
            shards,
        }
    }

    fn bytes(&self) -> u64 {
        self.parts.bytes() + self.states.bytes()
    }

    fn holds(&self, hash: u64, parts: &mut Parts) -> bool {
        let state = parts.number(|hash, part| self.parts.find(hash, part));
        state.is_some_and(|state| self.states.find(hash, state).is_some())
    }

    fn insert(&mut self, hash: u64, parts: &mut Parts) -> Option<Visit> {
        let new = self.intern(hash, parts)?.new;
        Some(if new { Visit::New } else { Visit::Known })
    }

    fn intern(&mut self, hash: u64, parts: &mut Parts) -> Option<Interned> {
        let Generation { parts: known, states, budget, .. } = self;
        let state = parts.number(|hash, part| {
            let room = *budget - known.bytes() - states.bytes();
            Some(known.intern(hash, part, room)?.number)
        })?;
        let room = *budget - known.bytes() - states.bytes();
        states.intern(hash, state, room)
    }
}
