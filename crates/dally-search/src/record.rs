//! Executions repeated with a full record, and what differs between two of them.

use std::sync::Arc;

use dally_core::{
    Bug, BugKind, Choice, Finding, Item, Lasso, Program, Schedule, Trace, TraceStep, WorkerId,
};

use crate::choice_log::ChoiceWriter;
use crate::executor::{End, Execution, Executor, Instruments, Limits, Recorder, blame};
use crate::liveness::{Fairness, Loops};
use crate::replay::Divergence;
use crate::replay_strategy::{ReplayStrategy, Strictness};
use crate::strategy::Strategy;

/// An execution with all that happened in it.
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
    /// Where it left the other first.
    pub(crate) left_at: Option<Divergence>,
    /// The execution asked for more choices than there were.
    pub(crate) ran_out: bool,
    /// How many choices the execution did not ask for.
    pub(crate) unused: usize,
}

/// What to follow.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) choices: Arc<[Choice]>,
    /// Who was enabled at each step; empty if that is not known.
    pub(crate) enabled: Arc<[Vec<WorkerId>]>,
    pub(crate) fair_from: usize,
}

/// Runs schedule number `schedule` with a record.
pub(crate) fn record<P: Program>(
    mut recorder: Recorder,
    executor: &mut Executor<'_, P>,
    schedule: u64,
    strategy: &mut dyn Strategy,
    limits: &Limits,
    instruments: Instruments<'_>,
) -> Recording {
    let Instruments { writer, halt, observations, .. } = instruments;
    let instruments = Instruments { writer, halt, recorder: Some(&mut recorder), observations };
    let execution = executor.execute(schedule, strategy, limits, instruments);
    let (mut trace, mut enabled) = recorder.finish();
    // The rounds after a loop are not part of the schedule.
    let steps = execution.steps - execution.values;
    trace.steps.truncate(steps);
    enabled.truncate(steps);
    Recording { choices: writer.choices(), enabled, trace, execution }
}

/// Follows a script with a record.
pub(crate) fn follow<P: Program>(
    recorder: Recorder,
    executor: &mut Executor<'_, P>,
    schedule: u64,
    script: &Script,
    strictness: Strictness,
    limits: &Limits,
    instruments: Instruments<'_>,
) -> Followed {
    let mut player = script.player(strictness);
    let recording = record(recorder, executor, schedule, &mut player, limits, instruments);
    let (ran_out, unused) = (player.ran_out(), player.unused());
    Followed { recording, left_at: player.difference(), ran_out, unused }
}

/// Repeats a schedule exactly, with a full record.
pub(crate) fn repeat<P: Program>(
    executor: &mut Executor<'_, P>,
    schedule: u64,
    script: &Script,
    limits: &Limits,
    writer: &mut ChoiceWriter,
) -> Followed {
    let (recorder, instruments) = (Recorder::default(), Instruments::uninterrupted(writer));
    follow(recorder, executor, schedule, script, Strictness::Exact, limits, instruments)
}

/// Follows a script without a record: the execution, and the choices really made are on the
/// choice log.
pub(crate) fn retry<P: Program>(
    executor: &mut Executor<'_, P>,
    schedule: u64,
    script: &Script,
    strictness: Strictness,
    limits: &Limits,
    writer: &mut ChoiceWriter,
) -> Execution {
    executor.execute(
        schedule,
        &mut script.player(strictness),
        limits,
        Instruments::uninterrupted(writer),
    )
}

impl Script {
    /// A script of choices alone.
    pub(crate) fn of(choices: Vec<Choice>, fair_from: usize) -> Script {
        Script { choices: choices.into(), enabled: Arc::new([]), fair_from }
    }

    fn player(&self, strictness: Strictness) -> ReplayStrategy {
        ReplayStrategy::new(self.choices.clone(), self.enabled.clone(), strictness, self.fair_from)
    }
}

impl Recording {
    /// The script of this very execution.
    pub(crate) fn script(&self) -> Script {
        Script {
            choices: self.choices.clone().into(),
            enabled: self.enabled.clone().into(),
            fair_from: self.execution.fair_from,
        }
    }
}

/// What differs between an execution and its exact repetition, if anything.
pub(crate) fn difference(first: &Recording, second: &Followed) -> Option<Divergence> {
    let again = &second.recording;
    let at = |step: usize, message: String| Some(Divergence { step, message });
    for (index, (a, b)) in first.trace.steps.iter().zip(&again.trace.steps).enumerate() {
        if a.worker == b.worker && a.items == b.items {
            continue;
        }
        // The player saw this step or a later one fail; what happened inside it comes first.
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
        Some(Item::Told(event)) => format!("`{event:?}`"),
        Some(Item::Chose(choice)) => format!("`{choice:?}`"),
        Some(Item::Input { name, value }) => format!("`input {name} = {value}`"),
        None => "nothing more".into(),
    };
    let worker = a.worker;
    format!("the step of {name} ({worker}) told {} first and {} then", told(a), told(b))
}

/// What all findings of a run have in common.
#[derive(Clone, Debug)]
pub(crate) struct Heading {
    pub(crate) program: String,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) limits: Limits,
}

impl Heading {
    /// A schedule under this heading. Bugs that depend on a bound bring the bound along, since
    /// they do not exist without it.
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
                bring("temperature", self.limits.temperature);
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

    /// A finding without a trace, as it is first known.
    pub(crate) fn raw(
        &self,
        bug: Bug,
        choices: Vec<Choice>,
        fair_from: usize,
        schedule: u64,
        notes: Vec<String>,
    ) -> Finding {
        let written = self.schedule(choices, Vec::new(), &bug, fair_from, None);
        let mut finding = Finding::new(bug, written, schedule + 1);
        finding.notes = notes;
        finding
    }

    /// A finding with its trace.
    pub(crate) fn full(&self, recording: Recording, bug: Bug, schedule: u64) -> Finding {
        let Recording { choices, enabled, trace, execution } = recording;
        let lasso = execution.lasso.as_ref();
        let written = self.schedule(choices, enabled, &bug, execution.fair_from, lasso);
        let mut finding = Finding::new(bug, written, schedule + 1);
        (finding.trace, finding.lasso, finding.notes) = (trace, execution.lasso, execution.notes);
        finding
    }
}

/// The bounds under which a recorded schedule is run again, and from where on it was fair.
pub(crate) fn limits_of(schedule: &Schedule, rounds: u32, step_items: u32) -> (Limits, usize) {
    let setting = |name: &str| schedule.setting(name)?.parse().ok();
    let mut limits = Limits {
        max_steps: usize::MAX,
        fail_on_max_steps: false,
        temperature: usize::MAX,
        fairness: fairness_of(schedule).unwrap_or_default(),
        loops: Loops::Ignored,
        blamed: None,
        step_items,
    };
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

/// Whether a schedule was recorded with a bug of this kind.
pub(crate) fn ended_by(schedule: &Schedule, kind: BugKind) -> bool {
    schedule.bug.as_ref().is_some_and(|bug| bug.kind == kind)
}

/// What the loop of a schedule was judged by.
pub(crate) fn fairness_of(schedule: &Schedule) -> Option<Fairness> {
    schedule.setting("fairness")?.parse().ok()
}
