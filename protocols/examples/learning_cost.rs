//! What learning costs: the time of a schedule of Raft under `ql`, over that under `random`.
//!
//! `cargo run --release -p dally-protocols --example learning_cost` runs both in turn, in one
//! process and on one thread, and prints the median of the ratios. Arguments: how many rounds (15),
//! how many schedules a round (2,000), and the strategy to compare (`ql`).

use std::sync::Arc;

use dally::search::{Options, StrategyKind};
use dally_protocols::find;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let (rounds, schedules) = (number(15), number(2_000));
    let strategy = arguments.next().unwrap_or_else(|| "ql".into());
    println!("{:9} {:>12} {:>12} {:>10} {:>10}", "protocol", "random", strategy, "ratio", "per step");
    for name in ["raft-v1", "raft-v2"] {
        let mut rows: Vec<[f64; 4]> = (0..rounds)
            .map(|seed| {
                let (random, steps) = time(name, "random", schedules, seed);
                let (learning, learnt_steps) = time(name, &strategy, schedules, seed);
                let per_step = (learning / learnt_steps) / (random / steps);
                [random, learning, learning / random, per_step]
            })
            .collect();
        let mut median = |column: usize| {
            rows.sort_by(|a, b| a[column].total_cmp(&b[column]));
            rows[rows.len() / 2][column]
        };
        println!(
            "{name:9} {:>9.1} us {:>9.1} us {:>10.2} {:>10.2}",
            median(0) * 1e6,
            median(1) * 1e6,
            median(2),
            median(3),
        );
    }
}

/// Seconds and steps of a schedule of the correct protocol.
fn time(protocol: &str, strategy: &str, schedules: u64, seed: u64) -> (f64, f64) {
    let protocol = find(protocol).expect("a bundled protocol");
    let strategy: StrategyKind = strategy.parse().expect("a bundled strategy");
    let options = Options {
        strategy: strategy.build(seed, protocol.max_steps),
        seed,
        schedules,
        max_steps: protocol.max_steps,
        repeat_check: false,
        ..Options::default()
    };
    let report = (protocol.program)(None).run(options, Arc::new(()));
    let share = |total: f64| total / report.schedules as f64;
    (share(report.elapsed.as_secs_f64()), share(report.steps as f64))
}
