//! Workers in turn, in a random order.

use std::hash::{Hash, Hasher};

use dally_core::WorkerId;
use fastrand::Rng;

use super::RoundRobin;
use crate::strata::{Explorer, Stepped};

/// [`RoundRobin`] in which a new worker goes to a random place in the queue instead of the tail
/// (Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems", section 6.2).
#[derive(Debug)]
pub struct ProbabilisticRoundRobin {
    turns: RoundRobin,
    rng: Rng,
}

impl ProbabilisticRoundRobin {
    /// With this seed.
    pub fn new(seed: u64) -> ProbabilisticRoundRobin {
        ProbabilisticRoundRobin { turns: RoundRobin::default(), rng: Rng::with_seed(seed) }
    }
}

impl Explorer for ProbabilisticRoundRobin {
    fn name(&self) -> String {
        "probabilistic-round-robin".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        self.turns.next(enabled)
    }

    fn delay(&mut self, enabled: &[WorkerId]) {
        self.turns.delay(enabled);
    }

    fn started(&mut self, worker: WorkerId, _name: &str) {
        let place = self.rng.usize(..=self.turns.queue.len());
        self.turns.queue.insert(place, worker);
    }

    fn finished(&mut self, worker: WorkerId) {
        self.turns.finished(worker);
    }

    fn stepped(&mut self, step: &Stepped<'_>) {
        self.turns.stepped(step);
    }

    fn is_random(&self) -> bool {
        true
    }

    fn reseed(&mut self, seed: u64) {
        self.rng = Rng::with_seed(seed);
    }
}

impl Hash for ProbabilisticRoundRobin {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.turns.hash(state);
    }
}

clone_into_place!(ProbabilisticRoundRobin { turns, rng });
