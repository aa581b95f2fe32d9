//! The runs themselves, several at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dally::search::{Ended, Options};

use crate::crew::spread;
use crate::plan::{Plan, Planned};
use crate::problem::Problem;
use crate::record::{Record, Trial};

/// How far a comparison is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Runs done, those of an earlier, interrupted comparison included.
    pub done: usize,
    /// Runs planned.
    pub of: usize,
    /// How many of those done found a bug.
    pub found: usize,
    /// The run that ended last, in words; nothing at the beginning.
    pub last: &'a str,
}

/// What came of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The trials in the order of the plan: all of them, or as many as were done without a gap.
    pub trials: Vec<Trial>,
    /// How many of them were known from before.
    pub resumed: usize,
    /// Whether all of them are there.
    pub complete: bool,
}

/// Makes the runs of a plan, each up to its first bug. What came of them is written into a
/// directory, if one is given, and a comparison that was interrupted there goes on.
///
/// `watch` is told how far it is, from the calling thread. Setting `stop` ends the comparison;
/// runs that are under way then count for nothing.
pub fn compare(
    plan: &Plan,
    directory: Option<&Path>,
    watch: &dyn Fn(&Progress<'_>),
    stop: &Arc<AtomicBool>,
) -> Result<Compared, Problem> {
    let (mut record, mut trials) = match directory {
        Some(directory) => {
            let (record, trials) = Record::open(directory, plan)?;
            (Some(record), trials)
        }
        None => (None, Vec::new()),
    };
    let (of, resumed) = (plan.size(), trials.len());
    let mut done = resumed;
    let mut found = trials.iter().filter(|trial| trial.found).count();
    watch(&Progress { done, of, found, last: "" });
    // Runs end in any order and are written in that of the plan.
    let mut early = BTreeMap::new();
    let each = |index, ended: Result<Option<Trial>, Problem>| {
        let Some(trial) = ended? else { return Ok(()) };
        done += 1;
        found += usize::from(trial.found);
        watch(&Progress { done, of, found, last: &plan.trial(index).to_string() });
        early.insert(index, trial);
        while let Some(trial) = early.remove(&trials.len()) {
            if let Some(record) = &mut record {
                record.write(plan, &trial)?;
            }
            trials.push(trial);
        }
        Ok(())
    };
    spread(plan.threads, resumed..of, stop, |index| run(plan, index, stop), each)?;
    let complete = trials.len() == of;
    Ok(Compared { trials, resumed, complete })
}

/// One run; nothing if it was interrupted.
fn run(plan: &Plan, index: usize, stop: &Arc<AtomicBool>) -> Result<Option<Trial>, Problem> {
    let planned = plan.trial(index);
    let Planned { case, contestant, seed, .. } = planned;
    let options = Options { stop: stop.clone(), ..plan.options(case, contestant, seed) };
    let report = case.run(options, contestant.searches());
    match report.ended {
        Ended::Interrupted => Ok(None),
        Ended::Failed => Err(Problem::Run { which: planned.to_string(), notes: report.notes }),
        _ => Ok(Some(Trial {
            found: !report.findings.is_empty(),
            schedules: report.schedules,
            steps: report.steps,
            cut: report.cut,
            observations: report.observations,
            seconds: Some(report.elapsed.as_secs_f64()),
            ..Trial::at(plan, index)
        })),
    }
}
