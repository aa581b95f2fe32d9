//! The same again: with one thread all of the report, with several what does not depend on who
//! comes first.

use std::sync::Arc;
use std::time::Duration;

use dally_search::strata::{CachePolicy, ExplorerKind, Plan};
use dally_search::{Options, Report};
use fastrand::Rng;

use crate::explorers::{ALL, RR, RTC, SEARCHES, Who, options, plan, search};
use crate::graphs::{Graph, Tree};
use crate::random::{Shape, random_places};

/// A report without its times.
fn timeless(mut report: Report) -> Report {
    report.elapsed = Duration::ZERO;
    for stratum in report.states.iter_mut().flat_map(|states| &mut states.strata) {
        stratum.elapsed = Duration::ZERO;
    }
    report
}

fn forest(rng: &mut Rng, trees: usize) -> Graph {
    let graphs: Vec<_> = (0..trees)
        .map(|_| {
            let shape = Shape { states: 12, acyclic: rng.bool(), choosing: 30 };
            random_places(rng, shape)
        })
        .collect();
    Graph::forest(&graphs)
}

#[test]
fn one_thread_gives_the_same_report_every_time() {
    let mut rng = Rng::with_seed(1);
    for who in ALL {
        for search_kind in SEARCHES {
            let mut places = forest(&mut rng, 27).places;
            // Some bugs, of three kinds, so that there are findings to compare.
            for _ in 0..6 {
                let place = rng.usize(1..places.len());
                if let Some(step) = places[place].steps.first_mut() {
                    step.tree = Tree::Fail(rng.u32(..3));
                }
            }
            let graph = Arc::new(Graph::of(places));
            for keep_going in [false, true] {
                let again = || {
                    let plan = Plan { search: search_kind, ..plan() };
                    let options = Options { seed: 7, keep_going, ..options(1) };
                    timeless(search(&graph, who, plan, options))
                };
                assert_eq!(again(), again(), "{who:?}, {search_kind}");
            }
        }
    }
}

/// Reports with a replacing cache depend on the order of visits to the last detail.
#[test]
fn one_thread_forgets_the_same_states_every_time() {
    let mut rng = Rng::with_seed(2);
    for cache in [CachePolicy::Stop, CachePolicy::Replace] {
        let graph = Arc::new(forest(&mut rng, 64));
        let again = || {
            let plan = Plan { cache, delays: Some(3), memory: 8_000, ..plan() };
            timeless(search(&graph, RTC, plan, options(1)))
        };
        assert_eq!(again(), again(), "{cache:?}");
    }
}

#[test]
fn strata_of_states_with_their_explorers_are_the_same_with_any_number_of_threads() {
    let mut rng = Rng::with_seed(3);
    let probabilistic = Who::Bundled(ExplorerKind::Probabilistic);
    for who in [RR, RTC, probabilistic, Who::Youngest] {
        let graph = Arc::new(forest(&mut rng, 27));
        for bound in 0..5 {
            let run = |threads| {
                let plan = Plan { with_explorer: true, delays: Some(bound), ..plan() };
                let report = timeless(search(&graph, who, plan, options(threads)));
                let states = report.states.unwrap();
                let strata: Vec<_> = states
                    .strata
                    .iter()
                    .map(|stratum| (stratum.bound, stratum.states, stratum.transitions))
                    .collect();
                (graph.visited(), report.ended, strata)
            };
            let one = run(1);
            assert_eq!([run(2), run(3)], [one.clone(), one], "{who:?}, bound {bound}");
        }
    }
}

/// A seed makes other strata for explorers that draw, and the same states in the end.
#[test]
fn a_seed_decides_on_strata_and_not_on_what_can_be_reached() {
    let graph = Arc::new(forest(&mut Rng::with_seed(4), 64));
    for kind in [ExplorerKind::Probabilistic, ExplorerKind::Random] {
        let run = |seed| {
            let report = search(&graph, Who::Bundled(kind), plan(), Options { seed, ..options(1) });
            let states = report.states.unwrap();
            let strata: Vec<u64> = states.strata.iter().map(|stratum| stratum.states).collect();
            (states.states, states.transitions, strata)
        };
        let (one, other) = (run(1), run(2));
        assert_eq!((one.0, one.1), (other.0, other.1));
        assert_ne!(one.2, other.2, "{kind}");
    }
}
