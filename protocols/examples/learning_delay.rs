//! What it costs to learn late: the paper learns after every schedule, we after every batch, so that
//! threads have something to do.
//!
//! `cargo run --release -p dally-protocols --example learning_delay -- 20` runs `ql` with batches
//! of 1 to 64 schedules, and prints how many of 20 seeds find each bug within 10,000 schedules, and
//! the median of the schedules that it took.

use std::sync::Arc;

use dally::search::Options;
use dally::search::learning::{Learning, Ql};
use dally::search::sampling::Sampler;
use dally_protocols::find;

const BATCHES: [u64; 6] = [1, 2, 4, 8, 16, 64];
const BUGS: [(&str, &str); 4] = [
    ("raft-v2", "duplicate-votes"),
    ("chord", "missing-key"),
    ("paxos", "smallest-proposal"),
    ("failure-detector", "pings-pile-up"),
];

fn main() {
    let seeds: u64 = std::env::args().nth(1).map_or(20, |text| text.parse().expect("a number"));
    print!("{:34}", "batches of");
    BATCHES.iter().for_each(|batch| print!(" {batch:>12}"));
    println!();
    for (protocol, bug) in BUGS {
        print!("{:34}", format!("{protocol} {bug}"));
        for batch in BATCHES {
            let mut hunts: Vec<u64> =
                (0..seeds).map(|seed| hunt(protocol, bug, batch, seed)).collect();
            hunts.sort_unstable();
            let found = hunts.iter().filter(|&&at| at < u64::MAX).count();
            let median = match hunts[hunts.len() / 2] {
                u64::MAX => "-".into(),
                at => at.to_string(),
            };
            print!(" {:>12}", format!("{found}: {median}"));
        }
        println!();
    }
}

fn hunt(protocol: &str, bug: &str, batch: u64, seed: u64) -> u64 {
    let protocol = find(protocol).expect("a bundled protocol");
    let options = Options {
        strategy: Box::new(Learning::by(Ql { batch, ..Ql::default() }).seeded(seed)),
        seed,
        schedules: 10_000,
        max_steps: protocol.max_steps,
        shrink: false,
        repeat_check: false,
        ..Options::default()
    };
    let report = (protocol.program)(Some(bug)).run(options, Arc::new(()));
    report.findings.first().map_or(u64::MAX, |finding| finding.found_at)
}
