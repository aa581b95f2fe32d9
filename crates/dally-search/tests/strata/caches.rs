//! Caches that forget: they claim to have seen everything only where no execution comes back to
//! a state, and they always come to an end.

use std::sync::Arc;

use dally_core::WorkerId;
use dally_report::text::coverage;
use dally_search::strata::{CachePolicy, Plan, SearchKind};
use dally_search::{Ended, Report};
use fastrand::Rng;

use crate::explorers::{ALL, RR, options, plan, search};
use crate::graphs::{Graph, Place, Step, Tree};
use crate::random::Shape;

fn random(rng: &mut Rng, most: u32, acyclic: bool) -> Arc<Graph> {
    let shape = Shape { states: rng.u32(1..=most), acyclic, choosing: 25 };
    Arc::new(Graph::random(rng, shape))
}

/// How many transitions there are on all paths from a state together.
fn on_all_paths(graph: &Graph, at: u32) -> u64 {
    graph.ways(at).into_iter().map(|to| 1 + on_all_paths(graph, to)).sum()
}

#[test]
fn without_a_cache_every_path_of_an_acyclic_program_is_followed() {
    let mut rng = Rng::with_seed(1);
    for who in ALL {
        for delta in 1..=3 {
            for round in 0..40 {
                let graph = random(&mut rng, 8, true);
                let plan = Plan { cache: CachePolicy::None, delta: Some(delta), ..plan() };
                let report = search(&graph, who, plan, options(1 + round % 2 * 2));
                let states = report.states.as_ref().unwrap();
                let paths = on_all_paths(&graph, 0);
                assert_eq!((states.states, states.transitions), (paths + 1, paths), "{graph:?}");
                assert_eq!(graph.visited(), graph.reachable());
                assert_eq!((report.ended, states.is_exhausted()), (Ended::Exhausted, true));
                assert_eq!((states.cyclic, states.cache_bytes), (false, 0));
                assert!(coverage(&report).starts_with("exhausted: "));
            }
        }
    }
}

#[test]
fn without_a_cache_a_program_that_goes_in_circles_ends_and_nothing_is_claimed() {
    let mut rng = Rng::with_seed(2);
    let mut cyclic = 0;
    for who in ALL {
        for delta in 1..=3 {
            for round in 0..40 {
                let graph = random(&mut rng, 5, false);
                let plan = Plan { cache: CachePolicy::None, delta: Some(delta), ..plan() };
                let report = search(&graph, who, plan, options(1 + round % 2 * 2));
                let states = report.states.as_ref().unwrap();
                assert_eq!(report.ended, Ended::Exhausted);
                assert_eq!(graph.visited(), graph.reachable());
                assert_eq!(states.cyclic, graph.is_cyclic(), "{graph:?}");
                assert_eq!(states.is_exhausted(), !graph.is_cyclic());
                let text = coverage(&report);
                assert_eq!(text.starts_with("exhausted: "), !graph.is_cyclic(), "{text}");
                cyclic += u32::from(graph.is_cyclic());
            }
        }
    }
    assert!(cyclic > 400, "{cyclic}");
}

/// Few ways out of each state, so that a cache fills before the frontier does: a cord of states
/// with here and there a way ahead, or also a way back.
fn cord(rng: &mut Rng, length: u32, acyclic: bool) -> Vec<Place> {
    let mut places = Vec::new();
    for at in 0..length {
        let mut place = Place::default();
        let mut worker = |number: u32, to: u32| {
            place.enabled.push(WorkerId::root(number));
            place.steps.push(Step { tree: Tree::To(to, 0), tells: Vec::new() });
        };
        if at + 1 < length {
            worker(0, at + 1);
        }
        if at + 9 < length && rng.u32(..6 * length) == 0 {
            worker(1, at + rng.u32(2..9));
        }
        if !acyclic && at > 9 && rng.u32(..6 * length) == 0 {
            worker(2, at - rng.u32(0..9));
        }
        places.push(place);
    }
    places
}

fn cords(rng: &mut Rng, acyclic: bool) -> Arc<Graph> {
    let cords: Vec<_> = (0..400).map(|_| cord(rng, 60, acyclic)).collect();
    Arc::new(Graph::forest(&cords))
}

fn bounded(search_kind: SearchKind, cache: CachePolicy, exact: bool, memory: u64) -> Plan {
    Plan { search: search_kind, cache, exact, memory, ..Plan::default() }
}

/// What is true of every search with a bounded cache that has gone through all there is.
#[track_caller]
fn assert_honest(graph: &Graph, report: &Report, what: &str) {
    let states = report.states.as_ref().unwrap();
    let reachable = graph.reachable();
    let transitions = graph.transitions(&reachable);
    assert_eq!(report.ended, Ended::Exhausted, "{what}");
    assert_eq!(graph.visited(), reachable, "{what}");
    let claims = states.forgotten == 0 || !graph.is_cyclic();
    assert_eq!(states.is_exhausted(), claims, "{what}");
    let text = coverage(report);
    assert_eq!(text.starts_with("exhausted: "), claims, "{what}: {text}");
    if states.forgotten == 0 {
        assert_eq!(states.states, reachable.len() as u64, "{what}");
        assert_eq!(states.transitions, transitions, "{what}");
    } else {
        assert!(states.transitions >= transitions, "{what}");
    }
}

#[test]
fn a_bounded_cache_goes_on_when_it_is_full() {
    let mut rng = Rng::with_seed(3);
    for acyclic in [true, false] {
        for cache in [CachePolicy::Stop, CachePolicy::Replace] {
            for search_kind in [SearchKind::Ses, SearchKind::Dfs, SearchKind::Preemptions] {
                for exact in [false, true] {
                    let graph = cords(&mut rng, acyclic);
                    let plan = bounded(search_kind, cache, exact, 300_000);
                    let report = search(&graph, RR, plan, options(1));
                    let what =
                        format!("acyclic {acyclic}, {cache:?}, {search_kind}, exact {exact}");
                    assert_honest(&graph, &report, &what);
                    let states = report.states.unwrap();
                    assert!(states.forgotten > 0, "{what}");
                    assert!(states.cache_bytes <= 300_000, "{what}: {}", states.cache_bytes);
                    let plan = bounded(search_kind, cache, exact, 8 << 20);
                    let report = search(&graph, RR, plan, options(3));
                    assert_honest(&graph, &report, &what);
                    assert_eq!(report.states.unwrap().forgotten, 0, "{what}");
                }
            }
        }
    }
}

/// From nothing at all to enough for a small program.
#[test]
fn any_budget_ends_and_claims_no_more_than_it_did() {
    let mut rng = Rng::with_seed(4);
    let (mut full, mut done) = (0, 0);
    for who in ALL {
        for cache in [CachePolicy::All, CachePolicy::None, CachePolicy::Stop, CachePolicy::Replace]
        {
            for round in 0..60 {
                let graph = random(&mut rng, 5, round % 2 == 0);
                let digits = rng.u32(4..16);
                let memory = rng.u64(..1 << digits);
                let plan = bounded(SearchKind::Ses, cache, round % 3 == 0, memory);
                let report = search(&graph, who, plan, options(1 + round % 2 * 2));
                let states = report.states.as_ref().unwrap();
                let text = coverage(&report);
                match report.ended {
                    Ended::Exhausted => {
                        done += 1;
                        assert_eq!(graph.visited(), graph.reachable(), "{text}");
                        let forgets = cache == CachePolicy::None || states.forgotten > 0;
                        assert_eq!(states.is_exhausted(), !(forgets && graph.is_cyclic()));
                    }
                    ended => {
                        full += 1;
                        assert_eq!(ended, Ended::Memory);
                        assert!(text.ends_with(", until the memory was full"), "{text}");
                    }
                }
            }
        }
    }
    assert!(full > 200 && done > 200, "{full} {done}");
}
