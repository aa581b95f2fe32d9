//! What searches claim, against enumeration: 20,000 random programs for each of them, with values and
//! messages, sealed states, steps that fail, every cache, states stored whole and with their
//! explorers, on one thread and on two.

use std::sync::Arc;

use dally_report::text::coverage;
use dally_search::strata::{CachePolicy, Plan, SearchKind};
use dally_search::{Ended, Options};
use fastrand::Rng;

use crate::bugs::{expected, fail_somewhere, found};
use crate::explorers::{ALL, options, plan, search};
use crate::graphs::Graph;
use crate::random::{Shape, random_places};

const PROGRAMS: u64 = 20_000;

fn random(rng: &mut Rng) -> Arc<Graph> {
    let shape = Shape { states: rng.u32(1..=8), acyclic: rng.bool(), choosing: 30 };
    let mut places = random_places(rng, shape);
    let (fails, seals) = (rng.u8(..4) == 0, rng.u8(..4) == 0);
    for place in &mut places {
        place.sealed = seals && rng.u8(..4) == 0;
        for step in &mut place.steps {
            if fails && rng.u8(..8) == 0 {
                fail_somewhere(rng, &mut step.tree);
            }
        }
    }
    Arc::new(Graph::of(places))
}

fn random_plan(rng: &mut Rng, search: SearchKind) -> Plan {
    let forgetful = [CachePolicy::None, CachePolicy::Stop, CachePolicy::Replace];
    let cache = if rng.bool() { CachePolicy::All } else { forgetful[rng.usize(..3)] };
    Plan {
        search,
        cache,
        exact: rng.u8(..3) == 0,
        with_explorer: cache == CachePolicy::All && rng.u8(..5) == 0,
        delta: Some(rng.u32(1..=3)),
        ..plan()
    }
}

fn check(search_kind: SearchKind, seed: u64) {
    let mut rng = Rng::with_seed(seed << 8 | search_kind as u64);
    let graph = random(&mut rng);
    let plan = random_plan(&mut rng, search_kind);
    let (cache, with_explorer) = (plan.cache, plan.with_explorer);
    let who = ALL[rng.usize(..ALL.len())];
    let threads = 1 + usize::from(rng.u8(..4) == 0);
    let options = Options { keep_going: true, shrink: false, seed, ..options(threads) };
    let report = search(&graph, who, plan, options);
    let what = || format!("{search_kind}, seed {seed}, {cache:?}: {graph:?}");
    let states = report.states.as_ref().expect("a search of states");
    assert_eq!(report.ended, Ended::Exhausted, "{}", what());

    let (visited, reachable) = (graph.visited(), graph.reachable());
    assert!(visited.is_subset(&reachable), "{}", what());
    let is_sealed = |&at: &u32| {
        let place = &graph.places[at as usize];
        place.sealed && !place.enabled.is_empty()
    };
    let sealed = visited.iter().any(is_sealed);
    let forgets = cache == CachePolicy::None || states.forgotten > 0;
    let claims = !(sealed || forgets && graph.is_cyclic());
    assert_eq!(report.is_exhausted(), claims, "{}", what());
    let text = coverage(&report);
    assert_eq!(text.starts_with("exhausted: "), claims, "{text}: {}", what());

    if sealed {
        return;
    }
    let transitions = graph.transitions(&reachable);
    let failures: u64 = graph.failures(&reachable).values().sum();
    let (least, most, _) = graph.taken(&reachable);
    assert_eq!((visited, least > 0), (reachable.clone(), transitions > 0), "{}", what());
    assert_eq!(found(&report).into_keys().collect::<Vec<_>>(), causes(&graph), "{}", what());
    if !forgets && !with_explorer {
        let counts = (states.states, states.transitions);
        assert_eq!(counts, (reachable.len() as u64, transitions + failures), "{}", what());
        assert_eq!(found(&report), expected(&graph), "{}", what());
        // What is found is gone through again.
        assert!(most <= 1 || !report.findings.is_empty(), "{}", what());
    }
}

/// The causes of all bugs that can be reached.
fn causes(graph: &Graph) -> Vec<Option<u32>> {
    expected(graph).into_keys().collect()
}

#[test]
fn ses_claims_what_is_true() {
    (0..PROGRAMS).for_each(|seed| check(SearchKind::Ses, seed));
}

#[test]
fn a_hybrid_search_claims_what_is_true() {
    (0..PROGRAMS).for_each(|seed| check(SearchKind::Hybrid, seed));
}

#[test]
fn preemption_bounding_claims_what_is_true() {
    (0..PROGRAMS).for_each(|seed| check(SearchKind::Preemptions, seed));
}

#[test]
fn depth_bounding_claims_what_is_true() {
    (0..PROGRAMS).for_each(|seed| check(SearchKind::Depth, seed));
}

#[test]
fn depth_first_search_claims_what_is_true() {
    (0..PROGRAMS).for_each(|seed| check(SearchKind::Dfs, seed));
}

#[test]
fn breadth_first_search_claims_what_is_true() {
    (0..PROGRAMS).for_each(|seed| check(SearchKind::Bfs, seed));
}
