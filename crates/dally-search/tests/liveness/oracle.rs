//! Which monitors a graph can violate, by trying every set of states; and whether an execution
//! is a lasso, step by step.

use std::collections::BTreeSet;

use dally_core::{Choice, WorkerId};
use dally_search::liveness::Fairness;

use crate::labelled::{Place, Target, Transition};

/// The part of a graph that a search went through.
pub struct Explored<'g> {
    graph: &'g [Place],
    /// The transitions of each state that were taken.
    transitions: Vec<Vec<Transition>>,
    /// The states that can be reached by them, one bit each.
    reached: u32,
    /// The states that were left by one way only, though there may be others.
    sealed: u32,
}

/// The fair cycles of a graph: in how many states each monitor stays hot all the way, and who allows
/// one of the transitions only finitely often.
struct Cycle {
    hot: u64,
    visits: u64,
}

impl<'g> Explored<'g> {
    /// By the transitions, by state and number, that were taken.
    pub fn new(graph: &'g [Place], taken: impl Fn(usize, usize) -> bool) -> Explored<'g> {
        let of = |(at, place): (usize, &Place)| {
            let all = place.transitions().into_iter().enumerate();
            all.filter(|&(number, _)| taken(at, number)).map(|(_, one)| one).collect()
        };
        let transitions: Vec<Vec<Transition>> = graph.iter().enumerate().map(of).collect();
        let (mut reached, mut left) = (0, vec![0]);
        while let Some(at) = left.pop() {
            if reached >> at & 1 == 0 {
                reached |= 1 << at;
                left.extend(transitions[at].iter().filter_map(to));
            }
        }
        let sealed = (0..graph.len()).filter(|&at| graph[at].sealed).map(|at| 1 << at).sum();
        Explored { graph, transitions, reached, sealed }
    }

    /// All of a graph, whatever is sealed.
    pub fn all(graph: &'g [Place]) -> Explored<'g> {
        Explored { sealed: 0, ..Explored::new(graph, |_, _| true) }
    }

    fn is_reached(&self, at: usize) -> bool {
        self.reached >> at & 1 == 1
    }

    /// Whether all is there that can be: no state that can be reached has a way that was not taken.
    pub fn is_whole(&self) -> bool {
        let whole = |at: usize| self.transitions[at].len() == self.graph[at].transitions().len();
        (0..self.graph.len()).filter(|&at| self.is_reached(at)).all(whole)
    }

    /// How many states a search for cycles tells apart, and how many transitions it takes from
    /// them: a state that is come to by a transition in which a monitor, hot by its end, was
    /// relieved is not the same as without.
    pub fn counts(&self) -> (u64, u64) {
        let reached = (0..self.graph.len()).filter(|&at| self.is_reached(at));
        let come_to = reached.flat_map(|at| &self.transitions[at]).filter_map(|one| one.target);
        let told_apart =
            come_to.map(|target| (target.to, target.relieved & self.graph[target.to].hot));
        let states: BTreeSet<(usize, u64)> = told_apart.chain([(0, 0)]).collect();
        let transitions = states.iter().map(|&(at, _)| self.transitions[at].len() as u64).sum();
        (states.len() as u64, transitions)
    }

    /// Whether there is an execution that ends where a monitor is hot.
    pub fn ends_hot(&self) -> bool {
        let ends = |(at, place): (usize, &Place)| {
            self.is_reached(at) && place.enabled.is_empty() && place.hot != 0
        };
        self.graph.iter().enumerate().any(ends)
    }

    /// Whether some execution fails.
    pub fn fails(&self) -> bool {
        let fails = |one: &Transition| one.target.is_none();
        (0..self.graph.len())
            .any(|at| self.is_reached(at) && self.transitions[at].iter().any(fails))
    }

    /// The monitors that some fair cycle violates.
    pub fn violated(&self, fairness: Fairness) -> u64 {
        let waits = (0..2).map(|monitor| 1 << monitor).filter(|&bit| {
            let stays = |target: &Target| target.relieved & bit == 0;
            self.fair_cycles(fairness, stays).iter().any(|cycle| cycle.hot & bit != 0)
        });
        let visits = self.fair_cycles(fairness, |_| true);
        waits.sum::<u64>() | visits.iter().fold(0, |all, cycle| all | cycle.visits)
    }

    /// The fair cycles of transitions that are allowed. A fair execution without end stays in some
    /// set of states in the end and goes through all of them again and again: all sets are tried.
    /// It has finitely many faults, unless nothing is asked of it.
    fn fair_cycles(&self, fairness: Fairness, allowed: impl Fn(&Target) -> bool) -> Vec<Cycle> {
        let states = self.graph.len();
        let counts = |one: &Transition| {
            (fairness == Fairness::None || !one.fault) && one.target.as_ref().is_some_and(&allowed)
        };
        let (mut ahead, mut back) = (vec![0_u32; states], vec![0_u32; states]);
        for (from, all) in self.transitions.iter().enumerate() {
            for to in all.iter().filter(|one| counts(one)).filter_map(to) {
                ahead[from] |= 1 << to;
                back[to] |= 1 << from;
            }
        }
        // What else could be done in a sealed state, and would be owed, is not known.
        let unknown = if fairness == Fairness::Strong { self.sealed } else { 0 };
        let mut cycles = Vec::new();
        for set in (1..1 << states).filter(|set| set & (!self.reached | unknown) == 0) {
            if !(is_connected(set, &ahead) && is_connected(set, &back)) {
                continue;
            }
            let is_in = |at: usize| set >> at & 1 == 1;
            let inside: Vec<&Transition> = (0..states)
                .filter(|&at| is_in(at))
                .flat_map(|at| &self.transitions[at])
                .filter(|one| counts(one) && to(one).is_some_and(is_in))
                .collect();
            if self.is_fair(fairness, set, &inside) {
                let all = (0..states).filter(|&at| is_in(at));
                let hot = all.fold(!0, |hot, at| hot & self.graph[at].hot);
                let visits = inside.iter().filter_map(|one| one.target).map(|target| target.visits);
                cycles.push(Cycle { hot, visits: visits.fold(0, |all, visits| all | visits) });
            }
        }
        cycles
    }

    fn is_fair(&self, fairness: Fairness, set: u32, inside: &[&Transition]) -> bool {
        let mut states = (0..self.graph.len()).filter(|&at| set >> at & 1 == 1);
        match fairness {
            Fairness::None => true,
            Fairness::Weak => {
                let steps = |worker| inside.iter().any(|one| one.worker == worker);
                let mut all = self.graph.iter().flat_map(|place| &place.enabled);
                all.all(|&worker| {
                    worker == WorkerId::FAULTS
                        || steps(worker)
                        || !states.clone().all(|at| self.graph[at].enabled.contains(&worker))
                })
            }
            Fairness::Strong => states.all(|at| {
                let mut all = self.transitions[at].iter();
                all.all(|owed| owed.fault || inside.iter().any(|one| same(one, owed)))
            }),
        }
    }
}

fn to(one: &Transition) -> Option<usize> {
    one.target.map(|target| target.to)
}

fn same(one: &Transition, other: &Transition) -> bool {
    one.worker == other.worker && one.inside == other.inside
}

/// Whether one can go from the first state of a set to all of them, by at least one transition.
fn is_connected(set: u32, next: &[u32]) -> bool {
    let (mut reached, mut left) = (0, 1_u32 << set.trailing_zeros());
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        let new = next[at] & set & !reached;
        reached |= new;
        left = left & !(1 << at) | new & !(1 << at);
    }
    reached == set
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
    let is_step = |choice: &Choice| matches!(choice, Choice::Worker(_));
    for step in choices.chunk_by(|_, next| !is_step(next)) {
        let Choice::Worker(worker) = step[0] else { return Err("a value before a step".into()) };
        let inside = &step[1..];
        let Some(one) = graph[at].take(worker, inside) else {
            return Err(format!("{worker} cannot do {inside:?} in {at}"));
        };
        let Some(target) = one.target else { return Err(format!("{one:?} fails")) };
        at = target.to;
        states.push(at);
        taken.push((one, target));
    }
    if stem >= taken.len() || states[stem] != at {
        return Err(format!("the loop does not close: {states:?} after {stem} steps"));
    }
    let (states, taken) = (&states[stem..], &taken[stem..]);
    let hot = states.iter().fold(!0, |hot, &at| hot & graph[at].hot);
    let hot = taken.iter().fold(hot, |hot, (_, target)| hot & !target.relieved);
    let visits = taken.iter().fold(0, |all, (_, target)| all | target.visits);
    if (hot | visits) >> monitor & 1 == 0 {
        return Err("the loop does not violate the monitor".into());
    }
    if fairness != Fairness::None && taken.iter().any(|(one, _)| one.fault) {
        return Err("the loop takes a fault in every round".into());
    }
    let workers = states.iter().flat_map(|&at| &graph[at].enabled);
    for &worker in workers.filter(|&&worker| worker != WorkerId::FAULTS) {
        let always = states.iter().all(|&at| graph[at].enabled.contains(&worker));
        let steps = taken.iter().any(|(one, _)| one.worker == worker);
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
            if !owed.fault && !taken.iter().any(|(one, _)| same(one, &owed)) {
                return Err(format!("{owed:?} can be done in the loop and is not"));
            }
        }
    }
    Ok(())
}
