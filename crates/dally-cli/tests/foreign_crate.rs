//! The crate that `dally p new-foreign` writes, as `p_user.rs` compares it: it compiles, its tests run, and
//! a function that is not written yet says so.

// What is written for users is formatted as theirs is.
#[rustfmt::skip]
#[path = "new-foreign/src/lib.rs"]
#[allow(
    dead_code,
    reason = "the struct for a foreign type is for functions that are not written yet"
)]
mod library;
#[rustfmt::skip]
#[path = "new-foreign/tests/model.rs"]
mod model;

// The tests call the library by its name.
extern crate self as foreign;

use dally::p::Project;
use dally::report::text;
pub use library::foreign;

#[test]
fn a_function_that_is_not_written_yet_says_so() {
    let source = include_str!("p-projects/dice.p").replace("new Player(0)", "new Player(1)");
    let project = Project::of_source("dice.p", &source).unwrap();
    let test = project.test("tcNobodyRolls", foreign()).unwrap();
    let options = dally::search::Options { schedules: 1, ..Default::default() };
    let report = dally::search::run(std::sync::Arc::new(test), options, std::sync::Arc::new(()));
    let [finding] = &report.findings[..] else { panic!("{report:?}") };
    let told = "foreign function `Player.Luck`: write it in src/lib.rs";
    assert_eq!(text::bug(&finding.bug), told);
}
