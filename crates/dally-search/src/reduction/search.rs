//! The entry points of reduced searches, and their reports.

use std::sync::Arc;

use dally_core::report::{Classes, Ended, Report};
use dally_core::{Bug, Program};

use super::engine::Engine;
use super::inputs::{GivenInputs, InputDriver};
use super::rule::Reduction;
use super::sharing::SharedSearch;
use crate::confirm::RawFinding;
use crate::options::{Expected, Options, Sink};
use crate::runner::{Run, count_bugs};
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
    search(program, driver, ReductionRule::default(), options, sink, make, None)
}

/// Explores one execution for each class of schedules, with the inputs as given.
pub(crate) fn reduced<P: Program + 'static, S: StateSpace>(
    program: Arc<P>,
    by: ReductionRule,
    options: Options,
    sink: Arc<dyn Sink>,
    make: fn(Arc<P>) -> Result<S, Bug>,
    note: Option<String>,
) -> Report {
    search(program, || GivenInputs, by, options, sink, make, note)
}

/// The rule of a reduced search, and its bound.
#[derive(Clone, Copy, Default)]
pub(crate) struct ReductionRule {
    pub(crate) rule: Reduction,
    pub(crate) bound: Option<u32>,
}

impl ReductionRule {
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

/// Searches with one thread. Until a step is explored all beginnings must be noted that it begins, or they
/// are taken for covered; and what a step branches on is found by what was explored before.
fn search<P, S, D>(
    program: Arc<P>,
    driver: impl FnOnce() -> D + Send + 'static,
    by: ReductionRule,
    options: Options,
    sink: Arc<dyn Sink>,
    make: fn(Arc<P>) -> Result<S, Bug>,
    note: Option<String>,
) -> Report
where
    P: Program + 'static,
    S: StateSpace,
    D: InputDriver + 'static,
{
    let mut run = Run::new(program, options, by.name(D::BRANCHES), sink);
    run.report.threads = 1;
    run.report.notes.extend(note);
    let shared = Arc::new(SharedSearch::new(run.shared.clone(), run.options.executions));
    let mut threads = run.supervisor::<(), ()>();
    let (program, limits) = (run.program.clone(), run.shared.description.limits);
    let search = shared.clone();
    let started = threads.spawn(move |writer, supervised| {
        if supervised.command().is_some() {
            let bound = by.bound.filter(|_| by.rule.is_bounded()).unwrap_or(u32::MAX);
            match make(program) {
                Ok(space) => {
                    Engine::new(space, driver(), writer, search, limits, (by.rule, bound)).work();
                }
                Err(bug) => search.failed(bug),
            }
            supervised.answer(());
        }
    });
    if !run.is_started(started) {
        run.end(Ended::Failed);
        return run.finish();
    }
    threads.command_all(|_| ());
    let tick = |run: &mut Run<P>| {
        let estimate = shared.ask();
        let [classes, spread] = [estimate.mean, estimate.variance.sqrt()].map(|n| n as u64);
        run.expected = Some(Expected { classes, spread });
    };
    run.supervise(&mut threads, LeaveBehind::InsideProgram, tick, |_, ()| {});
    threads.finish();
    let (outcome, estimate, failed) = shared.take();
    let is_failed = failed.is_some();
    let failed = failed.map(|bug| {
        let cause = bug.cause();
        let raw = RawFinding::new(bug, 0);
        run.shared.sink.found(&raw.finding(&run.shared.description));
        (cause, 1, Some(Box::new(raw)))
    });
    if is_failed || outcome.stopped {
        run.ended = run.ended.or(Some(Ended::Bug));
    } else if !outcome.unfinished {
        let all = outcome.bounded == 0;
        run.ended = run.ended.or(Some(if all { Ended::Exhausted } else { Ended::Bound }));
    }
    let mut confirming = run.supervisor();
    let bugs = outcome.bugs.into_iter();
    for (cause, times, raw) in bugs.map(|found| (found.cause, found.times, found.raw)).chain(failed)
    {
        if let Some(raw) = count_bugs(&mut run.groups, cause, times, raw) {
            run.confirm(&mut confirming, raw);
        }
    }
    let report = &mut run.report;
    report.schedules = outcome.executed;
    report.steps = outcome.steps;
    report.longest = outcome.deepest;
    report.cut = outcome.cut;
    report.redundant = outcome.redundant;
    report.given_inputs = outcome.inputs;
    let mut classes = Classes::default();
    let repeats = !by.rule.repeats_nothing();
    classes.classes = if repeats { outcome.distinct } else { report.schedules };
    classes.irrelevant = outcome.irrelevant;
    classes.abandoned = outcome.abandoned;
    classes.astray = outcome.astray;
    (classes.estimate, classes.spread) = (estimate.mean, estimate.variance.sqrt());
    report.classes = Some(classes);
    run.finish()
}
