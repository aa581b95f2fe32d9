//! Partial order sampling.

use dally_core::{Footprint, Input, Tag, WorkerId};
use fastrand::Rng;

use super::Random;
use crate::strategy::{EndSchedule, Point, Properties, Strategy};

/// Partial order sampling (Yuan, Yang and Gu, CAV 2018): every pending step has a random
/// priority and the highest runs; then its worker draws a new one, and so does every pending step
/// that races with the one that ran. Values are uniform.
///
/// What holds: the order of pending steps that do not race is decided once, by priorities that
/// stay, so a step comes after `n` others of another worker as often as before them all, with
/// probability `1 / (n + 1)`. A step that has lost a race starts afresh, so each of its races
/// is an even one. Uniform picks get the second right and the first with probability `1 / 2^n`
/// only. Which steps race is said by [`Footprint::races`].
#[derive(Clone, Debug)]
pub struct Pos {
    seed: u64,
    rng: Rng,
    /// Sorted by worker.
    priorities: Vec<(WorkerId, u64)>,
    /// What the step that is taken touches, and another.
    touched: [Footprint; 2],
}

impl Pos {
    /// With this seed.
    pub fn new(seed: u64) -> Pos {
        let (rng, touched) = (Rng::with_seed(seed), Default::default());
        Pos { seed, rng, priorities: Vec::new(), touched }
    }

    /// A priority for a new pending step. Faults are scarce by budget: like a random pick, a high
    /// one stands in one case of eight.
    pub(super) fn fresh(rng: &mut Rng, worker: WorkerId) -> u64 {
        let priority = rng.u64(1..);
        if worker == WorkerId::FAULTS && rng.u8(..8) != 0 { 0 } else { priority }
    }

    /// The place of a worker in the list of priorities.
    pub(super) fn place(
        priorities: &mut Vec<(WorkerId, u64)>,
        rng: &mut Rng,
        worker: WorkerId,
    ) -> usize {
        priorities.binary_search_by_key(&worker, |entry| entry.0).unwrap_or_else(|place| {
            priorities.insert(place, (worker, Pos::fresh(rng, worker)));
            place
        })
    }
}

impl Strategy for Pos {
    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        self.priorities.clear();
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        let Pos { rng, priorities, touched: [taken, other], .. } = self;
        for &worker in point.enabled {
            Pos::place(priorities, rng, worker);
        }
        let priority = |&worker: &WorkerId| {
            let place = priorities.binary_search_by_key(&worker, |entry| entry.0);
            place.map_or(0, |place| priorities[place].1)
        };
        let picked = point.enabled.iter().copied().max_by_key(priority).ok_or(EndSchedule::Cut)?;
        point.system.pending(picked, taken);
        let mut races = |worker| {
            point.system.pending(worker, other);
            taken.races(other)
        };
        for &worker in point.enabled {
            if worker == picked || !taken.is_local() && races(worker) {
                let place = Pos::place(priorities, rng, worker);
                priorities[place].1 = Pos::fresh(rng, worker);
            }
        }
        Ok(picked)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        Ok(Random::choose(&mut self.rng, of, tag))
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        Properties { draws_alike: true, varies_inputs: true, ..Properties::default() }
    }
}
