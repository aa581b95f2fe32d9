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
    next_change: usize,
    /// The steps of workers so far.
    taken: usize,
    /// Sorted by worker.
    priorities: Vec<(WorkerId, u64)>,
}

/// Priorities of workers that have not fallen are from here up.
const HIGH: u64 = 1 << 32;

impl Pct {
    /// With `d` change points and this seed.
    pub fn new(seed: u64, d: u32) -> Pct {
        Pct {
            seed,
            d,
            rng: Rng::with_seed(seed),
            length: 0,
            changes: Vec::new(),
            next_change: 0,
            taken: 0,
            priorities: Vec::new(),
        }
    }

    /// The enabled worker with the highest priority, by its place in the list of priorities.
    #[inline]
    fn highest(&mut self, enabled: &[WorkerId]) -> Option<usize> {
        let mut best: Option<(usize, u64)> = None;
        let mut place = 0;
        // Both lists are sorted by worker: one walk over both.
        for &worker in enabled {
            let priority = loop {
                match self.priorities.get(place) {
                    Some(entry) if entry.0 < worker => place += 1,
                    Some(entry) if entry.0 == worker => break entry.1,
                    _ => break self.meet(place, worker),
                }
            };
            if best.is_none_or(|(_, highest)| priority > highest) {
                best = Some((place, priority));
            }
        }
        best.map(|(place, _)| place)
    }

    /// Gives a new worker a priority. Nothing before its place moves.
    #[cold]
    fn meet(&mut self, place: usize, worker: WorkerId) -> u64 {
        let priority = self.rng.u64(HIGH..);
        self.priorities.insert(place, (worker, priority));
        priority
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
        self.next_change = 0;
        self.changes.clear();
        let length = Pct::length(self.length as u64, schedule) as usize;
        for level in 0..self.d {
            // The level is independent of the place, as the proof of the guarantee needs.
            self.changes.push((self.rng.usize(..length), u64::from(level)));
        }
        self.changes.sort_unstable();
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Option<WorkerId> {
        let mut highest = self.highest(point.enabled)?;
        while let Some(&(_, level)) =
            self.changes.get(self.next_change).filter(|change| change.0 <= self.taken)
        {
            self.next_change += 1;
            self.priorities[highest].1 = level;
            highest = self.highest(point.enabled)?;
        }
        self.taken += 1;
        Some(self.priorities[highest].0)
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
