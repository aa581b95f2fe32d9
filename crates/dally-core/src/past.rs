//! The causal past of a bug: the steps without which it would not have come to it.

use std::collections::BTreeSet;

use crate::bug::{Bug, BugKind, Problem};
use crate::finding::Finding;
use crate::trace::Trace;
use crate::worker::WorkerId;

impl Finding {
    /// The steps of the trace, from 0, that the bug showed in: see [`Trace::shows`].
    pub fn shows_in(&self) -> Vec<usize> {
        self.trace.shows(&self.bug)
    }

    /// For each step of the trace whether it led to the bug: whether it is one of
    /// [`shows_in`](Finding::shows_in) or happened before one of them.
    pub fn past(&self) -> Vec<bool> {
        self.trace.past(&self.shows_in())
    }
}

fn shows_in_a_step(kind: BugKind) -> bool {
    matches!(
        kind,
        BugKind::Panic
            | BugKind::Assertion
            | BugKind::UnhandledEvent
            | BugKind::Monitor
            | BugKind::EndlessStep
    )
}

impl Trace {
    /// The steps, from 0, that a bug at the end of the trace showed in: the last one, or those that the waiting
    /// workers of a deadlock took last. Bugs that are about the length of an execution, its whole end or
    /// what never happens in it show in all steps.
    pub fn shows(&self, bug: &Bug) -> Vec<usize> {
        let steps = &self.steps;
        let last_of = |worker: WorkerId| steps.iter().rposition(|step| step.worker == worker);
        match &*bug.problem {
            Problem::Deadlock { waiting } if !waiting.is_empty() => {
                let mut last: Vec<usize> =
                    waiting.iter().filter_map(|waiting| last_of(waiting.worker)).collect();
                last.sort_unstable();
                last
            }
            Problem::Panic { at_tear_down: true, .. } => (0..steps.len()).collect(),
            _ if shows_in_a_step(bug.kind()) => steps.len().checked_sub(1).into_iter().collect(),
            _ => (0..steps.len()).collect(),
        }
    }

    /// For each step whether it is one of these, counted from 0, or happened before one of them.
    pub fn past(&self, of: &[usize]) -> Vec<bool> {
        let mut past = vec![false; self.steps.len()];
        for &step in of {
            past[step] = true;
        }
        // Workers of which a later step is in the past.
        let mut known: BTreeSet<WorkerId> = BTreeSet::new();
        for at in (0..past.len()).rev() {
            let step = &self.steps[at];
            past[at] |= known.contains(&step.worker);
            if past[at] {
                known.insert(step.worker);
                for &before in &step.after {
                    if let Some(step) = past.get_mut((before as usize).wrapping_sub(1)) {
                        *step = true;
                    }
                }
            }
        }
        past
    }
}
