//! Steps of MPIL programs whose footprints commute can be exchanged.

mod random;
#[path = "../../dally-search/tests/swaps/mod.rs"]
#[expect(dead_code, reason = "tests of systems that are not captured use the rest")]
mod swaps;

use dally_mpil::MpilProgram;
use fastrand::Rng;
use swaps::{How, Tally, try_swaps, whole};

#[test]
fn exchanging_steps_of_processes_that_commute_makes_no_difference() {
    let how = How { state: whole, happens_before: false };
    let mut tally = Tally::default();
    for seed in 0..4_000 {
        let text = random::program(&mut Rng::with_seed(seed), true);
        let program = MpilProgram::compile("random.mpil", &text, &[]).unwrap();
        for schedule in 0..2 {
            tally += try_swaps(&program, &how, seed << 8 | schedule, &|| text.clone());
        }
    }
    assert!(tally.swaps > 3_000, "{tally:?}");
}
