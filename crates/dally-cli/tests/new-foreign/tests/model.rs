//! The tests of the model, run by `cargo test`.

use dally::p::Project;
use dally::p::vm::PProgram;

fn test(name: &str) -> PProgram {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/p-projects/dice.p");
    Project::open(path).unwrap().test(name, foreign::foreign()).unwrap()
}

#[dally::test]
fn tc_nobody_rolls() -> PProgram {
    test("tcNobodyRolls")
}
