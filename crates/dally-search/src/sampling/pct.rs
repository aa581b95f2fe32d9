//! Probabilistic concurrency testing.

use dally_core::{Tag, WorkerId};
use fastrand::Rng;

use super::Random;
use crate::strategy::{Outcome, Point, Strategy};

/// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS
/// 2010): every worker has a random priority, the enabled worker with the highest steps, and at
/// `d` random places of the schedule the worker about to step falls below all that have not
/// fallen. Among the fallen the order is random too, as in the paper, which gives each change
/// point a low priority of its own.
///
/// A bug of depth `d + 1`, one that needs that many ordering constraints, shows in each schedule
/// of `k` steps over `n` workers with a probability of at least `1 / (n k^d)`. The paper puts
/// `d - 1` change points for depth `d`; tools count the change points themselves, and so does
/// this. `k` is the longest schedule of earlier batches, in steps of workers; while none is
/// known, schedules guess powers of two. Values are uniform.
#[derive(Clone, Debug)]
pub struct Pct {
    seed: u64,
    d: u32,
    rng: Rng,
    /// The longest schedule known, in steps of workers.
    length: usize,
    /// Where priorities fall, and to what, sorted by place.
    changes: Vec<(usize, u64)>,
    /// How many of them are over, and where the next is.
    passed: usize,
    change_at: usize,
    /// The steps of workers so far.
    taken: usize,
    /// Sorted by worker.
    priorities: Vec<(WorkerId, u64)>,
}

/// Priorities of workers that have not fallen are from here up.
const HIGH: u64 = 1 << 32;

/// The worker with the highest priority; `None` if one has no priority yet.
#[inline(always)]
fn highest(priorities: &[(WorkerId, u64)], enabled: &[WorkerId]) -> Option<WorkerId> {
    let (mut best, mut highest) = (*enabled.first()?, 0);
    // Both lists are sorted by worker: one walk over both.
    let mut rest = priorities.iter();
    for &worker in enabled {
        let &(_, priority) = rest.find(|entry| entry.0 == worker)?;
        if priority >= highest {
            (best, highest) = (worker, priority);
        }
    }
    Some(best)
}

impl Pct {
    /// With `d` change points and this seed.
    pub fn new(seed: u64, d: u32) -> Pct {
        Pct {
            seed,
            d,
            rng: Rng::with_seed(seed),
            length: 0,
            changes: Vec::new(),
            passed: 0,
            change_at: usize::MAX,
            taken: 0,
            priorities: Vec::new(),
        }
    }

    /// The enabled worker with the highest priority.
    #[inline(always)]
    fn highest(&mut self, enabled: &[WorkerId]) -> Option<WorkerId> {
        match highest(&self.priorities, enabled) {
            None => self.meet(enabled),
            known => known,
        }
    }

    /// The same, with priorities for workers that have none yet.
    #[cold]
    fn meet(&mut self, enabled: &[WorkerId]) -> Option<WorkerId> {
        for &worker in enabled {
            if let Err(place) = self.place(worker) {
                self.priorities.insert(place, (worker, self.rng.u64(HIGH..)));
            }
        }
        highest(&self.priorities, enabled)
    }

    /// Where the priority of a worker is, or belongs.
    fn place(&self, worker: WorkerId) -> Result<usize, usize> {
        self.priorities.binary_search_by_key(&worker, |entry| entry.0)
    }

    /// Lets the priority of a worker fall, since this is the place for it.
    #[cold]
    fn fall(&mut self, worker: WorkerId) {
        if let Ok(place) = self.place(worker) {
            self.priorities[place].1 = self.changes[self.passed].1;
        }
        self.passed += 1;
        self.change_at = self.changes.get(self.passed).map_or(usize::MAX, |change| change.0);
    }

    /// The most steps of a schedule so far; while that is not known, schedules guess powers of two.
    pub(super) fn length(known: u64, schedule: u64) -> u64 {
        if known > 0 { known } else { 8 << (schedule % 8) }
    }
}

impl Strategy for Pct {
    fn name(&self) -> String {
        format!("pct({})", self.d)
    }

    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        self.priorities.clear();
        self.taken = 0;
        self.changes.clear();
        let length = Pct::length(self.length as u64, schedule) as usize;
        for level in 0..self.d {
            // The level is independent of the place, as the proof of the guarantee needs.
            self.changes.push((self.rng.usize(..length), u64::from(level)));
        }
        self.changes.sort_unstable();
        self.passed = 0;
        self.change_at = self.changes.first().map_or(usize::MAX, |change| change.0);
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Option<WorkerId> {
        let mut highest = self.highest(point.enabled)?;
        while self.change_at <= self.taken {
            self.fall(highest);
            highest = self.highest(point.enabled)?;
        }
        self.taken += 1;
        Some(highest)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Option<u32> {
        Some(Random::choose(&mut self.rng, of, tag))
    }

    fn learn(&mut self, batch: &[Outcome]) {
        let longest = batch.iter().map(|outcome| outcome.steps - outcome.values).max();
        self.length = self.length.max(longest.unwrap_or(0));
    }

    fn draws_alike(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}
