//! The log of a search for cycles: all states and transitions it has been through, what its
//! algorithm makes of them, and the bad cycles that count.

mod known;
mod logging;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::components;
use super::fairness::Fairness;
use super::graph::{Graph, Node};
use super::lasso::{Cycle, cycle};
use super::nested_search::NestedSearch;
use super::property::Property;
use super::refinement;
use crate::batch::Shared;
use crate::deadline::Stopwatch;
use crate::strata::Plan;
use known::{Algorithm, Known};
pub(crate) use logging::LogWriter;

/// What all threads of a search for cycles write to.
pub(crate) struct CycleSearch {
    kind: Kind,
    memory: u64,
    exact: bool,
    threads: usize,
    fairness: Fairness,
    /// Whether the search is over with the first cycle.
    one_is_enough: bool,
    shared: Arc<Shared>,
    known: Mutex<Arc<Known>>,
    /// How many times all states were forgotten.
    restarts: AtomicU64,
    /// The monitors that were hot in some state.
    hot: AtomicU64,
    /// The monitors with transitions that they allow only finitely often.
    visits: AtomicU64,
    /// The monitors for which a cycle was found: those that wait in it, and those that mind what
    /// it visits.
    violated: [AtomicU64; 2],
    cycles: Mutex<Vec<Cycle>>,
    refining: Mutex<Duration>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nested,
    Map,
    Components,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CycleSearch {
    /// For nested depth-first search.
    pub(crate) fn nested(plan: &Plan, fairness: Fairness, shared: Arc<Shared>) -> CycleSearch {
        CycleSearch::new(Kind::Nested, plan, fairness, 1, shared)
    }

    /// For maximal accepting predecessors, by so many threads.
    pub(crate) fn map(
        plan: &Plan,
        fairness: Fairness,
        threads: usize,
        shared: Arc<Shared>,
    ) -> CycleSearch {
        CycleSearch::new(Kind::Map, plan, fairness, threads, shared)
    }

    /// For strongly connected components alone, by so many threads.
    pub(crate) fn components(
        plan: &Plan,
        fairness: Fairness,
        threads: usize,
        shared: Arc<Shared>,
    ) -> CycleSearch {
        CycleSearch::new(Kind::Components, plan, fairness, threads, shared)
    }

    fn new(
        kind: Kind,
        plan: &Plan,
        fairness: Fairness,
        threads: usize,
        shared: Arc<Shared>,
    ) -> CycleSearch {
        let (memory, exact) = (plan.memory, plan.exact);
        CycleSearch {
            kind,
            memory,
            exact,
            threads,
            fairness,
            one_is_enough: !shared.keep_going,
            shared,
            known: Mutex::new(Arc::new(Known::new(kind, memory, exact, threads, fairness))),
            restarts: AtomicU64::new(0),
            hot: AtomicU64::new(0),
            visits: AtomicU64::new(0),
            violated: [const { AtomicU64::new(0) }; 2],
            cycles: Mutex::default(),
            refining: Mutex::default(),
        }
    }

    /// How many bytes all of this takes, with what it will take to judge what is known.
    pub(crate) fn bytes(&self) -> u64 {
        let known = lock(&self.known).clone();
        let own = match &known.algorithm {
            Algorithm::Nested { nested, .. } => lock(nested).bytes_a_state(known.graph.len()),
            Algorithm::Map(maps) => {
                let rounds = self.visits.load(Relaxed) != 0;
                let rounds = if rounds { refinement::ROUNDS_BYTES } else { 0 };
                maps.bytes_a_state() + refinement::BYTES + rounds
            }
            Algorithm::Components(_) => components::BYTES,
        };
        let own = if self.is_vacuous() { 0 } else { own + self.fairness.judging_bytes() };
        let whole = known.whole.as_ref().map_or(0, |whole| lock(whole).bytes());
        known.graph.bytes() + whole + (known.graph.len() * own) as u64
    }

    /// A stratum is complete: refines what it has shown, or judges it; `last` if it is the last of
    /// this graph. No thread writes to the log meanwhile.
    pub(crate) fn conclude(&self, last: bool, threads: usize) {
        let known = lock(&self.known).clone();
        if self.is_done() {
            return;
        }
        let clock = Stopwatch::start();
        match &known.algorithm {
            Algorithm::Nested { nested, .. } => {
                let mut nested = lock(nested);
                // A candidate of which not everything is known is not judged under strong
                // fairness, and others of its component were not candidates because it was.
                let all = last && self.fairness == Fairness::Strong;
                for (property, component) in
                    nested.judge(&known.graph, self.fairness, all, |p| self.is_sought(p))
                {
                    self.found(&known.graph, property, &component);
                }
            }
            Algorithm::Map(maps) => {
                let sought = maps.all().filter(|map| self.is_sought(map.property()));
                for map in sought {
                    let (graph, mut numbers) = (&known.graph, lock(&maps.numbers));
                    let bad =
                        refinement::bad_component(graph, map, self.fairness, threads, &mut numbers);
                    if let Some(component) = bad {
                        self.found(&known.graph, map.property(), &component);
                    }
                }
                known.graph.seen();
            }
            Algorithm::Components(numbers) => {
                let (graph, mut numbers) = (&known.graph, lock(numbers));
                for property in Property::all(self.hot.load(Relaxed), self.visits.load(Relaxed)) {
                    if self.is_sought(property)
                        && let Some(component) =
                            components::bad_component(graph, property, self.fairness, &mut numbers)
                    {
                        self.found(graph, property, &component);
                    }
                }
                graph.seen();
            }
        }
        *lock(&self.refining) += clock.elapsed();
    }

    /// Forgets all states. No thread writes to the log meanwhile.
    pub(crate) fn restart(&self) {
        let CycleSearch { kind, memory, exact, threads, fairness, .. } = *self;
        let known = Known::new(kind, memory, exact, threads, fairness);
        *lock(&self.known) = Arc::new(known);
        self.restarts.fetch_add(1, Relaxed);
    }

    /// The cycles that were found and not taken yet.
    pub(crate) fn take_cycles(&self) -> Vec<Cycle> {
        std::mem::take(&mut lock(&self.cycles))
    }

    /// Whether no monitor has been hot, nor allowed something only finitely often: then there is
    /// nothing that a cycle could violate.
    pub(crate) fn is_vacuous(&self) -> bool {
        self.hot.load(Relaxed) | self.visits.load(Relaxed) == 0
    }

    /// How many edges are stored, and the bytes of one.
    pub(crate) fn edges(&self) -> (u64, usize) {
        let graph = &lock(&self.known).clone().graph;
        let edges = graph.edge_count();
        (edges, graph.edge_bytes().div_ceil(edges.max(1)) as usize)
    }

    /// How long partitions were refined, and components judged.
    pub(crate) fn refining(&self) -> Duration {
        *lock(&self.refining)
    }

    /// A transition from this state leads back to the stack, and these monitors are hot in both; or
    /// there are so many states that it may be time to judge.
    fn consider(
        &self,
        graph: &Graph,
        nested: &mut NestedSearch,
        from: Node,
        hot: u64,
        judge_at: &AtomicUsize,
    ) {
        nested.came_back(graph, from, hot);
        if nested.is_due(graph) {
            self.judge(graph, nested, judge_at);
        }
    }

    /// Judges the candidates of a nested search.
    #[cold]
    fn judge(&self, graph: &Graph, nested: &mut NestedSearch, judge_at: &AtomicUsize) {
        if self.is_done() {
            return;
        }
        let clock = Stopwatch::start();
        for (property, component) in
            nested.judge(graph, self.fairness, false, |property| self.is_sought(property))
        {
            self.found(graph, property, &component);
        }
        judge_at.store(nested.judge_at(), Relaxed);
        *lock(&self.refining) += clock.elapsed();
    }

    /// The properties of these monitors for which no cycle was found.
    #[inline]
    fn sought(&self, hot: u64, visits: u64) -> impl Iterator<Item = Property> + use<> {
        let [waited, visited] = &self.violated;
        Property::all(hot & !waited.load(Relaxed), visits & !visited.load(Relaxed))
    }

    fn is_sought(&self, property: Property) -> bool {
        let (kind, monitor) = property.place();
        !self.is_done() && self.violated[kind].load(Relaxed) >> monitor & 1 == 0
    }

    /// Whether nothing is left to look for.
    fn is_done(&self) -> bool {
        self.one_is_enough && self.violated.iter().any(|violated| violated.load(Relaxed) != 0)
    }

    /// These states hold a cycle that counts.
    fn found(&self, graph: &Graph, property: Property, component: &[Node]) {
        let mut cycles = lock(&self.cycles);
        if !self.is_sought(property) {
            return;
        }
        cycles.push(cycle(graph, property, self.fairness, component));
        let (kind, monitor) = property.place();
        self.violated[kind].fetch_or(1 << monitor, Relaxed);
        if self.one_is_enough {
            self.shared.halt.store(true, Relaxed);
        }
    }
}
