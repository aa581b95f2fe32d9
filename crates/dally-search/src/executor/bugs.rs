//! The bugs that an execution shows as a whole.

use dally_core::bug::Endless;
use dally_core::{Bug, Problem, Status, System, WorkerId};

/// The bug of a state in which no worker can step, if it is one.
pub(crate) fn bug_at_end<S: System>(system: &S) -> Option<Bug> {
    if let Status::Stuck(waiting) = system.status() {
        return Some(Bug::new(Problem::Deadlock { waiting }));
    }
    let hot = system.acceptance().hot;
    if hot == 0 {
        return None;
    }
    let (monitor, state) = system.monitor(hot.trailing_zeros() as usize);
    Some(Bug::new(Problem::HotAtEnd).by(monitor).in_state(state))
}

pub(crate) fn too_long(max_steps: usize) -> Bug {
    Bug::new(Problem::StepBound { bound: max_steps })
}

pub(crate) fn endless<S: System>(system: &S, worker: WorkerId, items: u32) -> Bug {
    let problem = Problem::EndlessStep(Endless::Items { items });
    Bug::new(problem).by(system.name(worker)).in_step_of(worker)
}

pub(super) fn too_hot<S: System>(system: &S, monitor: usize, bound: usize) -> Bug {
    let (monitor, state) = system.monitor(monitor);
    Bug::new(Problem::Temperature { bound }).by(monitor).in_state(state)
}

/// The bug of a loop of this length: the monitor, and the states, in any order, in which it is hot
/// along the loop, or which the loop must not visit.
pub(crate) fn livelock(monitor: &str, states: &[String], visits: bool, length: usize) -> Bug {
    let mut states = states.to_vec();
    states.sort_unstable();
    states.dedup();
    Bug::new(Problem::Livelock { states, visits, length }).by(monitor)
}
