//! Workers in turn.

use dally_core::{Input, Tag, WorkerId};
use fastrand::Rng;

use super::Random;
use crate::strategy::{EndSchedule, Point, Properties, Strategy};

/// Steps the workers in turn, in the order in which they came to be enabled. Values are uniform.
///
/// Schedule number `i` gives the first turn to the `i`-th worker (modulo their number), so a
/// program without values has as many such schedules as it has first workers.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    seed: u64,
    rng: Rng,
    first: u64,
    /// In the order in which they were first seen enabled.
    turns: Vec<WorkerId>,
    /// The same, sorted.
    known: Vec<WorkerId>,
    next: usize,
}

impl RoundRobin {
    /// With this seed for values.
    pub fn new(seed: u64) -> RoundRobin {
        RoundRobin {
            seed,
            rng: Rng::with_seed(seed),
            first: 0,
            turns: Vec::new(),
            known: Vec::new(),
            next: 0,
        }
    }
}

impl Strategy for RoundRobin {
    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        self.first = schedule;
        self.turns.clear();
        self.known.clear();
        self.next = 0;
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
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

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        Ok(Random::choose(&mut self.rng, of, tag))
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        Properties { varies_inputs: true, ..Properties::default() }
    }
}
