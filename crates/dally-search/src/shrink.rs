//! Making a failing schedule small: delta debugging on its steps.
//!
//! In a candidate, choices that have become impossible are skipped, and new questions get the first
//! answer. The units are steps of workers with the values chosen inside them. After steps were left
//! out come fewer context switches, fewer faults and lower values.
//!
//! Steps also go by being moved: what a step needs to the front, or what follows from it to the end. A
//! message that arrives after the one that matters need not be handled. Whatever a candidate has done,
//! of its steps only those are kept that led to the bug.

use std::sync::atomic::AtomicBool;

use dally_core::{Bug, BugKind, Cause, Choice, Program, Tag, Trace, WorkerId};

use crate::causes::{Causes, moved};
use crate::executor::{Executor, Instruments, Limits, Recorder};
use crate::liveness::Loops;
use crate::minimise::{Budget, Minimiser, Subject};
use crate::replay_strategy::{ReplayStrategy, Strictness};

pub(crate) struct Smaller {
    pub(crate) choices: Vec<Choice>,
    /// How many steps lead to the loop, if there is one and it has become smaller.
    pub(crate) stem: Option<usize>,
    /// Why shrinking stopped before it was done, if it did.
    pub(crate) stopped: Option<&'static str>,
}

/// Whether a bug of this kind can be shrunk.
///
/// The bug of a bound needs its length, a monitor's temperature counts only under a fair strategy,
/// and what is not under control cannot be repeated.
pub(crate) fn is_shrinkable(kind: BugKind) -> bool {
    !matches!(
        kind,
        BugKind::StepBound | BugKind::Temperature | BugKind::Uncontrolled | BugKind::NoFailure
    )
}

pub(crate) fn shrink<P: Program>(
    executor: &mut Executor<'_, P>,
    schedule: u64,
    choices: &[Choice],
    cause: Cause,
    limits: &Limits,
    budget: Budget<'_>,
) -> Smaller {
    let loops = limits.loops.loosely();
    let limits = Limits { max_steps: usize::MAX, temperature: usize::MAX, loops, ..*limits };
    let subject = Candidates { executor, schedule, cause, limits, stop: budget.stop };
    // All of a loop is in its past.
    let has_past = subject.limits.loops == Loops::Ignored;
    let mut shrinker = Minimiser::new(subject, Failing::new(units(choices), None), budget);
    shrinker.repeat(|shrinker| {
        shrinker.leave_out_workers();
        shrinker.leave_out_runs(shrinker.units().len().div_ceil(2));
        shrinker.join_runs();
        shrinker.lower_values();
        if has_past {
            shrinker.move_causes();
        }
    });
    let stopped = shrinker.stopped();
    let Failing { units, stem, .. } = shrinker.best;
    Smaller { choices: flatten(&units), stem, stopped }
}

/// A step of a worker with the choices inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WorkerStep {
    worker: WorkerId,
    inside: Vec<Choice>,
}

/// Smaller is better, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Size {
    steps: usize,
    switches: usize,
    faults: usize,
    choices: usize,
    values: u64,
}

impl Size {
    fn of(units: &[WorkerStep]) -> Size {
        let mut size = Size {
            steps: units.len(),
            switches: units.windows(2).filter(|pair| pair[0].worker != pair[1].worker).count(),
            faults: units.iter().filter(|unit| unit.worker == WorkerId::FAULTS).count(),
            choices: 0,
            values: 0,
        };
        for choice in units.iter().flat_map(|unit| &unit.inside) {
            size.choices += 1;
            if let Choice::Value { index, tag, .. } = *choice {
                size.values += u64::from(index);
                size.faults += usize::from(tag == Tag::Fault && index > 0);
            } else if let Choice::Input(value) = *choice {
                size.values = size.values.saturating_add(magnitude(value));
            }
        }
        size
    }
}

struct Failing {
    units: Vec<WorkerStep>,
    size: Size,
    /// How many steps lead to its loop, if that is known and there is one.
    stem: Option<usize>,
}

impl Failing {
    fn new(units: Vec<WorkerStep>, stem: Option<usize>) -> Failing {
        Failing { size: Size::of(&units), units, stem }
    }
}

struct Candidates<'a, 'p, P: Program> {
    stop: &'a AtomicBool,
    executor: &'a mut Executor<'p, P>,
    schedule: u64,
    cause: Cause,
    limits: Limits,
}

impl<P: Program> Subject for Candidates<'_, '_, P> {
    type Unit = WorkerStep;
    type Failure = Failing;
    type Size = Size;

    fn units(failure: &Failing) -> &[WorkerStep] {
        &failure.units
    }

    fn size(failure: &Failing) -> Size {
        failure.size
    }

    /// Runs a candidate. If it fails without being smaller, what of it did not lead to the bug is left out.
    fn run(&mut self, candidate: &[WorkerStep], best: &Failing) -> (u64, Option<Failing>) {
        let (steps, failing) = self.execute(candidate, best);
        match failing {
            Some((failing, bug)) if failing.size >= best.size => {
                let (order, past) = self.past(&failing, &bug);
                let steps = steps + order;
                if past.len() == failing.units.len() {
                    return (steps, Some(failing));
                }
                let (again, smaller) = self.execute(&past, best);
                (steps + again, smaller.map(|(smaller, _)| smaller))
            }
            failing => (steps, failing.map(|(failing, _)| failing)),
        }
    }
}

impl<P: Program> Candidates<'_, '_, P> {
    fn execute(
        &mut self,
        candidate: &[WorkerStep],
        best: &Failing,
    ) -> (u64, Option<(Failing, Bug)>) {
        let strictness = Strictness::Loose(best.size.steps);
        let mut replay = ReplayStrategy::new(&flatten(candidate), strictness, usize::MAX);
        let instruments = Instruments { halt: self.stop, ..Instruments::uninterrupted() };
        let execution =
            self.executor.execute(self.schedule, &mut replay, &self.limits, instruments);
        let steps = (execution.steps + execution.round_steps) as u64;
        let stem = execution.lasso.map(|lasso| lasso.stem);
        let bug = execution.bug.filter(|bug| bug.cause() == self.cause);
        let failing = bug.map(|bug| {
            let units = units(&self.executor.writer.choices());
            (Failing::new(units, stem), bug)
        });
        (steps, failing)
    }

    /// The trace of a schedule without its texts, and how many steps that took.
    fn order(&mut self, units: &[WorkerStep]) -> (u64, Trace) {
        let replay = ReplayStrategy::new(&flatten(units), Strictness::Exact, usize::MAX);
        let instruments = Instruments { halt: self.stop, ..Instruments::uninterrupted() };
        let recorder = Recorder::of_order();
        let followed =
            self.executor.follow(recorder, self.schedule, replay, &self.limits, instruments);
        // A record costs several times as much as the steps alone.
        let steps = RECORDED * followed.recording.execution.steps as u64;
        (steps, followed.recording.trace)
    }

    /// The steps of a failing schedule that led to the bug, and how many steps it took to know.
    fn past(&mut self, failing: &Failing, bug: &Bug) -> (u64, Vec<WorkerStep>) {
        if self.limits.loops != Loops::Ignored {
            return (0, failing.units.clone());
        }
        let (steps, trace) = self.order(&failing.units);
        let past = trace.past(&trace.shows(bug));
        let kept = failing.units.iter().zip(past).filter(|(_, past)| *past);
        (steps, kept.map(|(unit, _)| unit.clone()).collect())
    }
}

/// What a recorded step costs, in steps.
const RECORDED: u64 = 4;

impl<P: Program> Minimiser<'_, Candidates<'_, '_, P>> {
    /// Tries to leave out all steps of one worker, the one that stepped last first.
    fn leave_out_workers(&mut self) {
        let mut workers: Vec<WorkerId> = Vec::new();
        for unit in self.best.units.iter().rev() {
            if !workers.contains(&unit.worker) {
                workers.push(unit.worker);
            }
        }
        for worker in workers {
            let rest: Vec<WorkerStep> =
                self.best.units.iter().filter(|unit| unit.worker != worker).cloned().collect();
            if rest.len() < self.best.units.len() {
                self.accepts(&rest);
            }
        }
    }

    /// Tries to move steps next to other steps of the same worker.
    fn join_runs(&mut self) {
        let mut at = 0;
        while at < self.best.units.len() && self.stopped().is_none() {
            let worker = self.best.units[at].worker;
            let length = run_length(&self.best.units[at..]);
            let next = at + length;
            // Moves this run to the next one of the same worker, or that one to this.
            let again = self.best.units[next..].iter().position(|unit| unit.worker == worker);
            if let Some(again) = again.map(|distance| next + distance) {
                let mut later = self.best.units.clone();
                later[at..again].rotate_left(length);
                let mut earlier = self.best.units.clone();
                let moved = run_length(&self.best.units[again..]);
                earlier[next..again + moved].rotate_right(moved);
                if self.accepts(&later) || self.accepts(&earlier) {
                    continue;
                }
            }
            at = next;
        }
    }

    /// Tries what each step needs at the front, and what follows from it at the end.
    fn move_causes(&mut self) {
        if self.stopped().is_some() {
            return;
        }
        let mut causes = self.causes();
        let mut at = causes.len();
        while at > 0 && self.stopped().is_none() {
            at -= 1;
            let candidate = moved(&self.best.units, &causes.past(at), true);
            if self.accepts(&candidate) || self.postpones(&causes, at) {
                causes = self.causes();
                at = at.min(causes.len());
            }
        }
    }

    /// Tries what follows from a step at the end; of one worker after the other, its own steps stay where they are.
    fn postpones(&mut self, causes: &Causes, step: usize) -> bool {
        let future = causes.future_without(step, None);
        let mut touched: Vec<WorkerId> =
            future.iter().map(|&at| self.best.units[at].worker).collect();
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|&worker| worker != self.best.units[step].worker);
        touched.into_iter().any(|worker| {
            let late = causes.future_without(step, Some(worker));
            let candidate = moved(&self.best.units, &late, false);
            self.accepts(&candidate)
        })
    }

    fn causes(&mut self) -> Causes {
        let units = self.best.units.clone();
        let (steps, trace) = self.subject.order(&units);
        self.spend(steps);
        Causes::of(&trace)
    }

    /// Tries no fault, the first value, half of the value, one less; and inputs nearer to 0.
    fn lower_values(&mut self) {
        let mut at = (0, 0);
        while at.0 < self.best.units.len() && self.stopped().is_none() {
            let Some(&choice) = self.best.units[at.0].inside.get(at.1) else {
                at = (at.0 + 1, 0);
                continue;
            };
            let mut again = false;
            for lower in lower(choice) {
                let mut candidate = self.best.units.clone();
                candidate[at.0].inside[at.1] = lower;
                if self.accepts(&candidate) {
                    // An input may come down in many steps.
                    again = matches!(choice, Choice::Input(_));
                    break;
                }
            }
            at.1 += usize::from(!again);
        }
    }
}

/// What to try instead of a value or an input, the lowest first.
fn lower(choice: Choice) -> Vec<Choice> {
    let mut lower = match choice {
        Choice::Value { index, of, tag } => [0, index / 2, index.saturating_sub(1)]
            .map(|index| Choice::Value { index, of, tag })
            .to_vec(),
        // 0, then the number without its sign, then less of it by a half, a quarter and so on.
        Choice::Input(value) => {
            let less = (1..63).map(|bits| value / (1 << bits)).take_while(|&part| part != 0);
            let less = less.chain([value.signum()]).map(|part| value - part);
            [0, value.saturating_neg()].into_iter().chain(less).map(Choice::Input).collect()
        }
        Choice::Worker(_) | Choice::Delivery(_) => Vec::new(),
    };
    lower.dedup();
    lower.retain(|&lower| match (lower, choice) {
        (Choice::Value { index, .. }, Choice::Value { index: now, .. }) => index < now,
        (Choice::Input(value), Choice::Input(now)) => magnitude(value) < magnitude(now),
        _ => false,
    });
    lower
}

/// The distance of an input from 0; of two as far, the negative one is larger.
fn magnitude(value: i64) -> u64 {
    value.unsigned_abs().saturating_mul(2).saturating_add(u64::from(value < 0))
}

/// How many units at the front are steps of one worker.
fn run_length(units: &[WorkerStep]) -> usize {
    units.iter().take_while(|unit| unit.worker == units[0].worker).count()
}

fn units(choices: &[Choice]) -> Vec<WorkerStep> {
    let mut units: Vec<WorkerStep> = Vec::new();
    for &choice in choices {
        match (choice, units.last_mut()) {
            (Choice::Worker(worker), _) => units.push(WorkerStep { worker, inside: Vec::new() }),
            (_, Some(unit)) => unit.inside.push(choice),
            (_, None) => {}
        }
    }
    units
}

fn flatten(units: &[WorkerStep]) -> Vec<Choice> {
    let mut choices = Vec::new();
    for unit in units {
        choices.push(Choice::Worker(unit.worker));
        choices.extend_from_slice(&unit.inside);
    }
    choices
}
