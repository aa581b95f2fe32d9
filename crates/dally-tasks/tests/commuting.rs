//! Steps of tasks whose footprints commute can be exchanged.

mod programs;
#[path = "../../dally-search/tests/swaps/mod.rs"]
#[expect(dead_code, reason = "tests of captured systems use the rest")]
mod swaps;

use programs::{Outcomes, generate, on_hosts};
use swaps::{How, Tally, seen, try_swaps};

#[test]
fn exchanging_steps_of_tasks_that_commute_makes_no_difference() {
    let how = How { state: seen, happens_before: true };
    let mut tally = Tally::default();
    for seed in 0..4_000 {
        let generated = generate(seed, 4);
        let program = generated.program(&Outcomes::default());
        for schedule in 0..2 {
            tally += try_swaps(&program, &how, seed << 8 | schedule, &|| format!("{generated:?}"));
        }
    }
    assert!(tally.swaps > 10_000, "{tally:?}");
}

/// Whatever the model of time, with what is done to hosts by hand and by faults.
#[test]
fn exchanging_steps_on_hosts_that_commute_makes_no_difference() {
    let how = How { state: seen, happens_before: true };
    let mut tally = Tally::default();
    for seed in 0..4_000 {
        let generated = on_hosts::generate(seed, 5);
        let program = generated.program();
        for schedule in 0..2 {
            tally += try_swaps(&program, &how, seed << 8 | schedule, &|| format!("{generated:?}"));
        }
    }
    assert!(tally.swaps > 4_000, "{tally:?}");
}
