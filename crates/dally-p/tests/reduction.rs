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

/// A search that explored two subtrees at once missed a class here.
#[test]
fn both_values_of_a_choice_in_a_beginning_are_explored() {
    let mut tally = Tally::default();
    let source = generate::program(2_640);
    compare(driver::program(&source), whole, 400, &mut tally, &String::new);
    assert_eq!(tally.classes, 8);
}
