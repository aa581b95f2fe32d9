//! Searches for cycles in a log of transitions, stratum after stratum (Desai, Qadeer, Rajamani and
//! Seshia, "Iterative Cycle Detection via Delaying Explorers", Fig. 3).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dally_core::report::{Cycles, Ended, States};
use dally_core::{Program, System};

use super::depth_first::DepthFirstWorker;
use super::entry::Entry;
use super::plan::{Plan, SearchKind};
use super::search_pool::SearchPool;
use super::ses::{after_stratum, stratum};
use super::shared_state::{SharedState, ThreadCounters};
use super::state_space::StateSpace;
use super::states::{add_stratum, restart};
use super::transition::Taken;
use super::transition_order::TransitionOrder;
use super::visited::Visited;
use crate::batch::Shared;
use crate::deadline::Stopwatch;
use crate::executor::livelock;
use crate::liveness::{Cycle, CycleSearch, Fairness, Property};
use crate::runner::Run;

/// Why a search is not possible with this plan or program, if so.
pub(super) fn obstacle(plan: &Plan, replayed: bool) -> Option<String> {
    let why = if replayed && plan.search.finds_cycles() {
        "a cycle shows where a state is the same as before, and the states of this program \
         cannot be had: they are told apart by what led to them. Run schedules instead: a fair \
         strategy finds monitors that stay hot"
            .to_owned()
    } else {
        plan.check().err()?.to_string()
    };
    Some(format!("The search {} was not done: {why}.", plan.search))
}

/// The transition log of a search for cycles.
pub(super) fn cycle_search(
    plan: &Plan,
    fairness: Fairness,
    threads: usize,
    shared: Arc<Shared>,
) -> Option<Arc<CycleSearch>> {
    match plan.search {
        SearchKind::Ndfs | SearchKind::IterativeNdfs => {
            Some(Arc::new(CycleSearch::nested(plan, fairness, shared)))
        }
        SearchKind::Map => Some(Arc::new(CycleSearch::map(plan, fairness, threads, shared))),
        SearchKind::Components => {
            Some(Arc::new(CycleSearch::components(plan, fairness, threads, shared)))
        }
        _ => None,
    }
}

/// Stratum after stratum until a bad cycle shows or nothing is left.
pub(super) fn search<P: Program + 'static, S: StateSpace, O: TransitionOrder>(
    run: &mut Run<P>,
    pool: &mut SearchPool<S, O>,
    plan: &Plan,
    cycle_search: &CycleSearch,
    (first, mut begun): (Entry<S, O>, ThreadCounters),
    order: &O,
    states: &mut States,
) {
    let shared_state = pool.shared_state.clone();
    let mut delta = plan.delta.unwrap_or(1).max(1);
    let last = plan.delays.unwrap_or(u32::MAX);
    let mut bound = if plan.search == SearchKind::Ndfs { u32::MAX } else { 0 };
    let mut frontier = vec![first];
    let mut calculating = Duration::ZERO;
    // Whether the whole log has been judged for good.
    let mut judged = false;
    while run.ended.is_none() {
        bound = bound.min(last);
        let (clock, refined) = (Stopwatch::start(), cycle_search.refining());
        let counters;
        (frontier, counters) = stratum(run, pool, bound, frontier, &mut begun, |run| {
            if shared_state.is_full() {
                run.end(Ended::Memory);
            }
            run.ended.is_some()
        });
        // A nested search judges while it goes.
        calculating += clock.elapsed().saturating_sub(cycle_search.refining() - refined);
        let complete = !shared_state.is_halted();
        if shared_state.is_full() {
            run.end(Ended::Memory);
        }
        let cut = matches!(run.ended, Some(Ended::Memory | Ended::Time));
        let is_last = cut || frontier.is_empty() || bound >= last;
        if complete || cut {
            // The log of a stratum that will be forgotten is judged first.
            let forgets = plan.search == SearchKind::IterativeNdfs;
            cycle_search.conclude(is_last || forgets, pool.size());
        }
        judged = is_last && (complete || cut);
        add_stratum(
            states,
            bound,
            &counters,
            frontier.len(),
            shared_state.state_bytes(),
            complete,
            &clock,
        );
        report(run, pool, cycle_search);
        if shared_state.is_halted() || shared_state.has_bugs() && !run.options.keep_going {
            break;
        }
        after_stratum(run, frontier.is_empty(), bound >= last);
        if plan.delta.is_none() && is_slow(plan.search, &counters, states) {
            delta = delta.saturating_mul(2);
        }
        bound = bound.saturating_add(delta);
        if plan.search == SearchKind::IterativeNdfs && run.ended.is_none() {
            // A resumed frontier would leave states in another order than one depth-first search.
            cycle_search.restart();
            restart(states);
            shared_state.progress.frontier_bytes.store(0, Ordering::Relaxed);
            let Some(Ok(first)) = pool.begin(run, order.clone()) else { break };
            begun = first.1;
            frontier = vec![first.0];
        }
    }
    // A last stratum that was cut short may not have been judged.
    if !judged && (!shared_state.has_bugs() || run.options.keep_going) {
        cycle_search.conclude(true, pool.size());
        report(run, pool, cycle_search);
    }
    // A search that failed has nothing more to say.
    let failed = run.ended == Some(Ended::Failed) || shared_state.has_fault();
    if cycle_search.is_vacuous() && !failed {
        run.report.notes.push(
            "No monitor was ever hot, nor allowed anything only finitely often: there was nothing \
             that a cycle could violate."
                .into(),
        );
    }
    let mut cycles = Cycles::default();
    cycles.fairness = run.options.fairness.to_string();
    (cycles.edges, cycles.edge_bytes) = cycle_search.edges();
    (cycles.calculating, cycles.refining) = (calculating, cycle_search.refining());
    states.cycles = Some(cycles);
}

/// Whether a stratum has brought less than half as many new states as were known before it. After
/// each stratum all that is known is refined, or visited again: with strata that grow by so much all
/// of that together stays in proportion to the last.
fn is_slow(search: SearchKind, counters: &ThreadCounters, states: &States) -> bool {
    let before = match (search, &states.strata[..]) {
        (SearchKind::IterativeNdfs, [.., before, _]) => before.states,
        (SearchKind::IterativeNdfs, _) => 0,
        _ => states.states - counters.states,
    };
    2 * states.states.saturating_sub(before) < before
}

/// Has the cycles that were found run and reported.
fn report<P: Program + 'static, S: StateSpace, O: TransitionOrder>(
    run: &mut Run<P>,
    pool: &mut SearchPool<S, O>,
    cycle_search: &CycleSearch,
) {
    for cycle in cycle_search.take_cycles() {
        if pool.size() > 0 {
            pool.first(run, |searcher| searcher.retrace(cycle));
        } else {
            run.report.notes.push(
                "A cycle was found that violates a monitor, and no thread was left to go round it."
                    .into(),
            );
        }
    }
}

impl<S: StateSpace, O: TransitionOrder> SharedState<S, O> {
    pub(super) fn state_bytes(&self) -> u64 {
        self.visited.bytes() + self.log.as_ref().map_or(0, |log| log.bytes())
    }
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Follows the path into a bad cycle and once round it, and reports it.
    pub(super) fn retrace(&mut self, cycle: Cycle) {
        self.writer.rewind(0);
        if let Err(bug) = self.space.start(&mut self.writer) {
            return self.found(bug);
        }
        let Cycle { property, steps, stem } = cycle;
        let length = steps.len() - stem;
        let mut states = Vec::new();
        for (place, (worker, mut values)) in steps.into_iter().enumerate() {
            if !matches!(self.take(worker, &mut values), Taken::Stepped) {
                return;
            }
            let system = self.space.system();
            let bad = match property {
                Property::Hot(_) => true,
                Property::Visits(monitor) => system.acceptance().visits >> monitor & 1 == 1,
            };
            if place >= stem && bad {
                states.push(system.monitor(property.monitor()).1);
            }
        }
        let (monitor, _) = self.space.system().monitor(property.monitor());
        let visits = matches!(property, Property::Visits(_));
        let bug = livelock(&monitor, &states, visits, length);
        self.shared_state.found(bug, Some(stem), &self.writer);
    }
}
