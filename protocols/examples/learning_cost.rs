//! What learning costs: the time of a step and of a schedule of Raft under a strategy that learns,
//! over that under `random`.
//!
//! `cargo run --release -p dally-protocols --example learning_cost` runs both in turn, in one
//! process and on one thread, and compares the fastest rounds of each: what else the machine does
//! can only make a round slower. Schedules under `ql` are longer: the ratio of steps is what a
//! schedule would cost if learning were free, and a step tells what learning itself costs.
//! Arguments: how many rounds (15), how many schedules a round (2,000), and the strategy (`ql`).

use std::sync::Arc;

use dally::search::{Options, StrategyKind};
use dally_protocols::find;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |default| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let (rounds, schedules) = (number(15), number(2_000));
    let strategy = arguments.next().unwrap_or_else(|| "ql".into());
    println!("{:9} {:9} {:>9} {:>12} {:>12}", "protocol", "strategy", "steps", "schedule", "step");
    for name in ["raft-v1", "raft-v2"] {
        let mut best = [(f64::MAX, f64::MAX, 0.0); 2];
        for seed in 0..rounds {
            for (best, strategy) in best.iter_mut().zip(["random", &strategy]) {
                let (seconds, steps) = time(name, strategy, schedules, seed);
                best.0 = best.0.min(seconds);
                best.1 = best.1.min(seconds / steps);
                best.2 += steps / rounds as f64;
            }
        }
        for ((schedule, step, steps), strategy) in best.into_iter().zip(["random", &strategy]) {
            let (schedule, step) = (schedule * 1e6, step * 1e9);
            println!("{name:9} {strategy:9} {steps:>9.0} {schedule:>9.1} us {step:>9.1} ns");
        }
        let [random, learning] = best;
        let [schedule, step, steps] =
            [learning.0 / random.0, learning.1 / random.1, learning.2 / random.2];
        println!("{name:9} {:9} {steps:>9.2} {schedule:>12.2} {step:>12.2}", "ratio");
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
