//! What searches claim, against enumeration: 20,000 random programs for each of them, or as many as
//! `DALLY_PROGRAMS` says, with values and messages, sealed states, steps that fail, every cache,
//! states stored whole and with their explorers, on one thread and on two.

use std::sync::Arc;

use dally_report::text::coverage;
use dally_search::strata::{CachePolicy, Plan, SearchKind};
use dally_search::{Ended, Options, Report};
use fastrand::Rng;

use crate::bugs::{expected, fail_somewhere, found};
use crate::explorers::{ALL, options, plan, search};
use crate::graphs::{Graph, Step, Tree};
use crate::how_many::programs;
use crate::random::{Shape, random_places};

/// Of what kinds the programs and plans were that a search was tried with.
#[derive(Debug, Default)]
struct Tally {
    programs: u64,
    /// Of which the search says that it has seen everything.
    claimed_exhausted: u64,
    /// Of which it must not say so, because of a sealed state or a cache that forgets.
    claimed_less: u64,
    with_bugs: u64,
    with_values: u64,
    with_sealed_states: u64,
    with_cycles: u64,
    /// By the policy of the cache: all, none, stop, replace.
    caches: [u64; 4],
    /// With a cache that had no room for a state.
    caches_that_forgot: u64,
    /// With so little memory that it had to stop.
    stopped_by_memory: u64,
    states_stored_whole: u64,
    explorers_stored: u64,
    on_two_threads: u64,
}

impl Tally {
    /// Counts what was tried, and what was claimed.
    fn count(&mut self, graph: &Graph, plan: &Plan, report: &Report, claims: bool) {
        let places = &graph.places;
        let chooses = |step: &Step| !matches!(step.tree, Tree::To(..) | Tree::Fail(_));
        let caches = [CachePolicy::All, CachePolicy::None, CachePolicy::Stop, CachePolicy::Replace];
        for (one, is_so) in [
            (&mut self.programs, true),
            (&mut self.claimed_exhausted, claims),
            (&mut self.claimed_less, !claims),
            (&mut self.with_bugs, !expected(graph).is_empty()),
            (&mut self.with_values, places.iter().any(|place| place.steps.iter().any(chooses))),
            (&mut self.with_sealed_states, places.iter().any(|place| place.sealed)),
            (&mut self.with_cycles, graph.is_cyclic()),
            (&mut self.states_stored_whole, plan.exact),
            (&mut self.explorers_stored, plan.with_explorer),
            (&mut self.on_two_threads, report.threads == 2),
            (&mut self.caches_that_forgot, report.states.as_ref().unwrap().forgotten > 0),
            (&mut self.stopped_by_memory, report.ended != Ended::Exhausted),
        ] {
            *one += u64::from(is_so);
        }
        for (one, cache) in self.caches.iter_mut().zip(caches) {
            *one += u64::from(plan.cache == cache);
        }
    }

    /// Says what was tried; there must be some of every kind.
    fn tell(&self, search: SearchKind) {
        println!("{search}: {self:?}");
        let Tally { claimed_exhausted, claimed_less, with_bugs, with_values, .. } = *self;
        let Tally { with_sealed_states, with_cycles, states_stored_whole, .. } = *self;
        let kinds = [claimed_exhausted, claimed_less, with_bugs, with_values, with_sealed_states];
        let kinds = kinds.into_iter().chain(self.caches).chain([with_cycles, states_stored_whole]);
        let kinds = kinds.chain([self.explorers_stored, self.on_two_threads]);
        let fewest = kinds.chain([self.caches_that_forgot]).min();
        assert!(fewest >= Some(self.programs / 20), "{search}: {self:?}");
    }
}

/// With less memory than this a cache may forget, and a search may have to stop.
const SMALL: u64 = 1 << 9;

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
    let forgets_at_will = matches!(cache, CachePolicy::Stop | CachePolicy::Replace);
    Plan {
        search,
        cache,
        memory: if forgets_at_will { rng.u64(..SMALL) } else { plan().memory },
        exact: rng.u8(..3) == 0,
        with_explorer: cache == CachePolicy::All && rng.u8(..5) == 0,
        delta: Some(rng.u32(1..=3)),
        ..plan()
    }
}

fn check(search_kind: SearchKind, seed: u64, tally: &mut Tally) {
    let mut rng = Rng::with_seed(seed << 8 | search_kind as u64);
    let graph = random(&mut rng);
    let plan = random_plan(&mut rng, search_kind);
    let (cache, with_explorer) = (plan.cache, plan.with_explorer);
    let who = ALL[rng.usize(..ALL.len())];
    let threads = 1 + usize::from(rng.u8(..4) == 0);
    // A hybrid search that has too little memory goes on by sampling.
    let schedules = 20;
    let options = Options { keep_going: true, shrink: false, seed, schedules, ..options(threads) };
    let report = search(&graph, who, plan.clone(), options);
    let what = || format!("{search_kind}, seed {seed}, {cache:?}: {graph:?}");
    let states = report.states.as_ref().expect("a search of states");
    let stopped = plan.memory < SMALL
        && match search_kind {
            SearchKind::Hybrid => matches!(report.ended, Ended::Memory | Ended::Schedules),
            _ => report.ended == Ended::Memory,
        };
    assert!(stopped || report.ended == Ended::Exhausted, "{}", what());

    let (visited, reachable) = (graph.visited(), graph.reachable());
    assert!(visited.is_subset(&reachable), "{}", what());
    let is_sealed = |&at: &u32| {
        let place = &graph.places[at as usize];
        place.sealed && !place.enabled.is_empty()
    };
    let sealed = visited.iter().any(is_sealed);
    let forgets = cache == CachePolicy::None || states.forgotten > 0;
    let claims = !(stopped || sealed || forgets && graph.is_cyclic());
    assert_eq!(report.is_exhausted(), claims, "{}", what());
    tally.count(&graph, &plan, &report, claims);
    let text = coverage(&report);
    assert_eq!(text.starts_with("exhausted: "), claims, "{text}: {}", what());

    if sealed || stopped {
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

fn check_all(search: SearchKind) {
    let mut tally = Tally::default();
    (0..programs()).for_each(|seed| check(search, seed, &mut tally));
    tally.tell(search);
}

#[test]
fn ses_claims_what_is_true() {
    check_all(SearchKind::Ses);
}

/// Where it need not sample. What its samples claim is in `sampling/hybrid.rs`.
#[test]
fn a_hybrid_search_claims_what_is_true() {
    check_all(SearchKind::Hybrid);
}

#[test]
fn preemption_bounding_claims_what_is_true() {
    check_all(SearchKind::Preemptions);
}

#[test]
fn depth_bounding_claims_what_is_true() {
    check_all(SearchKind::Depth);
}

#[test]
fn depth_first_search_claims_what_is_true() {
    check_all(SearchKind::Dfs);
}

#[test]
fn breadth_first_search_claims_what_is_true() {
    check_all(SearchKind::Bfs);
}
