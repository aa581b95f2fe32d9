//! Which monitors a graph can violate, by trying every set of states; and whether an execution
//! is a lasso, step by step.

use dally_core::{Choice, WorkerId};
use dally_search::liveness::Fairness;

use crate::labelled::{Inside, Place, Transition};

/// The states that can be reached.
fn reachable(graph: &[Place]) -> Vec<bool> {
    let mut reached = vec![false; graph.len()];
    let mut left = vec![0];
    while let Some(at) = left.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            left.extend(graph[at].transitions().iter().map(|one| one.target.to));
        }
    }
    reached
}

/// Whether there is an execution that ends where this monitor is hot.
pub fn ends_hot(graph: &[Place]) -> bool {
    let reached = reachable(graph);
    graph
        .iter()
        .zip(reached)
        .any(|(place, there)| there && place.enabled.is_empty() && place.hot != 0)
}

/// The monitors that some fair cycle violates.
pub fn violated(graph: &[Place], fairness: Fairness) -> u64 {
    let waits = (0..2).map(|monitor| 1 << monitor).filter(|&bit| {
        let stays = |one: &Transition| one.target.relieved & bit == 0;
        fair_cycles(graph, fairness, stays).iter().any(|(hot, _)| hot & bit != 0)
    });
    let visits = fair_cycles(graph, fairness, |_| true);
    waits.sum::<u64>() | visits.iter().fold(0, |all, (_, visits)| all | visits)
}

/// For each fair cycle of transitions that are allowed, the monitors that are hot in all of its
/// states and those that allow one of its transitions only finitely often. A fair execution
/// without end stays in some set of states in the end and goes through all of them again and
/// again: all sets are tried.
fn fair_cycles(
    graph: &[Place],
    fairness: Fairness,
    allowed: impl Fn(&Transition) -> bool,
) -> Vec<(u64, u64)> {
    let reached = reachable(graph);
    let transitions: Vec<Vec<Transition>> = graph.iter().map(Place::transitions).collect();
    let mut cycles = Vec::new();
    for set in 1_u32..1 << graph.len() {
        let is_in = |at: usize| set >> at & 1 == 1;
        let states: Vec<usize> = (0..graph.len()).filter(|&at| is_in(at)).collect();
        if !states.iter().all(|&at| reached[at]) {
            continue;
        }
        let inside: Vec<(usize, &Transition)> = states
            .iter()
            .flat_map(|&at| transitions[at].iter().map(move |one| (at, one)))
            .filter(|(_, one)| is_in(one.target.to) && allowed(one))
            .collect();
        if !is_connected(&states, &inside) {
            continue;
        }
        let fair = match fairness {
            Fairness::None => true,
            Fairness::Weak => {
                let always = |worker: &&WorkerId| {
                    **worker != WorkerId::FAULTS
                        && states.iter().all(|&at| graph[at].enabled.contains(worker))
                };
                let steps = |worker: &WorkerId| inside.iter().any(|(_, one)| one.worker == *worker);
                graph[states[0]].enabled.iter().filter(always).all(steps)
            }
            Fairness::Strong => states.iter().flat_map(|&at| &transitions[at]).all(|owed| {
                owed.worker == WorkerId::FAULTS
                    || owed.inside == Inside::Fault
                    || inside.iter().any(|(_, one)| same(one, owed))
            }),
        };
        if fair {
            let hot = states.iter().fold(!0, |hot, &at| hot & graph[at].hot);
            let visits = inside.iter().fold(0, |all, (_, one)| all | one.target.visits);
            cycles.push((hot, visits));
        }
    }
    cycles
}

fn same(one: &Transition, other: &Transition) -> bool {
    one.worker == other.worker && one.inside == other.inside
}

/// Whether one can go from every state to every state, by at least one transition.
fn is_connected(states: &[usize], inside: &[(usize, &Transition)]) -> bool {
    let from = |start: usize, forward: bool| {
        let mut reached = vec![];
        let mut left = vec![start];
        while let Some(at) = left.pop() {
            for (from, one) in inside {
                let (from, to) =
                    if forward { (*from, one.target.to) } else { (one.target.to, *from) };
                if from == at && !reached.contains(&to) {
                    reached.push(to);
                    left.push(to);
                }
            }
        }
        states.iter().all(|state| reached.contains(state))
    };
    from(states[0], true) && from(states[0], false)
}

/// Checks that these choices lead into a loop and once round it, and that the loop violates this
/// monitor and is fair. `stem` is the number of steps before the loop.
pub fn check_lasso(
    graph: &[Place],
    choices: &[Choice],
    stem: usize,
    monitor: usize,
    fairness: Fairness,
) -> Result<(), String> {
    let mut at = 0;
    let (mut states, mut taken) = (vec![0], Vec::new());
    let mut rest = choices.iter().copied().peekable();
    while let Some(choice) = rest.next() {
        let Choice::Worker(worker) = choice else { return Err("a value before a step".into()) };
        let inside = rest.next_if(|choice| !matches!(choice, Choice::Worker(_)));
        let Some(one) = graph[at].take(worker, inside) else {
            return Err(format!("{worker} cannot do {inside:?} in {at}"));
        };
        at = one.target.to;
        states.push(at);
        taken.push(one);
    }
    if stem >= taken.len() || states[stem] != at {
        return Err(format!("the loop does not close: {states:?} after {stem} steps"));
    }
    let (states, taken) = (&states[stem..], &taken[stem..]);
    let hot = states.iter().fold(!0, |hot, &at| hot & graph[at].hot);
    let hot = taken.iter().fold(hot, |hot, one| hot & !one.target.relieved);
    let visits = taken.iter().fold(0, |all, one| all | one.target.visits);
    if (hot | visits) >> monitor & 1 == 0 {
        return Err("the loop does not violate the monitor".into());
    }
    let workers = states.iter().flat_map(|&at| &graph[at].enabled);
    for &worker in workers.filter(|&&worker| worker != WorkerId::FAULTS) {
        let always = states.iter().all(|&at| graph[at].enabled.contains(&worker));
        let steps = taken.iter().any(|one| one.worker == worker);
        let owed = match fairness {
            Fairness::None => false,
            Fairness::Weak => always,
            Fairness::Strong => true,
        };
        if owed && !steps {
            return Err(format!("{worker} can step in the loop and does not"));
        }
    }
    if fairness == Fairness::Strong {
        for owed in states.iter().flat_map(|&at| graph[at].transitions()) {
            let exempt = owed.worker == WorkerId::FAULTS || owed.inside == Inside::Fault;
            if !exempt && !taken.iter().any(|one| same(one, &owed)) {
                return Err(format!("{owed:?} can be done in the loop and is not"));
            }
        }
    }
    Ok(())
}
