//! The programs of the paper: one execution for each class of orders and each path.

use std::sync::Arc;

use dally_mpil::MpilProgram;
use dally_search::{Ended, Options, Report};

fn program(name: &str, parameters: &[(&str, i64)]) -> MpilProgram {
    variant(name, parameters, |text| text)
}

fn variant(
    name: &str,
    parameters: &[(&str, i64)],
    change: impl FnOnce(String) -> String,
) -> MpilProgram {
    let path = format!("{}/../../protocols/mpil/{name}.mpil", env!("CARGO_MANIFEST_DIR"));
    let text = change(std::fs::read_to_string(&path).unwrap());
    let parameters: Vec<(String, i64)> =
        parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    MpilProgram::compile(&format!("{name}.mpil"), &text, &parameters)
        .unwrap_or_else(|e| panic!("{e}"))
}

/// How many executions there were, those whose assumptions failed among them.
fn explored(program: MpilProgram) -> (u64, Report) {
    let options = Options { keep_going: true, shrink: false, ..Options::default() };
    let (report, coverage) = dally_concolic::explore(Arc::new(program), options, Arc::new(()));
    let classes = report.classes.as_ref().unwrap();
    assert_eq!(coverage.unknown, 0);
    assert_eq!((report.ended, classes.astray), (Ended::Exhausted, 0));
    (classes.classes + classes.irrelevant, report)
}

#[test]
fn sorting_has_7_35_and_226_paths() {
    for (p, paths) in [(4, 7), (5, 35), (6, 226)] {
        let (executions, report) = explored(program("sorting", &[("p", p)]));
        assert_eq!((p, executions), (p, paths));
        assert!(report.findings.is_empty());
    }
}

#[test]
fn leader_election_has_9_22_and_50_paths() {
    for (n, paths) in [(3, 9), (4, 22), (5, 50)] {
        let (executions, report) = explored(program("leader_election", &[("n", n)]));
        assert_eq!((n, executions), (n, paths));
        assert!(report.findings.is_empty());
    }
}

#[test]
fn leader_election_without_order_fails() {
    let unordered = |text: String| text.replace("mailboxes fifo", "mailboxes unordered");
    let (executions, report) = explored(variant("leader_election", &[], unordered));
    assert_eq!(executions, 777 + 3);
    assert!(!report.findings.is_empty());
}

#[test]
fn shortest_paths_have_296_classes_with_five_processes() {
    let (executions, report) = explored(program("shortest_path", &[("n", 5)]));
    assert_eq!(executions, 296);
    assert!(report.findings.is_empty());
}

#[test]
fn the_example_of_figure_3_fails_on_one_of_its_paths() {
    let (executions, report) = explored(program("figure3", &[]));
    // Three paths; the error ends the execution, with or without the step of p2 before it.
    assert_eq!(executions, 4);
    assert_eq!(report.findings.len(), 1);
}

#[test]
fn classes_are_found_that_need_other_picks_beside_a_reversed_race() {
    let text = "
        process p0 { var x receive x send p2, 0 send p0, 0 receive x or end }
        process p1 { var x receive x send p0, 0 }
        process p2 { var x receive x }
        setup { send p1, 0 send p0, 0 send p2, 0 }";
    let program = MpilProgram::compile("relay.mpil", text, &[]).unwrap();
    // p0 takes two of three messages in four ways, p2 one of two.
    assert_eq!(explored(program).0, 8);
}

/// A program that asks for inputs without end is stopped, and told.
#[test]
fn inputs_without_end_are_a_finding() {
    let text = "
        process p { var x again: input x in 0..=1 goto again }
        setup { send p, 0 }";
    let program = MpilProgram::compile("endless.mpil", text, &[]).unwrap();
    let options = Options { shrink: false, step_items: 500, ..Options::default() };
    let (report, _) = dally_concolic::explore(Arc::new(program), options, Arc::new(()));
    assert_eq!(report.findings.len(), 1, "{report:?}");
}
