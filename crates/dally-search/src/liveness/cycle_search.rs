//! The log of a search for cycles: all states and transitions it has been through, what its
//! algorithm makes of them, and the first bad cycle that counts.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dally_core::fingerprint;
use rustc_hash::FxHashMap;

use super::components::Judge;
use super::fairness::Fairness;
use super::graph::{EDGE_BYTES, Graph, Node, Transition};
use super::lasso::{Cycle, cycle};
use super::map::{self, Map, Refinery};
use super::nested::Nested;
use super::property::Property;
use crate::batch::Shared;
use crate::deadline::Stopwatch;
use crate::strata::{Arrival, Logged, Numbered, Plan, TransitionLog};

/// What all threads of a search for cycles write to.
pub(crate) struct CycleSearch {
    inside: Mutex<CycleFigures>,
    shared: Arc<Shared>,
    bytes: AtomicU64,
}

/// What the threads have written, and what was made of it.
struct CycleFigures {
    graph: Graph,
    /// The states whole, if they are stored: their numbers then tell them apart.
    whole: Option<Numbered>,
    algorithm: Algorithm,
    fairness: Fairness,
    memory: u64,
    /// Where cycles may be that were not judged, or not finally: the graph grows.
    candidates: FxHashMap<Property, Vec<Node>>,
    /// How many edges there were when the candidates were judged last.
    judged: usize,
    /// Whether some monitor was hot in some state.
    hot: bool,
    /// The monitors with transitions that they allow only finitely often.
    visits: u64,
    /// Whether the search is over with the first cycle.
    one_is_enough: bool,
    /// The properties for which a cycle was found.
    violated: Vec<Property>,
    cycles: Vec<Cycle>,
    refining: Duration,
}

enum Algorithm {
    Nested(Nested),
    Map(FxHashMap<Property, Map>),
}

/// Candidates are judged again when the graph has doubled: then all judging together takes no
/// longer than twice what the last takes.
const GROWTH: usize = 2;

/// A graph of fewer edges is judged after every stratum. A larger one is only judged when it has
/// doubled, as within a stratum, and in the end.
const CHEAP: usize = 1 << 16;

/// The fewest edges that are worth a judgement before the end.
const FEW: usize = 256;

impl CycleSearch {
    /// For nested depth-first search.
    pub(crate) fn nested(plan: &Plan, fairness: Fairness, shared: Arc<Shared>) -> CycleSearch {
        CycleSearch::new(Algorithm::Nested(Nested::default()), plan, fairness, shared)
    }

    /// For maximal accepting predecessors.
    pub(crate) fn map(plan: &Plan, fairness: Fairness, shared: Arc<Shared>) -> CycleSearch {
        CycleSearch::new(Algorithm::Map(FxHashMap::default()), plan, fairness, shared)
    }

    fn new(
        algorithm: Algorithm,
        plan: &Plan,
        fairness: Fairness,
        shared: Arc<Shared>,
    ) -> CycleSearch {
        let inside =
            CycleFigures::new(algorithm, fairness, plan.memory, plan.exact, !shared.keep_going);
        CycleSearch { inside: Mutex::new(inside), shared, bytes: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, CycleFigures> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn halt_if_done(&self, inside: &CycleFigures) {
        if inside.is_done() {
            self.shared.halt.store(true, Relaxed);
        }
    }

    /// A stratum is complete: judges all that it has shown, if that is cheap, or if it is the
    /// `last` of this graph.
    pub(crate) fn conclude(&self, last: bool, threads: usize) {
        let mut inside = self.lock();
        let edges = inside.graph.edge_count();
        if inside.is_done() || !last && edges >= CHEAP {
            return;
        }
        let clock = Stopwatch::start();
        // A candidate of which not everything is known is not judged under strong fairness, and
        // others of its component were not candidates because it was.
        let all = last && inside.fairness == Fairness::Strong;
        match inside.algorithm {
            Algorithm::Nested(_) => inside.judge(all),
            Algorithm::Map(_) => inside.refine(threads),
        }
        inside.refining += clock.elapsed();
    }

    /// Forgets all states.
    pub(crate) fn restart(&self) {
        let mut inside = self.lock();
        let algorithm = match inside.algorithm {
            Algorithm::Nested(_) => Algorithm::Nested(Nested::default()),
            Algorithm::Map(_) => Algorithm::Map(FxHashMap::default()),
        };
        let exact = inside.whole.is_some();
        let (violated, refining) = (std::mem::take(&mut inside.violated), inside.refining);
        *inside = CycleFigures {
            violated,
            refining,
            ..CycleFigures::new(
                algorithm,
                inside.fairness,
                inside.memory,
                exact,
                inside.one_is_enough,
            )
        };
    }

    /// The cycles that were found and not taken yet.
    pub(crate) fn take_cycles(&self) -> Vec<Cycle> {
        std::mem::take(&mut self.lock().cycles)
    }

    /// Whether no monitor has been hot, nor allowed something only finitely often: then there is
    /// nothing that a cycle could violate.
    pub(crate) fn is_vacuous(&self) -> bool {
        let inside = self.lock();
        !inside.hot && inside.visits == 0
    }

    /// How many edges are stored, the bytes of one, and how long partitions were refined.
    pub(crate) fn figures(&self) -> (u64, usize, Duration) {
        let inside = self.lock();
        (inside.graph.edge_count() as u64, EDGE_BYTES, inside.refining)
    }
}

impl TransitionLog for CycleSearch {
    fn arrived(&self, from: Option<Node>, arrival: &Arrival<'_>) -> Logged {
        let mut inside = self.lock();
        let logged = inside.arrived(from, arrival);
        self.bytes.store(inside.bytes(), Relaxed);
        self.halt_if_done(&inside);
        logged
    }

    fn opened(&self, node: Node) {
        self.lock().graph.opened(node);
    }

    fn left(&self, node: Node) {
        let mut inside = self.lock();
        inside.left(node, self.shared.halt.load(Relaxed));
        self.halt_if_done(&inside);
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}

impl CycleFigures {
    fn new(
        algorithm: Algorithm,
        fairness: Fairness,
        memory: u64,
        exact: bool,
        one_is_enough: bool,
    ) -> CycleFigures {
        CycleFigures {
            graph: Graph::new(memory),
            whole: exact.then(|| Numbered::new(memory)),
            algorithm,
            fairness,
            memory,
            candidates: FxHashMap::default(),
            judged: 0,
            hot: false,
            visits: 0,
            one_is_enough,
            violated: Vec::new(),
            cycles: Vec::new(),
            refining: Duration::ZERO,
        }
    }

    fn arrived(&mut self, from: Option<Node>, arrival: &Arrival<'_>) -> Logged {
        let system = arrival.system;
        let acceptance = system.acceptance();
        let memory = self.memory;
        self.hot |= acceptance.waiting() != 0;
        // A cycle in which a monitor is relieved is none that it waits in. So a state that is
        // come to with relief is another than the same state come to without: then to stay in
        // states that are hot is to stay in transitions that are.
        let relieved = acceptance.hot & acceptance.relieved;
        let identity = match (&mut self.whole, relieved) {
            (Some(whole), _) => {
                let parts = |part: &mut dyn FnMut(&[u8])| {
                    (arrival.parts)(part);
                    part(&relieved.to_le_bytes());
                };
                whole.number(fingerprint::mix(arrival.identity, relieved), parts).map(u64::from)
            }
            (None, 0) => Some(arrival.identity),
            (None, _) => Some(fingerprint::mix(arrival.identity, relieved)),
        };
        let state = identity
            .and_then(|identity| self.graph.state(identity, system.enabled(), acceptance, memory));
        let Some((to, new)) = state else { return Logged::NoRoom };
        if new && let Algorithm::Nested(nested) = &mut self.algorithm {
            nested.entered(to);
        }
        if let Some(from) = from {
            self.visits |= acceptance.visits;
            let Arrival { worker, values, choices, .. } = *arrival;
            let transition = Transition { worker, values, choices, visits: acceptance.visits };
            if !self.graph.connect(from, to, transition) {
                return Logged::NoRoom;
            }
            self.connected(from, to, new);
        }
        if new { Logged::New(to) } else { Logged::Known }
    }

    /// A transition was added.
    fn connected(&mut self, from: Node, to: Node, new: bool) {
        let CycleFigures { graph, algorithm, candidates, violated, .. } = self;
        let mut certain = false;
        match algorithm {
            Algorithm::Nested(nested) if !new => {
                nested.met(graph, from, to, |property, node| {
                    if !violated.contains(&property) {
                        candidates.entry(property).or_default().push(node);
                    }
                });
            }
            Algorithm::Nested(_) => {}
            Algorithm::Map(maps) => {
                let Some(edge) = graph.edges(from).next() else { return };
                let hot = graph.look_of(from).hot & graph.look_of(to).hot;
                for property in Property::all(hot, self.visits) {
                    if violated.contains(&property) {
                        continue;
                    }
                    let map = maps.entry(property).or_insert_with(|| Map::new(property));
                    if let Some(node) = map.calculate(graph, from, edge) {
                        candidates.entry(property).or_default().push(node);
                        certain = true;
                    }
                }
            }
        }
        self.consider(certain);
    }

    /// The search has left a state.
    fn left(&mut self, node: Node, halted: bool) {
        // A thread that was told to stop leaves states before all their transitions are taken.
        if halted {
            return;
        }
        let CycleFigures { graph, algorithm, candidates, violated, .. } = self;
        graph.closed(node);
        let mut certain = false;
        if let Algorithm::Nested(nested) = algorithm {
            nested.left(graph, node, |property, node| {
                if !violated.contains(&property) {
                    candidates.entry(property).or_default().push(node);
                    certain = true;
                }
            });
        }
        self.consider(certain);
    }

    /// Judges the candidates if it is time, or if one is `certain` to be on a cycle that visits
    /// and avoids what it should, and no fairness is asked for: then it counts, however much the
    /// graph will grow.
    fn consider(&mut self, certain: bool) {
        let edges = self.graph.edge_count();
        let due = edges >= FEW.max(self.judged * GROWTH) && !self.suspected().is_empty();
        if due || certain && self.fairness == Fairness::None {
            // Of most cycles a map tells nothing before it is refined.
            let maps = matches!(self.algorithm, Algorithm::Map(_));
            self.judge(maps && due);
            self.judged = edges;
            if maps {
                // The refinement will find them again.
                self.candidates.clear();
            }
        }
    }

    fn bytes(&self) -> u64 {
        let states = self.graph.len();
        let own = match &self.algorithm {
            Algorithm::Nested(nested) => nested.bytes_a_state(),
            Algorithm::Map(maps) => maps.len() * map::BYTES + map::REFINERY_BYTES,
        };
        // To be judged takes memory that must be there when it is time.
        let judging = if self.hot || self.visits != 0 { self.fairness.judging_bytes() } else { 0 };
        let candidates: usize = self.candidates.values().map(Vec::capacity).sum();
        let whole = self.whole.as_ref().map_or(0, Numbered::bytes);
        self.graph.bytes() + whole + (states * (own + judging) + 4 * candidates) as u64
    }

    /// Whether nothing is left to look for.
    fn is_done(&self) -> bool {
        self.one_is_enough && !self.violated.is_empty()
    }

    /// The properties that some cycle may violate, in order.
    fn suspected(&self) -> Vec<Property> {
        let mut properties: Vec<Property> = match &self.algorithm {
            Algorithm::Nested(_) => self.candidates.keys().copied().collect(),
            Algorithm::Map(maps) => maps.keys().copied().collect(),
        };
        properties.retain(|property| !self.violated.contains(property));
        properties.sort_unstable();
        properties
    }

    /// Judges the components that the candidates lead to, or `all` there are. The candidates stay:
    /// what does not count now may do so when the graph has grown.
    fn judge(&mut self, all: bool) {
        for property in self.suspected() {
            let candidates = self.candidates.get(&property).map_or(&[][..], Vec::as_slice);
            if self.is_done() || candidates.is_empty() && !all {
                continue;
            }
            let graph = &self.graph;
            let mut judge = Judge::new(property, self.fairness, graph);
            let bad = if all {
                (0..graph.len() as u32).find_map(|node| judge.from(node, graph))
            } else {
                candidates.iter().find_map(|&node| judge.from(node, graph))
            };
            if let Some(component) = bad {
                self.found(property, &component);
            }
        }
    }

    /// Refines the partitions of all maps, and judges what shows in them.
    fn refine(&mut self, threads: usize) {
        for property in self.suspected() {
            let Algorithm::Map(maps) = &self.algorithm else { return };
            let Some(map) = maps.get(&property).filter(|_| !self.is_done()) else { continue };
            let graph = &self.graph;
            let mut judge = Judge::new(property, self.fairness, graph);
            // What the map has shown by itself comes first: mostly it is enough.
            let known = self.candidates.get(&property).map_or(&[][..], Vec::as_slice);
            let mut bad = known.iter().find_map(|&node| judge.from(node, graph));
            if bad.is_none() {
                let refinery = Refinery::new(graph, property);
                let mut partitions = map.partitions(|node| judge.admits(graph, node));
                while !partitions.is_empty() && bad.is_none() {
                    let rejected = |one, other| judge.rejects(one, other);
                    let refined = refinery.round(&partitions, &rejected, threads);
                    partitions = refined.partitions;
                    bad = refined.candidates.iter().find_map(|&node| judge.from(node, graph));
                }
            }
            if let Some(component) = bad {
                self.found(property, &component);
            }
        }
    }

    fn found(&mut self, property: Property, component: &[Node]) {
        self.cycles.push(cycle(&self.graph, property, self.fairness, component));
        self.violated.push(property);
    }
}
