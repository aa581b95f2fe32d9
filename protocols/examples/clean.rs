//! Runs the correct version of every protocol under random and PCT.
//!
//! `cargo run --release -p dally-protocols --example clean -- 100000` runs that many schedules
//! of each and prints a line for each run; it fails if there is a finding.

use std::process::ExitCode;
use std::sync::Arc;

use dally::search::{Options, StrategyKind};
use dally_protocols::all;

fn main() -> ExitCode {
    let schedules = match std::env::args().nth(1).map(|text| text.parse()) {
        None => 100_000,
        Some(Ok(schedules)) => schedules,
        Some(Err(_)) => {
            eprintln!("usage: clean [SCHEDULES], such as `clean 100000`");
            return ExitCode::from(2);
        }
    };
    let mut clean = true;
    for protocol in all() {
        for strategy in ["random", "pct:3"] {
            let strategy: StrategyKind = strategy.parse().expect("a bundled strategy");
            let options = Options {
                strategy: strategy.build(0, protocol.max_steps),
                schedules,
                max_steps: protocol.max_steps,
                threads: std::thread::available_parallelism().map_or(1, usize::from),
                ..Options::default()
            };
            let report = (protocol.program)(None).run(options, Arc::new(()));
            let rate = report.steps as f64 / report.elapsed.as_secs_f64() / 1e6;
            let (coverage, longest) = (dally::report::text::coverage(&report), report.longest);
            println!(
                "{:19} {coverage}; at most {longest} steps, {rate:.1} million steps a second",
                protocol.name,
            );
            for finding in &report.findings {
                clean = false;
                println!("{:19} schedule {}: {}", "", finding.found_at, finding.bug);
                println!("{:19} {}", "", finding.schedule.to_token());
            }
        }
    }
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
