//! Nested depth-first search and its candidates, which are judged from time to time.

use rustc_hash::FxHashMap;

use super::components::{self, Judge, Numbers};
use super::fairness::Fairness;
use super::graph::{Graph, Node};
use super::nested::Nested;
use super::property::{Property, bits};

/// What a nested search has found and not judged, or not finally: the graph grows.
#[derive(Default)]
pub(crate) struct NestedSearch {
    nested: Nested,
    /// Where cycles may be. A list that grows long beside the graph is dropped: then they may be
    /// anywhere.
    candidates: FxHashMap<Property, Option<Vec<Node>>>,
    /// The monitors whose list of candidates was dropped: all states are judged for them.
    anywhere: u64,
    /// How many states there were when the candidates were judged last.
    judged: usize,
    /// What judges know of components that are settled.
    numbers: FxHashMap<Property, Numbers>,
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
    /// A transition from this state leads back to the stack, and these monitors are hot in both.
    pub(crate) fn came_back(&mut self, graph: &Graph, from: Node, hot: u64) {
        for it in bits(hot) {
            if !add(&mut self.candidates, graph, Property::Hot(it), from) {
                self.anywhere |= 1 << it;
            }
        }
    }

    /// The monitors of which it need not be told any more where they are hot.
    pub(crate) fn anywhere(&self) -> u64 {
        self.anywhere
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

    /// How many states there must be for candidates to be judged.
    pub(crate) fn judge_at(&self) -> usize {
        FEW.max(self.judged * GROWTH)
    }

    /// Whether it is time to judge.
    pub(crate) fn is_due(&self, graph: &Graph) -> bool {
        graph.len() >= self.judge_at() && !self.candidates.is_empty()
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
            let numbers = self.numbers.entry(property).or_default();
            numbers.renew(graph.len());
            let mut judge = Judge::new(property, fairness, graph, numbers);
            let inside = |node| fairness.admits(graph, property, node);
            let may_grow = |node| graph.is_on_stack(node);
            let mut from = |node| judge.from(node, inside, may_grow, |_| true);
            let bad = match &self.candidates[&property] {
                Some(candidates) if !all => candidates.iter().find_map(|&node| from(node)),
                _ => (0..graph.len() as Node).find_map(from),
            };
            Some((property, bad?))
        });
        judged.collect()
    }

    /// The bytes that each of so many states takes here, with its part of the candidates.
    pub(crate) fn bytes_a_state(&self, states: usize) -> usize {
        let candidates: usize = self.candidates.values().flatten().map(Vec::capacity).sum();
        let numbers = self.candidates.len().max(1) * components::BYTES;
        self.nested.bytes_a_state() + numbers + (4 * candidates).div_ceil(states.max(1))
    }
}

/// Adds a candidate; whether there is still a list of them.
fn add(
    candidates: &mut FxHashMap<Property, Option<Vec<Node>>>,
    graph: &Graph,
    property: Property,
    node: Node,
) -> bool {
    let list = candidates.entry(property).or_insert_with(|| Some(Vec::new()));
    if let Some(some) = list {
        some.push(node);
        if some.len() > SHORT && some.len() > graph.len() / SHARE {
            *list = None;
        }
    }
    list.is_some()
}
