//! What the trials of one program and one strategy come to.

use crate::plan::Plan;
use crate::record::Trial;
use crate::statistics::{Effort, mean, median, wilson};

/// What the runs of one strategy on one program come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The program's name.
    pub program: String,
    /// The bug's name; empty if there is none.
    pub bug: String,
    /// The strategy's name.
    pub strategy: String,
    /// How many runs there were.
    pub runs: u64,
    /// How many of them found a bug: Bugs-in-N.
    pub found: u64,
    /// Between which shares the chance of a run to find one lies, at 95%.
    pub interval: (f64, f64),
    /// The schedules of the longest run: the budget, if any run used it up.
    pub longest: u64,
    /// Schedules within which half of the runs had found it, if so many did.
    pub median_schedules: Option<u64>,
    /// Schedules of all runs for each bug found.
    pub mean_schedules: Option<f64>,
    /// The same in steps.
    pub median_steps: Option<u64>,
    /// The same in steps.
    pub mean_steps: Option<f64>,
    /// Distinct observations of a run, on average.
    pub observations: f64,
    /// Schedules of all runs.
    pub schedules: u64,
    /// Steps of all runs.
    pub steps: u64,
    /// Seconds of all runs, if all are known.
    pub seconds: Option<f64>,
}

/// What the trials come to, program by program and strategy by strategy.
pub fn summarise(plan: &Plan, trials: &[Trial]) -> Vec<Summary> {
    let pairs = plan.pairs().enumerate().map(|(pair, (case, contestant))| {
        let (at_case, at_contestant) =
            (pair / plan.contestants.len(), pair % plan.contestants.len());
        let own: Vec<&Trial> = trials
            .iter()
            .filter(|trial| trial.case == at_case && trial.contestant == at_contestant)
            .collect();
        let efforts = |of: fn(&Trial) -> Effort| -> Vec<Effort> {
            own.iter().map(|trial| of(trial)).collect()
        };
        let (in_schedules, in_steps) = (efforts(Trial::in_schedules), efforts(Trial::in_steps));
        let (runs, found) =
            (own.len() as u64, own.iter().filter(|trial| trial.found).count() as u64);
        let observations: u64 = own.iter().map(|trial| trial.observations).sum();
        Summary {
            program: case.program.clone(),
            bug: case.bug.clone(),
            strategy: contestant.name.clone(),
            runs,
            found,
            interval: wilson(found, runs),
            longest: own.iter().map(|trial| trial.schedules).max().unwrap_or(plan.schedules),
            median_schedules: median(&in_schedules),
            mean_schedules: mean(&in_schedules),
            median_steps: median(&in_steps),
            mean_steps: mean(&in_steps),
            observations: observations as f64 / runs.max(1) as f64,
            schedules: own.iter().map(|trial| trial.schedules).sum(),
            steps: own.iter().map(|trial| trial.steps).sum(),
            seconds: own.iter().map(|trial| trial.seconds).sum(),
        }
    });
    pairs.collect()
}
