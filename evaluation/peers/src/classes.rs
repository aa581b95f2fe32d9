//! Executions per second where one is run for each class of schedules, against TraceForge.

use std::sync::Arc;
use std::time::Duration;

use dally::contract::Program;
use dally::machines::Mailbox;
use dally::search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally::search::{Ended, Options};

use crate::measure::{Work, compare as measure};
use crate::{in_dally, in_traceforge};

/// A row: what it is, its classes, how ours and theirs explore all of them once and count them, and
/// the ratio of executions per second that we promise.
struct Row {
    shape: &'static str,
    classes: u64,
    ours: Box<dyn Fn() -> u64>,
    theirs: fn() -> u64,
    promised: f64,
}

fn row<P: Program + 'static>(
    shape: &'static str,
    classes: u64,
    program: P,
    theirs: fn() -> u64,
    promised: f64,
) -> Row {
    let program = Arc::new(program);
    let ours = Box::new(move || all_classes(&program));
    Row { shape, classes, ours, theirs, promised }
}

/// Explores every class, and counts them.
fn all_classes<P: Program + 'static>(program: &Arc<P>) -> u64 {
    let plan = Plan { search: SearchKind::Dpor, ..Plan::default() };
    let options = Options::default();
    let report = explore(program.clone(), RoundRobin::default(), plan, options, Arc::new(()));
    assert!(report.ended == Ended::Exhausted && report.findings.is_empty(), "{report:?}");
    report.schedules
}

/// Prints the rows with this text; whether the counts are equal and all promises are kept.
pub fn compare(rounds: u64, budget: Duration, wanted: &str) -> bool {
    let senders = || in_dally::many_senders_of_machines(3, 3);
    let rows = [
        row(
            "senders 3 x 3, machines | threads",
            1_680,
            senders().mailbox(Mailbox::PerSender),
            || in_traceforge::senders(3, 3),
            3.0,
        ),
        row(
            "senders 3 x 2, machines, no order | threads",
            720,
            in_dally::many_senders_of_machines(3, 2).mailbox(Mailbox::Unordered),
            || in_traceforge::senders_without_order(3, 2),
            3.0,
        ),
        row(
            "senders 3 x 3, tasks | threads",
            1_680,
            in_dally::many_senders_of_tasks(3, 3),
            || in_traceforge::senders(3, 3),
            2.0,
        ),
        row(
            "mutex 2 x 5, tasks | threads and a server",
            252,
            in_dally::locks_of_tasks(2, 5),
            || in_traceforge::locks(2, 5),
            2.0,
        ),
    ];
    println!(
        "{:44} {:>8} {:>12} {:>12} {:>7}",
        "shape: dally | TraceForge", "classes", "dally", "TraceForge", "ratio"
    );
    let mut kept = true;
    for row in rows.into_iter().filter(|row| row.shape.contains(wanted)) {
        let counts = [(row.ours)(), (row.theirs)()];
        if counts != [row.classes; 2] {
            kept = false;
            println!("{:44} COUNTS DIFFER: {counts:?}, not {}", row.shape, row.classes);
            continue;
        }
        let times = |explore: &dyn Fn() -> u64, wanted: u64| {
            let mut work = Work::default();
            while work.schedules < wanted {
                work.schedules += explore();
            }
            work
        };
        let ours = |n, _| times(&row.ours, n);
        let theirs = |n, _| times(&row.theirs, n);
        let (ours, theirs) = measure(&ours, &theirs, rounds, budget);
        let ratio = ours.schedules / theirs.schedules;
        kept &= ratio >= row.promised;
        let verdict = if ratio < row.promised { "BELOW" } else { ">=" };
        println!(
            "{:44} {:>8} {:>12.0} {:>12.0} {:>6.1}x  {verdict} {}",
            row.shape, row.classes, ours.schedules, theirs.schedules, ratio, row.promised
        );
    }
    kept
}
