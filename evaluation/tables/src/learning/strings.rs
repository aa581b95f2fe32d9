//! Table 1 of Mukherjee et al., "Learning-Based Controlled Concurrency Testing": which share of all
//! schedules spells a string.

use clap::Args;
use dally_compare::table::aligned;
use dally_compare::{Case, Plan, Problem, shares};
use dally_protocols::messaging::PROTOCOL;

use super::contestant;

/// What `strings` can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// How many runs each strategy makes of each string.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// How many schedules a run has.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    schedules: u64,
    /// How many runs go on at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=256))]
    threads: u64,
}

const STRATEGIES: [&str; 4] = ["random", "pct:3", "ql-c", "ql"];

/// Prints the table.
pub fn print(arguments: &Arguments) -> Result<(), Problem> {
    let cases = PROTOCOL.bugs.iter().map(|bug| Case::bundled(&PROTOCOL, Some(bug.name)));
    let plan = Plan {
        cases: cases.collect(),
        contestants: STRATEGIES.map(contestant).into(),
        runs: arguments.runs,
        schedules: arguments.schedules,
        threads: arguments.threads as usize,
        observe_every: 0,
        ..Plan::default()
    };
    let shares = shares(&plan)?;
    println!(
        "Schedules that spell the string, in percent of {} in each of {} runs",
        arguments.schedules, arguments.runs
    );
    println!();
    let heads = ["string"].into_iter().chain(STRATEGIES).map(str::to_owned).collect();
    let mut rows: Vec<Vec<String>> = vec![heads];
    for (case, row) in plan.cases.iter().zip(shares.chunks(STRATEGIES.len())) {
        let percent = |&share: &f64| match share {
            0.0 => "-".to_owned(),
            share => format!("{:.3}", 100.0 * share),
        };
        rows.push([case.bug.clone()].into_iter().chain(row.iter().map(percent)).collect());
    }
    print!("{}", aligned(&rows, 1));
    Ok(())
}
