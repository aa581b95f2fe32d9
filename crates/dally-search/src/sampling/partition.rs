//! An online partition of a growing order of steps into chains.

use fastrand::Rng;

/// For each chain, how many of its steps a step follows from: a range of [`Partition::numbers`],
/// since every step hands its past on to several others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Past {
    start: usize,
    length: usize,
}

/// A step that can be taken now or later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) chain: usize,
    /// How many steps came up before it.
    pub(super) number: u64,
    pub(super) past: Past,
}

/// The lowest priority of chains that have not fallen.
const HIGH: u64 = 1 << 32;

/// An online partition of a growing order into chains: Agarwal and Garg, "Efficient dependency
/// tracking for relevant events in shared-memory systems" (PODC 2005), Figure 4. It makes at most
/// `w (w + 1) / 2` chains of an order of width `w`.
#[derive(Clone, Debug, Default)]
pub(super) struct Partition {
    /// Of each chain: how many steps it has, the set that it is in, and its priority.
    lengths: Vec<u32>,
    set_of: Vec<u32>,
    priorities: Vec<u64>,
    /// The `i`-th set has at most `i + 1` chains.
    sets: Vec<Vec<usize>>,
    /// How many sets there are in this schedule; more are kept for their memory.
    open_sets: usize,
    /// The pasts of steps, one after another.
    numbers: Vec<u32>,
    /// How many of them were needed when that was last looked at.
    needed: usize,
    /// Kept for its memory.
    spare: Vec<u32>,
}

impl Partition {
    pub(super) fn clear(&mut self) {
        self.lengths.clear();
        self.set_of.clear();
        self.priorities.clear();
        self.sets[..self.open_sets].iter_mut().for_each(Vec::clear);
        self.open_sets = 0;
        self.numbers.clear();
        self.needed = 0;
    }

    /// Whether most of the pasts are likely to be those of steps long taken.
    pub(super) fn is_crowded(&self) -> bool {
        self.numbers.len() > (4 * self.needed).max(1 << 13)
    }

    /// Keeps these pasts alone.
    pub(super) fn keep<'p>(&mut self, pasts: impl Iterator<Item = &'p mut Past>) {
        std::mem::swap(&mut self.numbers, &mut self.spare);
        self.numbers.clear();
        for past in pasts {
            let start = self.numbers.len();
            self.numbers.extend_from_slice(&self.spare[past.start..][..past.length]);
            past.start = start;
        }
        self.needed = self.numbers.len();
    }

    #[inline]
    pub(super) fn priority(&self, step: &Pending) -> u64 {
        self.priorities[step.chain]
    }

    pub(super) fn set_priority(&mut self, chain: usize, priority: u64) {
        self.priorities[chain] = priority;
    }

    /// Adds a maximal step that follows from `past`.
    pub(super) fn add(&mut self, past: Past, number: u64, rng: &mut Rng) -> Pending {
        let (set, chain) = self.place(past, rng);
        if set > 0 {
            // This set and the one below exchange their chains, all but `chain`.
            self.sets[set].retain(|&other| other != chain);
            self.sets.swap(set - 1, set);
            self.sets[set].push(chain);
            for set in [set - 1, set] {
                self.sets[set].iter().for_each(|&chain| self.set_of[chain] = set as u32);
            }
        }
        self.lengths[chain] += 1;
        let (start, length) = (self.numbers.len(), past.length.max(chain + 1));
        self.numbers.extend_from_within(past.start..past.start + past.length);
        self.numbers.resize(start + length, 0);
        self.numbers[start + chain] = self.lengths[chain];
        Pending { chain, number, past: Past { start, length } }
    }

    /// The chain that the step continues, in the lowest set that has one: a chain whose last step
    /// is in the past, or a new one if the set has room.
    fn place(&mut self, past: Past, rng: &mut Rng) -> (usize, usize) {
        let past = &self.numbers[past.start..past.start + past.length];
        // Few chains go on, and nearly all are looked at: without a branch, several at once.
        let chains = past.iter().zip(&self.lengths).zip(&self.set_of);
        let sets =
            chains.map(|((known, length), &set)| if known == length { set } else { u32::MAX });
        let goes_on = sets.fold(u32::MAX, u32::min) as usize;
        let has_room = (0..self.open_sets).find(|&set| self.sets[set].len() <= set);
        let has_room = has_room.unwrap_or(self.open_sets);
        if goes_on <= has_room {
            let is_last = |&&chain: &&usize| past.get(chain) == Some(&self.lengths[chain]);
            if let Some(&chain) = self.sets[goes_on].iter().find(is_last) {
                return (goes_on, chain);
            }
        }
        (has_room, self.open(has_room, rng))
    }

    /// A new chain in this set, which may be the next one.
    fn open(&mut self, set: usize, rng: &mut Rng) -> usize {
        if set == self.sets.len() {
            self.sets.push(Vec::new());
        }
        self.open_sets = self.open_sets.max(set + 1);
        let chain = self.lengths.len();
        self.lengths.push(0);
        self.set_of.push(set as u32);
        self.priorities.push(rng.u64(HIGH..));
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
                match lasts.get_mut(step.chain) {
                    None => lasts.push(at),
                    Some(last) => {
                        assert!(is_below(&forest, *last, at), "{forest:?}: {last} then {at}");
                        *last = at;
                    }
                }
                pending.push(step);
            }
            let width = width(&forest);
            let chains = partition.lengths.len();
            assert!(chains <= width * (width + 1) / 2, "{forest:?}: {chains} for {width}");
        }
    }
}
