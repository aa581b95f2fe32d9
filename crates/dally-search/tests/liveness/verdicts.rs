//! Verdicts on cycles that were wrong once.

use std::sync::Arc;

use dally_core::{BugKind, Tag, WorkerId};
use dally_report::text::coverage;
use dally_search::liveness::Fairness;
use dally_search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally_search::{Ended, Options, Report, StrategyKind, run};

use crate::labelled::{Labelled, Place, Step};
use crate::theorem::to;

const SEARCHES: [SearchKind; 4] =
    [SearchKind::Ndfs, SearchKind::IterativeNdfs, SearchKind::Map, SearchKind::Components];

/// A hot state in which these workers can take these steps.
fn hot(steps: Vec<Step>) -> Place {
    let enabled = (0..steps.len() as u32).map(WorkerId::root).collect();
    Place { enabled, steps, hot: 1, sealed: false }
}

/// A state where it ends well.
fn end() -> Place {
    Place::default()
}

fn flip(place: u64, ways: [Step; 2]) -> Step {
    Step::Value(Tag::Program, place, ways.into())
}

fn searched(graph: Vec<Place>, search: SearchKind, fairness: Fairness) -> Report {
    let program = Arc::new(Labelled::new(&Arc::new(graph)));
    let plan = Plan { search, ..Plan::default() };
    let options = Options { fairness, keep_going: true, ..Options::default() };
    explore(program, RoundRobin::default(), plan, options, Arc::new(()))
}

/// What was found by each search and by random schedules.
fn kinds(graph: &[Place], fairness: Fairness) -> Vec<Vec<BugKind>> {
    let of = |report: Report| report.findings.iter().map(|finding| finding.bug.kind()).collect();
    let mut all: Vec<_> =
        SEARCHES.map(|search| of(searched(graph.to_vec(), search, fairness))).into();
    let program = Arc::new(Labelled::new(&Arc::new(graph.to_vec())));
    let strategy = "random".parse::<StrategyKind>().unwrap().build(0, 300);
    let (schedules, max_steps) = (50, 300);
    let temperature = Some(max_steps);
    let options =
        Options { strategy, schedules, max_steps, temperature, fairness, ..Options::default() };
    all.push(of(run(program, options, Arc::new(()))));
    all
}

#[test]
fn a_first_state_that_is_sealed_is_not_judged_by_what_was_left_out() {
    // Worker 0 goes on, round and round; worker 1 would end it.
    let mut graph = vec![hot(vec![to(1), to(2)]), hot(vec![to(0)]), end()];
    graph[0].sealed = true;
    for search in SEARCHES {
        let report = searched(graph.clone(), search, Fairness::Strong);
        assert_eq!((report.findings.len(), report.ended), (0, Ended::Exhausted), "{search}");
        assert!(!report.is_exhausted(), "{search}");
    }
}

#[test]
fn a_value_chosen_at_one_place_is_not_owed_at_another() {
    let graph = |places: [u64; 2]| {
        let [first, second] = places;
        [hot(vec![flip(first, [to(2), to(1)])]), hot(vec![flip(second, [to(0), to(0)])]), end()]
    };
    // The first flip ends it sooner or later, whatever the second one does.
    let none: Vec<Vec<BugKind>> = vec![Vec::new(); 5];
    assert_eq!(kinds(&graph([7, 8]), Fairness::Strong), none);
    // Two times the same place: it may fall on the wrong side by turns, but chance leaves it.
    let livelock = vec![BugKind::Livelock];
    let mut by_turns = vec![livelock; 4];
    by_turns.push(Vec::new());
    assert_eq!(kinds(&graph([7, 7]), Fairness::Strong), by_turns);
}

#[test]
fn two_values_of_a_step_are_owed_in_all_combinations() {
    // Two coins of one step: it ends if they differ.
    let coins = flip(1, [flip(2, [to(0), to(1)]), flip(2, [to(1), to(0)])]);
    let none: Vec<Vec<BugKind>> = vec![Vec::new(); 5];
    assert_eq!(kinds(&[hot(vec![coins]), end()], Fairness::Strong), none);
}

#[test]
fn a_loop_through_a_state_with_a_failing_step_is_found() {
    // Worker 0 goes round. What worker 1 does fails in one state and goes round in the other.
    let graph = [hot(vec![to(1), Step::Fail(0)]), hot(vec![to(0), to(0)])];
    for search in SEARCHES {
        for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
            let report = searched(graph.to_vec(), search, fairness);
            let kinds: Vec<_> = report.findings.iter().map(|f| f.bug.kind()).collect();
            let both = [BugKind::Panic, BugKind::Livelock];
            assert!(
                both.iter().all(|kind| kinds.contains(kind)),
                "{search}, {fairness}: {kinds:?}"
            );
            // Iterative search counts the steps that it takes again.
            assert!(coverage(&report).starts_with("exhausted: 2 states, "), "{search}");
        }
    }
    // Where it fails, it must be let fail: there is no fair loop.
    let graph = vec![hot(vec![to(1), Step::Fail(0)]), hot(vec![to(0)])];
    for search in SEARCHES {
        let report = searched(graph.clone(), search, Fairness::Strong);
        let kinds: Vec<_> = report.findings.iter().map(|f| f.bug.kind()).collect();
        assert_eq!(kinds, [BugKind::Panic], "{search}");
    }
}

#[test]
fn a_loop_that_takes_a_fault_in_every_round_is_fair_to_nobody() {
    // What is sent is lost every time.
    let lossy = || Step::Value(Tag::Fault, 0, vec![to(1), to(0)]);
    let none: Vec<Vec<BugKind>> = vec![Vec::new(); 5];
    for fairness in [Fairness::Weak, Fairness::Strong] {
        assert_eq!(kinds(&[hot(vec![lossy()]), end()], fairness), none, "{fairness}");
        // The injector goes round by itself.
        let injected = Place { enabled: vec![WorkerId::FAULTS], ..hot(vec![to(0)]) };
        assert_eq!(kinds(&[injected], fairness), none, "{fairness}");
    }
    let all = kinds(&[hot(vec![lossy()]), end()], Fairness::None);
    assert!(all.iter().all(|found| found == &[BugKind::Livelock]), "{all:?}");
}

#[test]
fn a_livelock_is_found_behind_a_fault() {
    let graph =
        [hot(vec![Step::Value(Tag::Fault, 0, vec![to(2), to(1)])]), hot(vec![to(1)]), end()];
    let livelock = vec![BugKind::Livelock];
    assert_eq!(kinds(&graph, Fairness::Weak)[..4], vec![livelock; 4]);
}

#[test]
fn a_livelock_beyond_the_causes_that_are_kept_is_counted_in_the_coverage_line() {
    // A hundred ways to fail, and a hot state that need not be left.
    let ways = (0..100).map(Step::Fail).chain([to(0)]).collect();
    let graph = vec![hot(vec![Step::Value(Tag::Program, 0, ways)])];
    for search in SEARCHES {
        let report = searched(graph.clone(), search, Fairness::None);
        assert_eq!((report.findings.len(), report.further_causes.len()), (100, 1), "{search}");
        let text = coverage(&report);
        assert!(text.ends_with(", bugs of 1 further cause counted and not kept"), "{text}");
    }
}
