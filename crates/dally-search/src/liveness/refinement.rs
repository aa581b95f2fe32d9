//! What a map leaves open after a stratum: whether its partitions hold accepting cycles (Desai,
//! Qadeer, Rajamani and Seshia, "Iterative Cycle Detection via Delaying Explorers", Fig. 3, lines 11
//! to 19, and Fig. 5, `RefineMap`).
//!
//! All states of a component have the same maximal accepting predecessor, the *root* of their
//! partition. A root that is in its own partition is on an accepting cycle. A partition without
//! its root may hold one nevertheless: its map is calculated anew, with all that comes from outside
//! left out, which splits it. What is left is judged: for fairness, and by components where so
//! many rounds have not decided.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::components::{Judge, Numbers};
use super::fairness::Fairness;
use super::graph::{Cursor, Graph, Node};
use super::map::{Map, Rank, at_rank, passed};
use super::property::Property;

/// The states with the same maximal accepting predecessor, in the order of their ages; if they are
/// judged and not split, only those that were touched.
struct Partition {
    root: Rank,
    states: Vec<Node>,
}

/// How many times a partition is split before what is left of it is judged. Rounds can take away
/// one state each.
const ROUNDS: u32 = 8;

/// The bytes that a state takes here: in a partition and in the numbers of a judge.
pub(crate) const BYTES: usize = 8;

/// The bytes that a state takes in the maps of rounds, if there are any.
pub(crate) const ROUNDS_BYTES: usize = 8;

/// Refines the map of a property, and judges what that leaves: the states of a component that holds
/// a bad cycle that counts, if there is one. What was not touched since the graph was
/// [seen](Graph::seen) is passed over.
///
/// `numbers` are memory.
pub(crate) fn bad_component(
    graph: &Graph,
    map: &Map,
    fairness: Fairness,
    threads: usize,
    numbers: &mut Numbers,
) -> Option<Vec<Node>> {
    numbers.renew(graph.len());
    let rounds = [Vec::new(), Vec::new()];
    Refinement { graph, map, fairness, rounds, round: 0, numbers }.bad_component(threads)
}

struct Refinement<'a> {
    graph: &'a Graph,
    map: &'a Map,
    fairness: Fairness,
    /// What partitions are gone by in this round, and what the round makes of it. Empty before a
    /// round is needed: at first partitions go by the map itself.
    rounds: [Vec<AtomicU32>; 2],
    round: u32,
    /// All 0 at first.
    numbers: &'a Numbers,
}

impl Refinement<'_> {
    fn bad_component(&mut self, threads: usize) -> Option<Vec<Node>> {
        let mut partitions = self.partitions();
        partitions.retain(|partition| self.touched(partition).next().is_some());
        while !partitions.is_empty() {
            if partitions.iter().any(|partition| self.may_be_split(partition)) {
                // Of states that are in no partition any more nothing must be left.
                let zeros = (0..self.graph.len()).map(|_| AtomicU32::new(0));
                self.rounds[self.round as usize % 2] = zeros.collect();
            }
            let (left, bad) = self.round(&partitions, threads);
            if bad.is_some() {
                return bad;
            }
            partitions = left;
            self.round += 1;
        }
        None
    }

    fn property(&self) -> Property {
        self.map.property()
    }

    /// The states of a partition of which something has changed. A component without one of them is
    /// what it was when it was judged, so that no search need start from the other states.
    fn touched(&self, partition: &Partition) -> impl Iterator<Item = Node> {
        partition.states.iter().copied().filter(|&node| self.graph.is_touched(node))
    }

    /// What partitions go by in this round.
    #[inline]
    fn value(&self, node: Node) -> Rank {
        match self.round {
            0 => self.map.value(self.graph, node),
            round => self.rounds[(round - 1) as usize % 2][node as usize].load(Relaxed),
        }
    }

    /// The partitions of the map.
    fn partitions(&self) -> Vec<Partition> {
        let (admits, value) = (|&node: &Node| self.admits(node), |node| self.value(node));
        match self.splits() {
            true => by_root((0..self.graph.len() as Node).filter(admits), value),
            false => by_root(self.graph.touched().filter(admits), value),
        }
    }

    /// Whether partitions may be split: where every transition is accepting, so is every cycle.
    fn splits(&self) -> bool {
        matches!(self.property(), Property::Visits(_))
    }

    /// Whether it has to be found out by a round whether a partition holds an accepting cycle.
    fn may_be_split(&self, partition: &Partition) -> bool {
        let holds_root = self.is_in(partition.root, at_rank(partition.root));
        !holds_root && self.splits() && self.round < ROUNDS
    }

    #[inline]
    fn is_in(&self, root: Rank, node: Node) -> bool {
        self.value(node) == root && self.admits(node)
    }

    /// Whether a bad cycle that counts can go through a state that has a root: the property
    /// allows it then.
    #[inline]
    fn admits(&self, node: Node) -> bool {
        self.fairness != Fairness::Strong || self.graph.is_complete(node)
    }

    /// Takes all partitions a round further, or judges them. Their states are different, so threads
    /// take them as they come; of the bad components, the first in the order of partitions is the
    /// answer.
    fn round(
        &self,
        partitions: &[Partition],
        threads: usize,
    ) -> (Vec<Partition>, Option<Vec<Node>>) {
        let next = AtomicU32::new(0);
        let done = Mutex::new(Vec::new());
        let work = || {
            loop {
                let number = next.fetch_add(1, Relaxed);
                let Some(partition) = partitions.get(number as usize) else { break };
                let outcome = self.refine_or_judge(partition);
                let is_bad = outcome.1.is_some();
                done.lock().unwrap_or_else(PoisonError::into_inner).push((number, outcome));
                if is_bad {
                    // Those before it are in hand.
                    next.store(partitions.len() as u32, Relaxed);
                }
            }
        };
        let threads = threads.min(partitions.len());
        if threads > 1 {
            std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        } else {
            work();
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|&(number, _)| number);
        let (mut left, mut bad) = (Vec::new(), None);
        for (_, (partitions, component)) in done {
            left.extend(partitions);
            bad = bad.or(component);
        }
        (left, bad)
    }

    fn refine_or_judge(&self, partition: &Partition) -> (Vec<Partition>, Option<Vec<Node>>) {
        let holds_root = self.is_in(partition.root, at_rank(partition.root));
        if !holds_root && !self.has_back_edge(partition) {
            return (Vec::new(), None);
        }
        if self.may_be_split(partition) {
            return (self.refine(partition), None);
        }
        (Vec::new(), self.judge(partition))
    }

    /// Judges the components of a partition.
    fn judge(&self, partition: &Partition) -> Option<Vec<Node>> {
        let judge = Judge::new(self.property(), self.fairness, self.graph, self.numbers);
        let mut judge = if self.round == 0 { judge.by_value() } else { judge };
        let inside = |node: Node| self.is_in(partition.root, node);
        let has_changed = |node: Node| self.graph.is_touched(node);
        self.touched(partition).find_map(|node| judge.from(node, inside, |_| true, has_changed))
    }

    /// Whether a search through a partition comes back to its own stack. If not it has no cycle, and
    /// is discarded (Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle Detection via Delaying
    /// Explorers", section 5.3).
    fn has_back_edge(&self, partition: &Partition) -> bool {
        const ON_STACK: u32 = 1;
        const LEFT: u32 = 2;
        let (mut path, mut entered): (Vec<(Node, Cursor)>, Vec<Node>) = (Vec::new(), Vec::new());
        let mut found = false;
        'states: for start in self.touched(partition) {
            if self.numbers.get(start) != 0 {
                continue;
            }
            self.numbers.set(start, ON_STACK);
            entered.push(start);
            path.push((start, self.graph.cursor(start)));
            while let Some((node, cursor)) = path.last_mut() {
                let Some(to) = self.graph.next_target(cursor) else {
                    self.numbers.set(*node, LEFT);
                    path.pop();
                    continue;
                };
                if !self.is_in(partition.root, to) {
                    continue;
                }
                match self.numbers.get(to) {
                    0 => {
                        self.numbers.set(to, ON_STACK);
                        entered.push(to);
                        path.push((to, self.graph.cursor(to)));
                    }
                    ON_STACK => {
                        found = true;
                        break 'states;
                    }
                    _ => {}
                }
            }
        }
        entered.iter().for_each(|&node| self.numbers.set(node, 0));
        found
    }

    /// Calculates the map of a partition anew, with all that comes from outside left out. The paper
    /// starts from the root, from which all the others can be reached; to start from all of them
    /// comes to the same.
    fn refine(&self, partition: &Partition) -> Vec<Partition> {
        let (graph, property) = (self.graph, self.property());
        let refined = &self.rounds[self.round as usize % 2];
        let value = |node: Node| refined[node as usize].load(Relaxed);
        // The oldest first: what it passes on is hardly ever raised again.
        let mut raised: Vec<Node> = partition.states.iter().rev().copied().collect();
        while let Some(node) = raised.pop() {
            for edge in graph.edges(node) {
                if !self.is_in(partition.root, edge.to) {
                    continue;
                }
                let accepting = property.accepts(graph, edge);
                let (passed, _) = passed(value(node), node, edge.to, accepting);
                if value(edge.to) < passed {
                    refined[edge.to as usize].store(passed, Relaxed);
                    raised.push(edge.to);
                }
            }
        }
        by_root(partition.states.iter().copied(), value)
    }
}

/// Puts states together that have the same root; those without one are left out.
fn by_root(nodes: impl Iterator<Item = Node>, root: impl Fn(Node) -> Rank) -> Vec<Partition> {
    let mut places: FxHashMap<Rank, usize> = FxHashMap::default();
    let mut partitions: Vec<Partition> = Vec::new();
    let mut last = None;
    for node in nodes {
        let root = root(node);
        if root == 0 {
            continue;
        }
        // Neighbours mostly have the same.
        let place = match last {
            Some((same, place)) if same == root => place,
            _ => *places.entry(root).or_insert_with(|| {
                partitions.push(Partition { root, states: Vec::new() });
                partitions.len() - 1
            }),
        };
        last = Some((root, place));
        partitions[place].states.push(node);
    }
    partitions
}
