//! Bugs: found if and only if they can be reached, with a schedule that leads exactly there.

use std::collections::BTreeMap;
use std::sync::Arc;

use dally_core::BugKind;
use dally_report::text::coverage;
use dally_search::strata::{CachePolicy, Plan, SearchKind};
use dally_search::{Ended, Mode, Options, Report, replay};
use fastrand::Rng;

use crate::explorers::{ALL, RR, SEARCHES, options, plan, search};
use crate::graphs::{Graph, Tree};
use crate::random::{Shape, random_places};
use crate::walk::{Walk, failure};

/// A random graph with some transitions that fail, and some states that cannot be left.
pub fn faulty(rng: &mut Rng) -> Arc<Graph> {
    let shape = Shape { states: rng.u32(2..=24), acyclic: rng.bool(), choosing: 30 };
    let mut places = random_places(rng, shape);
    for place in &mut places {
        place.stuck = place.enabled.is_empty() && rng.u8(..3) == 0;
        for step in &mut place.steps {
            if rng.u8(..24) == 0 {
                fail_somewhere(rng, &mut step.tree);
            }
        }
    }
    Arc::new(Graph::of(places))
}

pub fn fail_somewhere(rng: &mut Rng, tree: &mut Tree) {
    match tree {
        Tree::Value(trees) | Tree::Delivery(trees) => {
            let place = rng.usize(..trees.len());
            fail_somewhere(rng, &mut trees[place]);
        }
        _ => *tree = Tree::Fail(rng.u32(..4)),
    }
}

/// Every finding replays to its bug, and its schedule leads there by the graph itself.
#[track_caller]
fn assert_findings_are_real(graph: &Arc<Graph>, report: &Report) {
    for finding in &report.findings {
        match graph.follow(&finding.schedule.choices) {
            Err(way) => assert_eq!(finding.bug.cause(), failure(way).cause(), "{finding:#?}"),
            Ok(at) => {
                assert_eq!(finding.bug.kind(), BugKind::Deadlock, "{finding:#?}");
                assert!(graph.places[at as usize].stuck, "{finding:#?}");
            }
        }
        let walk = Arc::new(Walk(graph.clone()));
        let again = replay(walk, &finding.schedule, Mode::Exact, 1, Options::default().step_time);
        assert_eq!(again.left_at, None);
        assert_eq!(again.bug.as_ref(), Some(&finding.bug));
        assert!(finding.notes.is_empty(), "{finding:#?}");
    }
}

/// How many bugs of each cause can be reached: failures by their way, deadlocks as `None`.
pub fn expected(graph: &Graph) -> BTreeMap<Option<u32>, u64> {
    let reachable = graph.reachable();
    let failures = graph.failures(&reachable).into_iter();
    let mut expected: BTreeMap<_, _> = failures.map(|(way, count)| (Some(way), count)).collect();
    let stuck = reachable.iter().filter(|&&at| graph.places[at as usize].stuck).count() as u64;
    if stuck > 0 {
        expected.insert(None, stuck);
    }
    expected
}

pub fn found(report: &Report) -> BTreeMap<Option<u32>, u64> {
    let way = |message: &str| message.strip_prefix("failed").map(|marks| marks.len() as u32);
    let findings = report.findings.iter();
    findings
        .map(|finding| (way(&dally_report::text::bug(&finding.bug)), finding.occurrences))
        .collect()
}

#[test]
fn a_search_that_goes_on_finds_every_bug_that_can_be_reached_once() {
    let mut rng = Rng::with_seed(1);
    let mut buggy = 0;
    for who in ALL {
        for round in 0..150 {
            let graph = faulty(&mut rng);
            let options = Options { keep_going: true, shrink: false, ..options(1 + round % 2 * 2) };
            let report = search(&graph, who, plan(), options);
            assert_eq!(found(&report), expected(&graph), "{graph:?}");
            assert_eq!(report.ended, Ended::Exhausted);
            let states = report.states.as_ref().unwrap();
            let reachable = graph.reachable();
            let failing: u64 = graph.failures(&reachable).values().sum();
            assert_eq!(states.states, reachable.len() as u64);
            assert_eq!(states.transitions, graph.transitions(&reachable) + failing);
            assert_findings_are_real(&graph, &report);
            buggy += u32::from(!report.findings.is_empty());
        }
    }
    assert!(buggy > 200, "{buggy}");
}

#[test]
fn every_search_and_cache_finds_a_bug_if_there_is_one() {
    let mut rng = Rng::with_seed(2);
    for search_kind in SEARCHES {
        for with_explorer in [false, true] {
            for round in 0..80 {
                let graph = faulty(&mut rng);
                let cache = if with_explorer { CachePolicy::All } else { CachePolicy::Stop };
                let plan = Plan { search: search_kind, with_explorer, cache, ..plan() };
                let report = search(&graph, RR, plan, options(1 + round % 2 * 2));
                let is_buggy = !expected(&graph).is_empty();
                assert_eq!(report.ended == Ended::Bug, is_buggy, "{search_kind}: {graph:?}");
                assert_eq!(report.findings.len(), usize::from(is_buggy));
                let text = coverage(&report);
                assert_eq!(text.ends_with(", up to the first bug"), is_buggy, "{text}");
                assert_findings_are_real(&graph, &report);
            }
        }
    }
}

/// A breadth-first search finds a bug by as few steps as there can be.
#[test]
fn breadth_first_finds_the_shortest_way_to_a_bug() {
    let to = |at| Tree::To(at, 0);
    let graph = Graph::by_hand(&[
        &[(0, to(1)), (1, to(3))],
        &[(0, to(2))],
        &[(0, to(3))],
        &[(0, Tree::Value(vec![to(0), Tree::Fail(0)]))],
    ]);
    let options = || Options { shrink: false, ..options(1) };
    let steps = |search_kind| {
        let report = search(&graph, RR, Plan { search: search_kind, ..plan() }, options());
        report.findings[0].schedule.steps()
    };
    assert_eq!(steps(SearchKind::Dfs), 4);
    assert_eq!(steps(SearchKind::Bfs), 2);
}

/// Two delays lead to the bug and no fewer: one to step worker 1 first, one for its second value.
#[test]
fn a_bug_is_found_in_the_stratum_of_its_delays() {
    let to = |at| Tree::To(at, 0);
    let graph = Graph::by_hand(&[
        &[(0, to(1)), (1, Tree::Value(vec![to(1), to(2)]))],
        &[],
        &[(0, Tree::Fail(0))],
    ]);
    for (bound, ended) in [(0, Ended::Bound), (1, Ended::Bound), (2, Ended::Bug)] {
        let report = search(&graph, RR, Plan { delays: Some(bound), ..plan() }, options(1));
        assert_eq!(report.ended, ended, "bound {bound}");
        if let Some(finding) = report.findings.first() {
            let delays = finding.delays.as_ref().unwrap();
            assert_eq!((delays.count, delays.minimal), (2, true));
        }
    }
}

/// A state in which nobody can step from the start.
#[test]
fn a_program_can_be_stuck_or_done_from_the_start() {
    let stuck = crate::graphs::Place { stuck: true, ..Default::default() };
    let graph = Arc::new(Graph::of(vec![stuck]));
    let report = search(&graph, RR, plan(), options(1));
    assert_eq!((report.ended, report.findings[0].bug.kind()), (Ended::Bug, BugKind::Deadlock));
    let graph = Graph::by_hand(&[&[]]);
    let report = search(&graph, RR, plan(), options(1));
    assert_eq!(coverage(&report), "exhausted: 1 state, 0 transitions");
}
