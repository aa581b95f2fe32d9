//! Tables 2 to 6 of Mukherjee et al., "Learning-Based Controlled Concurrency Testing" and its sweep
//! of parameters: how many runs find each bug.

pub mod calculator;
pub mod safe_stack;
pub mod strings;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dally::contract::words::grouped;
use dally::search::StrategyKind;
use dally::search::learning::{Learning, Ql};
use dally::search::sampling::{Fair, Sampler};
use dally::settings::parse_time;
use dally_compare::statistics::geometric_mean;
use dally_compare::table::aligned;
use dally_compare::{Case, Contestant, Plan, Problem, Summary, compare, summarise};
use dally_protocols::find;

/// What these tables can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// How many runs each strategy makes of each program.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// How many schedules a run may have.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    schedules: u64,
    /// How long a run of `equal-time` may take.
    #[arg(long, default_value = "2s", value_parser = parse_time, value_name = "TIME")]
    time: Duration,
    /// How many runs go on at the same time; always 1 for `times`.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=256))]
    threads: u64,
    /// Keep trials here, and go on from there if interrupted.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only these strategies of the table.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    strategies: Vec<String>,
    /// Only these programs.
    #[arg(value_name = "PROGRAM")]
    only: Vec<String>,
}

const PROTOCOLS: [&str; 5] = ["raft-v1", "raft-v2", "paxos", "chord", "failure-detector"];
const MULTITHREADED: [&str; 6] = [
    "fib-bench",
    "fib-bench-longest",
    "triangular",
    "triangular-longest",
    "safe-stack",
    "bounded-buffer",
];
const SERVICES: [&str; 5] = [
    "cache-provider",
    "pool-manager-v1",
    "pool-manager-v2",
    "resource-provider-v1",
    "resource-provider-v2",
];
const SCHEDULERS: [&str; 8] =
    ["ql-b", "ql", "random", "greedy", "pct:3", "pct:10", "pct:30", "idb"];

/// Table 2.
pub fn schedulers(arguments: &Arguments) -> Result<(), Problem> {
    let programs = [&PROTOCOLS[..], &MULTITHREADED, &SERVICES].concat();
    bugs(arguments, arguments.plan(&programs, &SCHEDULERS))
}

/// Table 3.
pub fn values(arguments: &Arguments) -> Result<(), Problem> {
    let programs = ["raft-v1", "raft-v2", "paxos", "chord", "cache-provider"];
    bugs(arguments, arguments.plan(&programs, &["ql-ndn", "ql"]))
}

/// Table 4.
pub fn observations(arguments: &Arguments) -> Result<(), Problem> {
    let programs = [&PROTOCOLS[..], &["safe-stack"]].concat();
    bugs(arguments, arguments.plan(&programs, &["ql-i", "ql", "ql-c"]))
}

/// Table 6.
pub fn equal_time(arguments: &Arguments) -> Result<(), Problem> {
    let programs = [&PROTOCOLS[..], &MULTITHREADED].concat();
    let plan = arguments.plan(&programs, &SCHEDULERS[1..]);
    bugs(arguments, Plan { schedules: u64::MAX, time: Some(arguments.time), ..plan })
}

/// The sweep of the learning rate and the discount.
pub fn rates(arguments: &Arguments) -> Result<(), Problem> {
    let mut plan = arguments.plan(&PROTOCOLS, &[]);
    for alpha in [0.1, 0.3, 0.5, 0.7] {
        for gamma in [0.3, 0.5, 0.7, 0.9] {
            plan.contestants.push(Contestant::new(
                format!("{alpha}/{gamma}"),
                move |seed, max_steps| {
                    let ql = Learning::by(Ql { alpha, gamma, ..Ql::default() }).seeded(seed);
                    Box::new(Fair::new(Box::new(ql), max_steps / 5 * 2, seed).once_hot())
                },
            ));
        }
    }
    bugs(arguments, plan)
}

/// Table 5: the correct versions, so that every run has all of its schedules.
pub fn times(arguments: &Arguments) -> Result<(), Problem> {
    let mut plan = arguments.plan(&PROTOCOLS, &SCHEDULERS[1..]);
    plan.threads = 1;
    plan.observe_every = 0;
    plan.cases = wanted(&arguments.only, &PROTOCOLS).map(|name| case(name, false)).collect();
    let summaries = summaries(arguments, &plan)?;
    println!("Seconds for {} schedules, one thread", grouped(plan.schedules));
    costs(&plan, &summaries, 2, |summary| seconds(summary) / summary.runs as f64);
    println!("Nanoseconds for a step: schedules of one strategy may be longer than another's");
    costs(&plan, &summaries, 0, |summary| 1e9 * seconds(summary) / summary.steps.max(1) as f64);
    Ok(())
}

fn seconds(summary: &Summary) -> f64 {
    summary.seconds.unwrap_or_default()
}

/// A cost of each program under each strategy, and how many times that of each the first has.
fn costs(plan: &Plan, summaries: &[Summary], digits: usize, cost: impl Fn(&Summary) -> f64) {
    let mut rows = vec![heading(plan)];
    let mut logs = vec![0.0; plan.contestants.len()];
    for row in summaries.chunks(plan.contestants.len()) {
        let cells = row.iter().map(|summary| format!("{:.digits$}", cost(summary)));
        rows.push([row[0].program.clone()].into_iter().chain(cells).collect());
        for (sum, summary) in logs.iter_mut().zip(row) {
            *sum += (cost(&row[0]) / cost(summary)).ln();
        }
    }
    let means = logs.iter().map(|sum| format!("{:.2}x", (sum / plan.cases.len() as f64).exp()));
    let name = format!("{} takes (G-mean)", plan.contestants[0].name);
    rows.push([name].into_iter().chain(means).collect());
    println!();
    println!("{}", aligned(&rows, 1));
}

/// How many runs find each bug: a row for each program, a column for each strategy.
fn bugs(arguments: &Arguments, plan: Plan) -> Result<(), Problem> {
    let summaries = summaries(arguments, &plan)?;
    let budget = match plan.time {
        Some(time) => format!("{time:?}"),
        None => format!("{} schedules", grouped(plan.schedules)),
    };
    println!("Runs that find the bug, of {} of up to {budget} each", plan.runs);
    println!();
    let mut rows = vec![heading(&plan)];
    let columns = plan.contestants.len();
    for row in summaries.chunks(columns) {
        let found = row.iter().map(|summary| match summary.found {
            0 => "-".to_owned(),
            found => found.to_string(),
        });
        rows.push([row[0].program.clone()].into_iter().chain(found).collect());
    }
    let means = (0..columns).map(|column| {
        let of = summaries.iter().skip(column).step_by(columns);
        let found: Vec<u64> = of.map(|summary| summary.found).collect();
        geometric_mean(&found)
            .map_or_else(|| "-".to_owned(), |(mean, programs)| format!("{mean:.1} ({programs})"))
    });
    rows.push(["G-mean (programs)".to_owned()].into_iter().chain(means).collect());
    print!("{}", aligned(&rows, 1));
    println!();
    let (_, none) = dally_compare::statistics::wilson(0, plan.runs);
    println!("-: no run found it, so its chance is below {:.0}% (95%)", 100.0 * none);
    Ok(())
}

fn heading(plan: &Plan) -> Vec<String> {
    let names = plan.contestants.iter().map(|contestant| contestant.name.clone());
    ["program".to_owned()].into_iter().chain(names).collect()
}

fn summaries(arguments: &Arguments, plan: &Plan) -> Result<Vec<Summary>, Problem> {
    let said = |progress: &dally_compare::Progress<'_>| {
        if progress.done.is_multiple_of(100) {
            eprintln!("{} of {} runs", progress.done, progress.of);
        }
    };
    let compared = compare(plan, arguments.out.as_deref(), &said, &Arc::default())?;
    Ok(summarise(plan, &compared.trials))
}

impl Arguments {
    fn plan(&self, programs: &[&str], strategies: &[&str]) -> Plan {
        Plan {
            cases: wanted(&self.only, programs).map(|name| case(name, true)).collect(),
            contestants: wanted(&self.strategies, strategies).map(contestant).collect(),
            runs: self.runs,
            schedules: self.schedules,
            threads: self.threads as usize,
            ..Plan::default()
        }
    }
}

/// Those of `all` that are among `only`, or all of them if nothing is.
fn wanted<'a>(only: &'a [String], all: &'a [&'a str]) -> impl Iterator<Item = &'a str> + 'a {
    all.iter().copied().filter(move |name| only.is_empty() || only.iter().any(|only| only == name))
}

/// A bundled protocol with the bug that it has, or its correct version.
fn case(name: &str, buggy: bool) -> Case {
    let protocol = find(name).expect("a bundled protocol");
    Case::bundled(protocol, protocol.bugs.first().filter(|_| buggy).map(|bug| bug.name))
}

fn contestant(name: &str) -> Contestant {
    Contestant::from(name.parse::<StrategyKind>().expect("a bundled strategy"))
}
