//! The partition of a growing order of steps into chains.

use fastrand::Rng;

/// For each chain, how many of its steps a step follows from: a range of [`Partition::numbers`],
/// since every step hands its past on to several others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    start: usize,
    length: usize,
}

/// A step that can be taken now or later.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub chain: usize,
    /// How many steps came up before it.
    pub number: u64,
    pub past: Past,
}

/// The lowest priority of chains that have not fallen.
const HIGH: u64 = 1 << 32;

/// An online partition of a growing order into chains: Agarwal and Garg, "Efficient dependency
/// tracking for relevant events in shared-memory systems" (PODC 2005), Figure 4. It makes at most
/// `w (w + 1) / 2` chains of an order of width `w`.
#[derive(Clone, Debug, Default)]
pub struct Partition {
    chains: Vec<Chain>,
    /// The `i`-th set has at most `i + 1` chains.
    sets: Vec<Vec<usize>>,
    /// The pasts of steps, one after another.
    numbers: Vec<u32>,
    /// How many of them were needed when that was last looked at.
    needed: usize,
}

#[derive(Clone, Copy, Debug)]
struct Chain {
    length: u32,
    priority: u64,
}

impl Partition {
    pub fn clear(&mut self) {
        self.chains.clear();
        self.sets.clear();
        self.numbers.clear();
        self.needed = 0;
    }

    /// Whether most of the pasts are likely to be those of steps long taken.
    pub fn is_crowded(&self) -> bool {
        self.numbers.len() > (4 * self.needed).max(1 << 16)
    }

    /// Keeps these pasts alone.
    pub fn keep<'p>(&mut self, pasts: impl Iterator<Item = &'p mut Past>) {
        let all = std::mem::take(&mut self.numbers);
        for past in pasts {
            let start = self.numbers.len();
            self.numbers.extend_from_slice(&all[past.start..][..past.length]);
            past.start = start;
        }
        self.needed = self.numbers.len();
    }

    pub fn priority(&self, step: &Pending) -> u64 {
        self.chains[step.chain].priority
    }

    /// Gives a chain this priority, which is below those of all that have not fallen.
    pub fn fall(&mut self, chain: usize, priority: u64) {
        self.chains[chain].priority = priority;
    }

    /// Adds a maximal step that follows from `past`.
    pub fn add(&mut self, past: Past, number: u64, rng: &mut Rng) -> Pending {
        let (set, chain) = self.place(past, rng);
        if set > 0 {
            // This set and the one below exchange their chains, all but `chain`.
            self.sets[set].retain(|&other| other != chain);
            let (low, high) = self.sets.split_at_mut(set);
            std::mem::swap(&mut low[set - 1], &mut high[0]);
            high[0].push(chain);
        }
        self.chains[chain].length += 1;
        let (start, length) = (self.numbers.len(), past.length.max(chain + 1));
        self.numbers.extend_from_within(past.start..past.start + past.length);
        self.numbers.resize(start + length, 0);
        self.numbers[start + chain] = self.chains[chain].length;
        Pending { chain, number, past: Past { start, length } }
    }

    /// The chain that the step continues, in the lowest set that has one: a chain whose last step
    /// is in the past, or a new one if the set has room.
    fn place(&mut self, past: Past, rng: &mut Rng) -> (usize, usize) {
        let past = &self.numbers[past.start..past.start + past.length];
        for (index, set) in self.sets.iter().enumerate() {
            let goes_on = |&&chain: &&usize| {
                past.get(chain).is_some_and(|&known| known == self.chains[chain].length)
            };
            if let Some(&chain) = set.iter().find(goes_on) {
                return (index, chain);
            }
            if set.len() <= index {
                return (index, self.open(index, rng));
            }
        }
        self.sets.push(Vec::new());
        (self.sets.len() - 1, self.open(self.sets.len() - 1, rng))
    }

    fn open(&mut self, set: usize, rng: &mut Rng) -> usize {
        self.chains.push(Chain { length: 0, priority: rng.u64(HIGH..) });
        self.sets[set].push(self.chains.len() - 1);
        self.chains.len() - 1
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
            let chains = partition.chains.len();
            assert!(chains <= width * (width + 1) / 2, "{forest:?}: {chains} for {width}");
        }
    }
}
