//! Periodical scheduling.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use dally_core::{System, WorkerId};
use fastrand::Rng;

use super::splits::Splits;
use crate::sampling::Sampler;
use crate::sampling::profile::{Profile, Profiler};
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties};

/// Periodical scheduling (Wen, He, Wu, Xu and Qin, "Controlled concurrency testing via periodical
/// scheduling", ICSE 2022): an execution is a sequence of periods, in each of which every worker,
/// in order, takes its share of its key points (steps that others can notice). At depth `d` there
/// are `d + 1` periods, and the splits of the workers' key points over them are gone through.
///
/// Each split that needs all its periods comes exactly once. So where nothing blocks, all
/// interleavings of key points come, each once, and one with `d` descents (switches to an earlier
/// worker) at depth `d`, up to depth 16; where there are more splits than can be numbered or passed
/// over in time, they are drawn, and may come again. Where workers block or take other steps than
/// expected, a split says how far each goes at most, and the last period takes the rest.
///
/// Depths take turns: every second schedule is at depth 1, every fourth at depth 2, and so on; a
/// completed depth leaves its turns to the next. Within a depth, splits come in a scattered order
/// that begins where the seed says. The key points are counted in schedule 0, which is serial, or
/// else in one of the other schedules of its batch, which are random.
#[derive(Clone, Debug, Default)]
pub struct Period {
    seed: u64,
    profiler: Profiler,
    /// The workers of a schedule with their key points, once these are known.
    plan: Option<Arc<Plan>>,
    /// The splits, which all copies of the strategy share.
    splits: Arc<Mutex<Enumeration>>,
    /// The schedule of the first split.
    first: u64,
    schedule: u64,
    /// The key points left of the present split, by worker and period.
    split: Vec<u64>,
    periods: usize,
    period: usize,
    /// The worker that steps until it has taken its share.
    turn: Option<WorkerId>,
}

#[derive(Debug)]
struct Plan {
    workers: Vec<WorkerId>,
    counts: Vec<u64>,
}

/// The splits of all depths in their order.
///
/// Plan and seed alone decide which split a number has, but finding it takes all splits before it:
/// the thread that needs a split first finds it, and the others look it up.
#[derive(Debug, Default)]
struct Enumeration {
    depths: Vec<Splits>,
    /// How many splits were found, and, in `latest`, the last of them with their periods.
    passed: u64,
    latest: VecDeque<(usize, Vec<u64>)>,
}

const DEPTHS: usize = 16;

/// How many splits are kept: more than the threads of one batch can be apart.
const KEPT: usize = 2_048;

impl Enumeration {
    fn get(&mut self, number: u64, plan: &Plan, seed: u64) -> (usize, Vec<u64>) {
        if number + (self.latest.len() as u64) < self.passed {
            *self = Enumeration::default();
        }
        while self.passed <= number {
            let found = self.next(plan, seed);
            self.passed += 1;
            if self.latest.len() == KEPT {
                self.latest.pop_front();
            }
            self.latest.push_back(found);
        }
        let back = (self.passed - number) as usize;
        self.latest[self.latest.len() - back].clone()
    }

    fn next(&mut self, plan: &Plan, seed: u64) -> (usize, Vec<u64>) {
        let turn = ((self.passed + 1).trailing_zeros() as usize).min(DEPTHS - 1);
        let mut split = Vec::new();
        for depth in (turn..DEPTHS).chain(0..turn) {
            for more in self.depths.len()..=depth {
                self.depths.push(Splits::new(&plan.counts, more + 1, seed));
            }
            if self.depths[depth].next(&mut split) {
                return (depth + 2, split);
            }
        }
        // Splits may come again once all are done: other values may show something else.
        self.depths.clear();
        (1, Vec::new())
    }
}

impl Period {
    /// Takes a key point of a worker in the present period, if it has one left. The last period has
    /// no bounds, and neither has a worker that is not in the plan.
    fn take(&mut self, worker: WorkerId) -> bool {
        let place = self.plan.as_ref().and_then(|plan| plan.workers.binary_search(&worker).ok());
        let (Some(place), true) = (place, self.period + 1 < self.periods) else { return true };
        match self.split.get_mut(place * self.periods + self.period) {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        }
    }
}

impl Sampler for Period {
    fn restart(&mut self, seed: u64) {
        *self = Period { seed, ..Period::default() };
    }

    fn begin(&mut self, schedule: u64, _rng: &mut Rng) {
        self.profiler.clear();
        (self.schedule, self.period, self.turn) = (schedule, 0, None);
        if let Some(plan) = self.plan.clone() {
            let number = schedule.saturating_sub(self.first);
            let mut splits = self.splits.lock().unwrap_or_else(PoisonError::into_inner);
            (self.periods, self.split) = splits.get(number, &plan, self.seed);
        }
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        if self.plan.is_none() && self.schedule > 0 {
            return Ok(self.profiler.pick(point, rng));
        }
        loop {
            let place = |turn: WorkerId| turn.place_in(point.enabled).unwrap_or_else(|at| at);
            let from = self.turn.map_or(0, place);
            for &worker in &point.enabled[from..] {
                self.turn = Some(worker);
                if !self.profiler.can_be_noticed(worker, point) || self.take(worker) {
                    if self.plan.is_none() {
                        self.profiler.step(worker, point);
                    }
                    return Ok(worker);
                }
            }
            self.turn = None;
            self.period += 1;
        }
    }

    fn properties(&self) -> Properties {
        Properties { draws_alike: false, ..Properties::DRAWN }
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Period {
    fn lesson(&mut self, _last: Option<&dyn System>) -> Option<Lesson> {
        self.plan.is_none().then(|| self.profiler.lesson())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        if self.plan.is_none()
            && let Some(profile) = Profile::all(batch).first()
        {
            let (workers, counts) = profile.key_points().into_iter().unzip();
            self.plan = Some(Arc::new(Plan { workers, counts }));
            self.first = batch.last().map_or(0, |outcome| outcome.schedule + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn first(of: u64, seed: u64) -> Vec<(usize, Vec<u64>)> {
        let plan = Plan { workers: Vec::new(), counts: vec![3, 3, 2] };
        let mut splits = Enumeration::default();
        (0..of).map(|number| splits.get(number, &plan, seed)).collect()
    }

    #[test]
    fn the_seed_says_in_which_order_splits_come_and_not_which() {
        // All interleavings of 3, 3 and 2 steps but the serial one.
        let all = 560 - 1;
        let (one, other) = (first(all, 1), first(all, 2));
        assert_ne!(one, other);
        let set = |splits: &[(usize, Vec<u64>)]| splits.iter().cloned().collect::<BTreeSet<_>>();
        assert_eq!(set(&one).len() as u64, all);
        assert_eq!(set(&one), set(&other));
    }

    #[test]
    fn copies_find_each_split_once_and_see_the_same() {
        let alone = first(300, 7);
        let plan = Arc::new(Plan { workers: Vec::new(), counts: vec![3, 3, 2] });
        let period = Period { seed: 7, plan: Some(plan), ..Period::default() };
        let mut copies = [period.clone(), period.clone(), period];
        for number in 0..300 {
            // Two at a time, in the wrong order.
            let number = number ^ 1;
            let copy = &mut copies[number % 3];
            copy.begin(number as u64, &mut Rng::with_seed(0));
            assert_eq!((copy.periods, copy.split.clone()), alone[number]);
        }
        // Every split was found by one of them, and none again.
        assert_eq!(copies[0].splits.lock().unwrap().passed, 300);
        assert!(copies.iter().all(|copy| Arc::ptr_eq(&copy.splits, &copies[0].splits)));
        // A split that is no longer kept is found again.
        let mut splits = Enumeration::default();
        let plan = Plan { workers: Vec::new(), counts: vec![20, 20] };
        let early = splits.get(3, &plan, 7);
        splits.get(3 + KEPT as u64, &plan, 7);
        assert_eq!(splits.get(3, &plan, 7), early);
    }
}
