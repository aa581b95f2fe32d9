//! The reduction executes every class of schedules of machines once: random machines that send,
//! create, announce, persist, halt, set timers and do nothing in particular, with all mailboxes, both
//! granularities and all faults.

// Generated code names the facade; these tests stand in for it.
extern crate self as dally;
#[allow(unused_imports)]
mod __private {
    pub use dally_core as contract;
    pub use dally_machines as machines;
}

#[path = "../../dally-search/tests/classes/mod.rs"]
#[expect(dead_code, reason = "tests of systems that are not captured use the rest")]
mod classes;
#[expect(dead_code, reason = "the tests of exchanges use the rest")]
mod clerks;

use classes::{Tally, compare, programs, whole};
use dally_machines::MachineSystem;

#[test]
fn machines_are_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in 0..programs(1_000) {
        let what = || format!("small({seed})");
        compare(clerks::small(seed), whole::<MachineSystem>, 2_000, &mut tally, &what);
    }
    println!("{tally:?}");
}

#[test]
fn debug_one() {
    let seed = std::env::var("SEED").unwrap().parse().unwrap();
    let (report, executed) = classes::reduce(std::sync::Arc::new(clerks::small(seed)));
    for e in &executed {
        let words: Vec<String> = e.iter().map(|c| match c {
            dally_core::Choice::Worker(w) => format!("{w}"),
            dally_core::Choice::Value { index, .. } => format!("={index}"),
            dally_core::Choice::Delivery(m) => format!("<{m}"),
            c => format!("{c:?}") }).collect();
        println!("E {}", words.join(" "));
    }
    println!("{} {:?}", report.redundant, report.classes);
}
