//! `cargo dally`: how cargo is called for the tests of a user's crate. A script stands in for
//! cargo and writes down its arguments and variables.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use dally::contract::{Choice, Schedule, WorkerId};
use insta::assert_snapshot;

use crate::command::{Ran, Scratch, ran};

/// Answers `metadata` with a package of a library and a test target, lists one test, and fails
/// like a test that shows its bug.
const CARGO: &str = r#"#!/bin/sh
echo "cargo $*" >> calls
env | grep ^DALLY_ | grep -v GAVE_UP | sort | sed "s/^/  /" >> calls
test ! -e misfit || test -z "$DALLY_GAVE_UP" || touch "$DALLY_GAVE_UP"
case "$1 $*" in
metadata*) echo '{"packages": [{"name": "my-bank", "dependencies": [{"name": "dally"}], "targets": [
    {"name": "my-bank", "kind": ["lib"], "test": true},
    {"name": "accounts", "kind": ["test"], "test": true}]}]}' ;;
*--list*) echo "transfers::nobody_loses_money: test" ;;
*) exit 101 ;;
esac
"#;

fn cargo_dally(arguments: &[&str], scratch: &Scratch) -> Ran {
    let cargo = scratch.0.join("cargo");
    std::fs::write(&cargo, CARGO).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dally"));
    command.arg("dally").args(arguments).current_dir(&scratch.0).env("CARGO", cargo);
    ran(command.output().unwrap(), &scratch.0)
}

fn calls(scratch: &Scratch) -> String {
    let calls = std::fs::read_to_string(scratch.0.join("calls")).unwrap();
    calls.replace(&scratch.0.display().to_string(), "DIR")
}

fn schedule_of(test: &str) -> Schedule {
    Schedule {
        program: test.into(),
        choices: vec![Choice::Worker(WorkerId::root(0))],
        ..Schedule::default()
    }
}

#[test]
fn settings_become_variables_and_the_rest_is_for_cargo() {
    let scratch = Scratch::new("cargo-test");
    let arguments = "test --schedules 500 -p my-bank --shrink=false --fail-on-max-steps transfers \
                     -- --exact --seed";
    let ran = cargo_dally(&arguments.split_whitespace().collect::<Vec<_>>(), &scratch);
    assert_eq!(ran.code, 101);
    assert_snapshot!(calls(&scratch), @"
    cargo metadata --format-version 1 --no-deps
    cargo test -p my-bank transfers -- --exact --seed
      DALLY_COMMAND=cargo dally test
      DALLY_FAIL_ON_MAX_STEPS=1
      DALLY_SCHEDULES=500
      DALLY_SHRINK=false
    ");
}

#[test]
fn a_setting_that_cannot_be_read_is_refused_before_anything_is_built() {
    let scratch = Scratch::new("cargo-refused");
    let ran = cargo_dally(&["test", "--schedules", "many"], &scratch);
    assert_eq!(ran.code, 2);
    assert_snapshot!(ran.err, @"error: --schedules many: `many` is not a whole number that fits");
    let ran = cargo_dally(&["test", "--seed"], &scratch);
    assert_snapshot!(ran.err, @"error: --seed needs a value");
    assert!(!scratch.0.join("calls").exists());
}

#[test]
fn a_schedule_of_a_test_is_replayed_by_that_test_alone() {
    let scratch = Scratch::new("cargo-replay");
    let schedule = schedule_of("accounts::transfers::nobody_loses_money");
    std::fs::write(scratch.0.join("found.schedule"), schedule.to_text()).unwrap();
    let ran = cargo_dally(&["replay", "found.schedule", "--best-effort"], &scratch);
    assert_eq!(ran.code, 1);
    assert_snapshot!(calls(&scratch), @"
    cargo metadata --format-version 1 --no-deps
    cargo test --package my-bank --test accounts transfers::nobody_loses_money -- --exact --list
    cargo test --package my-bank --test accounts transfers::nobody_loses_money -- --exact
      DALLY_BEST_EFFORT=1
      DALLY_REPLAY=DIR/found.schedule
    ");
    // The stand-in takes this for a program that no longer fits.
    std::fs::write(scratch.0.join("misfit"), "").unwrap();
    assert_eq!(cargo_dally(&["replay", "found.schedule"], &scratch).code, 2);
}

#[test]
fn a_schedule_of_a_test_that_is_not_there_is_refused() {
    let scratch = Scratch::new("cargo-gone");
    let token = schedule_of("my_bank::tests::nobody_wins").to_token();
    let ran = cargo_dally(&["replay", &token], &scratch);
    assert_eq!(ran.code, 2);
    assert_snapshot!(ran.err, @"
    error: the schedule is of the test `tests::nobody_wins`, and the crate `my_bank` has no such test
      was it renamed, or is it behind a feature?
    ");
    let token = schedule_of("shop::sells").to_token();
    let ran = cargo_dally(&["replay", &token], &scratch);
    assert_eq!(ran.code, 2);
    assert_snapshot!(ran.err, @"
    error: the schedule is of the test `shop::sells`, and no package of this workspace has a crate `shop`
      run the command in the workspace that the schedule was recorded in
    ");
}
