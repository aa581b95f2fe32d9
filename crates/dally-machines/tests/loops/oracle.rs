//! Which monitors some fair loop violates, by the strongly connected components.

use dally_core::WorkerId;
use dally_search::liveness::Fairness;

use crate::graph::{State, Step};

/// The monitors that some fair loop violates, one bit each.
pub fn violated(states: &[State], fairness: Fairness) -> u64 {
    let all: Vec<usize> = (0..states.len()).collect();
    let mut violated = 0;
    for bit in [1, 2] {
        let hot = all.iter().copied().filter(|&at| states[at].hot & bit != 0).collect();
        let stays =
            has_fair_loop(states, hot, fairness, &|step| step.relieved & bit == 0, &|_| true);
        let visited = |step: &Step| step.visits & bit != 0;
        let visits = has_fair_loop(states, all.clone(), fairness, &|_| true, &visited);
        violated |= if stays || visits { bit } else { 0 };
    }
    violated
}

/// Whether a fair execution can stay among these states for ever, by steps that are `allowed`,
/// and take one that is `bad` again and again.
fn has_fair_loop(
    states: &[State],
    among: Vec<usize>,
    fairness: Fairness,
    allowed: &dyn Fn(&Step) -> bool,
    bad: &dyn Fn(&Step) -> bool,
) -> bool {
    components(states, &among, allowed).into_iter().any(|component| {
        let is_in = |at: usize| component.binary_search(&at).is_ok();
        let possible: Vec<&Step> = component.iter().flat_map(|&at| &states[at].steps).collect();
        let inside: Vec<&Step> =
            possible.iter().copied().filter(|step| is_in(step.to) && allowed(step)).collect();
        if !inside.iter().any(|step| bad(step)) {
            return false;
        }
        match fairness {
            Fairness::None => true,
            Fairness::Weak => {
                let owed = |worker: &&WorkerId| {
                    **worker != WorkerId::FAULTS
                        && component.iter().all(|&at| states[at].enabled.contains(worker))
                };
                let steps = |worker| inside.iter().any(|step| step.action.worker == worker);
                states[component[0]].enabled.iter().filter(owed).all(|&worker| steps(worker))
            }
            Fairness::Strong => {
                // Where something can be done that is not done inside, no fair execution comes
                // again and again.
                let done = |step: &Step| inside.iter().any(|other| other.action == step.action);
                let is_settled =
                    |at: usize| states[at].steps.iter().all(|step| step.action.fault || done(step));
                let rest: Vec<usize> =
                    component.iter().copied().filter(|&at| is_settled(at)).collect();
                rest.len() == component.len() || has_fair_loop(states, rest, fairness, allowed, bad)
            }
        }
    })
}

/// The strongly connected components of some states, each sorted (Kosaraju's algorithm).
fn components(
    states: &[State],
    among: &[usize],
    allowed: &dyn Fn(&Step) -> bool,
) -> Vec<Vec<usize>> {
    let mut forward = vec![Vec::new(); states.len()];
    let mut backward = vec![Vec::new(); states.len()];
    for &from in among {
        for to in states[from].steps.iter().filter(|step| allowed(step)).map(|step| step.to) {
            if among.binary_search(&to).is_ok() {
                forward[from].push(to);
                backward[to].push(from);
            }
        }
    }
    let mut left = Vec::new();
    let mut seen = vec![false; states.len()];
    among.iter().for_each(|&at| visit(at, &forward, &mut seen, &mut left));
    let mut found = Vec::new();
    let mut seen = vec![false; states.len()];
    for &at in left.iter().rev() {
        let mut component = Vec::new();
        visit(at, &backward, &mut seen, &mut component);
        component.sort_unstable();
        if !component.is_empty() {
            found.push(component);
        }
    }
    found
}

/// Goes depth first to all that was not seen, and lists states as they are left.
fn visit(at: usize, next: &[Vec<usize>], seen: &mut [bool], left: &mut Vec<usize>) {
    if !std::mem::replace(&mut seen[at], true) {
        next[at].iter().for_each(|&to| visit(to, next, seen, left));
        left.push(at);
    }
}
