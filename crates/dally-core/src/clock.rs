//! Vector clocks: who can know of what.

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
#[serde(from = "BTreeMap<WorkerId, u32>", into = "BTreeMap<WorkerId, u32>")]
#[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, u32>"))]
pub struct VectorClock {
    /// Sorted by worker; absent means zero.
    ticks: Vec<(WorkerId, u32)>,
}

impl VectorClock {
    /// Counts one more step of `worker`.
    pub fn tick(&mut self, worker: WorkerId) {
        match self.ticks.binary_search_by_key(&worker, |entry| entry.0) {
            Ok(found) => self.ticks[found].1 += 1,
            Err(place) => self.ticks.insert(place, (worker, 1)),
        }
    }

    /// Learns all that `other` knows.
    pub fn join(&mut self, other: &VectorClock) {
        for &(worker, count) in &other.ticks {
            match self.ticks.binary_search_by_key(&worker, |entry| entry.0) {
                Ok(found) => self.ticks[found].1 = self.ticks[found].1.max(count),
                Err(place) => self.ticks.insert(place, (worker, count)),
            }
        }
    }

    /// The steps of `worker` known here.
    pub fn get(&self, worker: WorkerId) -> u32 {
        match self.ticks.binary_search_by_key(&worker, |entry| entry.0) {
            Ok(found) => self.ticks[found].1,
            Err(_) => 0,
        }
    }

    /// Whether all that is known here is known there, and more.
    pub fn before(&self, there: &VectorClock) -> bool {
        self != there && self.ticks.iter().all(|&(worker, count)| count <= there.get(worker))
    }

    /// The counts, sorted by worker, zeros left out.
    pub fn iter(&self) -> impl Iterator<Item = (WorkerId, u32)> + '_ {
        self.ticks.iter().copied()
    }
}

impl From<BTreeMap<WorkerId, u32>> for VectorClock {
    fn from(ticks: BTreeMap<WorkerId, u32>) -> VectorClock {
        VectorClock { ticks: ticks.into_iter().filter(|&(_, count)| count > 0).collect() }
    }
}

impl From<VectorClock> for BTreeMap<WorkerId, u32> {
    fn from(clock: VectorClock) -> BTreeMap<WorkerId, u32> {
        clock.ticks.into_iter().collect()
    }
}
