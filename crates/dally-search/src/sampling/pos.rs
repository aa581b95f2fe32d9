//! Partial order sampling.

use dally_core::{Footprint, WorkerId};
use fastrand::Rng;

use super::Sampler;
use crate::strategy::{EndSchedule, Point, Properties};

/// Partial order sampling (Yuan, Yang and Gu, CAV 2018): every pending step has a random
/// priority and the highest runs; then its worker draws a new one, and so does every pending step
/// that races with the one that ran, by [`Footprint::races`].
///
/// The order of pending steps that do not race is decided once, by priorities that stay: a step
/// comes after `n` others of another worker as often as before them all, with probability
/// `1/(n+1)`, where uniform picks have `1/2^n`. A step that has lost a race draws anew, so each of
/// its races is even.
#[derive(Clone, Debug, Default)]
pub struct Pos {
    /// Sorted by worker.
    priorities: Vec<(WorkerId, u64)>,
    /// The footprints of the step that is taken and of another.
    touched: [Footprint; 2],
}

impl Pos {
    /// A priority for a new pending step. Faults are scarce: one in eight gets a high one.
    pub(super) fn fresh(worker: WorkerId, rng: &mut Rng) -> u64 {
        let priority = rng.u64(1..);
        if worker == WorkerId::FAULTS && rng.u8(..8) != 0 { 0 } else { priority }
    }

    /// The place of a worker in the list of priorities, to which it is added if it is new.
    pub(super) fn place(
        priorities: &mut Vec<(WorkerId, u64)>,
        worker: WorkerId,
        rng: &mut Rng,
    ) -> usize {
        priorities.binary_search_by_key(&worker, |entry| entry.0).unwrap_or_else(|place| {
            priorities.insert(place, (worker, Pos::fresh(worker, rng)));
            place
        })
    }
}

impl Sampler for Pos {
    fn begin(&mut self, _schedule: u64, _rng: &mut Rng) {
        self.priorities.clear();
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        let Pos { priorities, touched: [taken, other] } = self;
        for &worker in point.enabled {
            Pos::place(priorities, worker, rng);
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
                let place = Pos::place(priorities, worker, rng);
                priorities[place].1 = Pos::fresh(worker, rng);
            }
        }
        Ok(picked)
    }

    fn properties(&self) -> Properties {
        Properties::DRAWN
    }
}
