//! What it costs to learn late: the paper learns after every schedule, we after every batch, so that
//! threads have something to do.
//!
//! `cargo run --release -p dally-protocols --example learning_delay -- 20` runs `ql` with batches
//! of 1 to 64 schedules. For the messaging strings it prints which share of 2,000 schedules spells
//! them under `ql-c`, as in table 1 of 004; for the other protocols how many of 20 seeds find the
//! bug within 10,000 schedules, and the median of the schedules that it took.

use std::sync::Arc;

use dally::core::Observe;
use dally::search::Options;
use dally::search::Report;
use dally::search::learning::Ql;
use dally_protocols::find;

const BATCHES: [u64; 6] = [1, 2, 4, 8, 16, 64];
const STRINGS: [&str; 6] =
    ["0000000001", "0101010101", "0101010001", "20000000001", "00000000012", "01010101012"];
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
    for string in STRINGS {
        print!("{:34}", format!("messaging {string}"));
        for batch in BATCHES {
            let found: u64 = (0..seeds).map(|seed| spelt(string, batch, seed)).sum();
            print!(" {:>11.1}%", 100.0 * found as f64 / (2_000 * seeds) as f64);
        }
        println!();
    }
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

fn run(protocol: &str, bug: &str, ql: Ql, seed: u64, hunting: bool) -> Report {
    let protocol = find(protocol).expect("a bundled protocol");
    let options = Options {
        strategy: Box::new(ql),
        seed,
        schedules: if hunting { 10_000 } else { 2_000 },
        max_steps: protocol.max_steps,
        keep_going: !hunting,
        shrink: false,
        repeat_check: false,
        ..Options::default()
    };
    (protocol.program)(Some(bug)).run(options, Arc::new(()))
}

fn spelt(string: &str, batch: u64, seed: u64) -> u64 {
    let ql = Ql::new(seed).observing(Observe::Custom).batches_of(batch);
    let report = run("messaging", string, ql, seed, false);
    report.findings.iter().map(|finding| finding.occurrences).sum()
}

fn hunt(protocol: &str, bug: &str, batch: u64, seed: u64) -> u64 {
    let report = run(protocol, bug, Ql::new(seed).batches_of(batch), seed, true);
    report.findings.first().map_or(u64::MAX, |finding| finding.found_at)
}
