//! The programs of shared memory: what reaches the number held to be out of reach, and the states
//! of SafeStack.

use std::sync::Arc;

use dally::search::strata::{self, ExplorerKind, Plan, SearchKind};
use dally::search::{Ended, Options};
use dally_protocols::safe_stack::{self, Model};
use dally_protocols::{fib_bench, triangular};

use crate::hunt::Hunt;

const RANDOM: Hunt = Hunt { strategy: "random", schedules: 10_000, max_steps: 1_000 };
const PCT: Hunt = Hunt { strategy: "pct:3", ..RANDOM };

#[test]
fn adders_reach_the_largest_number_and_no_larger_one() {
    for rounds in [5, 11] {
        RANDOM.pass(fib_bench::program(rounds, None));
        PCT.pass(fib_bench::program(rounds, None));
    }
    let patient = Hunt { schedules: 100_000, ..RANDOM };
    let caught = patient.catch(fib_bench::program(5, Some(fib_bench::Bug::Alternation)));
    assert!(caught.message().ends_with("reach 144"), "{caught}");
}

#[test]
fn three_changes_of_priority_do_not_make_adders_take_turns() {
    PCT.pass(fib_bench::program(5, Some(fib_bench::Bug::Alternation)));
}

#[test]
fn climbers_are_seen_at_the_largest_number_and_at_no_larger_one() {
    for rounds in [5, 20] {
        RANDOM.pass(triangular::program(rounds, None));
        PCT.pass(triangular::program(rounds, None));
    }
    // Whoever draws at random lets main read too early.
    let learning = Hunt { strategy: "ql", ..RANDOM };
    let caught = learning.catch(triangular::program(5, Some(triangular::Bug::Alternation)));
    assert!(caught.message().ends_with("reach 16"), "{caught}");
}

#[test]
fn three_changes_of_priority_do_not_make_climbers_take_turns() {
    PCT.pass(triangular::program(5, Some(triangular::Bug::Alternation)));
}

#[test]
fn a_stack_with_a_lock_gives_each_cell_to_one_task() {
    let few = Hunt { schedules: 500, ..RANDOM };
    few.pass(safe_stack::program(5, None));
    few.pass(safe_stack::program(3, None));
}

#[test]
fn random_finds_the_cell_that_two_of_five_tasks_have() {
    let patient = Hunt { schedules: 100_000, ..RANDOM };
    let caught = patient.catch(safe_stack::program(5, Some(safe_stack::Bug::LockFree)));
    assert!(caught.message().contains("two tasks have the same cell"), "{caught}");
}

/// How many states there are until the bug or to the end, and transitions, and why it ended.
fn states(model: Model, kind: SearchKind, keep_going: bool) -> (u64, u64, Ended) {
    let options = Options { keep_going, shrink: false, ..Options::default() };
    let plan = Plan { search: kind, exact: true, ..Plan::default() };
    let explorer = ExplorerKind::default().build(0);
    let report = strata::explore(Arc::new(model), explorer, plan, options, Arc::new(()));
    let states = report.states.unwrap();
    (states.states, states.transitions, report.ended)
}

#[test]
fn the_model_of_the_stack_has_so_many_states_and_shows_its_bug_among_the_first() {
    let buggy = || Model::new(3, Some(safe_stack::Bug::LockFree));
    assert_eq!(states(buggy(), SearchKind::Bfs, false), (30_302, 79_007, Ended::Bug));
    assert_eq!(states(buggy(), SearchKind::Dfs, true), (121_881, 342_496, Ended::Exhausted));
    let correct = states(Model::new(3, None), SearchKind::Dfs, true);
    assert_eq!(correct, (1_069, 1_856, Ended::Exhausted));
}

#[test]
fn workers_that_are_told_apart_make_more_than_five_times_as_many_states() {
    let apart = Model::new(3, Some(safe_stack::Bug::LockFree)).without_symmetry();
    assert_eq!(states(apart, SearchKind::Bfs, false), (167_517, 436_282, Ended::Bug));
}

#[test]
fn the_model_shows_what_the_tasks_show() {
    // Two tasks cannot be in each other's way: one of two cells always stays on the stack.
    let two = states(Model::new(2, Some(safe_stack::Bug::LockFree)), SearchKind::Bfs, false);
    assert_eq!((two.0, two.2), (229, Ended::Exhausted));
    RANDOM.pass(safe_stack::program(2, Some(safe_stack::Bug::LockFree)));
}
