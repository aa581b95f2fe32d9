//! What is told of bugs of random tasks is true: they show without the steps that did not lead to them, and the
//! nearest schedule that passes does pass, and fails with its edit undone.

#[path = "../../dally-search/tests/past/mod.rs"]
mod past;
mod programs;

use std::sync::Arc;

use past::{Tally, check};
use programs::{Outcomes, generate_armed};

/// Destructors that panic unless something was done in time, and whatever else such programs come to.
#[test]
fn bugs_of_tasks_show_without_what_did_not_lead_to_them_and_the_nearest_schedule_passes() {
    let mut tally = Tally::default();
    for seed in 0..3_000 {
        let generated = generate_armed(seed, 5);
        let program = Arc::new(generated.program(&Outcomes::default()));
        check(&program, seed, &mut tally, &|| format!("{generated:?}"));
    }
    println!("{tally:?}");
    assert!(tally.sliced > 100 && tally.left_out > 120 && tally.nearest > 200, "{tally:?}");
}
