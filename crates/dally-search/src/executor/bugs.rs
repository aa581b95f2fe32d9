//! The bugs that an execution shows as a whole, in words.

use dally_core::words::{count, grouped};
use dally_core::{Bug, BugKind, Status, System, Waiting, WorkerId};

/// What is wrong with a state in which no worker can step, if anything.
pub(crate) fn bug_at_end<S: System>(system: &S) -> Option<Bug> {
    if let Status::Stuck(waiting) = system.status() {
        return Some(deadlock(&waiting));
    }
    let hot = system.acceptance().hot;
    if hot == 0 {
        return None;
    }
    let (monitor, state) = system.monitor(hot.trailing_zeros() as usize);
    let message = format!(
        "the system is quiet (nothing is left to do) and monitor {monitor} is still hot, in state \
         {state}: what it waits for will not happen any more"
    );
    Some(Bug::new(BugKind::HotAtEnd, message).by(monitor))
}

fn deadlock(waiting: &[Waiting]) -> Bug {
    let workers = match waiting.len() {
        1 => "one still waits".to_owned(),
        n => format!("{n} still wait"),
    };
    let mut message = format!("no worker can step, and {workers}:");
    for Waiting { worker, name, on } in waiting {
        message += &format!("\n  {name} ({worker}) waits to {on}");
    }
    Bug::new(BugKind::Deadlock, message)
}

/// The bug of an execution that reaches the step bound, where that is one.
pub(crate) fn too_long(max_steps: usize) -> Bug {
    let bound = count(max_steps as u64, "step");
    Bug::new(BugKind::StepBound, format!("the execution does not end within {bound}"))
}

pub(crate) fn endless<S: System>(system: &S, worker: WorkerId, items: u32) -> Bug {
    let message = format!(
        "a step of worker {worker} goes on without end: {} values and events, and still not at \
         its next scheduling point",
        grouped(items.into()),
    );
    Bug::new(BugKind::EndlessStep, message).by(system.name(worker))
}

pub(super) fn too_hot<S: System>(system: &S, monitor: usize, bound: usize) -> Bug {
    let (monitor, state) = system.monitor(monitor);
    let message = format!(
        "monitor {monitor} is hot for more than {} under a fair strategy, now in state {state}",
        count(bound as u64, "step"),
    );
    Bug::new(BugKind::Temperature, message).by(monitor)
}

/// The bug of a loop of this length that can be gone round for ever: the monitor, and the states
/// in which it is hot along the loop, or of which the loop has too many, in any order.
///
/// A cause leaves digits out, so loops that differ only in length are the same bug.
pub(crate) fn livelock(monitor: &str, states: &[String], visits: bool, length: usize) -> Bug {
    let mut states: Vec<&str> = states.iter().map(String::as_str).collect();
    states.sort_unstable();
    states.dedup();
    let word = if states.len() == 1 { "state" } else { "states" };
    let states = states.join(", ");
    let wrong = if visits {
        format!(
            "monitor {monitor} comes to {word} {states} again and again, which is allowed only \
             finitely often"
        )
    } else {
        format!("monitor {monitor} waits in vain in {word} {states}")
    };
    let message = format!("{wrong}: the execution can go round a loop of length {length} for ever");
    Bug::new(BugKind::Livelock, message).by(monitor)
}
