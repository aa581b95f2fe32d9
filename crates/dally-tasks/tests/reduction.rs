//! The reduction executes every class of schedules of tasks once.

#[path = "../../dally-search/tests/classes/mod.rs"]
#[expect(dead_code, reason = "tests of captured systems use the rest")]
mod classes;
mod programs;

use classes::{Tally, compare, seen};
use programs::{Outcomes, generate};

#[test]
fn tasks_are_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in 0..classes::programs(600) {
        let generated = generate(seed, 2);
        let program = generated.program(&Outcomes::default());
        compare(program, seen, 1_500, &mut tally, &|| format!("{seed}: {generated:?}"));
    }
    println!("{tally:?}");
}
