//! The reduction executes every class of schedules of tasks once.

#[path = "../../dally-search/tests/classes/mod.rs"]
#[expect(dead_code, reason = "tests of captured systems use the rest")]
mod classes;
mod programs;

use std::future::pending;
use std::sync::Arc;

use classes::{Tally, compare, compare_rules, seen};
use dally_tasks::sync::Mutex;
use dally_tasks::{TaskProgram, spawn};
use programs::{Outcomes, generate};

#[test]
fn tasks_are_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in 0..classes::programs(250) {
        let generated = generate(seed, 2);
        let program = generated.program(&Outcomes::default());
        compare(program, seen, 400, &mut tally, &|| format!("{seed}: {generated:?}"));
    }
    println!("{tally:?}");
    assert!(tally.programs > 100 && tally.classes > 300, "{tally:?}");
}

#[test]
fn other_rules_miss_no_class_of_tasks_within_their_bounds() {
    let mut tally = Tally::default();
    for seed in 0..classes::programs(60) {
        let generated = generate(seed, 2);
        let program = generated.program(&Outcomes::default());
        compare_rules(program, seen, 200, &mut tally, &|| format!("{seed}: {generated:?}"));
    }
    println!("{tally:?}");
    assert!(tally.programs > 30 && tally.classes > 100, "{tally:?}");
}

/// The classes of two tasks that add to a counter under a lock so many times each.
fn counters(times: u32) -> (u64, u64) {
    let program = TaskProgram::new("counters", move || async move {
        let counter = Arc::new(Mutex::new(0));
        for _ in 0..2 {
            let counter = counter.clone();
            spawn(async move {
                for _ in 0..times {
                    *counter.lock().await += 1;
                }
            });
        }
        // It waits in vain, so that its end does not end the others.
        pending::<()>().await;
    });
    let (report, _) = classes::reduce(Arc::new(program));
    (report.schedules, report.redundant)
}

#[test]
fn two_tasks_and_a_lock_have_as_many_classes_as_orders_in_which_it_is_taken() {
    assert_eq!([1, 2, 3].map(counters), [(2, 0), (6, 0), (20, 0)]);
}
