//! Stratified exhaustive search: stratum after stratum (Desai, Qadeer and Seshia, "Systematic
//! Testing of Asynchronous Reactive Systems", Fig. 5, `SES`).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dally_core::Program;
use dally_core::report::{Ended, States};

use super::entry::Entry;
use super::plan::{Plan, SearchKind};
use super::search_pool::{Make, SearchPool};
use super::shared_state::{SharedState, ThreadCounters};
use super::state_space::StateSpace;
use super::states::{add, add_stratum};
use super::transition_order::{Fixed, TransitionOrder};
use super::visited::Visited;
use crate::choice_log::Activity;
use crate::deadline::Stopwatch;
use crate::options::Reached;
use crate::runner::Run;

/// Searches from the first state, which `begun` counts. Returns the frontier for a hybrid search.
pub(super) fn strata<P: Program + 'static, S: StateSpace, O: TransitionOrder>(
    run: &mut Run<P>,
    pool: &mut SearchPool<S, O>,
    plan: &Plan,
    (first, mut begun): (Entry<S, O>, ThreadCounters),
    order: &O,
    states: &mut States,
) -> Vec<Entry<S, O>> {
    let shared_state = pool.shared_state.clone();
    let hybrid = plan.search == SearchKind::Hybrid;
    shared_state.root.store(first.identity, Ordering::Relaxed);
    let delta = plan.delta.unwrap_or(if plan.search == SearchKind::Depth { 5 } else { 1 }).max(1);
    let mut bound = match plan.search {
        SearchKind::Dfs => u32::MAX,
        SearchKind::Depth => delta,
        _ => 0,
    };
    let last = plan.delays.unwrap_or(u32::MAX);
    let mut frontier = vec![first];
    let search = format!("{}({})", plan.search, order.name());
    if !plan.resume.is_empty() {
        // The search that left these entries has counted the first state.
        begun = ThreadCounters::default();
        frontier = resumed(run, pool, plan, search.clone(), order);
        // The strata before the first one that has an entry are done.
        bound = bound.max(frontier.iter().map(|entry| entry.next_cost()).min().unwrap_or(0));
    }
    while run.ended.is_none() {
        bound = bound.min(last);
        let clock = Stopwatch::start();
        let counters;
        (frontier, counters) = stratum(run, pool, bound, frontier, &mut begun, |run| {
            let spent = hybrid && nearly_spent(run, &shared_state);
            if shared_state.is_full() && !spent {
                run.end(Ended::Memory);
            }
            spent || run.ended.is_some()
        });
        // A stratum may be over before `enough` was asked once.
        let enough = shared_state.is_halted() || hybrid && nearly_spent(run, &shared_state);
        let hands_over = hybrid
            && enough
            && run.ended.is_none()
            && !shared_state.has_bugs()
            && !shared_state.has_fault()
            && !frontier.is_empty();
        if shared_state.is_full() && !hands_over {
            run.end(Ended::Memory);
        }
        let complete = !shared_state.is_halted();
        add_stratum(
            states,
            bound,
            &counters,
            frontier.len(),
            shared_state.visited.bytes(),
            complete,
            &clock,
        );
        if hands_over {
            shared_state.resume();
            return frontier;
        }
        if shared_state.is_halted() {
            break;
        }
        after_stratum(run, frontier.is_empty(), bound >= last);
        bound = bound.saturating_add(delta);
    }
    // There may have been no stratum at all, which would have counted it.
    add(states, &begun);
    if plan.keep_frontier {
        let (description, seed) = (&run.shared.description, run.options.seed);
        for entry in frontier {
            run.shared.sink.left(entry.written(description, &search, seed));
        }
    }
    Vec::new()
}

/// The entries that a plan resumes. One that cannot be resumed ends the run.
fn resumed<P: Program + 'static, S: StateSpace, O: TransitionOrder>(
    run: &mut Run<P>,
    pool: &mut SearchPool<S, O>,
    plan: &Plan,
    search: String,
    order: &O,
) -> Vec<Entry<S, O>> {
    let (written, order) = (plan.resume.clone(), order.clone());
    let restored = pool.first(run, move |searcher| {
        let restored: Result<Vec<_>, _> = written
            .iter()
            .map(|written| searcher.restore(written, &search, order.clone()))
            .collect();
        searcher.writer.now(Activity::Nothing);
        restored
    });
    match restored {
        Some(Ok(entries)) => return entries,
        Some(Err(error)) => run.report.notes.push(format!("The search was not done: {error}.")),
        None => {}
    }
    run.end(Ended::Failed);
    Vec::new()
}

/// Has all threads search from these entries within a bound; returns what is left for the next
/// stratum, and the counts. `enough` is asked from time to time whether to stop.
pub(super) fn stratum<P: Program + 'static, S: StateSpace, O: TransitionOrder>(
    run: &mut Run<P>,
    pool: &mut SearchPool<S, O>,
    bound: u32,
    entries: Vec<Entry<S, O>>,
    begun: &mut ThreadCounters,
    enough: impl Fn(&mut Run<P>) -> bool,
) -> (Vec<Entry<S, O>>, ThreadCounters) {
    let reached = run.reached.unwrap_or_default();
    run.reached = Some(Reached { bound, frontier: entries.len() as u64, ..reached });
    pool.shared_state.frontier.fill(entries);
    let (mut left, mut counters) = pool.search_within(run, bound, enough);
    left.extend(pool.shared_state.frontier.drain());
    // The first state counts in the first stratum.
    counters.add(&std::mem::take(begun));
    (left, counters)
}

/// Ends the run after a stratum if nothing is left to do or no further stratum was asked for.
pub(super) fn after_stratum<P: Program + 'static>(run: &mut Run<P>, empty: bool, last: bool) {
    if empty {
        run.ended = Some(Ended::Exhausted);
    } else if last {
        run.ended = Some(Ended::Bound);
    } else {
        // A stratum may be over before the limits were checked once.
        run.check_limits();
    }
}

/// Whether a hybrid search has used so much of its memory or time that it should go on by sampling.
fn nearly_spent<P: Program, S: StateSpace, O: TransitionOrder>(
    run: &Run<P>,
    shared_state: &SharedState<S, O>,
) -> bool {
    let late = |limit: Duration| run.clock.is_past(limit.mul_f64(0.75));
    shared_state.is_nearly_full() || run.options.time.is_some_and(late)
}

/// Whether an execution can come back to a state that it has been in. This searches depth first, so
/// that a state that is found again is either on the path or completed. A search by strata cannot
/// tell: there a state may be known and not yet gone on from.
pub(super) fn has_cycle<P: Program + 'static, S: StateSpace>(
    run: &mut Run<P>,
    make: Make<P, S>,
    plan: &Plan,
) -> bool {
    let plan = Plan { exact: false, with_explorer: false, ..plan.clone() };
    let mut shared_state = SharedState::new(&plan, 0, 1, run.shared.clone());
    shared_state.ignores_bugs = true;
    let mut pool = SearchPool::<S, Fixed>::start_threads(run, Arc::new(shared_state), make, 1);
    let Some(Ok((first, _))) = pool.begin(run, Fixed::Free) else { return true };
    pool.shared_state.root.store(first.identity, Ordering::Relaxed);
    pool.shared_state.frontier.fill(vec![first]);
    let (_, counters) =
        pool.search_within(run, u32::MAX, |run| run.ended != Some(Ended::Exhausted));
    counters.cyclic || pool.shared_state.is_halted()
}
