//! A random order in every state.

use std::hash::{Hash, Hasher};

use dally_core::{WorkerId, fingerprint};
use fastrand::Rng;

use super::RoundRobin;
use crate::strata::{Explorer, Stepped};

/// A new random order of the workers that can step after every step; a delay skips one.
#[derive(Debug)]
pub struct RandomOrder {
    turns: RoundRobin,
    rng: Rng,
}

impl RandomOrder {
    /// With this seed.
    pub fn new(seed: u64) -> RandomOrder {
        RandomOrder { turns: RoundRobin::default(), rng: Rng::with_seed(seed) }
    }
}

impl Explorer for RandomOrder {
    fn name(&self) -> String {
        "random".into()
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

    fn stepped(&mut self, step: &Stepped<'_>) {
        // Copies that take different steps from one state must not draw the same numbers.
        let seed = fingerprint::mix(self.rng.u64(..), step.worker.to_bits());
        self.reseed(seed);
        self.turns.queue.clear();
        self.turns.queue.extend_from_slice(step.enabled);
        self.rng.shuffle(&mut self.turns.queue);
    }

    fn is_random(&self) -> bool {
        true
    }

    fn reseed(&mut self, seed: u64) {
        self.rng = Rng::with_seed(seed);
    }
}

/// The generator differs on each path to a state, so only the order counts.
impl Hash for RandomOrder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.turns.hash(state);
    }
}

clone_into_place!(RandomOrder { turns, rng });
