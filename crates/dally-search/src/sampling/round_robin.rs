//! Workers in turn.

use dally_core::WorkerId;
use fastrand::Rng;

use super::Sampler;
use crate::strategy::{EndSchedule, Point, Properties};

/// Steps the workers in turn, in the order in which they came to be enabled. Values are uniform.
///
/// Schedule number `i` gives the first turn to the `i`-th worker (modulo their number), so a
/// program without values has as many such schedules as it has first workers.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    first: u64,
    /// In the order in which they were first seen enabled.
    turns: Vec<WorkerId>,
    /// The same, sorted.
    known: Vec<WorkerId>,
    next: usize,
}

impl Sampler for RoundRobin {
    fn begin(&mut self, schedule: u64, _rng: &mut Rng) {
        self.first = schedule;
        self.turns.clear();
        self.known.clear();
        self.next = 0;
    }

    fn worker(&mut self, point: &Point<'_>, _rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        let first_step = self.turns.is_empty();
        for &worker in point.enabled {
            if let Err(place) = self.known.binary_search(&worker) {
                self.known.insert(place, worker);
                self.turns.push(worker);
            }
        }
        if first_step {
            self.next = (self.first % self.turns.len().max(1) as u64) as usize;
        }
        let (before, after) = self.turns.split_at(self.next.min(self.turns.len()));
        let turn = after
            .iter()
            .chain(before)
            .position(|worker| point.enabled.binary_search(worker).is_ok())
            .ok_or(EndSchedule::Cut)?;
        let chosen = (self.next + turn) % self.turns.len();
        self.next = (chosen + 1) % self.turns.len();
        Ok(self.turns[chosen])
    }

    fn properties(&self) -> Properties {
        Properties { draws_alike: false, ..Properties::DRAWN }
    }
}
