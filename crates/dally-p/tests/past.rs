//! What is told of bugs of random P programs is true: they show without the steps that did not lead to them, and
//! the nearest schedule that passes does pass, and fails with its edit undone.

#[path = "vm/driver.rs"]
#[expect(dead_code, reason = "the tests of clauses use the rest")]
mod driver;
#[path = "differential/generate.rs"]
mod generate;
#[path = "../../dally-search/tests/past/mod.rs"]
mod past;

use std::sync::Arc;

use past::{Tally, check};

#[test]
fn bugs_of_p_machines_show_without_what_did_not_lead_to_them_and_the_nearest_schedule_passes() {
    let mut tally = Tally::default();
    for seed in 0..2_000 {
        let source = generate::program(seed);
        let program = Arc::new(driver::program(&source));
        check(&program, seed, &mut tally, &|| format!("{seed}\n{source}"));
    }
    println!("{tally:?}");
    assert!(tally.sliced > 40 && tally.left_out > 60 && tally.nearest > 20, "{tally:?}");
}
