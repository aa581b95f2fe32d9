//! What a search for cycles knows of states.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use dally_core::fingerprint;

use super::{Kind, lock};
use crate::liveness::components::Numbers;
use crate::liveness::fairness::Fairness;
use crate::liveness::graph::Graph;
use crate::liveness::maps::Maps;
use crate::liveness::nested_search::NestedSearch;
use crate::strata::{Arrival, Numbered};

/// What is known of states since they were forgotten last.
pub(super) struct Known {
    pub(super) graph: Graph,
    /// The states whole, if they are stored: their numbers then tell them apart.
    pub(super) whole: Option<Mutex<Numbered>>,
    pub(super) algorithm: Algorithm,
}

pub(super) enum Algorithm {
    Nested {
        nested: Mutex<NestedSearch>,
        /// How many states there will be when candidates are judged next.
        judge_at: AtomicUsize,
        /// The monitors of which it need not be told any more where they are hot.
        anywhere: AtomicU64,
    },
    Map(Maps),
    /// The memory of who judges components, which is all there is to it.
    Components(Mutex<Numbers>),
}

impl Known {
    pub(super) fn new(
        kind: Kind,
        memory: u64,
        exact: bool,
        threads: usize,
        fairness: Fairness,
    ) -> Known {
        Known {
            graph: Graph::new(memory, threads, fairness),
            whole: exact.then(|| Mutex::new(Numbered::new(memory))),
            algorithm: match kind {
                Kind::Nested => {
                    let nested = NestedSearch::default();
                    let judge_at = nested.judge_at().into();
                    let anywhere = AtomicU64::new(0);
                    Algorithm::Nested { nested: Mutex::new(nested), judge_at, anywhere }
                }
                Kind::Map => Algorithm::Map(Maps::new(memory)),
                Kind::Components => Algorithm::Components(Mutex::default()),
            },
        }
    }

    /// What a state is known by; `None` if there is no room for it.
    ///
    /// A cycle in which a monitor is relieved is none that it waits in. So a state that is come
    /// to with relief is another than the same state come to without: then to stay in states that
    /// are hot is to stay in transitions that are.
    pub(super) fn identity(&self, arrival: &Arrival<'_>, relieved: u64) -> Option<u64> {
        let identity = match relieved {
            0 => arrival.identity,
            _ => fingerprint::mix(arrival.identity, relieved),
        };
        let Some(whole) = &self.whole else { return Some(identity) };
        let parts = |part: &mut dyn FnMut(&[u8])| {
            (arrival.parts)(part);
            part(&relieved.to_le_bytes());
        };
        lock(whole).number(identity, parts).map(u64::from)
    }
}
