//! What is told of bugs of random machines is true: they show without the steps that did not lead to them, and the
//! nearest schedule that passes does pass, and fails with its edit undone.

// Generated code names the facade; these tests stand in for it.
extern crate self as dally;
#[allow(unused_imports)]
mod __private {
    pub use dally_core as contract;
    pub use dally_machines as machines;
}

#[expect(dead_code, reason = "the tests of exchanges and of reduction use the rest")]
mod clerks;
#[path = "../../dally-search/tests/past/mod.rs"]
mod past;

use std::sync::Arc;

use past::{Tally, check};

#[test]
fn bugs_of_machines_show_without_what_did_not_lead_to_them_and_the_nearest_schedule_passes() {
    let mut tally = Tally::default();
    for seed in 0..1_000 {
        let program = Arc::new(clerks::failing(seed));
        check(&program, seed, &mut tally, &|| format!("failing({seed})"));
    }
    println!("{tally:?}");
    assert!(tally.sliced > 300 && tally.left_out > 1_000 && tally.nearest > 100, "{tally:?}");
}
