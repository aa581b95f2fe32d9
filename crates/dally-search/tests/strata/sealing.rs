//! Sealed states: a search follows its explorer's first choice there, spends no delay, and does
//! not claim to have seen what it passed by.

use std::collections::BTreeSet;
use std::sync::Arc;

use dally_report::text::coverage;
use dally_search::Ended;
use dally_search::strata::Plan;
use fastrand::Rng;

use crate::explorers::{ALL, RR, SEARCHES, options, plan, search};
use crate::graphs::{Graph, Place, Tree};
use crate::random::{Shape, random_places};

/// A graph by hand of which these states are sealed.
fn sealed(graph: &Graph, states: &[usize]) -> Arc<Graph> {
    let mut places: Vec<Place> = graph.places.clone();
    states.iter().for_each(|&at| places[at].sealed = true);
    Arc::new(Graph::of(places))
}

/// Worker 0 chooses between 1 and 2, and worker 1 goes to 3; 1 leads to 4 or 5.
fn diamond() -> Arc<Graph> {
    let to = |at| Tree::To(at, 0);
    Graph::by_hand(&[
        &[(0, Tree::Value(vec![to(1), to(2)])), (1, to(3))],
        &[(0, to(4)), (1, to(5))],
        &[],
        &[],
        &[],
        &[],
    ])
}

#[test]
fn a_sealed_state_is_left_by_one_way() {
    let text = |states: &[usize]| {
        let graph = sealed(&diamond(), states);
        let report = search(&graph, RR, plan(), options(1));
        assert_eq!(report.ended, Ended::Exhausted);
        (coverage(&report), graph.visited())
    };
    let (covered, visited) = text(&[]);
    insta::assert_snapshot!(covered, @"exhausted: 6 states, 5 transitions");
    assert_eq!(visited, BTreeSet::from([0, 1, 2, 3, 4, 5]));
    let (covered, visited) = text(&[1]);
    insta::assert_snapshot!(covered, @"nothing is left to try: 5 states, 4 transitions, 1 of them sealed and left by one way only");
    assert_eq!(visited, BTreeSet::from([0, 1, 2, 3, 4]));
    let (covered, visited) = text(&[0]);
    insta::assert_snapshot!(covered, @"nothing is left to try: 4 states, 3 transitions, 1 of them sealed and left by one way only");
    assert_eq!(visited, BTreeSet::from([0, 1, 4, 5]));
    let (covered, visited) = text(&[0, 1]);
    insta::assert_snapshot!(covered, @"nothing is left to try: 3 states, 2 transitions, 2 of them sealed and left by one way only");
    assert_eq!(visited, BTreeSet::from([0, 1, 4]));
}

/// In every state that was visited and is sealed exactly one transition is taken, in every other
/// all of them, by every explorer and every search.
#[test]
fn sealed_states_are_counted_and_left_by_one_way_in_every_search() {
    let mut rng = Rng::with_seed(1);
    for who in ALL {
        for search_kind in SEARCHES {
            for round in 0..40 {
                let shape = Shape { states: rng.u32(1..=20), acyclic: rng.bool(), choosing: 40 };
                let mut places = random_places(&mut rng, shape);
                places.iter_mut().for_each(|place| place.sealed = rng.u8(..4) == 0);
                let graph = Arc::new(Graph::of(places));
                let plan = Plan { search: search_kind, ..plan() };
                let report = search(&graph, who, plan, options(1 + round % 2 * 2));
                let visited = graph.visited();
                let mut sealed_states = 0;
                for &at in &visited {
                    let (least, most, all) = graph.taken(&BTreeSet::from([at]));
                    let place = &graph.places[at as usize];
                    if place.enabled.is_empty() {
                        continue;
                    }
                    if place.sealed {
                        sealed_states += 1;
                        assert_eq!((most, all), (1, 1), "{search_kind}, state {at}: {graph:?}");
                    } else {
                        assert_eq!((least, most), (1, 1), "{search_kind}, state {at}: {graph:?}");
                    }
                }
                let states = report.states.as_ref().unwrap();
                assert_eq!(report.ended, Ended::Exhausted);
                assert_eq!(states.sealed, sealed_states, "{graph:?}");
                assert_eq!(states.is_exhausted(), sealed_states == 0);
            }
        }
    }
}
