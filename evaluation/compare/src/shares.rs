//! Which share of all schedules shows a bug: Table 1 of 004.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use dally::search::{Ended, Options};

use crate::plan::{Plan, Planned};
use crate::problem::Problem;

/// The share of schedules that show a bug, over all runs of a plan, program by program and
/// strategy by strategy. Runs go on after bugs.
pub fn shares(plan: &Plan) -> Result<Vec<f64>, Problem> {
    let pairs = plan.cases.len() * plan.contestants.len();
    let sums = Mutex::new(vec![(0, 0); pairs]);
    let failed = Mutex::new(None);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..plan.threads.clamp(1, 256) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= plan.size() {
                        break;
                    }
                    let planned = plan.trial(index);
                    let Planned { case, contestant, seed, .. } = planned;
                    let options = plan.options(case, contestant, seed);
                    let report = case.run(Options { keep_going: true, ..options });
                    if report.ended == Ended::Failed {
                        let which = planned.to_string();
                        let problem = Problem::Run { which, notes: report.notes };
                        *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
                        break;
                    }
                    let bugs: u64 = report.findings.iter().map(|found| found.occurrences).sum();
                    let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
                    let (shown, of) = &mut sums[index % pairs];
                    *shown += bugs;
                    *of += report.schedules;
                }
            });
        }
    });
    if let Some(problem) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(problem);
    }
    let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(sums.into_iter().map(|(shown, of)| shown as f64 / f64::max(of as f64, 1.0)).collect())
}
