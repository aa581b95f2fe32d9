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
    /// The places of the enabled workers among them, which are in the same order. Kept for its memory.
    places: Vec<usize>,
    /// The footprints of the step that is taken and of another.
    touched: [Footprint; 2],
}

impl Pos {
    /// A priority for a new pending step. Faults are scarce: one in eight gets a high one.
    pub(super) fn fresh(worker: WorkerId, rng: &mut Rng) -> u64 {
        let priority = rng.u64(1..);
        if worker == WorkerId::FAULTS && rng.u8(..8) != 0 { 0 } else { priority }
    }

    /// Finds the places of these workers, which are sorted, in the list of priorities; new ones are added.
    pub(super) fn places(
        priorities: &mut Vec<(WorkerId, u64)>,
        enabled: &[WorkerId],
        places: &mut Vec<usize>,
        rng: &mut Rng,
    ) {
        places.clear();
        for &worker in enabled {
            let place = Pos::known(priorities, worker, places).unwrap_or_else(|place| {
                priorities.insert(place, (worker, Pos::fresh(worker, rng)));
                place
            });
            places.push(place);
        }
    }

    /// The place of a worker that comes after those with these places, or where it would be.
    pub(super) fn known(
        priorities: &[(WorkerId, u64)],
        worker: WorkerId,
        places: &[usize],
    ) -> Result<usize, usize> {
        // Most workers come right after the one before.
        let next = places.last().map_or(0, |place| place + 1);
        match priorities.get(next) {
            Some(entry) if entry.0 == worker => Ok(next),
            _ => priorities.binary_search_by_key(&worker, |entry| entry.0),
        }
    }
}

impl Sampler for Pos {
    fn begin(&mut self, _schedule: u64, _rng: &mut Rng) {
        self.priorities.clear();
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        let Pos { priorities, places, touched: [taken, other] } = self;
        Pos::places(priorities, point.enabled, places, rng);
        let picked = (0..places.len()).max_by_key(|&at| priorities[places[at]].1);
        let picked = picked.map(|at| point.enabled[at]).ok_or(EndSchedule::Cut)?;
        point.system.pending(picked, taken);
        let mut races = |worker| {
            point.system.pending(worker, other);
            taken.races(other)
        };
        for (&worker, &place) in point.enabled.iter().zip(&*places) {
            if worker == picked || !taken.is_local() && races(worker) {
                priorities[place].1 = Pos::fresh(worker, rng);
            }
        }
        Ok(picked)
    }

    fn properties(&self) -> Properties {
        Properties::DRAWN
    }
}
