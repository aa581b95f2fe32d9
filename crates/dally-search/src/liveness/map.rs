//! Maximal accepting predecessors (Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle Detection
//! via Delaying Explorers", Figs. 3 to 5, after Brim et al.): cycles found without regard to the
//! order in which states are visited, so that what was found out in one stratum serves in the next.
//!
//! States are ordered by age, the oldest is the greatest. Of the accepting predecessors of a
//! state that are known, the oldest is then seldom replaced by one that is found later.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::graph::{Cursor, Edge, Graph, Node};
use super::property::Property;

/// The greatest accepting predecessor of a state, as a rank; 0 is `null` of the paper.
type Rank = u32;

/// The place of a state in the order.
fn rank(node: Node) -> Rank {
    u32::MAX - node
}

/// The maximal accepting predecessors of one property, of all states that are known.
pub(crate) struct Map {
    property: Property,
    map: Vec<Rank>,
    raised: Vec<Node>,
}

/// The bytes that a state takes here, for each property.
pub(crate) const BYTES: usize = size_of::<Rank>();

impl Map {
    pub(crate) fn new(property: Property) -> Map {
        Map { property, map: Vec::new(), raised: Vec::new() }
    }

    /// A transition was added to the graph: passes on what follows from it (Fig. 4,
    /// `CalculateMap`, over stored edges). Answers a state on an accepting cycle, if one shows.
    pub(crate) fn calculate(&mut self, graph: &Graph, from: Node, edge: Edge) -> Option<Node> {
        self.map.resize(graph.len(), 0);
        let mut found = self.pass(graph, from, edge);
        while let Some(node) = self.raised.pop() {
            for edge in graph.edges(node) {
                found = found.or(self.pass(graph, node, edge));
            }
        }
        found
    }

    /// Lines 10 to 21 of Fig. 4 for one transition.
    fn pass(&mut self, graph: &Graph, from: Node, edge: Edge) -> Option<Node> {
        let property = self.property;
        if !property.allows(graph, from) || !property.allows(graph, edge.to) {
            return None;
        }
        let known = self.map[from as usize];
        let accepting = property.accepts(graph, edge);
        let found = (accepting && (known == rank(edge.to) || from == edge.to)).then_some(edge.to);
        let passed = if accepting { known.max(rank(edge.to)) } else { known };
        let target = &mut self.map[edge.to as usize];
        if *target < passed {
            *target = passed;
            self.raised.push(edge.to);
        }
        found
    }

    /// The states that have an accepting predecessor and are admitted, by the greatest one they
    /// have: components are inside these.
    pub(crate) fn partitions(&self, admits: impl Fn(Node) -> bool) -> Vec<Partition> {
        let known = |&node: &Node| self.map[node as usize] != 0 && admits(node);
        let nodes = (0..self.map.len() as u32).filter(known);
        by_rank(nodes, |node| self.map[node as usize])
    }
}

/// The states with the same maximal accepting predecessor.
///
/// The paper keeps their common predecessor too, the root, to start from. It is one of them, and
/// all the others can be reached from it, so starting from all of them comes to the same.
pub(crate) type Partition = Vec<Node>;

/// Puts states together that have the same rank.
fn by_rank(nodes: impl Iterator<Item = Node>, rank_of: impl Fn(Node) -> Rank) -> Vec<Partition> {
    let mut places: FxHashMap<Rank, usize> = FxHashMap::default();
    let mut partitions: Vec<Partition> = Vec::new();
    for node in nodes {
        let root = rank_of(node);
        let place = *places.entry(root).or_insert_with(|| {
            partitions.push(Vec::new());
            partitions.len() - 1
        });
        partitions[place].push(node);
    }
    partitions
}

/// Splits partitions until no accepting cycle can be left in them (Fig. 3, lines 11 to 19, and
/// Fig. 5, `RefineMap`). The states of different partitions are different, so threads take
/// partitions as they come.
pub(crate) struct Refinery<'a> {
    graph: &'a Graph,
    property: Property,
    /// The partition of each state in this round, from 1; 0 if it is in none.
    partition: Vec<AtomicU32>,
    map: Vec<AtomicU32>,
    /// The colours of the search for back edges.
    colour: Vec<AtomicU8>,
}

/// The bytes that a state takes in a [`Refinery`].
pub(crate) const REFINERY_BYTES: usize = 9;

/// What a round of refinement came to.
#[derive(Default)]
pub(crate) struct Refined {
    pub(crate) partitions: Vec<Partition>,
    /// States on accepting cycles, in the order of their partitions.
    pub(crate) candidates: Vec<Node>,
}

const WHITE: u8 = 0;
const GREY: u8 = 1;
const BLACK: u8 = 2;

impl<'a> Refinery<'a> {
    pub(crate) fn new(graph: &'a Graph, property: Property) -> Refinery<'a> {
        let states = graph.len();
        let zeros = || (0..states).map(|_| AtomicU32::new(0)).collect();
        let colour = (0..states).map(|_| AtomicU8::new(WHITE)).collect();
        Refinery { graph, property, partition: zeros(), map: zeros(), colour }
    }

    /// Refines all of these once. A transition inside a component that was `rejected` leads to
    /// no cycle that counts: it is as if it were not accepting.
    pub(crate) fn round(
        &self,
        partitions: &[Partition],
        rejected: &(impl Fn(Node, Node) -> bool + Sync),
        threads: usize,
    ) -> Refined {
        for (number, partition) in partitions.iter().enumerate() {
            for &node in partition {
                self.partition[node as usize].store(number as u32 + 1, Relaxed);
                self.map[node as usize].store(0, Relaxed);
                self.colour[node as usize].store(WHITE, Relaxed);
            }
        }
        let next = AtomicU32::new(0);
        let done = Mutex::new(Vec::new());
        let work = || {
            loop {
                let number = next.fetch_add(1, Relaxed);
                let Some(partition) = partitions.get(number as usize) else { break };
                if let Some(node) = self.back_edge(number + 1, partition, rejected) {
                    let mut refined = self.refine(number + 1, partition, rejected);
                    refined.candidates.push(node);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, refined));
                }
            }
        };
        if threads > 1 && partitions.len() > 1 {
            std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        } else {
            work();
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|&(number, _)| number);
        let mut all = Refined::default();
        for (_, refined) in done {
            all.partitions.extend(refined.partitions);
            all.candidates.extend(refined.candidates);
        }
        for partition in partitions {
            for &node in partition {
                self.partition[node as usize].store(0, Relaxed);
            }
        }
        all
    }

    fn is_in(&self, number: u32, node: Node) -> bool {
        self.partition[node as usize].load(Relaxed) == number
    }

    /// A state at which a search through a partition comes back to its own stack. Without one it
    /// has no cycle, and is discarded (Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle
    /// Detection via Delaying Explorers", section 5.3). With one there is a cycle, which may be
    /// accepting: to judge that now spares rounds that take one state away each.
    fn back_edge(
        &self,
        number: u32,
        partition: &[Node],
        rejected: &impl Fn(Node, Node) -> bool,
    ) -> Option<Node> {
        let graph = self.graph;
        let paint = |node: Node, colour| self.colour[node as usize].store(colour, Relaxed);
        let mut path: Vec<(Node, Cursor)> = Vec::new();
        for &start in partition {
            if self.colour[start as usize].load(Relaxed) != WHITE {
                continue;
            }
            paint(start, GREY);
            path.push((start, graph.cursor(start)));
            while let Some((node, cursor)) = path.last_mut() {
                let Some((edge, rest)) = graph.edge(*cursor) else {
                    paint(*node, BLACK);
                    path.pop();
                    continue;
                };
                *cursor = rest;
                let node = *node;
                if !self.is_in(number, edge.to) || rejected(node, edge.to) {
                    continue;
                }
                match self.colour[edge.to as usize].load(Relaxed) {
                    WHITE => {
                        paint(edge.to, GREY);
                        path.push((edge.to, graph.cursor(edge.to)));
                    }
                    GREY => return Some(edge.to),
                    _ => {}
                }
            }
        }
        None
    }

    /// Calculates the map of a partition anew, with all that comes from outside left out.
    fn refine(
        &self,
        number: u32,
        partition: &[Node],
        rejected: &impl Fn(Node, Node) -> bool,
    ) -> Refined {
        let (graph, property) = (self.graph, self.property);
        let map = |node: Node| self.map[node as usize].load(Relaxed);
        let mut candidates = Vec::new();
        // The oldest first: what it passes on is hardly ever raised again.
        let mut raised: Vec<Node> = partition.iter().rev().copied().collect();
        while let Some(node) = raised.pop() {
            for edge in graph.edges(node) {
                if !self.is_in(number, edge.to) {
                    continue;
                }
                let accepting = property.accepts(graph, edge) && !rejected(node, edge.to);
                if accepting && (map(node) == rank(edge.to) || node == edge.to) {
                    candidates.push(edge.to);
                }
                let passed = if accepting { map(node).max(rank(edge.to)) } else { map(node) };
                if map(edge.to) < passed {
                    self.map[edge.to as usize].store(passed, Relaxed);
                    raised.push(edge.to);
                }
            }
        }
        candidates.dedup();
        let nodes = partition.iter().copied().filter(|&node| map(node) != 0);
        Refined { partitions: by_rank(nodes, map), candidates }
    }
}
