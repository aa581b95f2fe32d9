//! The figures of a search of states, added up as it goes.

use dally_core::report::{CachePolicy, States, Stratum};

use super::plan::{Plan, SearchKind};
use super::shared_state::ThreadCounters;
use crate::deadline::Stopwatch;

pub(super) fn none_yet(plan: &Plan, explorer: String, replayed: bool) -> States {
    let mut states = States::default();
    states.search = plan.search.to_string();
    states.explorer = explorer;
    states.unit = unit(plan.search).to_owned();
    states.cache = plan.cache;
    states.exact = plan.exact && plan.cache != CachePolicy::None;
    states.with_explorer = plan.with_explorer;
    states.replayed = replayed;
    states
}

/// The singular of what bounds are counted in.
fn unit(search: SearchKind) -> &'static str {
    match search {
        SearchKind::Ses
        | SearchKind::Ss
        | SearchKind::Hybrid
        | SearchKind::Ndfs
        | SearchKind::IterativeNdfs
        | SearchKind::Map
        | SearchKind::Components => "delay",
        SearchKind::Preemptions => "preemption",
        SearchKind::Depth
        | SearchKind::Bfs
        | SearchKind::Dfs
        | SearchKind::Dpor
        | SearchKind::Concolic => "step",
    }
}

/// Resets the figures of states that will be visited again.
pub(super) fn restart(states: &mut States) {
    (states.states, states.cut, states.sealed) = (0, 0, 0);
}

pub(super) fn add(states: &mut States, counters: &ThreadCounters) {
    states.states += counters.states;
    states.transitions += counters.transitions;
    states.executions += counters.executions;
    states.cut += counters.cut;
    states.sealed += counters.sealed;
    states.deepest = states.deepest.max(counters.deepest);
    states.cyclic |= counters.cyclic;
}

pub(super) fn add_stratum(
    states: &mut States,
    bound: u32,
    counters: &ThreadCounters,
    frontier: usize,
    cache_bytes: u64,
    complete: bool,
    clock: &Stopwatch,
) {
    add(states, counters);
    let mut stratum = Stratum::default();
    stratum.bound = (bound < u32::MAX).then_some(bound);
    stratum.states = counters.states;
    stratum.transitions = counters.transitions;
    stratum.frontier = frontier as u64;
    stratum.cache_bytes = cache_bytes;
    stratum.elapsed = clock.elapsed();
    stratum.complete = complete;
    states.strata.push(stratum);
}
