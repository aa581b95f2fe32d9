//! How often each strategy finds the bugs of the protocols of 004, as in its table 2.
//!
//! `cargo run --release -p dally-protocols --example measure -- 100` hunts each bug with 100
//! seeds and 10,000 schedules a seed, and stops a hunt at its first bug. It prints how many hunts
//! found the bug, the 95% confidence interval of that share, and the median of the schedules
//! that it took. The output depends on nothing but the program and the number of seeds. Further
//! arguments restrict it to the protocols of these names.

use std::process::ExitCode;
use std::sync::Arc;

use dally::search::{Options, StrategyKind};
use dally_protocols::{PlantedBug, Protocol, find};

const PROTOCOLS: [&str; 5] = ["raft-v1", "raft-v2", "paxos", "failure-detector", "chord"];
const STRATEGIES: [&str; 9] =
    ["random", "pct:3", "pct:10", "pct:30", "ql", "ql-b", "greedy", "idb", "bonus-max"];
const SCHEDULES: u64 = 10_000;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seeds = match arguments.next().map(|text| text.parse()) {
        None => 100,
        Some(Ok(seeds)) if seeds > 0 => seeds,
        Some(_) => {
            eprintln!("usage: measure [SEEDS [PROTOCOL..]], such as `measure 100 paxos chord`");
            return ExitCode::from(2);
        }
    };
    let mut names: Vec<String> = arguments.collect();
    if names.is_empty() {
        names = PROTOCOLS.map(String::from).into();
    }
    println!("{:16} {:17} {:9} {:>9} {:>12} median", "protocol", "bug", "strategy", "found", "95%");
    for name in names {
        let Some(protocol) = find(&name) else {
            eprintln!("there is no protocol `{name}`");
            return ExitCode::from(2);
        };
        for bug in protocol.bugs {
            for strategy in STRATEGIES {
                measure(protocol, bug, strategy, seeds);
            }
        }
    }
    ExitCode::SUCCESS
}

fn measure(protocol: &Protocol, bug: &PlantedBug, strategy: &str, seeds: u64) {
    let mut hunts: Vec<Option<u64>> =
        (0..seeds).map(|seed| hunt(protocol, bug, strategy, seed)).collect();
    // A hunt in vain is longer than any other, so the median of all hunts stays honest.
    hunts.sort_by_key(|found| found.unwrap_or(u64::MAX));
    let found = hunts.iter().flatten().count() as u64;
    let (low, high) = wilson(found, seeds);
    let median = match hunts[hunts.len() / 2] {
        Some(schedules) => schedules.to_string(),
        None => format!("more than {SCHEDULES}"),
    };
    println!(
        "{:16} {:17} {strategy:9} {:>9} {:>12} {median}",
        protocol.name,
        bug.name,
        format!("{found}/{seeds}"),
        format!("{low:.0}-{high:.0}%"),
    );
}

/// How many schedules it took, if the bug was found.
fn hunt(protocol: &Protocol, bug: &PlantedBug, strategy: &str, seed: u64) -> Option<u64> {
    let strategy: StrategyKind = strategy.parse().expect("a bundled strategy");
    let options = Options {
        strategy: strategy.build(seed, protocol.max_steps),
        seed,
        schedules: SCHEDULES,
        max_steps: protocol.max_steps,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        shrink: false,
        ..Options::default()
    };
    let report = (protocol.program)(Some(bug.name)).run(options, Arc::new(()));
    report.findings.first().map(|finding| finding.found_at)
}

/// Wilson's score interval for `found` of `all`, in percent.
fn wilson(found: u64, all: u64) -> (f64, f64) {
    let (n, share, z) = (all as f64, found as f64 / all as f64, 1.96_f64);
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let bound = |sum: f64| (100.0 * sum / (1.0 + z * z / n)).max(0.0);
    (bound(middle - spread), bound(middle + spread))
}
