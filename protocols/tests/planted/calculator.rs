//! The calculator has no bug; what counts is how many values a strategy sees.

use std::collections::BTreeSet;
use std::sync::Mutex;

use dally::machines::{MachineProgram, MonitorCx};
use dally::monitor;
use dally_protocols::calculator::{PROTOCOL, Value, deploy};

use crate::hunt::Hunt;

static SEEN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Collects the values of all schedules.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Collector;

#[monitor(states(Collecting))]
impl Collector {
    #[on(Collecting, Value)]
    fn value(&mut self, _: &mut MonitorCx<Self>, Value(value): Value) {
        SEEN.lock().unwrap().insert(value);
    }
}

#[test]
fn a_thousand_schedules_see_hundreds_of_values_and_none_out_of_range() {
    let program = MachineProgram::new(PROTOCOL.name, |setup| {
        deploy(setup);
        setup.monitor(Collector);
    });
    Hunt { strategy: "random", schedules: 1_000, max_steps: PROTOCOL.max_steps }.pass(program);
    let seen = SEEN.lock().unwrap();
    assert!(seen.contains(&0) && seen.len() > 200, "{} values", seen.len());
    assert!(*seen.first().unwrap() >= -5000 && *seen.last().unwrap() <= 5000);
}
