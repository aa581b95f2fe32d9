//! Workers in turn.

use dally_core::WorkerId;

use crate::strata::{Explorer, Stepped};

/// Cycles through the workers in the order in which they were started (Desai, Qadeer and Seshia,
/// "Systematic Testing of Asynchronous Reactive Systems", sections 2 and 6.2).
///
/// The first in the queue that can step runs until it blocks or is delayed, and goes to the tail.
#[derive(Debug, Default, Hash)]
pub struct RoundRobin {
    pub(super) queue: Vec<WorkerId>,
}

impl RoundRobin {
    /// The first place of a worker that is enabled. Most of the queue is not, which shows in one bit.
    fn place(&self, enabled: &[WorkerId]) -> Option<usize> {
        let bit =
            |worker: &WorkerId| 1 << (worker.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
        let bits = enabled.iter().fold(0_u64, |bits, worker| bits | bit(worker));
        let is_enabled = |worker: &WorkerId| bits & bit(worker) != 0 && enabled.contains(worker);
        self.queue.iter().position(is_enabled)
    }
}

impl Explorer for RoundRobin {
    fn name(&self) -> String {
        "round-robin".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        self.place(enabled).map(|place| self.queue[place])
    }

    fn delay(&mut self, enabled: &[WorkerId]) {
        if let Some(place) = self.place(enabled) {
            self.queue[place..].rotate_left(1);
        }
    }

    fn started(&mut self, worker: WorkerId, _name: &str) {
        self.queue.push(worker);
    }

    fn finished(&mut self, worker: WorkerId) {
        self.queue.retain(|&other| other != worker);
    }

    fn stepped(&mut self, step: &Stepped<'_>) {
        for blocked in step.blocked {
            if let Some(place) = self.queue.iter().position(|worker| worker == blocked) {
                self.queue[place..].rotate_left(1);
            }
        }
    }
}

clone_into_place!(RoundRobin { queue });
