//! Nested depth-first search and its candidates, which are judged from time to time.

use rustc_hash::FxHashMap;

use super::components::{Judge, Numbers};
use super::fairness::Fairness;
use super::graph::{Graph, Node};
use super::nested::Nested;
use super::property::Property;

/// What a nested search has found and not judged, or not finally: the graph grows.
#[derive(Default)]
pub(crate) struct NestedSearch {
    nested: Nested,
    /// Where cycles may be. A list that grows long beside the graph is dropped: then they may be
    /// anywhere.
    candidates: FxHashMap<Property, Option<Vec<Node>>>,
    /// How many states there were when the candidates were judged last.
    judged: usize,
}

/// Candidates are judged again when the graph has doubled: then all judging together takes no
/// longer than twice what the last takes.
const GROWTH: usize = 2;

/// Longer lists of candidates have at most one state of so many.
const SHARE: usize = 16;
const SHORT: usize = 1024;

/// The fewest states that are worth a judgement before the end.
const FEW: usize = 256;

impl NestedSearch {
    /// A new state is on the stack.
    pub(crate) fn entered(&mut self, node: Node) {
        self.nested.entered(node);
    }

    /// A transition leads to a state that is known.
    pub(crate) fn met(&mut self, graph: &Graph, from: Node, to: Node) {
        let candidates = &mut self.candidates;
        self.nested.met(graph, from, to, |property, node| {
            add(candidates, graph, property, node);
        });
    }

    /// All transitions of a state have been taken. Whether one that these monitors mind is now
    /// certain to be on a cycle.
    pub(crate) fn left(&mut self, graph: &Graph, node: Node, visits: u64) -> bool {
        let (candidates, mut certain) = (&mut self.candidates, false);
        self.nested.left(graph, node, visits, |property, node| {
            add(candidates, graph, property, node);
            certain = true;
        });
        certain
    }

    /// Whether it is time to judge.
    pub(crate) fn is_due(&self, graph: &Graph) -> bool {
        graph.len() >= FEW.max(self.judged * GROWTH) && !self.candidates.is_empty()
    }

    /// Judges the components that the candidates lead to, or `all` there are, for properties that
    /// are still sought. The candidates stay: what does not count now may do so when the graph has
    /// grown.
    pub(crate) fn judge(
        &mut self,
        graph: &Graph,
        fairness: Fairness,
        all: bool,
        is_sought: impl Fn(Property) -> bool,
    ) -> Vec<(Property, Vec<Node>)> {
        self.judged = graph.len();
        self.candidates.retain(|&property, _| is_sought(property));
        let mut properties: Vec<Property> = self.candidates.keys().copied().collect();
        properties.sort_unstable();
        let judged = properties.into_iter().filter_map(|property| {
            let numbers = Numbers::new(graph.len());
            let mut judge = Judge::new(property, fairness, graph, &numbers);
            let mut from = |node| judge.from(node, |node| fairness.admits(graph, property, node));
            let bad = match &self.candidates[&property] {
                Some(candidates) if !all => candidates.iter().find_map(|&node| from(node)),
                _ => (0..graph.len() as Node).find_map(from),
            };
            Some((property, bad?))
        });
        judged.collect()
    }

    /// The bytes that a state takes here, with its part of the candidates.
    pub(crate) fn bytes_a_state(&self) -> usize {
        let states = self.nested.len().max(1);
        let candidates: usize = self.candidates.values().flatten().map(Vec::capacity).sum();
        self.nested.bytes_a_state() + (4 * candidates).div_ceil(states)
    }
}

fn add(
    candidates: &mut FxHashMap<Property, Option<Vec<Node>>>,
    graph: &Graph,
    property: Property,
    node: Node,
) {
    let list = candidates.entry(property).or_insert_with(|| Some(Vec::new()));
    if let Some(some) = list {
        some.push(node);
        if some.len() > SHORT && some.len() > graph.len() / SHARE {
            *list = None;
        }
    }
}
