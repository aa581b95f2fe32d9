//! Findings under an explorer, with as few delays as possible.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dally_core::report::{Ended, Report};
use dally_core::{Choice, Finding, Program};

use super::delays;
use super::explorer::Explorer;
use super::plan::{Plan, SearchKind};
use super::search::searched;
use super::search_pool::Make;
use super::state_space::StateSpace;
use crate::deadline::{Deadline, Stopwatch};
use crate::executor::{Executor, Limits};
use crate::minimise::Budget;
use crate::nearest::nearest;
use crate::options::{Options, Sink};
use crate::record::{RunDescription, fairness_of};
use crate::shrink::is_shrinkable;
use crate::supervisor::watched;

/// The memory of the search that shows that fewer delays do not suffice: about a million states.
const MEMORY: u64 = 16 << 20;

/// Gives the findings of a report as `in_delays` does, and tells the sink. All together take at most
/// what is left of the time of the options; the first has a quarter of that time more.
pub fn all_in_delays<P: Program + 'static, E: Explorer>(
    program: &Arc<P>,
    explorer: &E,
    report: &mut Report,
    options: &Options,
    sink: &dyn Sink,
) {
    retell(report, options, sink, |finding, left| in_delays(program, explorer, finding, left));
}

pub(super) fn retell(
    report: &mut Report,
    options: &Options,
    sink: &dyn Sink,
    retold: impl Fn(&Finding, &Options) -> Option<Finding>,
) {
    let clock = Stopwatch::start();
    for (at, finding) in report.findings.iter_mut().enumerate() {
        let time = options.time.map(|time| {
            let limit = if at == 0 { time.saturating_add(time / 4) } else { time };
            limit.saturating_sub(report.elapsed.saturating_add(clock.elapsed()))
        });
        if let Some(retold) = retold(finding, &Options { time, ..options.clone() }) {
            sink.found(&retold);
            *finding = retold;
        }
    }
}

/// The same bug by the schedule with the fewest delays that is found under this explorer, starting
/// from the schedule of the finding, which may come from any strategy or search. `None` if the
/// explorer cannot give that schedule, or if bugs of this kind cannot be shrunk. It takes at most the
/// time of the options, from now on.
fn in_delays<P: Program + 'static, E: Explorer>(
    program: &Arc<P>,
    explorer: &E,
    finding: &Finding,
    options: &Options,
) -> Option<Finding> {
    if !is_shrinkable(finding.bug.kind()) {
        return None;
    }
    let mut explorer = explorer.clone();
    explorer.reseed(options.seed);
    let description = RunDescription {
        program: finding.schedule.program.clone(),
        settings: options.settings.clone(),
        limits: Limits {
            fairness: fairness_of(&finding.schedule).unwrap_or(options.fairness),
            step_items: options.step_items,
            ..Limits::NONE
        },
        clocks: options.clocks,
    };
    let clock = Stopwatch::start();
    let deadline = options.time.map(|limit| Deadline { clock, limit });
    let (program, mut finding) = (program.clone(), finding.clone());
    let steps = if options.shrink { options.shrink_steps } else { 0 };
    let retold = watched(&options.program, options.step_time, move |writer| {
        let executor = &mut Executor::new(&*program, writer);
        let cause = finding.bug.cause();
        let stop = AtomicBool::new(false);
        let budget = Budget { steps, deadline, stop: &stop };
        let choices = &finding.schedule.choices;
        let limits = &description.limits.to_follow(&finding.bug, None);
        let (choices, delays) =
            delays::fewest(executor, &explorer, choices, cause, limits, budget)?;
        if choices == finding.schedule.choices {
            finding.delays = Some(delays);
            return Some(finding);
        }
        let number = finding.found_at.saturating_sub(1);
        let again = executor.repeat(number, &choices, usize::MAX, limits);
        let bug = again.recording.execution.bug.clone().filter(|bug| bug.cause() == cause)?;
        let mut retold = description.full(again.recording, bug, number);
        (retold.occurrences, retold.notes) = (finding.occurrences, finding.notes);
        retold.delays = Some(delays);
        nearest(executor, &mut retold, &description, budget);
        Some(retold)
    });
    retold.ok().flatten()
}

/// [`in_delays`], and whether fewer delays do not suffice. That is shown by a search that stores
/// explorers beside states, so that its strata are all executions with so many delays; if it finds
/// the bug with fewer delays, that is the finding.
pub(super) fn with_fewest<P, E, S>(
    program: &Arc<P>,
    explorer: &E,
    finding: &Finding,
    options: &Options,
    make: Make<P, S>,
) -> Option<Finding>
where
    P: Program + 'static,
    E: Explorer,
    S: StateSpace,
{
    let clock = Stopwatch::start();
    let mut retold = in_delays(program, explorer, finding, options)?;
    // That search does not vary inputs.
    let has_inputs = finding.schedule.choices.iter().any(|c| matches!(c, Choice::Input(_)));
    if !options.shrink || explorer.is_random() || has_inputs {
        return Some(retold);
    }
    let minimal = loop {
        let left = options.time.map(|limit| Deadline { clock, limit }.left());
        let options = &Options { time: left, ..options.clone() };
        let count = retold.delays.as_ref().map_or(0, |delays| delays.count);
        let Some(fewer) = count.checked_sub(1) else { break true };
        if left == Some(Duration::ZERO) {
            break false;
        }
        match below(fewer, program, explorer, &retold, options, make) {
            Ok(Some(found)) => retold = found,
            Ok(None) => break true,
            Err(Unknown) => break false,
        }
    };
    if let Some(delays) = &mut retold.delays {
        delays.minimal = minimal;
    }
    (retold.found_at, retold.occurrences) = (finding.found_at, finding.occurrences);
    Some(retold)
}

/// The search was cut short.
struct Unknown;

/// The same bug with at most this many delays, if an execution has it.
fn below<P, E, S>(
    delays: u64,
    program: &Arc<P>,
    explorer: &E,
    known: &Finding,
    options: &Options,
    make: Make<P, S>,
) -> Result<Option<Finding>, Unknown>
where
    P: Program + 'static,
    E: Explorer,
    S: StateSpace,
{
    let plan = Plan {
        search: SearchKind::Ses,
        delays: Some(u32::try_from(delays).unwrap_or(u32::MAX)),
        memory: MEMORY,
        with_explorer: true,
        ..Plan::default()
    };
    let quiet = Options { keep_going: true, shrink: false, threads: 1, ..options.clone() };
    let report = searched(program.clone(), explorer.clone(), plan, quiet, make);
    let cause = known.bug.cause();
    let found = report.findings.into_iter().find(|found| found.bug.cause() == cause);
    match found {
        Some(found) => {
            let found = in_delays(program, explorer, &found, options).ok_or(Unknown)?;
            if is_better(&found, known) { Ok(Some(found)) } else { Err(Unknown) }
        }
        None if matches!(report.ended, Ended::Bound | Ended::Exhausted) => Ok(None),
        None => Err(Unknown),
    }
}

fn is_better(one: &Finding, other: &Finding) -> bool {
    let delays = |finding: &Finding| finding.delays.as_ref().map_or(u64::MAX, |d| d.count);
    delays(one) < delays(other)
}
