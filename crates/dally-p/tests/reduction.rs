//! The reduction executes every class of schedules of P programs once.

#[path = "../../dally-search/tests/classes/mod.rs"]
#[expect(dead_code, reason = "tests of systems that are not captured use the rest")]
mod classes;
#[path = "vm/driver.rs"]
#[expect(dead_code, reason = "the tests of clauses use the rest")]
mod driver;
#[path = "differential/generate.rs"]
mod generate;

use classes::{Tally, compare, seeds, whole};

#[test]
fn p_machines_are_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in seeds(300) {
        let source = generate::program(seed);
        compare(driver::program(&source), whole, 400, &mut tally, &|| format!("{seed}\n{source}"));
    }
    classes::enough(&tally, 150, 500);
}
