//! How much of what schedules can show has been seen. What a schedule *shows* is the set of
//! observations of its states: of all of them where the options have every state observed, and
//! otherwise of its last one.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// How much was new, and how likely the next schedule is to show something new.
///
/// The estimate is Good and Turing's, for sets: of `judged` schedules, `alone` showed something
/// that no other schedule did, so each of those would have been new if it had come last. If the
/// strategy draws all schedules alike, `alone / judged` has the same mean as the chance that the last
/// of them showed something new; otherwise it is no estimate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Novelty {
    /// The schedule, counted from 1, that was the last to show something new.
    pub last_new: Option<u64>,
    /// Whether the strategy draws all schedules alike.
    pub alike: bool,
    /// Schedules that are compared with each other: those all of whose states were observed, or all
    /// schedules where only last states were. 0 where there were too many observations to be
    /// told apart.
    pub judged: u64,
    /// Those among them that showed something that no other schedule did.
    pub alone: u64,
    /// How many distinct observations there were after so many schedules: after 1, 2, 4, 8, ...,
    /// and at the end.
    pub growth: Vec<(u64, u64)>,
}

impl Novelty {
    /// The estimated chance that one more such schedule shows something new. Without any schedule
    /// there is none, and neither under a strategy that does not draw them alike.
    pub fn chance_of_new(&self) -> Option<f64> {
        (self.alike && self.judged > 0).then(|| self.alone as f64 / self.judged as f64)
    }
}

/// More observations than this are not told apart.
pub const MAX_OBSERVATIONS: usize = 1 << 22;

/// The observations of schedules with consecutive numbers, and who showed them: all that
/// [`Novelty`] is calculated from, so that those of two parts of a run make those of the whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sightings {
    /// The number of the first schedule, from 0.
    first: u64,
    /// How many schedules there were.
    schedules: u64,
    /// How many of them the estimate is about.
    judged: u64,
    /// The observation, the first schedule that showed it, and whether no other did; sorted.
    #[serde(with = "triples")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<(u64, u64, bool)>"))]
    shown: FxHashMap<u64, Sighting>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Sighting {
    /// The first schedule that showed it.
    first: u64,
    /// No other did, and that one is judged.
    alone: bool,
}

impl Sightings {
    /// Nothing, before the schedule of this number.
    pub fn starting_at(first: u64) -> Sightings {
        Sightings { first, ..Sightings::default() }
    }

    /// Whether several schedules have shown this, so that one more makes no difference.
    pub fn is_common(&self, observation: u64) -> bool {
        self.shown.get(&observation).is_some_and(|sighting| !sighting.alone)
    }

    /// How many distinct observations there are.
    pub fn distinct(&self) -> u64 {
        self.shown.len() as u64
    }

    fn is_full(&self) -> bool {
        self.shown.len() >= MAX_OBSERVATIONS
    }

    /// Adds what the next schedule showed, each observation once; those that are common may be
    /// left out. `judged`: the estimate is about it.
    pub fn add(&mut self, shown: impl IntoIterator<Item = u64>, judged: bool) {
        let number = self.first + self.schedules;
        self.schedules += 1;
        self.judged += u64::from(judged);
        for observation in shown {
            let full = self.is_full();
            match self.shown.entry(observation) {
                Entry::Vacant(_) if full => {}
                Entry::Vacant(new) => {
                    new.insert(Sighting { first: number, alone: judged });
                }
                Entry::Occupied(mut known) => known.get_mut().alone = false,
            }
        }
    }

    /// Adds what the next schedules showed; `false` and no change if they are not the next.
    pub fn append(&mut self, later: &Sightings) -> bool {
        if later.first != self.first + self.schedules {
            return false;
        }
        self.schedules += later.schedules;
        self.judged += later.judged;
        for (&observation, &sighting) in &later.shown {
            let known = self.shown.entry(observation);
            known.and_modify(|known| known.alone = false).or_insert(sighting);
        }
        if self.shown.len() > MAX_OBSERVATIONS {
            let mut order: Vec<_> = self.shown.iter().map(|(&what, of)| (of.first, what)).collect();
            order.sort_unstable();
            order[MAX_OBSERVATIONS..].iter().for_each(|(_, what)| _ = self.shown.remove(what));
        }
        true
    }

    /// What this comes to, under a strategy that draws schedules `alike` or not.
    pub fn novelty(&self, alike: bool) -> Novelty {
        let since = |of: &Sighting| of.first.saturating_sub(self.first);
        let mut firsts: Vec<u64> = self.shown.values().map(since).collect();
        firsts.sort_unstable();
        let after = |schedules| (schedules, firsts.partition_point(|&n| n < schedules) as u64);
        let powers = (0..u64::BITS).map(|bit| 1 << bit);
        let mut growth: Vec<_> = powers.take_while(|&n| n <= self.schedules).map(after).collect();
        if growth.last().is_some_and(|last| last.0 < self.schedules) {
            growth.push(after(self.schedules));
        }
        let by_one = self.shown.values().filter(|of| of.alone);
        let mut alone: Vec<u64> = by_one.map(|of| of.first).collect();
        alone.sort_unstable();
        alone.dedup();
        let (judged, alone) =
            if self.is_full() { (0, 0) } else { (self.judged, alone.len() as u64) };
        let last_new = firsts.last().map(|last| self.first + last + 1);
        Novelty { last_new, alike, judged, alone, growth }
    }
}

/// Sightings as they are written: sorted, so that equal ones are written alike.
mod triples {
    use super::{Deserialize, FxHashMap, Serialize, Sighting};

    type Shown = FxHashMap<u64, Sighting>;

    pub fn serialize<S: serde::Serializer>(shown: &Shown, to: S) -> Result<S::Ok, S::Error> {
        let mut all: Vec<_> = shown.iter().map(|(what, of)| (what, of.first, of.alone)).collect();
        all.sort_unstable();
        all.serialize(to)
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Shown, D::Error> {
        let all = Vec::<(u64, u64, bool)>::deserialize(from)?;
        Ok(all.into_iter().map(|(what, first, alone)| (what, Sighting { first, alone })).collect())
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// One of 2^16 observations: number `n`, from 0, with a probability of `1 / 2^(b + 1) / 2^b`
    /// where `2^b` is the power of two at or below `n + 1`. Half of all draws are number 0.
    fn draw(rng: &mut Rng) -> u64 {
        let bits = (rng.u64(..).trailing_zeros()).min(15);
        (1 << bits) - 1 + rng.u64(..1 << bits)
    }

    fn probability(observation: u64) -> f64 {
        let bits = (observation + 1).ilog2();
        let of_bits = if bits == 15 { 0.5f64.powi(15) } else { 0.5f64.powi(bits as i32 + 1) };
        of_bits / f64::from(1 << bits)
    }

    /// The mean of the estimates, and of the true chances, over many runs in which each schedule
    /// shows so many draws, and every `every`-th is judged.
    fn means(draws: usize, every: u64) -> (f64, f64) {
        let mut rng = Rng::with_seed(3);
        let (mut estimates, mut truths) = (0.0, 0.0);
        const RUNS: usize = 400;
        for _ in 0..RUNS {
            let mut sightings = Sightings::default();
            for schedule in 0..200 {
                let mut shown: Vec<u64> = (0..draws).map(|_| draw(&mut rng)).collect();
                shown.sort_unstable();
                shown.dedup();
                let judged = schedule % every == 0;
                shown.truncate(if judged { draws } else { 1 });
                sightings.add(shown, judged);
            }
            estimates += sightings.novelty(true).chance_of_new().unwrap();
            let known: f64 = sightings.shown.keys().map(|&known| probability(known)).sum();
            truths += 1.0 - known.powi(draws as i32);
        }
        (estimates / RUNS as f64, truths / RUNS as f64)
    }

    #[test]
    fn the_estimate_has_the_mean_of_the_true_chance() {
        for (draws, every) in [(1, 1), (3, 1), (3, 4)] {
            let (estimate, truth) = means(draws, every);
            // One schedule fewer has been seen by the estimate than by the truth.
            assert!((estimate / truth - 1.0).abs() < 0.05, "{draws}: {estimate} and {truth}");
        }
    }

    #[test]
    fn what_two_schedules_show_is_news_of_neither() {
        let mut sightings = Sightings::default();
        sightings.add([1, 2], true);
        sightings.add([2, 3], true);
        assert_eq!((sightings.novelty(true).alone, sightings.novelty(true).judged), (2, 2));
        sightings.add([1], false);
        // Schedule 1 has nothing to itself any more, and schedule 3 is not judged.
        assert_eq!((sightings.novelty(true).alone, sightings.novelty(true).judged), (1, 2));
        sightings.add([4], false);
        sightings.add([4], true);
        let novelty = sightings.novelty(true);
        assert_eq!((novelty.alone, novelty.judged, novelty.last_new), (1, 3, Some(4)));
        assert_eq!(novelty.growth, [(1, 2), (2, 3), (4, 4), (5, 4)]);
        assert!(sightings.is_common(4) && !sightings.is_common(3) && !sightings.is_common(5));
    }

    #[test]
    fn without_schedules_that_are_drawn_alike_there_is_no_estimate() {
        let mut sightings = Sightings::default();
        assert_eq!(sightings.novelty(true).chance_of_new(), None);
        sightings.add([1], true);
        assert_eq!(sightings.novelty(true).chance_of_new(), Some(1.0));
        assert_eq!(sightings.novelty(false).chance_of_new(), None);
    }
}
