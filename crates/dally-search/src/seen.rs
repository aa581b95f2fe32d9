//! How much of what schedules can show has been seen.
//!
//! What a schedule *shows* is the set of observations of its states: of all of them where the
//! options have every state observed ([`Options::observe_every`](crate::Options)), and otherwise
//! of its last one. All that is shown counts as seen. How likely something new is follows from the
//! schedules that showed something that no other did.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

/// How much has been seen, and how likely the next schedule is to show something new.
///
/// The estimate is Good and Turing's, for sets: of `judged` schedules, `alone` showed something
/// that no other schedule did, so each of those would have been news if it had come last. Under a
/// strategy that [draws all schedules alike](crate::Strategy::draws_alike), `alone / judged` has
/// the same mean as the chance that the last of them showed something new; under any other it is
/// a share of the past and no estimate. It speaks of observations, which leave much of the state
/// out, and of this strategy: what it never does is in no estimate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
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
    /// How many distinct observations there were after so many schedules: after 1, 2, 4, 8, ...
    pub growth: Vec<(u64, u64)>,
}

impl Seen {
    /// The estimated chance that one more such schedule shows something new. Without any schedule
    /// there is none, and neither under a strategy that does not draw them alike.
    pub fn chance_of_new(&self) -> Option<f64> {
        (self.alike && self.judged > 0).then(|| self.alone as f64 / self.judged as f64)
    }
}

/// More observations than this are not told apart.
pub(crate) const MAX_OBSERVATIONS: usize = 1 << 22;

/// The observations of a run, and who showed them.
#[derive(Default)]
pub(crate) struct Sightings {
    shown: FxHashMap<u64, By>,
    /// How many observations each schedule has to itself, without those that have none.
    alone: FxHashMap<u64, u32>,
    schedules: u64,
    seen: Seen,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Only by this schedule, which the estimate is about.
    One(u64),
    /// By several, or by one that the estimate is not about.
    Others,
}

impl Sightings {
    /// Whether it makes no difference if one more schedule shows this.
    pub(crate) fn is_settled(&self, observation: u64) -> bool {
        self.shown.get(&observation) == Some(&By::Others)
    }

    pub(crate) fn distinct(&self) -> u64 {
        self.shown.len() as u64
    }

    pub(crate) fn is_full(&self) -> bool {
        self.shown.len() >= MAX_OBSERVATIONS
    }

    /// Adds what the next schedule showed, each observation once; those that are settled may be
    /// left out. `judged`: the estimate is about it.
    pub(crate) fn add(&mut self, shown: impl IntoIterator<Item = u64>, judged: bool) {
        let number = self.schedules;
        self.schedules += 1;
        self.seen.judged += u64::from(judged);
        let mut own = 0;
        let before = self.shown.len();
        for observation in shown {
            let full = self.is_full();
            match self.shown.entry(observation) {
                Entry::Vacant(_) if full => {}
                Entry::Vacant(new) => {
                    new.insert(if judged { By::One(number) } else { By::Others });
                    own += u32::from(judged);
                }
                Entry::Occupied(mut known) => {
                    if let By::One(other) = known.insert(By::Others)
                        && let Entry::Occupied(mut left) = self.alone.entry(other)
                    {
                        *left.get_mut() -= 1;
                        if *left.get() == 0 {
                            left.remove();
                        }
                    }
                }
            }
        }
        if own > 0 {
            self.alone.insert(number, own);
        }
        if self.shown.len() > before {
            self.seen.last_new = Some(self.schedules);
        }
        if self.schedules.is_power_of_two() {
            self.seen.growth.push((self.schedules, self.distinct()));
        }
    }

    /// What this comes to, under a strategy that draws schedules `alike` or not.
    pub(crate) fn seen(&self, alike: bool) -> Seen {
        let mut seen = Seen { alike, alone: self.alone.len() as u64, ..self.seen.clone() };
        if self.is_full() {
            (seen.judged, seen.alone) = (0, 0);
        }
        if seen.growth.last().is_some_and(|last| last.0 < self.schedules) {
            seen.growth.push((self.schedules, self.distinct()));
        }
        seen
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
            estimates += sightings.seen(true).chance_of_new().unwrap();
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
        assert_eq!((sightings.seen(true).alone, sightings.seen(true).judged), (2, 2));
        sightings.add([1], false);
        // Schedule 1 has nothing to itself any more, and schedule 3 is not judged.
        assert_eq!((sightings.seen(true).alone, sightings.seen(true).judged), (1, 2));
        sightings.add([4], false);
        sightings.add([4], true);
        let seen = sightings.seen(true);
        assert_eq!((seen.alone, seen.judged, seen.last_new), (1, 3, Some(4)));
        assert_eq!(seen.growth, [(1, 2), (2, 3), (4, 4), (5, 4)]);
        assert!(sightings.is_settled(4) && !sightings.is_settled(3) && !sightings.is_settled(5));
    }

    #[test]
    fn without_schedules_there_is_no_estimate() {
        assert_eq!(Sightings::default().seen(true).chance_of_new(), None);
    }

    #[test]
    fn schedules_that_are_not_drawn_alike_give_no_estimate() {
        let mut sightings = Sightings::default();
        sightings.add([1], true);
        assert_eq!(sightings.seen(true).chance_of_new(), Some(1.0));
        assert_eq!(sightings.seen(false).chance_of_new(), None);
    }
}
