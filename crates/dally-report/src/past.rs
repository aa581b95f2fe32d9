//! The causal past of a bug: the steps without which it would not have come to it.

use std::collections::BTreeSet;

use dally_core::{BugKind, Finding, Problem, Trace, WorkerId};

/// The steps, from 0, that the bug showed in: the last one, or those that the waiting workers of a
/// deadlock took last, or the whole loop of a livelock. Bugs that are about the length of an execution
/// or its whole end have all steps.
pub(crate) fn roots(finding: &Finding) -> Vec<usize> {
    let steps = &finding.trace.steps;
    let last_of = |worker: WorkerId| steps.iter().rposition(|step| step.worker == worker);
    match &*finding.bug.problem {
        Problem::Deadlock { waiting } if !waiting.is_empty() => {
            let mut roots: Vec<usize> =
                waiting.iter().filter_map(|waiting| last_of(waiting.worker)).collect();
            roots.sort_unstable();
            roots
        }
        _ if finding.lasso.is_some() => {
            let stem = finding.lasso.as_ref().map_or(0, |lasso| lasso.stem);
            (stem..steps.len()).collect()
        }
        Problem::Panic { at_tear_down: true, .. } => (0..steps.len()).collect(),
        _ if shows_in_a_step(finding.bug.kind()) => {
            steps.len().checked_sub(1).into_iter().collect()
        }
        _ => (0..steps.len()).collect(),
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

/// For each step whether it is one of these or happened before one of them.
pub(crate) fn of(trace: &Trace, roots: &[usize]) -> Vec<bool> {
    let mut past = vec![false; trace.steps.len()];
    for &root in roots {
        if let Some(step) = past.get_mut(root) {
            *step = true;
        }
    }
    // Workers of which a later step is in the past.
    let mut known: BTreeSet<WorkerId> = BTreeSet::new();
    for at in (0..past.len()).rev() {
        let step = &trace.steps[at];
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
