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
    MpilProgram::compile(&format!("{name}.mpil"), &text, &parameters).unwrap_or_else(|e| panic!("{e}"))
}

/// How many executions there were, those whose assumptions failed among them.
fn explored(program: MpilProgram) -> (u64, Report) {
    let options = Options { keep_going: true, shrink: false, ..Options::default() };
    let (report, coverage) = dally_concolic::explore(Arc::new(program), options, Arc::new(()));
    let classes = report.classes.as_ref().unwrap();
    assert_eq!(coverage.unknown, 0);
    assert_eq!((report.ended, report.redundant, classes.astray), (Ended::Exhausted, 0, 0), "{:?} {:?}", report.classes, report.stated);
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
    assert_eq!(executions, 3);
    assert_eq!(report.findings.len(), 1);
}

#[test]
fn debug_small() {
    use dally_search::strata::{explore, Plan, RoundRobin, SearchKind};
    let texts = [
        ("star", "process w { var x receive x }
          process a { var g receive g send w, 1 }
          process b { var g receive g send w, 2 }
          process c { var g receive g send w, 3 }
          setup { send a, 0 send b, 0 send c, 0 }"),
        ("star2", "process w { var x receive x receive x or end}
          process a { var g receive g send w, 1 }
          process b { var g receive g send w, 2 }
          process c { var g receive g send w, 3 }
          setup { send a, 0 send b, 0 send c, 0 }"),
        ("relay", "process w { var x receive x }
          process a { var g receive g send w, 1 receive g or end }
          process b { var g receive g send a, 2 }
          setup { send w, 0 send a, 0 send b, 0 }"),
        ("seven", "process p0 { var x receive x send p2, 0 send p0, 0 receive x or end }
          process p1 { var x receive x send p0, 0 }
          process p2 { var x receive x }
          setup { send p1, 0 send p0, 0 send p2, 0 }"),
    ];
    for (name, text) in texts {
        let program = Arc::new(MpilProgram::compile("t.mpil", text, &[]).unwrap());
        let options = Options { keep_going: true, shrink: false, ..Options::default() };
        let plan = Plan { search: SearchKind::Dpor, ..Plan::default() };
        let report = explore(program.clone(), RoundRobin::default(), plan, options.clone(), Arc::new(()));
        let (other, _) = dally_concolic::explore(program, options, Arc::new(()));
        eprintln!("{name}: dpor {:?} {} concolic {:?} {}", report.classes.map(|c| c.classes), report.redundant, other.classes.map(|c| c.classes), other.redundant);
    }
}
