//! An online partition of a growing order of steps into chains.

use std::ops::Range;

use fastrand::Rng;

/// The chains whose last steps a step follows from, each with how many steps it has: a range of
/// [`Partition::lasts`], since every step hands its past on to several others. Of a chain that has gone on since
/// then nothing needs to be known, for what comes later follows from its last step by another way or never.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Past {
    start: u32,
    length: u32,
}

impl Past {
    #[inline]
    fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.length) as usize
    }
}

/// A step that can be taken now or later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) chain: u32,
    pub(super) past: Past,
    /// How many steps came up before it.
    pub(super) number: u64,
}

/// The lowest priority of chains that have not fallen.
const HIGH: u64 = 1 << 32;

/// An online partition of a growing order into chains: Agarwal and Garg, "Efficient dependency
/// tracking for relevant events in shared-memory systems" (PODC 2005), Figure 4. It makes at most
/// `w (w + 1) / 2` chains of an order of width `w`.
#[derive(Clone, Debug, Default)]
pub(super) struct Partition {
    chains: Vec<Chain>,
    /// The `i`-th set has at most `i + 1` chains.
    sets: Vec<Vec<u32>>,
    /// How many sets there are in this schedule; more are kept for their memory.
    open_sets: usize,
    /// The pasts of steps, one after another.
    lasts: Vec<Last>,
    /// How many of them were needed when that was last looked at.
    needed: usize,
    /// Kept for its memory.
    spare: Vec<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Chain {
    /// How many steps it has.
    length: u32,
    set: u32,
    priority: u64,
}

/// The last step of a chain, or one that was.
#[derive(Clone, Copy, Debug)]
struct Last {
    chain: u32,
    /// How many steps the chain has up to this one.
    length: u32,
}

impl Partition {
    pub(super) fn clear(&mut self) {
        self.chains.clear();
        self.sets[..self.open_sets].iter_mut().for_each(Vec::clear);
        self.open_sets = 0;
        self.lasts.clear();
        self.needed = 0;
    }

    /// Whether most of the pasts are likely to be those of steps long taken.
    pub(super) fn is_crowded(&self) -> bool {
        self.lasts.len() > (4 * self.needed).max(1 << 13)
    }

    /// Keeps these pasts alone.
    pub(super) fn keep<'p>(&mut self, pasts: impl Iterator<Item = &'p mut Past>) {
        std::mem::swap(&mut self.lasts, &mut self.spare);
        self.lasts.clear();
        for past in pasts {
            let start = self.lasts.len() as u32;
            self.lasts.extend_from_slice(&self.spare[past.range()]);
            past.start = start;
        }
        self.needed = self.lasts.len();
    }

    #[inline]
    pub(super) fn priority(&self, step: &Pending) -> u64 {
        self.chains[step.chain as usize].priority
    }

    pub(super) fn set_priority(&mut self, chain: u32, priority: u64) {
        self.chains[chain as usize].priority = priority;
    }

    /// Adds a maximal step that follows from `past`.
    pub(super) fn add(&mut self, past: Past, number: u64, rng: &mut Rng) -> Pending {
        let start = self.lasts.len();
        let mut goes_on = u32::MAX;
        for at in past.range() {
            let last = self.lasts[at];
            let chain = &self.chains[last.chain as usize];
            if chain.length == last.length {
                self.lasts.push(last);
                goes_on = goes_on.min(chain.set);
            }
        }
        let (set, chain) = self.place(start, goes_on as usize, rng);
        if set > 0 {
            // This set and the one below exchange their chains, all but `chain`.
            self.sets[set].retain(|&other| other != chain);
            self.sets.swap(set - 1, set);
            self.sets[set].push(chain);
            for set in [set - 1, set] {
                for &chain in &self.sets[set] {
                    self.chains[chain as usize].set = set as u32;
                }
            }
        }
        let length = &mut self.chains[chain as usize].length;
        *length += 1;
        let own = Last { chain, length: *length };
        match self.lasts[start..].iter_mut().find(|last| last.chain == chain) {
            Some(last) => *last = own,
            None => self.lasts.push(own),
        }
        let past = Past { start: start as u32, length: (self.lasts.len() - start) as u32 };
        Pending { chain, number, past }
    }

    /// The chain that the step continues, in the lowest set that has one: a chain of those from `start` on in
    /// `lasts`, none of which is in a set below `goes_on`, or a new one if the set has room.
    fn place(&mut self, start: usize, goes_on: usize, rng: &mut Rng) -> (usize, u32) {
        let below = goes_on.min(self.open_sets);
        let has_room = (0..below).find(|&set| self.sets[set].len() <= set);
        if has_room.is_none() && goes_on < self.open_sets {
            let is_last = |chain: u32| self.lasts[start..].iter().any(|last| last.chain == chain);
            if let Some(&chain) = self.sets[goes_on].iter().find(|&&chain| is_last(chain)) {
                return (goes_on, chain);
            }
        }
        let set = has_room.unwrap_or(below);
        (set, self.open(set, rng))
    }

    /// A new chain in this set, which may be the next one.
    fn open(&mut self, set: usize, rng: &mut Rng) -> u32 {
        if set == self.sets.len() {
            self.sets.push(Vec::new());
        }
        self.open_sets = self.open_sets.max(set + 1);
        let chain = self.chains.len() as u32;
        self.chains.push(Chain { length: 0, set: set as u32, priority: rng.u64(HIGH..) });
        self.sets[set].push(chain);
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A forest: the parent of each element, or nothing.
    fn random_forest(rng: &mut Rng, size: usize) -> Vec<Option<usize>> {
        let parent = |at: usize, rng: &mut Rng| {
            (at > 0 && rng.u8(..6) > 0).then(|| rng.usize(at.saturating_sub(4)..at))
        };
        (0..size).map(|at| parent(at, rng)).collect()
    }

    fn is_below(forest: &[Option<usize>], low: usize, mut high: usize) -> bool {
        while let Some(parent) = forest[high] {
            if parent == low {
                return true;
            }
            high = parent;
        }
        false
    }

    /// The width: the largest set of elements none of which follows from another, by brute force.
    fn width(forest: &[Option<usize>]) -> usize {
        let apart = |a: usize, b: usize| !is_below(forest, a, b) && !is_below(forest, b, a);
        (0u32..1 << forest.len())
            .filter(|set| {
                let members: Vec<usize> =
                    (0..forest.len()).filter(|at| set >> at & 1 == 1).collect();
                members.iter().all(|&a| members.iter().all(|&b| a == b || apart(a, b)))
            })
            .map(|set| set.count_ones() as usize)
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn chains_are_chains_and_not_many_more_than_the_width() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..200 {
            let forest = random_forest(&mut rng, 12);
            let mut partition = Partition::default();
            let mut pending: Vec<Pending> = Vec::new();
            let mut lasts: Vec<usize> = Vec::new();
            for (at, parent) in forest.iter().enumerate() {
                let past = parent.map_or_else(Past::default, |parent| pending[parent].past);
                let step = partition.add(past, at as u64, &mut rng);
                match lasts.get_mut(step.chain as usize) {
                    None => lasts.push(at),
                    Some(last) => {
                        assert!(is_below(&forest, *last, at), "{forest:?}: {last} then {at}");
                        *last = at;
                    }
                }
                pending.push(step);
            }
            let width = width(&forest);
            let chains = partition.chains.len();
            assert!(chains <= width * (width + 1) / 2, "{forest:?}: {chains} for {width}");
        }
    }
}
