//! Steps of P programs whose footprints commute can be exchanged.

#[path = "vm/driver.rs"]
#[expect(dead_code, reason = "the tests of clauses use the rest")]
mod driver;
#[path = "differential/generate.rs"]
mod generate;
#[path = "../../dally-search/tests/swaps/mod.rs"]
#[expect(dead_code, reason = "tests of systems that are not captured use the rest")]
mod swaps;

use swaps::{How, Tally, try_swaps, whole};

#[test]
fn exchanging_steps_of_p_machines_that_commute_makes_no_difference() {
    let how = How { state: whole, happens_before: false };
    let mut tally = Tally::default();
    for seed in 0..2_000 {
        let source = generate::program(seed);
        let program = driver::program(&source);
        for schedule in 0..2 {
            tally += try_swaps(&program, &how, seed << 8 | schedule, &|| source.clone());
        }
    }
    assert!(tally.swaps > 4_000, "{tally:?}");
}
