//! The calculator has no bug; what counts is how many values a strategy sees.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use dally_protocols::calculator::{OPERATIONS, Operation, PROTOCOL, Shows, program};

use crate::hunt::Hunt;

/// The values that a strategy sees, and how often each operation is done.
fn tally(strategy: &'static str, shows: Shows, schedules: u64) -> (BTreeSet<i32>, [u64; 5]) {
    let seen = Arc::new(Mutex::new((BTreeSet::new(), [0; 5])));
    let told = seen.clone();
    let tally = move |operation: Operation, value| {
        let mut seen = told.lock().unwrap();
        seen.0.insert(value);
        seen.1[operation as usize] += 1;
    };
    let program = program(shows, Arc::new(tally));
    Hunt { strategy, schedules, max_steps: PROTOCOL.max_steps }.pass(program);
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[test]
fn a_schedule_has_500_operations_and_its_values_stay_in_range() {
    let (values, counts) = tally("random", Shows::Value, 200);
    // Some schedules are run twice, to see whether they repeat.
    let done = counts.iter().sum::<u64>();
    assert!(done.is_multiple_of(OPERATIONS.into()) && done >= 200 * u64::from(OPERATIONS));
    assert!(values.contains(&0) && *values.first().unwrap() >= -5_000);
    assert!(*values.last().unwrap() <= 5_000);
}

#[test]
fn what_sees_the_value_learns_to_leave_out_the_reset_and_sees_more_values() {
    let [random, seeing, blind] =
        [("random", Shows::Value), ("ql-c", Shows::Value), ("ql-c", Shows::Nothing)]
            .map(|(strategy, shows)| tally(strategy, shows, 500));
    assert!(seeing.0.len() > 2 * random.0.len(), "{} and {}", seeing.0.len(), random.0.len());
    assert!(blind.0.len() < seeing.0.len() / 2, "{} and {}", blind.0.len(), seeing.0.len());
    let [add, .., reset] = seeing.1;
    assert!(2 * reset < add, "{reset} resets, {add} additions");
}
