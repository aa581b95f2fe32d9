//! The entry points of reduced searches, and their reports.

use std::sync::Arc;

use dally_core::report::{Classes, Ended, Report};
use dally_core::{Bug, Program};

use super::engine::{Engine, PartsOf};
use super::inputs::{GivenInputs, InputDriver};
use super::rule::Reduction;
use crate::confirm::RawFinding;
use crate::options::{Expected, Options, Sink};
use crate::runner::{Run, count_bugs};
use crate::strata::{Replaying, SearchKind, StateSpace};
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
    // What a step branches on was found by what was explored before, so one thread explores all.
    let make = |program| Ok(Replaying::unidentified(program));
    search(program, vec![driver], ReductionRule::default(), options, sink, make, None)
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
    let threads = match by.rule {
        Reduction::Optimal => SearchKind::Dpor.threads(options.threads),
        _ => 1,
    };
    search(program, vec![|| GivenInputs; threads], by, options, sink, make, note)
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

/// Searches with a thread for each driver.
fn search<P, S, D>(
    program: Arc<P>,
    drivers: Vec<impl FnOnce() -> D + Send + 'static>,
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
    run.report.threads = drivers.len();
    run.report.notes.extend(note);
    let parts = Arc::new(PartsOf::<S, D>::new(run.shared.clone(), run.options.executions));
    let mut threads = run.supervisor::<(), ()>();
    for driver in drivers {
        let (program, limits) = (run.program.clone(), run.shared.description.limits);
        let parts = parts.clone();
        let started = threads.spawn(move |writer, supervised| {
            if supervised.command().is_some() {
                let by = (by.rule, by.bound.filter(|_| by.rule.is_bounded()).unwrap_or(u32::MAX));
                match make(program) {
                    Ok(space) => {
                        Engine::new(space, driver(), writer, parts, limits, by).work();
                    }
                    Err(bug) => parts.failed(bug),
                }
                supervised.answer(());
            }
        });
        if !run.is_started(started) {
            break;
        }
    }
    if threads.is_empty() {
        run.end(Ended::Failed);
        return run.finish();
    }
    threads.command_all(|_| ());
    let tick = |run: &mut Run<P>| {
        let estimate = parts.ask();
        let [classes, spread] = [estimate.mean, estimate.variance.sqrt()].map(|n| n as u64);
        run.expected = Some(Expected { classes, spread });
    };
    run.supervise(&mut threads, LeaveBehind::InsideProgram, tick, |_, ()| {});
    threads.finish();
    let (mut outcome, estimate, failed) = parts.take();
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
    let bugs = outcome.take_bugs().into_iter();
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
