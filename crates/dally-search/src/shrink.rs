//! Making a failing schedule small: delta debugging on its steps.
//!
//! A candidate is run loosely: choices that have become impossible are skipped, questions that
//! are new get the first answer. If it fails with the same cause, what was *really* executed is
//! the new schedule, provided it is smaller. So every accepted schedule has been seen to fail,
//! and the search can only end in one that fails.
//!
//! Delta debugging is Zeller's ddmin (Zeller and Hildebrandt, 2002), on steps of workers with
//! the values chosen inside them. After it: fewer context switches, fewer faults, lower values.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dally_core::{BugKind, Cause, Choice, Program, Tag, WorkerId};

use crate::choice_log::ChoiceWriter;
use crate::deadline::Stopwatch;
use crate::executor::{Limits, Stage};
use crate::record::{Script, retry};
use crate::replay_strategy::Manner;

/// How long shrinking may take by the clock: the last resort, for programs with slow steps.
pub(crate) const TIME: Duration = Duration::from_secs(20);

/// A start costs about as much as this many steps.
pub(crate) const START: u64 = 16;

/// What shrinking came to.
pub(crate) struct Smaller {
    pub(crate) choices: Vec<Choice>,
    /// How many steps lead to the loop, if it has become smaller and there is one.
    pub(crate) stem: Option<usize>,
    /// Why it stopped before it was done, if so.
    pub(crate) stopped: Option<&'static str>,
}

/// What bounds the shrinking of one finding.
#[derive(Clone, Copy)]
pub(crate) struct Budget<'a> {
    /// Steps replayed in all.
    pub(crate) steps: u64,
    /// Set by the user who wants to leave.
    pub(crate) hurry: &'a AtomicBool,
}

/// Whether a bug of this kind can be shrunk.
///
/// A bug of a bound needs the length it has, and a monitor's temperature counts only under a
/// fair strategy, which a schedule with steps left out is not. What is out of control cannot be
/// repeated.
pub(crate) fn is_shrinkable(kind: BugKind) -> bool {
    !matches!(
        kind,
        BugKind::StepBound | BugKind::Temperature | BugKind::Uncontrolled | BugKind::NoFailure
    )
}

/// Shrinks a schedule that fails with `cause`.
pub(crate) fn shrink<P: Program>(
    stage: &mut Stage<'_, P>,
    schedule: u64,
    choices: &[Choice],
    cause: Cause,
    limits: &Limits,
    budget: Budget<'_>,
    writer: &mut ChoiceWriter,
) -> Smaller {
    let best = units(choices);
    let size = Size::of(&best);
    let clock = Stopwatch::start();
    let loops = limits.loops.loosely();
    let limits = Limits { max_steps: usize::MAX, temperature: usize::MAX, loops, ..*limits };
    let spent = 0;
    let mut shrinker = Shrinker {
        stage,
        schedule,
        cause,
        limits,
        budget,
        writer,
        best,
        size,
        stem: None,
        clock,
        spent,
        out: None,
    };
    while shrinker.out.is_none() {
        let before = shrinker.size;
        shrinker.without_workers();
        shrinker.without_steps();
        shrinker.with_fewer_switches();
        shrinker.with_lower_values();
        if shrinker.size == before {
            break;
        }
    }
    Smaller { choices: flatten(&shrinker.best), stem: shrinker.stem, stopped: shrinker.out }
}

/// A step of a worker with what was chosen inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
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
    fn of(units: &[Unit]) -> Size {
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
            }
        }
        size
    }
}

struct Shrinker<'a, 'p, P: Program> {
    stage: &'a mut Stage<'p, P>,
    schedule: u64,
    cause: Cause,
    limits: Limits,
    budget: Budget<'a>,
    writer: &'a mut ChoiceWriter,
    /// The smallest schedule that was seen to fail.
    best: Vec<Unit>,
    size: Size,
    stem: Option<usize>,
    clock: Stopwatch,
    spent: u64,
    /// Why there is no more budget.
    out: Option<&'static str>,
}

impl<P: Program> Shrinker<'_, '_, P> {
    /// Runs a candidate; takes it if it fails in the same way and is smaller.
    fn accepts(&mut self, candidate: &[Unit]) -> bool {
        if self.spent >= self.budget.steps {
            self.out = Some("its budget of steps was used up");
        } else if self.budget.hurry.load(Ordering::Relaxed) {
            self.out = Some("the run was interrupted");
        } else if self.clock.is_past(TIME) {
            self.out = Some("it took too long");
        }
        if self.out.is_some() {
            return false;
        }
        let script = Script::of(flatten(candidate), usize::MAX);
        let manner = Manner::Loose(self.size.steps);
        let execution =
            retry(self.stage, self.schedule, &script, manner, &self.limits, self.writer);
        self.spent += START + (execution.steps + execution.lapped) as u64;
        let stem = execution.lasso.map(|lasso| lasso.stem);
        if execution.bug.is_none_or(|bug| bug.cause() != self.cause) {
            return false;
        }
        let made = units(&self.writer.choices());
        let size = Size::of(&made);
        let smaller = size < self.size;
        if smaller {
            (self.best, self.size, self.stem) = (made, size, stem);
        }
        smaller
    }

    /// Tries to leave out all steps of one worker, those that came last first.
    fn without_workers(&mut self) {
        let mut workers: Vec<WorkerId> = Vec::new();
        for unit in self.best.iter().rev() {
            if !workers.contains(&unit.worker) {
                workers.push(unit.worker);
            }
        }
        for worker in workers {
            let rest: Vec<Unit> =
                self.best.iter().filter(|unit| unit.worker != worker).cloned().collect();
            if rest.len() < self.best.len() {
                self.accepts(&rest);
            }
        }
    }

    /// Tries to leave out runs of steps, from halves down to single steps.
    fn without_steps(&mut self) {
        let mut length = self.best.len().div_ceil(2);
        while length > 0 && self.out.is_none() {
            // From the end: later steps depend on earlier ones, not the other way round.
            let mut end = self.best.len();
            while end > 0 && self.out.is_none() {
                let start = end.saturating_sub(length);
                let candidate = [&self.best[..start], &self.best[end..]].concat();
                self.accepts(&candidate);
                end = start.min(self.best.len());
            }
            length = if length == 1 { 0 } else { length.div_ceil(2) };
        }
    }

    /// Tries to move steps next to other steps of the same worker.
    fn with_fewer_switches(&mut self) {
        let mut at = 0;
        while at < self.best.len() && self.out.is_none() {
            let worker = self.best[at].worker;
            let length = run_length(&self.best[at..]);
            let next = at + length;
            // This run, later: right before the next of the same worker. Or that one, earlier.
            let again = self.best[next..].iter().position(|unit| unit.worker == worker);
            if let Some(again) = again.map(|distance| next + distance) {
                let mut later = self.best.clone();
                later[at..again].rotate_left(length);
                let mut earlier = self.best.clone();
                let moved = run_length(&self.best[again..]);
                earlier[next..again + moved].rotate_right(moved);
                if self.accepts(&later) || self.accepts(&earlier) {
                    continue;
                }
            }
            at = next;
        }
    }

    /// Tries to choose lower values: no fault where there is one, the first value, half of it,
    /// one less.
    fn with_lower_values(&mut self) {
        let mut at = (0, 0);
        while at.0 < self.best.len() && self.out.is_none() {
            let Some(&choice) = self.best[at.0].inside.get(at.1) else {
                at = (at.0 + 1, 0);
                continue;
            };
            if let Choice::Value { index, of, tag } = choice {
                let mut lower = vec![0, index / 2, index.saturating_sub(1)];
                lower.dedup();
                lower.retain(|&value| value < index);
                for value in lower {
                    let mut candidate = self.best.clone();
                    candidate[at.0].inside[at.1] = Choice::Value { index: value, of, tag };
                    if self.accepts(&candidate) {
                        break;
                    }
                }
            }
            at.1 += 1;
        }
    }
}

/// How many units at the front are of one worker.
fn run_length(units: &[Unit]) -> usize {
    units.iter().take_while(|unit| unit.worker == units[0].worker).count()
}

fn units(choices: &[Choice]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for &choice in choices {
        match (choice, units.last_mut()) {
            (Choice::Worker(worker), _) => units.push(Unit { worker, inside: Vec::new() }),
            (_, Some(unit)) => unit.inside.push(choice),
            // Values before the first step belong to nothing.
            (_, None) => {}
        }
    }
    units
}

fn flatten(units: &[Unit]) -> Vec<Choice> {
    let mut choices = Vec::new();
    for unit in units {
        choices.push(Choice::Worker(unit.worker));
        choices.extend_from_slice(&unit.inside);
    }
    choices
}
