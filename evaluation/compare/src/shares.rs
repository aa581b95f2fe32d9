//! Which share of all schedules shows a bug: Table 1 of Mukherjee et al., "Learning-Based
//! Controlled Concurrency Testing".

use std::sync::atomic::AtomicBool;

use dally::search::{Ended, Options};

use crate::crew::spread;
use crate::plan::{Plan, Planned};
use crate::problem::Problem;

/// The share of schedules that show a bug, over all runs of a plan, program by program and
/// strategy by strategy. Runs go on after bugs.
pub fn shares(plan: &Plan) -> Result<Vec<f64>, Problem> {
    let pairs = plan.cases.len() * plan.contestants.len();
    let mut sums = vec![(0, 0); pairs];
    let run = |index| {
        let planned = plan.trial(index);
        let Planned { case, contestant, seed, .. } = planned;
        let options = plan.options(case, contestant, seed);
        let report = case.run(Options { keep_going: true, ..options }, contestant.searches());
        if report.ended == Ended::Failed {
            return Err(Problem::Run { which: planned.to_string(), notes: report.notes });
        }
        let bugs: u64 = report.findings.iter().map(|found| found.occurrences).sum();
        Ok((bugs, report.schedules))
    };
    let each = |index: usize, ran: Result<(u64, u64), Problem>| {
        let (bugs, schedules) = ran?;
        let (shown, of) = &mut sums[index % pairs];
        *shown += bugs;
        *of += schedules;
        Ok(())
    };
    spread(plan.threads, 0..plan.size(), &AtomicBool::new(false), run, each)?;
    Ok(sums.into_iter().map(|(shown, of)| shown as f64 / f64::max(of as f64, 1.0)).collect())
}
