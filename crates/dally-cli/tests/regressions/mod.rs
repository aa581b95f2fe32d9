//! `dally regressions`: a script stands in for cargo, and for the tests that it runs.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use dally::contract::{Choice, Schedule, WorkerId};
use insta::assert_snapshot;

use crate::command::{Ran, Scratch, ran};

/// Has one package, whose tests tell of each regression the word that its name ends with.
const CARGO: &str = r#"#!/bin/sh
echo "cargo $*" >> calls
case "$1" in
metadata) echo "{\"packages\": [{\"name\": \"my-bank\", \"manifest_path\": \"$PWD/bank/Cargo.toml\"}]}" ;;
test) for file in "$PWD"/bank/dally-regressions/*.schedule; do
    word=${file##*-}; word=${word%.schedule}
    test "$word" = unknown || test "$word" = damaged || echo "$word $file" >> "$DALLY_REGRESSIONS_TOLD"
  done
  exit 101 ;;
esac
"#;

fn dally(arguments: &[&str], scratch: &Scratch) -> Ran {
    let cargo = scratch.0.join("cargo");
    std::fs::write(&cargo, CARGO).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dally"));
    command.arg("regressions").args(arguments).current_dir(&scratch.0).env("CARGO", cargo);
    ran(command.output().unwrap(), &scratch.0)
}

fn with_regressions(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let directory = scratch.0.join("bank/dally-regressions");
    std::fs::create_dir_all(&directory).unwrap();
    let schedule = Schedule {
        program: "my_bank::tests::drains".into(),
        choices: vec![Choice::Worker(WorkerId::root(0)); 3],
        ..Schedule::default()
    };
    for word in ["fails", "passes", "unfit", "unknown"] {
        std::fs::write(directory.join(format!("drains-{word}.schedule")), schedule.to_text())
            .unwrap();
    }
    std::fs::write(directory.join("drains-damaged.schedule"), "dally schedule 1\n").unwrap();
    scratch
}

#[test]
fn they_are_listed_with_their_tests_and_a_damaged_one_is_told() {
    let ran = dally(&["list"], &with_regressions("regressions-list"));
    assert_eq!(ran.code, 0);
    assert_snapshot!(ran.out);
}

#[test]
fn those_that_do_not_fit_are_pruned_and_those_that_pass_if_asked() {
    let scratch = with_regressions("regressions-prune");
    let ran = dally(&["prune"], &scratch);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_snapshot!(ran.out);
    let calls = std::fs::read_to_string(scratch.0.join("calls")).unwrap();
    let test = "cargo test --no-fail-fast --package my-bank -- --exact tests::drains";
    assert_eq!(calls.lines().last(), Some(test));

    let ran = dally(&["prune", "--passing"], &scratch);
    assert!(ran.out.contains("drains-passes.schedule is removed: it passes"), "{}", ran.out);
    let left = std::fs::read_dir(scratch.0.join("bank/dally-regressions")).unwrap();
    assert_eq!(left.count(), 3);
}

#[test]
fn a_workspace_without_any_says_so() {
    let scratch = Scratch::new("regressions-none");
    let ran = dally(&["list"], &scratch);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("no test of this workspace has regressions"), "{}", ran.out);
    assert!(dally(&["prune"], &scratch).out.starts_with("nothing to prune"));
}
