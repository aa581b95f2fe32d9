//! Choices of P under concolic execution: explored by the branches that they decide.

#[path = "vm/driver.rs"]
#[expect(dead_code, reason = "the tests of clauses use the rest")]
mod driver;
#[path = "differential/generate.rs"]
mod generate;

use std::collections::BTreeSet;
use std::sync::Arc;

use dally_concolic::Coverage;
use dally_core::Choice;
use dally_search::strata::{Plan, RoundRobin, SearchKind};
use dally_search::{Ended, Options, Report};

fn options() -> Options {
    Options { keep_going: true, shrink: false, ..Options::default() }
}

fn explored(source: &str) -> (Report, Coverage) {
    let program = Arc::new(driver::program(source));
    dally_concolic::explore(program, options(), Arc::new(()))
}

/// The number of executions of a machine with this body, and the messages of its bugs.
fn executions(body: &str) -> (u64, Vec<String>) {
    let (report, coverage) = explored(&main(body));
    assert_eq!((report.ended, coverage.unknown), (Ended::Exhausted, 0), "{:?}", report.notes);
    (report.schedules, messages(&report))
}

fn main(body: &str) -> String {
    format!("machine Main {{ start state S {{ entry {{ {body} }} }} }}")
}

fn messages(report: &Report) -> Vec<String> {
    let messages: BTreeSet<String> =
        report.findings.iter().map(|finding| finding.bug.message().to_owned()).collect();
    messages.into_iter().collect()
}

#[test]
fn a_choice_of_a_million_numbers_takes_an_execution_for_each_outcome() {
    let (report, _) = explored(&main(
        "var n: int; n = choose(1000000);
         if (n < 10) { print \"few\"; }
         else if (n == 777777) { assert false, \"that one\"; }",
    ));
    assert_eq!((report.schedules, report.ended), (3, Ended::Exhausted));
    let [finding] = &report.findings[..] else { panic!("{:?}", report.findings) };
    assert_eq!(finding.bug.message(), "that one");
    // It is a choice like any other: what replays schedules needs no solver.
    let chosen = finding.schedule.choices.iter().find_map(|choice| match choice {
        Choice::Value { index, of: 1_000_000, .. } => Some(*index),
        _ => None,
    });
    assert_eq!(chosen, Some(777_777));
}

#[test]
fn what_decides_nothing_is_explored_once() {
    assert_eq!(executions("var b: bool; var n: int; b = $; n = choose(100) + 1;").0, 1);
    assert_eq!(executions("if ($) { print \"yes\"; }").0, 2);
    assert_eq!(executions("var b: bool; b = $; if (b) { assert b; } else { assert !b; }").0, 2);
}

#[test]
fn booleans_are_followed_through_variables_and_negation() {
    let body = "var a: bool; var b: bool; a = $; b = !$;
                if (a == b) { assert a != b, \"both\"; }";
    // Whether they are equal is one branch.
    assert_eq!(executions(body), (2, vec!["both".to_owned()]));
    assert_eq!(executions("assert $ || !$;").0, 3);
}

#[test]
fn elements_of_sets_and_sequences_of_numbers_are_followed_and_others_are_not_chosen() {
    let set = "var s: set[int]; var n: int; s += (3); s += (5); s += (9); n = choose(s);";
    assert_eq!(executions(&format!("{set} assert n != 4 && n != 8, \"a gap\";")).1, [""; 0]);
    assert_eq!(executions(&format!("{set} assert n < 6, \"nine\";")), (2, vec!["nine".to_owned()]));
    let seq = "var s: seq[int]; var n: int; s += (0, 7); s += (1, 2); s += (2, 7); n = choose(s);";
    assert_eq!(executions(&format!("{seq} assert n == 7, \"two\";")), (2, vec!["two".to_owned()]));
    // Elements that are no numbers are explored one by one.
    let words = "var s: seq[string]; s += (0, \"a\"); s += (1, \"b\"); print choose(s);";
    assert_eq!(executions(words).0, 2);
}

#[test]
fn arithmetic_wraps_as_elsewhere_and_division_truncates() {
    let (_, found) = executions(
        "var n: int; n = choose(1000) - 500;
         if (n / 7 == -3) { assert n > -22, \"rounded up\"; assert false, \"rounded to 0\"; }",
    );
    assert_eq!(found, ["rounded to 0", "rounded up"]);
    let (_, found) = executions("var n: int; n = choose(100); assert 10 / (n - 42) < 11;");
    assert_eq!(found, ["10 is divided by zero"]);
    let (paths, found) = executions(
        "var n: int; var m: int; m = 2147483647; n = m * m * 2 + m * 4 + 1 - 5 + choose(10);
         assert n > 0, \"wrapped\";",
    );
    assert_eq!((paths, found), (2, vec!["wrapped".to_owned()]));
}

#[test]
fn numbers_are_followed_through_messages_tuples_and_collections() {
    let source = "
        event ask: (id: int, at: seq[int]);
        machine Main {
          start state S {
            entry {
              var server: machine; var s: seq[int]; var n: int;
              server = new Server();
              n = choose(100000);
              s += (0, n); s += (1, n + 1);
              send server, ask, (id = n, at = s);
            }
          }
        }
        machine Server {
          var known: map[int, int];
          start state Up {
            on ask do (a: (id: int, at: seq[int])) {
              known[5] = 1;
              assert !(a.id in known), \"known already\";
              if (a.at[1] == 70000) { assert false, \"the second\"; }
            }
          }
        }";
    let (report, _) = explored(source);
    assert_eq!(messages(&report), ["known already", "the second"]);
    assert_eq!((report.schedules, report.ended), (3, Ended::Exhausted));
}

#[test]
fn an_index_is_told_from_each_place() {
    let body = "var s: seq[int]; var n: int;
                s += (0, 4); s += (1, 5); s += (2, 6); n = choose(4);
                if (s[n] == 6) { assert false, \"the last\"; }";
    let (paths, found) = executions(body);
    assert_eq!(paths, 4);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].starts_with("the last") && found[0].contains("out of range"), "{found:?}");
    let (paths, _) = executions(
        "var s: seq[int]; var n: int; s += (0, 4); s += (1, 5); n = choose(2);
         s[n] = 9; assert s[1] != 9, \"changed\";",
    );
    assert_eq!(paths, 2);
}

#[test]
fn what_is_not_followed_is_kept_and_told_with_its_place() {
    let (report, coverage) = explored(&main(
        "var n: int; var x: float;
         n = choose(1000);
         x = n to float;
         assert x < 2000.0;",
    ));
    assert_eq!(report.schedules, 1);
    let [(place, _)] = coverage.covered.pinned.keys().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(place.line, 3);
    assert!(report.notes.iter().any(|note| note.contains("observed value only")), "{report:?}");
}

#[test]
fn a_loop_that_asks_until_it_is_told_to_stop_ends() {
    let (report, _) = explored(&main("while ($) { print \"again\"; }"));
    assert_eq!(report.ended, Ended::Exhausted);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// Random programs: the bugs that are found by following choices are those that are found by
/// trying all values.
#[test]
fn every_bug_that_trying_all_values_finds_is_found() {
    let mut compared = 0;
    for seed in 0..60 {
        let source = generate::program(seed);
        let plan = Plan { search: SearchKind::Dpor, ..Plan::default() };
        let (by_value, by_branch) = (driver::program(&source), driver::program(&source));
        let options = || Options { time: None, schedules: 2_000, ..options() };
        let tried = dally_search::strata::explore(
            Arc::new(by_value),
            RoundRobin::default(),
            plan,
            options(),
            Arc::new(()),
        );
        if tried.ended != Ended::Exhausted || tried.schedules > 400 {
            continue;
        }
        let (followed, coverage) =
            dally_concolic::explore(Arc::new(by_branch), options(), Arc::new(()));
        assert_eq!(followed.ended, Ended::Exhausted, "{seed}\n{source}");
        if coverage.covered.pinned.is_empty() && coverage.unknown == 0 {
            assert_eq!(messages(&followed), messages(&tried), "{seed}\n{source}");
            assert!(followed.schedules <= tried.schedules, "{seed}\n{source}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}
