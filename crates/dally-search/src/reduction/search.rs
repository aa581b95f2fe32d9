//! The entry points of reduced searches, and their reports.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use dally_core::report::{Classes, Ended, Report};
use dally_core::{Bug, Program};

use super::engine::Engine;
use super::inputs::{GivenInputs, InputDriver};
use super::rule::Reduction;
use super::shared::Results;
use crate::confirm::RawFinding;
use crate::options::{Expected, Options, Sink};
use crate::runner::{Run, count_bug};
use crate::strata::{Replaying, StateSpace};
use crate::supervisor::LeaveBehind;

/// Explores one execution for each class of schedules and each path that inputs decide: the driver
/// that `driver` makes answers inputs. See [`InputDriver`].
pub fn explore_inputs<P, D>(
    program: Arc<P>,
    driver: impl FnOnce() -> D + Send + 'static,
    options: Options,
    sink: Arc<dyn Sink>,
) -> Report
where
    P: Program + 'static,
    D: InputDriver + 'static,
{
    let options = options.naming(&*program);
    let make = |program| Ok(Replaying::unidentified(program));
    search(program, driver, By::default(), options, sink, make, None)
}

/// Explores one execution for each class of schedules, with the inputs as given.
pub(crate) fn reduced<P: Program + 'static, S: StateSpace>(
    program: Arc<P>,
    by: By,
    options: Options,
    sink: Arc<dyn Sink>,
    make: fn(Arc<P>) -> Result<S, Bug>,
    note: Option<String>,
) -> Report {
    search(program, || GivenInputs, by, options, sink, make, note)
}

/// The rule of a reduced search, and its bound.
#[derive(Clone, Copy, Default)]
pub(crate) struct By {
    pub(crate) rule: Reduction,
    pub(crate) bound: Option<u32>,
}

impl By {
    /// The name of a search that takes inputs as given, or varies them.
    fn name(self, varies_inputs: bool) -> String {
        match (self.rule, self.bound) {
            _ if varies_inputs => "concolic".to_owned(),
            (Reduction::Optimal, _) => "dpor".to_owned(),
            (rule, Some(bound)) if rule.is_bounded() => format!("dpor({rule}, {bound})"),
            (rule, _) => format!("dpor({rule})"),
        }
    }
}

fn search<P, S, D>(
    program: Arc<P>,
    driver: impl FnOnce() -> D + Send + 'static,
    by: By,
    options: Options,
    sink: Arc<dyn Sink>,
    make: impl FnOnce(Arc<P>) -> Result<S, Bug> + Send + 'static,
    note: Option<String>,
) -> Report
where
    P: Program + 'static,
    S: StateSpace,
    D: InputDriver + 'static,
{
    let mut run = Run::new(program, options, by.name(D::BRANCHES), sink);
    // A branch is found by what was explored before it, so subtrees are not independent.
    run.report.threads = 1;
    run.report.notes.extend(note);
    let results = Arc::new(Results::new(run.shared.clone()));
    let mut threads = run.supervisor::<(), Result<(), Box<Bug>>>();
    let (program, limits) = (run.program.clone(), run.shared.description.limits);
    let shared = results.clone();
    let started = threads.spawn(move |writer, supervised| {
        if supervised.command().is_some() {
            let by = (by.rule, by.bound.filter(|_| by.rule.is_bounded()).unwrap_or(u32::MAX));
            let explored = make(program).and_then(|space| {
                Engine::new(space, driver(), writer, shared, limits, by).explore()
            });
            supervised.answer(explored.map_err(Box::new));
        }
    });
    if !run.is_started(started) {
        run.end(Ended::Failed);
        return run.finish();
    }
    threads.command_first(());
    let mut failed = None;
    run.supervise(
        &mut threads,
        LeaveBehind::InsideProgram,
        |run| {
            let estimate = results.ask();
            let [classes, spread] = [estimate.mean, estimate.variance.sqrt()].map(|n| n as u64);
            run.expected = Some(Expected { classes, spread });
        },
        |_, explored| {
            failed = explored.err();
        },
    );
    threads.finish();
    let mut bugs =
        std::mem::take(&mut *results.bugs.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(bug) = failed {
        let cause = bug.cause();
        let raw = RawFinding::new(*bug, 0);
        run.shared.sink.found(&raw.finding(&run.shared.description));
        bugs.push((cause, Some(Box::new(raw))));
    }
    if !bugs.is_empty() && !run.options.keep_going {
        run.ended = run.ended.or(Some(Ended::Bug));
    } else if results.finished.load(Ordering::Relaxed) {
        let all = results.bounded.load(Ordering::Relaxed) == 0;
        run.ended = run.ended.or(Some(if all { Ended::Exhausted } else { Ended::Bound }));
    }
    let mut confirming = run.supervisor();
    for (cause, raw) in bugs {
        if let Some(raw) = count_bug(&mut run.groups, cause, raw) {
            run.confirm(&mut confirming, raw);
        }
    }
    let count = |of: &std::sync::atomic::AtomicU64| of.load(Ordering::Relaxed);
    let estimate = *results.estimate.lock().unwrap_or_else(PoisonError::into_inner);
    let report = &mut run.report;
    report.schedules = count(&run.shared.schedules);
    report.steps = count(&run.shared.steps);
    report.longest = results.deepest.load(Ordering::Relaxed);
    report.cut = count(&results.cut);
    report.redundant = count(&results.redundant);
    report.given_inputs = results.inputs.load(Ordering::Relaxed);
    let mut classes = Classes::default();
    let repeats = !by.rule.repeats_nothing();
    classes.classes = if repeats { count(&results.distinct) } else { report.schedules };
    classes.irrelevant = count(&results.irrelevant);
    classes.abandoned = count(&results.abandoned);
    classes.astray = count(&results.astray);
    (classes.estimate, classes.spread) = (estimate.mean, estimate.variance.sqrt());
    report.classes = Some(classes);
    run.finish()
}
