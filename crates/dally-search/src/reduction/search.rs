//! The entry points of reduced searches, and their reports.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use dally_core::report::{Classes, Ended, Report};
use dally_core::{Bug, Program};

use super::engine::Engine;
use super::inputs::{GivenInputs, InputDriver};
use super::shared::Results;
use crate::confirm::RawFinding;
use crate::options::{Options, Sink};
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
    search(program, "concolic", driver, options, sink, make, None)
}

/// Explores one execution for each class of schedules, with the inputs as given.
pub(crate) fn reduced<P: Program + 'static, S: StateSpace>(
    program: Arc<P>,
    options: Options,
    sink: Arc<dyn Sink>,
    make: fn(Arc<P>) -> Result<S, Bug>,
    note: Option<String>,
) -> Report {
    search(program, "dpor", || GivenInputs, options, sink, make, note)
}

fn search<P, S, D>(
    program: Arc<P>,
    name: &str,
    driver: impl FnOnce() -> D + Send + 'static,
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
    let mut run = Run::new(program, options, name.to_owned(), sink);
    // A branch is found by what was explored before it, so subtrees are not independent.
    run.report.threads = 1;
    run.report.notes.extend(note);
    let results = Arc::new(Results::new(run.shared.clone()));
    let mut threads = run.supervisor::<(), Result<(), Box<Bug>>>();
    let (program, limits) = (run.program.clone(), run.shared.heading.limits);
    let shared = results.clone();
    let started = threads.spawn(move |writer, supervised| {
        if supervised.command().is_some() {
            let explored = make(program)
                .and_then(|space| Engine::new(space, driver(), writer, shared, limits).explore());
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
        |_| {},
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
        run.shared.sink.found(&raw.finding(&run.shared.heading));
        bugs.push((cause, Some(Box::new(raw))));
    }
    if !bugs.is_empty() && !run.options.keep_going {
        run.ended = run.ended.or(Some(Ended::Bug));
    } else if results.finished.load(Ordering::Relaxed) {
        run.ended = run.ended.or(Some(Ended::Exhausted));
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
    classes.classes = report.schedules;
    classes.irrelevant = count(&results.irrelevant);
    classes.abandoned = count(&results.abandoned);
    classes.astray = count(&results.astray);
    (classes.estimate, classes.spread) = (estimate.mean, estimate.variance.sqrt());
    report.classes = Some(classes);
    run.finish()
}
