//! Schedules per second, against shuttle.

use std::sync::Arc;
use std::time::Duration;

use dally::machines::Granularity;

use crate::measure::{Strategy, Work, compare as measure};
use crate::{in_dally, in_shuttle};

/// A row: what it is, ours, theirs, and the ratio of schedules per second that we promise.
struct Row {
    shape: &'static str,
    ours: Box<dyn Fn(Strategy, u64, u64) -> Work>,
    theirs: fn(),
    promised: Option<f64>,
}

fn row<P: dally::contract::Program + 'static>(
    shape: &'static str,
    program: P,
    theirs: fn(),
    promised: Option<f64>,
) -> Row {
    let program = Arc::new(program);
    let ours = Box::new(move |strategy, n, seed| in_dally::run(&program, strategy, n, seed));
    Row { shape, ours, theirs, promised }
}

/// Prints the rows with this text; whether all promises are kept.
pub fn compare(rounds: u64, budget: Duration, wanted: &str) -> bool {
    let rows = [
        row("i   ring, tasks", in_dally::ring_of_tasks(), in_shuttle::ring, Some(3.0)),
        row("i   ring, tasks, bounded", in_dally::bounded_ring_of_tasks(), in_shuttle::ring, None),
        row(
            "i   ring, tasks | futures mpsc",
            in_dally::ring_of_tasks(),
            in_shuttle::ring_of_futures,
            None,
        ),
        row("i   ring, machines", in_dally::ring_of_machines(), in_shuttle::ring, Some(5.0)),
        row(
            "i   ring, machines, atomic",
            in_dally::ring_of_machines().granularity(Granularity::Atomic),
            in_shuttle::ring,
            None,
        ),
        row("ii  mutex, tasks | threads", in_dally::mutex_of_tasks(), in_shuttle::mutex, None),
        row(
            "iv  senders, tasks | threads",
            in_dally::senders_of_tasks(),
            in_shuttle::senders,
            Some(3.0),
        ),
        row(
            "iv  senders, machines | threads",
            in_dally::senders_of_machines(),
            in_shuttle::senders,
            Some(5.0),
        ),
    ];
    println!(
        "{:32} {:8} {:>10} {:>9} {:>10} {:>9} {:>9} {:>7}",
        "shape: dally | shuttle", "strategy", "dally", "", "shuttle", "", "ratio", ""
    );
    println!(
        "{:32} {:8} {:>10} {:>9} {:>10} {:>9} {:>9} {:>7}",
        "", "", "k sched/s", "M steps/s", "k sched/s", "M steps/s", "schedules", "steps"
    );
    let mut kept = true;
    for row in rows.into_iter().filter(|row| row.shape.contains(wanted)) {
        for strategy in [Strategy::Random, Strategy::Pct(3)] {
            let ours = |n, seed| (row.ours)(strategy, n, seed);
            let theirs = |n, seed| in_shuttle::run(row.theirs, strategy, n, seed);
            let (ours, theirs) = measure(&ours, &theirs, rounds, budget);
            let ratio = ours.schedules / theirs.schedules;
            let verdict = match row.promised {
                Some(promised) if ratio < promised => {
                    kept = false;
                    format!("  BELOW {promised}")
                }
                Some(promised) => format!("  >= {promised}"),
                None => String::new(),
            };
            println!(
                "{:32} {:8} {:>10.1} {:>9.2} {:>10.1} {:>9.2} {:>8.1}x {:>6.1}x{verdict}",
                row.shape,
                strategy.name(),
                ours.schedules / 1e3,
                ours.steps / 1e6,
                theirs.schedules / 1e3,
                theirs.steps / 1e6,
                ratio,
                ours.steps / theirs.steps,
            );
        }
    }
    kept
}
