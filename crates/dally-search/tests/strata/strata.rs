//! Strata against the composition of a program and an explorer, enumerated by brute force (paper
//! Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems", section 2):
//! with explorers stored beside states, the stratum of bound `d` is what can be reached by
//! executions with at most `d` delays.

use std::collections::BTreeSet;
use std::sync::Arc;

use dally_core::WorkerId;
use dally_search::strata::{Explorer, Plan, RoundRobin, RunToCompletion, SearchKind, Stepped};
use fastrand::Rng;

use crate::explorers::{Youngest, options, plan, search_by};
use crate::graphs::{Graph, Tell, Tree, leaves};
use crate::random::Shape;

/// A state of the composition: where the program is, the explorer, and whom it has heard of.
#[derive(Clone)]
struct Composed<E> {
    at: u32,
    explorer: E,
    known: BTreeSet<WorkerId>,
}

impl<E: Explorer> Composed<E> {
    fn first(graph: &Graph, mut explorer: E) -> Composed<E> {
        let enabled = &graph.places[0].enabled;
        explorer.reseed(0);
        // The surroundings of a program come after the program.
        let (outside, inside): (Vec<_>, Vec<_>) =
            enabled.iter().partition(|worker| worker.is_environment());
        inside.into_iter().chain(outside).for_each(|worker| explorer.started(worker, "Walker"));
        Composed { at: 0, explorer, known: enabled.iter().copied().collect() }
    }

    /// After a step of a worker to a state.
    fn after(&self, graph: &Graph, worker: usize, to: u32) -> Composed<E> {
        let before = &graph.places[self.at as usize];
        let now = &graph.places[to as usize].enabled;
        let missing = |from: &[WorkerId], of: &[WorkerId]| -> Vec<WorkerId> {
            of.iter().copied().filter(|worker| !from.contains(worker)).collect()
        };
        let (woken, blocked) = (missing(&before.enabled, now), missing(now, &before.enabled));
        let mut composed = Composed { at: to, ..self.clone() };
        let (mut sent, mut hints) = (Vec::new(), Vec::new());
        for tell in &before.steps[worker].tells {
            match *tell {
                Tell::Sent(to) => sent.push(to),
                Tell::Hinted => hints.push("turn".to_owned()),
                Tell::Halted(gone) => {
                    if !now.contains(&gone) && composed.known.remove(&gone) {
                        composed.explorer.finished(gone);
                    }
                }
            }
        }
        for &worker in &woken {
            if composed.known.insert(worker) {
                composed.explorer.started(worker, "Walker");
            }
        }
        composed.explorer.stepped(&Stepped {
            worker: before.enabled[worker],
            enabled: now,
            sent: &sent,
            woken: &woken,
            blocked: &blocked,
            hints: &hints,
        });
        composed
    }

    /// All states on executions from here with at most so many delays: a delay puts a worker off,
    /// or takes the next value.
    fn within(&self, graph: &Graph, delays: u32, visited: &mut BTreeSet<u32>) {
        visited.insert(self.at);
        let place = &graph.places[self.at as usize];
        let mut late = self.clone();
        for n in 0..(place.enabled.len() as u32).min(delays + 1) {
            if n > 0 {
                late.explorer.delay(&place.enabled);
            }
            let next = late.explorer.next(&place.enabled).unwrap();
            let worker = next.place_in(&place.enabled).unwrap();
            leaves(&place.steps[worker].tree, n, &mut |tree, cost| {
                if let &Tree::To(to, _) = tree
                    && cost <= delays
                {
                    late.after(graph, worker, to).within(graph, delays - cost, visited);
                }
            });
        }
    }
}

fn compare<E: Explorer>(explorer: &E, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut partial = 0;
    for round in 0..150 {
        let shape = Shape { states: rng.u32(2..=14), acyclic: true, choosing: 30 };
        let graph = Arc::new(Graph::random(&mut rng, shape));
        for bound in 0..=4 {
            let mut expected = BTreeSet::new();
            Composed::first(&graph, explorer.clone()).within(&graph, bound, &mut expected);
            let plan = Plan { with_explorer: true, delays: Some(bound), ..plan() };
            let report = search_by(&graph, explorer.clone(), plan, options(1 + round % 3));
            assert_eq!(graph.visited(), expected, "bound {bound}: {graph:?}");
            let completed = report.states.unwrap().completed().unwrap();
            assert!(completed <= bound);
            partial += u32::from(expected != graph.reachable());
        }
    }
    assert!(partial > 100, "{partial}");
}

#[test]
fn strata_of_round_robin_are_all_executions_with_so_many_delays() {
    compare(&RoundRobin::default(), 1);
}

#[test]
fn strata_of_run_to_completion_are_all_executions_with_so_many_delays() {
    compare(&RunToCompletion::default(), 2);
}

#[test]
fn strata_of_an_explorer_by_hand_are_all_executions_with_so_many_delays() {
    compare(&Youngest::default(), 3);
}

/// All states on executions from one with at most so many preemptions, where the `k`-th value costs
/// `k` times the price. A worker of the program that could go on is preempted by whoever steps next;
/// timers and faults are not.
fn preempted(
    graph: &Graph,
    (at, last): (u32, Option<WorkerId>),
    left: u32,
    price: u32,
    visited: &mut BTreeSet<u32>,
) {
    visited.insert(at);
    let place = &graph.places[at as usize];
    for (&worker, step) in place.enabled.iter().zip(&place.steps) {
        let preempts = last.is_some_and(|last| last != worker && place.enabled.contains(&last));
        leaves(&step.tree, 0, &mut |tree, values| {
            let cost = u32::from(preempts) + price * values;
            if let &Tree::To(to, _) = tree
                && cost <= left
            {
                let last = (!worker.is_environment()).then_some(worker);
                preempted(graph, (to, last), left - cost, price, visited);
            }
        });
    }
}

#[test]
fn strata_of_preemptions_are_all_executions_with_so_many_and_values_have_their_price() {
    let mut rng = Rng::with_seed(5);
    let (mut partial, mut dearer) = (0, 0);
    for round in 0..200 {
        let shape = Shape { states: rng.u32(2..=14), acyclic: true, choosing: 40 };
        let graph = Arc::new(Graph::random(&mut rng, shape));
        for bound in 0..=2 {
            let [free, priced] = [true, false].map(|free_values| {
                let mut expected = BTreeSet::new();
                preempted(&graph, (0, None), bound, u32::from(!free_values), &mut expected);
                let (search, delays, with_explorer) = (SearchKind::Preemptions, Some(bound), true);
                let plan = Plan { search, delays, with_explorer, free_values, ..plan() };
                graph.forget();
                search_by(&graph, RoundRobin::default(), plan, options(1 + round % 2));
                assert_eq!(graph.visited(), expected, "bound {bound}: {graph:?}");
                expected
            });
            partial += u32::from(free != graph.reachable());
            dearer += u32::from(priced != free);
        }
    }
    assert_eq!((partial, dearer), (19, 118));
}

/// Without explorers in the cache a stratum is a part of that, and the states of the first stratum
/// are those of the execution without delays.
#[test]
fn strata_of_states_alone_are_within_those_of_states_with_explorers() {
    let mut rng = Rng::with_seed(4);
    for _ in 0..200 {
        let shape = Shape { states: rng.u32(2..=14), acyclic: true, choosing: 30 };
        let graph = Arc::new(Graph::random(&mut rng, shape));
        for bound in 0..=3 {
            let mut all = BTreeSet::new();
            let explorer = RunToCompletion::default();
            Composed::first(&graph, explorer.clone()).within(&graph, bound, &mut all);
            search_by(&graph, explorer, Plan { delays: Some(bound), ..plan() }, options(1));
            let visited = graph.visited();
            assert!(visited.is_subset(&all), "bound {bound}: {graph:?}");
            assert!(bound > 0 || visited == all);
        }
    }
}

/// A bound that rises by more than 1 can come to a state by more delays than it takes, and is then
/// at its end sooner: a part of the stratum again.
#[test]
fn strata_of_a_bound_that_rises_faster_are_within_those_of_one_that_rises_by_1() {
    let mut rng = Rng::with_seed(9);
    let mut smaller = 0;
    for _ in 0..1_000 {
        let shape = Shape { states: rng.u32(2..=14), acyclic: true, choosing: 30 };
        let graph = Arc::new(Graph::random(&mut rng, shape));
        let visited = |delta| {
            let (with_explorer, delays) = (true, Some(2));
            let plan = Plan { with_explorer, delays, delta: Some(delta), ..plan() };
            search_by(&graph, RunToCompletion::default(), plan, options(1));
            graph.visited()
        };
        let (one, two) = (visited(1), visited(2));
        assert!(two.is_subset(&one), "{graph:?}");
        smaller += u32::from(two != one);
    }
    assert!((1..50).contains(&smaller), "{smaller}");
}
