//! Raw findings are repeated with a full record, and shrunk.

use dally_core::bug::Uncontrolled;
use dally_core::{Bug, BugKind, Choice, Finding, Problem, Program, Schedule, Shrunk, Trace};

use crate::executor::{Executor, Limits};
use crate::minimise::Budget;
use crate::record::{Followed, RunDescription};
use crate::replay::Divergence;
use crate::shrink::{is_shrinkable, shrink};

/// What is known of a bug when its schedule ends.
#[derive(Clone, Debug)]
pub(crate) struct RawFinding {
    pub(crate) bug: Bug,
    pub(crate) schedule: u64,
    pub(crate) choices: Vec<Choice>,
    pub(crate) fair_from: usize,
    pub(crate) notes: Vec<String>,
    /// What happened, if the schedule was run twice.
    pub(crate) trace: Trace,
    /// How many steps lead to the loop, if there is one.
    pub(crate) stem: Option<usize>,
    /// Whether a search of states found it.
    pub(crate) searched: bool,
}

impl RawFinding {
    /// A bug of a schedule whose choices are not known yet.
    pub(crate) fn new(bug: Bug, schedule: u64) -> RawFinding {
        let (choices, notes, trace) = Default::default();
        let (fair_from, stem, searched) = (usize::MAX, None, false);
        RawFinding { bug, schedule, choices, fair_from, notes, trace, stem, searched }
    }

    /// The finding without confirmation.
    pub(crate) fn finding(&self, description: &RunDescription) -> Finding {
        let RawFinding { bug, schedule, choices, fair_from, notes, trace, .. } = self.clone();
        let written = description.schedule(choices, Vec::new(), &bug, fair_from, None);
        let mut finding = Finding::new(bug, written, schedule + 1);
        (finding.notes, finding.trace) = (notes, trace);
        finding
    }
}

/// Repeats a raw finding with a record; if that differs, the bug is uncontrolled nondeterminism.
pub(crate) fn confirm<P: Program>(
    executor: &mut Executor<'_, P>,
    raw: &RawFinding,
    description: &RunDescription,
) -> Finding {
    let limits = &description.limits.to_follow(&raw.bug, raw.stem);
    let again = executor.repeat(raw.schedule, &raw.choices, raw.fair_from, limits);
    match mismatch(raw, &again) {
        Some(left) => {
            let mut finding = raw.finding(description);
            finding.notes.insert(0, format!("The first time it ended in {}.", raw.bug));
            finding.bug = uncontrolled(raw.schedule, &left).at(raw.bug.location.clone());
            finding.schedule.bug = Some(finding.bug.record());
            finding.trace = description.clocked(again.recording.trace);
            finding
        }
        None => {
            let bug = again.recording.execution.bug.clone().unwrap_or_else(|| raw.bug.clone());
            description.full(again.recording, bug, raw.schedule)
        }
    }
}

/// How a repetition differs from the schedule that failed.
fn mismatch(raw: &RawFinding, again: &Followed) -> Option<Divergence> {
    if again.left_at.is_some() {
        return again.left_at.clone();
    }
    let step = again.recording.trace.steps.len();
    let message = match &again.recording.execution.bug {
        None => match &again.recording.execution.loop_divergence {
            None => "no bug the second time".to_owned(),
            Some(how) => format!("the loop was none: {how}"),
        },
        // A shorter loop with the same end is the same bug.
        Some(bug) if is_same_livelock(bug, &raw.bug) => return None,
        Some(bug) if bug.cause() != raw.bug.cause() => {
            format!("another bug the second time, {bug}")
        }
        Some(_) if again.unused > 0 => "the same bug some steps earlier".to_owned(),
        Some(_) => return None,
    };
    Some(Divergence { step, message })
}

fn is_same_livelock(one: &Bug, other: &Bug) -> bool {
    one.kind() == BugKind::Livelock && (one.kind(), &one.culprit) == (other.kind(), &other.culprit)
}

pub(crate) fn uncontrolled(schedule: u64, left: &Divergence) -> Bug {
    let (step, difference) = (left.step, left.message.clone());
    let schedule = schedule + 1;
    Bug::new(Problem::Uncontrolled(Uncontrolled::Schedule { schedule, step, difference }))
}

/// Shrinks a confirmed finding; returns it unchanged if it cannot be made smaller.
pub(crate) fn smaller<P: Program>(
    executor: &mut Executor<'_, P>,
    finding: &Finding,
    description: &RunDescription,
    budget: Budget<'_>,
) -> Finding {
    let mut result = finding.clone();
    if !is_shrinkable(finding.bug.kind()) {
        return result;
    }
    let number = finding.found_at.saturating_sub(1);
    let cause = finding.bug.cause();
    let stem = finding.lasso.as_ref().map(|lasso| lasso.stem);
    let limits = description.limits.to_follow(&finding.bug, stem);
    let choices = &finding.schedule.choices;
    let shrunk = shrink(executor, number, choices, cause, &limits, budget);
    let early = shrunk.stopped.map(|why| format!("Shrinking stopped early: {why}."));
    if early.is_some() && shrunk.choices == *choices {
        // There is no time to repeat what was repeated before.
        result.shrunk = Some(shrunk_to(&finding.schedule, &finding.schedule));
        result.notes.extend(early);
        return result;
    }
    // Shrinking keeps no record, so the schedule that it found is run once more.
    let limits = description.limits.to_follow(&finding.bug, shrunk.stem.or(stem));
    let limits = Limits { max_steps: usize::MAX, ..limits };
    let again = executor.repeat(number, &shrunk.choices, usize::MAX, &limits);
    let same = again.left_at.is_none()
        && again.unused == 0
        && again.recording.execution.bug.as_ref().is_some_and(|bug| bug.cause() == cause);
    if !same {
        result.notes.push(
            "The shrunk schedule did not fail again, so this is the schedule as it was found: \
             something is not under Dally's control."
                .into(),
        );
        return result;
    }
    let bug = again.recording.execution.bug.clone().unwrap_or_else(|| finding.bug.clone());
    result = description.full(again.recording, bug, number);
    result.occurrences = finding.occurrences;
    result.notes.extend(early);
    result.shrunk = Some(shrunk_to(&finding.schedule, &result.schedule));
    result
}

fn shrunk_to(before: &Schedule, after: &Schedule) -> Shrunk {
    Shrunk {
        steps_before: before.steps(),
        steps_after: after.steps(),
        switches_before: before.switches(),
        switches_after: after.switches(),
    }
}
