//! The log of a search for cycles: all states and transitions it has been through, what its
//! algorithm makes of them, and the bad cycles that count.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dally_core::{WorkerId, fingerprint};

use super::fairness::Fairness;
use super::graph::{Connected, Edge, Graph, Node, Writer};
use super::labels::Transition;
use super::lasso::{Cycle, closed, cycle};
use super::maps::Maps;
use super::nested_search::NestedSearch;
use super::property::Property;
use super::{components, refinement};
use crate::batch::Shared;
use crate::deadline::Stopwatch;
use crate::strata::{Arrival, Logged, Numbered, Plan, Source};

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
    /// Whether some monitor was hot in some state.
    hot: AtomicBool,
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
}

/// What is known of states since they were forgotten last.
struct Known {
    graph: Graph,
    /// The states whole, if they are stored: their numbers then tell them apart.
    whole: Option<Mutex<Numbered>>,
    algorithm: Algorithm,
}

enum Algorithm {
    Nested(Mutex<NestedSearch>),
    Map(Maps),
}

/// What one thread keeps to write to the log.
#[derive(Default)]
pub(crate) struct LogWriter {
    known: Option<Arc<Known>>,
    restarts: u64,
    writer: Writer,
    /// Kept for its memory.
    raised: Vec<Node>,
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
            hot: AtomicBool::new(false),
            visits: AtomicU64::new(0),
            violated: [const { AtomicU64::new(0) }; 2],
            cycles: Mutex::default(),
            refining: Mutex::default(),
        }
    }

    /// A step has led to a state from this one, by the worker of this place among the enabled; or
    /// it is the first.
    pub(crate) fn arrived(
        &self,
        own: &mut LogWriter,
        from: Option<Source>,
        arrival: &Arrival<'_>,
    ) -> Logged {
        self.refresh(own);
        let LogWriter { known: Some(known), writer, raised, .. } = own else {
            return Logged::NoRoom;
        };
        let acceptance = arrival.system.acceptance();
        if acceptance.waiting() != 0 && !self.hot.load(Relaxed) {
            self.hot.store(true, Relaxed);
        }
        let Some(identity) = known.identity(arrival, acceptance.hot & acceptance.relieved) else {
            return Logged::NoRoom;
        };
        let enabled = arrival.system.enabled();
        let state = known.graph.state(writer, identity, enabled, acceptance);
        let Some((to, new)) = state else { return Logged::NoRoom };
        if new && let Algorithm::Nested(nested) = &known.algorithm {
            lock(nested).entered(to);
        }
        if let Some(Source { node: from, place }) = from {
            let visits = acceptance.visits;
            if visits & !self.visits.load(Relaxed) != 0 {
                self.visits.fetch_or(visits, SeqCst);
            }
            let transition = Transition { visits, ..arrival.transition };
            match known.graph.connect(writer, from, place, to, transition) {
                Connected::By(edge) => self.connected(known, raised, from, edge, new),
                Connected::Apart => {}
                Connected::NoRoom => return Logged::NoRoom,
            }
        }
        if new { Logged::New(to) } else { Logged::Known }
    }

    /// The state of this identity, which no monitor is relieved in coming to, if it is known.
    #[inline]
    pub(crate) fn find(&self, own: &mut LogWriter, identity: u64) -> Option<Node> {
        self.refresh(own);
        own.known.as_ref()?.graph.find(identity)
    }

    /// A step that was not taken leads to this state. It chooses no values, and no monitor minds it
    /// or is relieved in it.
    #[inline]
    pub(crate) fn foreseen(
        &self,
        own: &mut LogWriter,
        from: Source,
        worker: WorkerId,
        to: Node,
    ) -> Logged {
        let LogWriter { known: Some(known), writer, raised, .. } = own else {
            return Logged::NoRoom;
        };
        let transition = Transition { worker, values: &[], choices: &[], places: 0, visits: 0 };
        match known.graph.connect(writer, from.node, from.place, to, transition) {
            Connected::By(edge) => self.connected(known, raised, from.node, edge, false),
            Connected::Apart => {}
            Connected::NoRoom => return Logged::NoRoom,
        }
        Logged::Known
    }

    /// This identity will be looked for soon.
    #[inline]
    pub(crate) fn prefetch(&self, own: &LogWriter, identity: u64) {
        if let Some(known) = &own.known {
            known.graph.prefetch(identity);
        }
    }

    /// It was said before that this identity will be looked for, and now it will.
    #[inline]
    pub(crate) fn prefetch_state(&self, own: &LogWriter, identity: u64) {
        if let Some(known) = &own.known {
            known.graph.prefetch_state(identity);
        }
    }

    /// A transition was added.
    #[inline]
    fn connected(&self, known: &Known, raised: &mut Vec<Node>, from: Node, edge: Edge, new: bool) {
        let graph = &known.graph;
        match &known.algorithm {
            Algorithm::Nested(nested) => {
                let mut nested = lock(nested);
                if !new {
                    nested.met(graph, from, edge.to);
                }
                if nested.is_due(graph) {
                    self.consider(graph, &mut nested);
                }
            }
            Algorithm::Map(maps) => {
                let hot = graph.hot(from) & graph.hot(edge.to);
                for property in self.sought(hot, self.visits.load(SeqCst)) {
                    let closing = maps.of(property).calculate(graph, from, edge, raised);
                    if let Some(closing) = closing
                        && self.fairness == Fairness::None
                    {
                        self.found(graph, property, &closed(graph, property, closing));
                    }
                }
            }
        }
    }

    /// A step from a known state has shown a bug.
    pub(crate) fn failed(&self, own: &mut LogWriter, from: Node, transition: Transition<'_>) {
        self.refresh(own);
        if let Some(known) = &own.known {
            known.graph.failed(from, transition);
        }
    }

    /// Some transitions of a state will be taken later or by another thread, or never.
    pub(crate) fn opened(&self, own: &mut LogWriter, node: Node) {
        self.refresh(own);
        if let Some(known) = &own.known {
            known.graph.opened(node);
        }
    }

    /// A thread has taken all transitions of a state that it will take for now.
    pub(crate) fn left(&self, own: &mut LogWriter, node: Node) {
        self.refresh(own);
        // A thread that was told to stop leaves states before all their transitions are taken.
        if self.shared.halt.load(Relaxed) {
            return;
        }
        let Some(known) = &own.known else { return };
        known.graph.closed(node);
        if let Algorithm::Nested(nested) = &known.algorithm {
            let mut nested = lock(nested);
            let certain = nested.left(&known.graph, node, self.visits.load(Relaxed));
            // A cycle that visits and avoids what it should counts, however much the graph will
            // grow, if no fairness is asked for.
            if certain && self.fairness == Fairness::None {
                self.consider(&known.graph, &mut nested);
            }
        }
    }

    /// How many bytes all of this takes, with what it will take to judge what is known.
    pub(crate) fn bytes(&self) -> u64 {
        let known = lock(&self.known).clone();
        let own = match &known.algorithm {
            Algorithm::Nested(nested) => lock(nested).bytes_a_state() + components::BYTES,
            Algorithm::Map(maps) => {
                let rounds = self.visits.load(Relaxed) != 0;
                let rounds = if rounds { refinement::ROUNDS_BYTES } else { 0 };
                maps.bytes_a_state() + refinement::BYTES + rounds
            }
        };
        let looked_for = self.hot.load(Relaxed) || self.visits.load(Relaxed) != 0;
        let own = if looked_for { own + self.fairness.judging_bytes() } else { 0 };
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
            Algorithm::Nested(nested) => {
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
                    let bad = refinement::bad_component(&known.graph, map, self.fairness, threads);
                    if let Some(component) = bad {
                        self.found(&known.graph, map.property(), &component);
                    }
                }
                known.graph.seen();
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
        !self.hot.load(Relaxed) && self.visits.load(Relaxed) == 0
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

    /// Has a thread write to what is known now.
    #[inline]
    fn refresh(&self, own: &mut LogWriter) {
        let restarts = self.restarts.load(Relaxed);
        if own.known.is_none() || own.restarts != restarts {
            let known = Some(lock(&self.known).clone());
            *own = LogWriter { known, restarts, ..LogWriter::default() };
        }
    }

    /// Judges the candidates of a nested search.
    #[cold]
    fn consider(&self, graph: &Graph, nested: &mut NestedSearch) {
        if self.is_done() {
            return;
        }
        let clock = Stopwatch::start();
        for (property, component) in
            nested.judge(graph, self.fairness, false, |property| self.is_sought(property))
        {
            self.found(graph, property, &component);
        }
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

impl Known {
    fn new(kind: Kind, memory: u64, exact: bool, threads: usize, fairness: Fairness) -> Known {
        Known {
            graph: Graph::new(memory, threads, fairness),
            whole: exact.then(|| Mutex::new(Numbered::new(memory))),
            algorithm: match kind {
                Kind::Nested => Algorithm::Nested(Mutex::default()),
                Kind::Map => Algorithm::Map(Maps::new(memory)),
            },
        }
    }

    /// What a state is known by; `None` if there is no room for it.
    ///
    /// A cycle in which a monitor is relieved is none that it waits in. So a state that is come
    /// to with relief is another than the same state come to without: then to stay in states that
    /// are hot is to stay in transitions that are.
    fn identity(&self, arrival: &Arrival<'_>, relieved: u64) -> Option<u64> {
        let identity = match relieved {
            0 => arrival.identity,
            _ => fingerprint::mix(arrival.identity, relieved),
        };
        let Some(whole) = &self.whole else { return Some(identity) };
        let parts = |part: &mut dyn FnMut(&[u8])| {
            (arrival.parts)(part);
            part(&relieved.to_le_bytes());
        };
        lock(whole).number(identity, parts).map(u64::from)
    }
}
