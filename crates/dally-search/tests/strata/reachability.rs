//! Theorem 2 of Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems": a
//! search with the full cache ends, has then visited exactly what can be reached, and has taken
//! every transition once. What else searches claim is in `claims.rs`.

use std::sync::Arc;

use dally_report::text::coverage;
use dally_search::strata::{Plan, SearchKind};
use dally_search::{Ended, Report};
use fastrand::Rng;

use crate::explorers::{ALL, RR, options, plan, search};
use crate::graphs::Graph;
use crate::random::{Shape, random_places};

/// How many graphs make a forest.
const TREES: usize = 216;

fn graph(rng: &mut Rng, most: u32) -> Arc<Graph> {
    let shape = Shape { states: rng.u32(1..=most), acyclic: rng.bool(), choosing: 30 };
    Arc::new(Graph::random(rng, shape))
}

fn forest(rng: &mut Rng) -> Arc<Graph> {
    let graphs: Vec<_> = (0..TREES)
        .map(|_| {
            let shape = Shape { states: rng.u32(1..=24), acyclic: rng.bool(), choosing: 30 };
            random_places(rng, shape)
        })
        .collect();
    Arc::new(Graph::forest(&graphs))
}

/// All that the full cache claims, and all that it did.
#[track_caller]
fn assert_exhausted(graph: &Graph, report: &Report, what: &str) {
    let reachable = graph.reachable();
    let transitions = graph.transitions(&reachable);
    let each = u32::from(transitions > 0);
    assert_eq!(graph.visited(), reachable, "{what}: {graph:?}");
    assert_eq!(graph.taken(&reachable), (each, each, transitions), "{what}: {graph:?}");
    let states = report.states.as_ref().unwrap();
    let expected = (reachable.len() as u64, transitions);
    assert_eq!((states.states, states.transitions), expected, "{what}: {graph:?}");
    let last = reachable.iter().filter(|&&at| graph.places[at as usize].enabled.is_empty());
    assert_eq!(states.executions, last.count() as u64, "{what}: {graph:?}");
    assert_eq!((report.ended, states.is_exhausted()), (Ended::Exhausted, true), "{what}");
    assert!(coverage(report).starts_with("exhausted: "), "{what}");
}

#[test]
fn every_explorer_visits_what_can_be_reached_and_takes_every_transition_once() {
    let mut rng = Rng::with_seed(1);
    for who in ALL {
        for delta in 1..=3 {
            for seed in 0..200 {
                let graph = graph(&mut rng, 30);
                let plan = Plan { delta: Some(delta), ..plan() };
                let options = dally_search::Options { seed, ..options(1) };
                let report = search(&graph, who, plan, options);
                assert_exhausted(&graph, &report, &format!("{who:?}, delta {delta}"));
            }
        }
    }
}

#[test]
fn so_do_several_threads() {
    let mut rng = Rng::with_seed(2);
    for who in ALL {
        for delta in 1..=3 {
            for _ in 0..40 {
                let graph = graph(&mut rng, 30);
                let report = search(&graph, who, Plan { delta: Some(delta), ..plan() }, options(3));
                assert_exhausted(&graph, &report, &format!("{who:?}, delta {delta}, 3 threads"));
            }
        }
    }
}

#[test]
fn hundreds_of_programs_at_once_leave_work_for_several_threads() {
    let mut rng = Rng::with_seed(3);
    for who in ALL {
        for delta in 1..=3 {
            let forest = forest(&mut rng);
            for threads in [1, 3] {
                let plan = Plan { delta: Some(delta), ..plan() };
                let report = search(&forest, who, plan, options(threads));
                let what = format!("{who:?}, delta {delta}, {threads} threads");
                assert_exhausted(&forest, &report, &what);
            }
        }
    }
}

#[test]
fn the_other_searches_visit_the_same() {
    let kinds = [SearchKind::Dfs, SearchKind::Bfs, SearchKind::Preemptions, SearchKind::Depth];
    let mut rng = Rng::with_seed(4);
    for search_kind in kinds {
        for delta in 1..=3 {
            let plan = Plan { search: search_kind, delta: Some(delta), ..plan() };
            for round in 0..160 {
                let graph = graph(&mut rng, 30);
                let threads = if round % 8 == 0 { 3 } else { 1 };
                let report = search(&graph, RR, plan.clone(), options(threads));
                let what = format!("{search_kind}, delta {delta}, {threads} threads");
                assert_exhausted(&graph, &report, &what);
            }
            let forest = forest(&mut rng);
            let report = search(&forest, RR, plan.clone(), options(3));
            assert_exhausted(&forest, &report, &format!("{search_kind}, delta {delta}, a forest"));
        }
    }
}

#[test]
fn states_that_are_stored_whole_are_the_same_states() {
    let mut rng = Rng::with_seed(5);
    for who in ALL {
        for threads in [1, 1, 1, 3] {
            for _ in 0..30 {
                let graph = graph(&mut rng, 30);
                let plan = Plan { exact: true, ..plan() };
                let report = search(&graph, who, plan, options(threads));
                assert_exhausted(&graph, &report, &format!("{who:?}, exact, {threads} threads"));
                assert_eq!(report.states.unwrap().expected_omissions, 0.0);
            }
        }
    }
}

/// A state is then visited once for each explorer state that it is come to with.
#[test]
fn states_that_are_stored_with_their_explorers_are_the_same_states() {
    let mut rng = Rng::with_seed(6);
    for who in ALL {
        for delta in 1..=3 {
            for round in 0..60 {
                let graph = graph(&mut rng, 12);
                let exact = round % 3 == 0;
                let plan = Plan { with_explorer: true, exact, delta: Some(delta), ..plan() };
                let report = search(&graph, who, plan, options(1 + round % 2 * 2));
                let reachable = graph.reachable();
                assert_eq!(graph.visited(), reachable, "{who:?}: {graph:?}");
                let states = report.states.as_ref().unwrap();
                assert!(states.states >= reachable.len() as u64);
                assert!(states.transitions >= graph.transitions(&reachable));
                assert_eq!((report.ended, states.is_exhausted()), (Ended::Exhausted, true));
            }
        }
    }
}

/// No stratum is explored twice, so how many strata there are makes no difference.
#[test]
fn the_totals_do_not_depend_on_delta() {
    let mut rng = Rng::with_seed(7);
    for who in ALL {
        let forest = forest(&mut rng);
        let total = |delta| {
            let report = search(&forest, who, Plan { delta: Some(delta), ..plan() }, options(1));
            let states = report.states.unwrap();
            let sum = |of: fn(&dally_search::strata::Stratum) -> u64| -> u64 {
                states.strata.iter().map(of).sum()
            };
            assert_eq!(sum(|stratum| stratum.states), states.states);
            assert_eq!(sum(|stratum| stratum.transitions), states.transitions);
            assert_eq!(states.strata.last().unwrap().frontier, 0);
            assert!(states.strata.iter().all(|stratum| stratum.complete));
            (states.states, states.transitions, states.executions)
        };
        let one = total(1);
        assert_eq!([total(2), total(3), total(50)], [one; 3], "{who:?}");
    }
}
