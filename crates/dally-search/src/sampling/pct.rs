//! Probabilistic concurrency testing.

use dally_core::WorkerId;
use fastrand::Rng;

use super::Sampler;
use crate::learning::words;
use crate::strategy::{EndSchedule, Learner, Outcome, Point, Properties};

/// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010):
/// every worker has a random priority, the enabled worker with the highest steps, and at `d` random
/// places of the schedule the worker about to step falls below all that have not fallen. The order
/// among the fallen is random too, as in the paper.
///
/// A bug of depth `d + 1`, one that needs that many ordering constraints, shows in each schedule of
/// `k` steps over `n` workers with a probability of at least `1 / (n k^d)`. The paper has `d - 1`
/// change points for depth `d`; here `d` counts the change points, as in other tools. `k` is the
/// longest schedule of earlier batches; while none is known, schedules guess powers of two.
#[derive(Clone, Debug, Default)]
pub struct Pct {
    d: u32,
    /// The longest schedule known, in steps of workers.
    length: usize,
    /// The steps at which priorities fall, and the new priority, sorted.
    changes: Vec<(usize, u64)>,
    /// How many of them are over, and, in `change_at`, the step of the next.
    passed: usize,
    change_at: usize,
    taken: usize,
    priorities: Priorities,
}

/// The lowest priority of workers that have not fallen.
const HIGH: u64 = 1 << 32;

#[derive(Clone, Debug)]
struct Priorities {
    /// Indexed by the first byte of the id, so that a step needs no search. Of several workers with
    /// the same byte, such as children of children, the first is here.
    placed: Box<[(WorkerId, u64); 256]>,
    /// The workers in `placed`.
    taken: Vec<WorkerId>,
    /// The other workers, sorted.
    others: Vec<(WorkerId, u64)>,
}

#[inline(always)]
fn place(worker: WorkerId) -> usize {
    worker.beginning().into()
}

/// No worker has this id.
const NOBODY: WorkerId = WorkerId::from_bits(0);

impl Default for Priorities {
    fn default() -> Priorities {
        let placed = Box::new([(NOBODY, 0); 256]);
        Priorities { placed, taken: Vec::new(), others: Vec::new() }
    }
}

impl Priorities {
    fn clear(&mut self) {
        for worker in self.taken.drain(..) {
            self.placed[place(worker)] = (NOBODY, 0);
        }
        self.others.clear();
    }

    #[inline]
    fn of(&mut self, worker: WorkerId) -> Option<&mut u64> {
        let (who, priority) = &mut self.placed[place(worker)];
        if *who == worker {
            return Some(priority);
        }
        let at = self.others.binary_search_by_key(&worker, |entry| entry.0).ok()?;
        Some(&mut self.others[at].1)
    }

    fn add(&mut self, worker: WorkerId, priority: u64) {
        let free = &mut self.placed[place(worker)];
        if free.0 == NOBODY {
            *free = (worker, priority);
            self.taken.push(worker);
        } else if let Err(at) = self.others.binary_search_by_key(&worker, |entry| entry.0) {
            self.others.insert(at, (worker, priority));
        }
    }

    /// The worker with the highest priority, if all have one and are in `placed`.
    #[inline(always)]
    fn highest_placed(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        let (mut best, mut highest) = (*enabled.first()?, 0);
        for &worker in enabled {
            let (who, priority) = self.placed[place(worker)];
            if who != worker {
                return None;
            }
            (best, highest) =
                if priority >= highest { (worker, priority) } else { (best, highest) };
        }
        Some(best)
    }

    /// The worker with the highest priority. Workers without one draw one, in their order.
    fn highest(&mut self, enabled: &[WorkerId], mut draw: impl FnMut() -> u64) -> Option<WorkerId> {
        let priority = |&&worker: &&WorkerId| match self.of(worker) {
            Some(priority) => *priority,
            None => {
                let priority = draw();
                self.add(worker, priority);
                priority
            }
        };
        // The last of equals, as in `highest_placed`.
        enabled.iter().max_by_key(priority).copied()
    }
}

impl Pct {
    /// With `d` change points.
    pub fn new(d: u32) -> Pct {
        Pct { d, ..Pct::default() }
    }

    #[inline(always)]
    fn highest(&mut self, enabled: &[WorkerId], rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        let known = self.priorities.highest_placed(enabled);
        known.or_else(|| self.meet(enabled, rng)).ok_or(EndSchedule::Cut)
    }

    /// The enabled worker with the highest priority, where some have none or are not in `placed`.
    #[inline(never)]
    fn meet(&mut self, enabled: &[WorkerId], rng: &mut Rng) -> Option<WorkerId> {
        self.priorities.highest(enabled, || rng.u64(HIGH..))
    }

    /// Lets the priority of a worker fall to that of the next change point.
    #[cold]
    fn fall(&mut self, worker: WorkerId) {
        if let Some(priority) = self.priorities.of(worker) {
            *priority = self.changes[self.passed].1;
        }
        self.passed += 1;
        self.change_at = self.changes.get(self.passed).map_or(usize::MAX, |change| change.0);
    }

    /// The most steps of a schedule so far; while that is not known, schedules guess powers of two.
    pub(crate) fn length(known: u64, schedule: u64) -> u64 {
        if known > 0 { known } else { 8 << (schedule % 8) }
    }
}

impl Sampler for Pct {
    fn name(&self) -> String {
        format!("pct({})", self.d)
    }

    fn begin(&mut self, schedule: u64, rng: &mut Rng) {
        self.priorities.clear();
        self.taken = 0;
        self.changes.clear();
        let length = Pct::length(self.length as u64, schedule) as usize;
        for level in 0..self.d {
            // The level is independent of the place, as the proof of the guarantee needs.
            self.changes.push((rng.usize(..length), u64::from(level)));
        }
        self.changes.sort_unstable();
        self.passed = 0;
        self.change_at = self.changes.first().map_or(usize::MAX, |change| change.0);
    }

    #[inline]
    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        let mut highest = self.highest(point.enabled, rng)?;
        while self.change_at <= self.taken {
            self.fall(highest);
            highest = self.highest(point.enabled, rng)?;
        }
        self.taken += 1;
        Ok(highest)
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }

    fn properties(&self) -> Properties {
        Properties::DRAWN
    }
}

impl Learner for Pct {
    fn learn(&mut self, batch: &[Outcome]) {
        let longest = batch.iter().map(|outcome| outcome.steps - outcome.values).max();
        self.length = self.length.max(longest.unwrap_or(0));
    }

    fn learned(&mut self) -> Option<Vec<u8>> {
        Some(words::written([self.length as u64]))
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        let Some(&[length]) = words::read(learned).as_deref() else { return false };
        self.length = usize::try_from(length).unwrap_or(usize::MAX);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_worker_keeps_its_priority_also_where_another_has_its_place() {
        let first = WorkerId::root(0);
        let child = first.child(0);
        let mut workers = vec![WorkerId::FAULTS, first, first.timer(3), child, child.child(0)];
        workers.extend([child.child(1), child.timer(0), WorkerId::root(12), WorkerId::root(300)]);
        workers.sort_unstable();
        let mut priorities = Priorities::default();
        for seed in 0..40 {
            let mut rng = Rng::with_seed(seed);
            let mut known: BTreeMap<WorkerId, u64> = BTreeMap::new();
            priorities.clear();
            for _ in 0..100 {
                let enabled = workers.iter().copied().filter(|_| rng.bool()).collect::<Vec<_>>();
                let mut drawn = Vec::new();
                let found = priorities.highest(&enabled, || {
                    drawn.push(rng.u64(..8));
                    drawn[drawn.len() - 1]
                });
                let mut drawn = drawn.into_iter();
                for &worker in &enabled {
                    known.entry(worker).or_insert_with(|| drawn.next().unwrap());
                    assert_eq!(priorities.of(worker).copied(), Some(known[&worker]));
                }
                assert_eq!(drawn.next(), None);
                let highest = enabled.iter().copied().max_by_key(|worker| known[worker]);
                assert_eq!(found, highest);
                if let Some(placed) = priorities.highest_placed(&enabled) {
                    assert_eq!(Some(placed), highest);
                }
                if let Some(worker) = highest {
                    known.insert(worker, 0);
                    *priorities.of(worker).unwrap() = 0;
                }
            }
        }
    }
}
