//! Vector clocks: which steps happened before which.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::worker::WorkerId;

/// How many steps of each worker happened before, and including, a point of an execution.
///
/// ```
/// use dally_core::{VectorClock, WorkerId};
///
/// let (a, b) = (WorkerId::root(0), WorkerId::root(1));
/// let mut sent = VectorClock::default();
/// sent.tick(a);
/// let mut received = VectorClock::default();
/// received.tick(b);
/// assert!(!sent.before(&received));
/// received.join(&sent);
/// assert!(sent.before(&received));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u32>"))]
pub struct VectorClock(BTreeMap<WorkerId, u32>);

impl VectorClock {
    /// Counts one more step of `worker`.
    pub fn tick(&mut self, worker: WorkerId) {
        *self.0.entry(worker).or_default() += 1;
    }

    /// Raises each count to that of `other`.
    pub fn join(&mut self, other: &VectorClock) {
        for (worker, count) in other.iter() {
            let known = self.0.entry(worker).or_default();
            *known = count.max(*known);
        }
    }

    /// The count of `worker`.
    pub fn get(&self, worker: WorkerId) -> u32 {
        self.0.get(&worker).copied().unwrap_or(0)
    }

    /// Whether no count here exceeds the one `there`, and the clocks differ.
    pub fn before(&self, there: &VectorClock) -> bool {
        self != there && self.iter().all(|(worker, count)| count <= there.get(worker))
    }

    /// The counts that are not zero, sorted by worker.
    pub fn iter(&self) -> impl Iterator<Item = (WorkerId, u32)> + '_ {
        self.0.iter().map(|(&worker, &count)| (worker, count))
    }
}
