//! Executions repeated with a full record, and what differs between two of them.

use dally_core::{
    Bug, BugKind, Choice, Finding, Item, Lasso, Problem, Program, Schedule, Trace, TraceStep,
    WorkerId,
};

use crate::executor::{End, Execution, Executor, Instruments, Limits, Recorder, blame};
use crate::liveness::{Fairness, Loops};
use crate::options::Clocks;
use crate::replay::Divergence;
use crate::replay_strategy::{ReplayStrategy, Strictness};
use crate::strategy::Strategy;

#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) choices: Vec<Choice>,
    pub(crate) enabled: Vec<Vec<WorkerId>>,
    pub(crate) trace: Trace,
    pub(crate) execution: Execution,
}

/// A recording made by following another.
#[derive(Debug)]
pub(crate) struct Followed {
    pub(crate) recording: Recording,
    /// The first place where it left the other.
    pub(crate) left_at: Option<Divergence>,
    /// Whether the execution asked for more choices than there were.
    pub(crate) ran_out: bool,
    /// How many choices the execution did not ask for.
    pub(crate) unused: usize,
}

impl<P: Program> Executor<'_, P> {
    pub(crate) fn record(
        &mut self,
        mut recorder: Recorder,
        schedule: u64,
        strategy: &mut dyn Strategy,
        limits: &Limits,
        instruments: Instruments<'_>,
    ) -> Recording {
        let instruments = Instruments { recorder: Some(&mut recorder), ..instruments };
        let execution = self.execute(schedule, strategy, limits, instruments);
        let (mut trace, mut enabled) = recorder.finish();
        // The rounds after a loop are not part of the schedule.
        let steps = execution.steps - execution.values;
        trace.steps.truncate(steps);
        enabled.truncate(steps);
        Recording { choices: self.writer.choices(), enabled, trace, execution }
    }

    pub(crate) fn follow(
        &mut self,
        recorder: Recorder,
        schedule: u64,
        mut replay: ReplayStrategy,
        limits: &Limits,
        instruments: Instruments<'_>,
    ) -> Followed {
        let recording = self.record(recorder, schedule, &mut replay, limits, instruments);
        let (ran_out, unused) = (replay.ran_out(), replay.unused());
        Followed { recording, left_at: replay.difference(), ran_out, unused }
    }

    pub(crate) fn repeat(
        &mut self,
        schedule: u64,
        choices: &[Choice],
        fair_from: usize,
        limits: &Limits,
    ) -> Followed {
        let replay = ReplayStrategy::new(choices, Strictness::Exact, fair_from);
        let instruments = Instruments::uninterrupted();
        self.follow(Recorder::full(), schedule, replay, limits, instruments)
    }
}

/// The difference between an execution and its exact repetition, if there is one.
pub(crate) fn difference(first: &Recording, second: &Followed) -> Option<Divergence> {
    let again = &second.recording;
    let at = |step: usize, message: String| Some(Divergence { step, message });
    for (index, (a, b)) in first.trace.steps.iter().zip(&again.trace.steps).enumerate() {
        if a.worker == b.worker && a.items == b.items {
            continue;
        }
        // Choices differed in this step or later; what happened inside the step comes first.
        if second.left_at.as_ref().is_none_or(|left| left.step > index + 1) {
            return at(index + 1, items_differ(a, b, &first.trace));
        }
        break;
    }
    if let Some(left) = &second.left_at {
        return Some(left.clone());
    }
    let (bug, bug_again) = (&first.execution.bug, &again.execution.bug);
    let causes = (bug.as_ref().map(Bug::cause), bug_again.as_ref().map(Bug::cause));
    let last = again.trace.steps.len();
    match (bug, bug_again) {
        (None, Some(bug)) => at(last, format!("it failed the second time: {bug}")),
        (Some(bug), None) => at(last, format!("it did not fail the second time: {bug}")),
        (Some(one), Some(other)) if causes.0 != causes.1 => {
            at(last, format!("it failed in another way the second time: first {one}, then {other}"))
        }
        _ if second.unused > 0 => at(last, "it ended earlier the second time".into()),
        _ if second.ran_out && first.execution.end == End::Complete => {
            at(last, "it went on the second time".into())
        }
        _ => None,
    }
}

fn items_differ(a: &TraceStep, b: &TraceStep, trace: &Trace) -> String {
    let name = trace.names.get(&a.worker).map_or("worker", String::as_str);
    let at = a.items.iter().zip(&b.items).take_while(|(a, b)| a == b).count();
    let told = |step: &TraceStep| match step.items.get(at) {
        Some(Item::Event(event)) => format!("`{event:?}`"),
        Some(Item::Choice(choice)) => format!("`{choice:?}`"),
        Some(Item::Input { name, value }) => format!("`input {name} = {value}`"),
        _ => "nothing more".into(),
    };
    let worker = a.worker;
    format!("the step of {name} ({worker}) told {} first and {} then", told(a), told(b))
}

/// What the findings of a run have in common.
#[derive(Clone, Debug)]
pub(crate) struct RunDescription {
    pub(crate) program: String,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) limits: Limits,
    pub(crate) clocks: Clocks,
}

impl RunDescription {
    /// A schedule under this description. The bound of a bug is among its settings.
    pub(crate) fn schedule(
        &self,
        choices: Vec<Choice>,
        enabled: Vec<Vec<WorkerId>>,
        bug: &Bug,
        fair_from: usize,
        lasso: Option<&Lasso>,
    ) -> Schedule {
        let mut settings = self.settings.clone();
        let mut bring = |name: &str, value: usize| {
            settings.retain(|entry| entry.0 != name);
            settings.push((name.to_owned(), value.to_string()));
        };
        match bug.kind() {
            BugKind::StepBound => bring("max-steps", self.limits.max_steps),
            BugKind::Temperature => {
                if let Problem::Temperature { bound } = *bug.problem {
                    bring("temperature", bound);
                }
                bring("fair-from", fair_from);
            }
            BugKind::Livelock => {
                settings.retain(|(name, _)| !["fairness", "monitor", "stem"].contains(&&**name));
                settings.push(("fairness".into(), self.limits.fairness.to_string()));
                settings.extend(bug.culprit.clone().map(|name| ("monitor".into(), name)));
                settings.extend(lasso.map(|lasso| ("stem".into(), lasso.stem.to_string())));
            }
            _ => {}
        }
        let (program, bug) = (self.program.clone(), Some(bug.record()));
        Schedule { program, settings, bug, choices, enabled, edited: false }
    }

    /// The trace with clocks, if they are wanted.
    pub(crate) fn clocked(&self, mut trace: Trace) -> Trace {
        if self.clocks == Clocks::Full {
            trace.write_clocks();
        }
        trace
    }

    pub(crate) fn full(&self, recording: Recording, bug: Bug, schedule: u64) -> Finding {
        let Recording { choices, enabled, trace, execution } = recording;
        let lasso = execution.lasso.as_ref();
        let written = self.schedule(choices, enabled, &bug, execution.fair_from, lasso);
        let mut finding = Finding::new(bug, written, schedule + 1);
        let trace = self.clocked(trace);
        (finding.trace, finding.lasso, finding.notes) = (trace, execution.lasso, execution.notes);
        finding
    }
}

/// The bounds under which a recorded schedule is run again, and the step from which it was fair.
pub(crate) fn limits_of(schedule: &Schedule, rounds: u32, step_items: u32) -> (Limits, usize) {
    let setting = |name: &str| schedule.setting(name)?.parse().ok();
    let fairness = fairness_of(schedule).unwrap_or_default();
    let mut limits = Limits { fairness, step_items, ..Limits::NONE };
    let mut fair_from = 0;
    if ended_by(schedule, BugKind::StepBound) {
        limits.max_steps = setting("max-steps").unwrap_or(usize::MAX);
        limits.fail_on_max_steps = true;
    }
    if ended_by(schedule, BugKind::Temperature) {
        limits.temperature = setting("temperature").unwrap_or(usize::MAX);
        fair_from = setting("fair-from").unwrap_or(0);
    }
    if ended_by(schedule, BugKind::Livelock) {
        limits.loops = Loops::AtEnd { stem: setting("stem"), rounds: Some(rounds) };
        limits.blamed = schedule.setting("monitor").map(blame);
    }
    (limits, fair_from)
}

pub(crate) fn ended_by(schedule: &Schedule, kind: BugKind) -> bool {
    schedule.bug.as_ref().is_some_and(|bug| bug.kind == kind)
}

/// The fairness that the loop of a schedule was judged by.
pub(crate) fn fairness_of(schedule: &Schedule) -> Option<Fairness> {
    schedule.setting("fairness")?.parse().ok()
}
