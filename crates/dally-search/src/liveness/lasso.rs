//! From a component that holds a bad cycle to one execution: a way to it, and once round.

use std::collections::VecDeque;

use dally_core::WorkerId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::fairness::Fairness;
use super::graph::{Edge, Graph, Node};
use super::map::Closing;
use super::property::Property;
use crate::strata::Value;

/// A step as the graph knows it.
pub(crate) type Step = (WorkerId, Vec<Value>);

/// A way from the first state into a cycle, and once round it.
#[derive(Clone, Debug)]
pub(crate) struct Cycle {
    pub(crate) property: Property,
    pub(crate) steps: Vec<Step>,
    /// How many of the steps lead to the cycle.
    pub(crate) stem: usize,
}

/// A short way to a component and round it: it visits what the property wants visited, and is
/// fair. Steps are left out later, by shrinking; here it is enough that the way is no detour.
pub(crate) fn cycle(
    graph: &Graph,
    property: Property,
    fairness: Fairness,
    component: &[Node],
) -> Cycle {
    let inside: FxHashSet<Node> = component.iter().copied().collect();
    let is_inside = |node: Node| inside.contains(&node);
    let mut path = if is_inside(0) {
        Vec::new()
    } else {
        let all = |node| graph.edges(node).chain(graph.faults(node));
        way(all, 0, |_| true, |edge| is_inside(edge.to)).unwrap_or_default()
    };
    let stem = path.len();
    let start = path.last().map_or(0, |edge: &Edge| edge.to);
    let mut tour = ComponentWalk { graph, start, at: start, path: Vec::new() };
    tour.visit(is_inside, |edge| property.accepts(graph, edge));
    match fairness {
        Fairness::None => {}
        Fairness::Weak => {
            let mut possible = true;
            while possible && let Some(worker) = tour.first_owed() {
                possible = tour.visit(is_inside, |edge| {
                    let enabled = &graph.look_of(edge.to).enabled;
                    graph.label_of(edge).worker == worker || !enabled.contains(&worker)
                });
            }
        }
        Fairness::Strong => {
            let mut owed: Vec<u32> = Vec::new();
            for &node in component {
                owed.extend(graph.actions(node));
            }
            owed.sort_unstable();
            owed.dedup();
            for action in owed {
                let takes = |edge: Edge| graph.label_of(edge).action == Some(action);
                if !tour.path.iter().any(|&edge| takes(edge)) {
                    tour.visit(is_inside, takes);
                }
            }
        }
    }
    if tour.at != start {
        tour.visit(is_inside, |edge| edge.to == start);
    }
    path.extend(tour.path);
    let steps = path.into_iter().map(|edge| {
        let label = graph.label_of(edge);
        (label.worker, label.values.to_vec())
    });
    Cycle { property, steps: steps.collect(), stem }
}

/// The states of a cycle through a transition that closes it, in states that the property allows.
pub(crate) fn closed(graph: &Graph, property: Property, closing: Closing) -> Vec<Node> {
    let Closing { from, to } = closing;
    let mut states = vec![to];
    if from != to {
        let allowed = |node| property.allows(graph, node);
        let path = way(|node| graph.edges(node), to, allowed, |edge| edge.to == from);
        states.extend(path.into_iter().flatten().map(|edge| edge.to));
    }
    states
}

/// A walk inside a component.
struct ComponentWalk<'a> {
    graph: &'a Graph,
    start: Node,
    at: Node,
    path: Vec<Edge>,
}

impl ComponentWalk<'_> {
    /// Goes on to the nearest transition that is wanted, and takes it; `false` if there is none.
    fn visit(&mut self, inside: impl Fn(Node) -> bool, wanted: impl Fn(Edge) -> bool) -> bool {
        let Some(more) = way(|node| self.graph.edges(node), self.at, inside, wanted) else {
            return false;
        };
        self.at = more.last().map_or(self.at, |edge| edge.to);
        self.path.extend(more);
        true
    }

    /// A worker that can step in all states of the walk so far and does not.
    fn first_owed(&self) -> Option<WorkerId> {
        let mut owed = self.graph.look_of(self.start).enabled.to_vec();
        owed.retain(|&worker| worker != WorkerId::FAULTS);
        for &edge in &self.path {
            let (enabled, worker) =
                (&self.graph.look_of(edge.to).enabled, self.graph.label_of(edge).worker);
            owed.retain(|one| *one != worker && enabled.contains(one));
        }
        owed.first().copied()
    }
}

/// A shortest way from a state, through states inside, that ends with a transition that is wanted
/// and leads inside too. Breadth first.
fn way<E: Iterator<Item = Edge>>(
    edges: impl Fn(Node) -> E,
    from: Node,
    inside: impl Fn(Node) -> bool,
    wanted: impl Fn(Edge) -> bool,
) -> Option<Vec<Edge>> {
    let mut reached: FxHashMap<Node, (Node, Edge)> = FxHashMap::default();
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for edge in edges(node) {
            if !inside(edge.to) {
                continue;
            }
            if wanted(edge) {
                let mut path = vec![edge];
                let mut at = node;
                while at != from
                    && let Some(&(before, edge)) = reached.get(&at)
                {
                    path.push(edge);
                    at = before;
                }
                path.reverse();
                return Some(path);
            }
            if edge.to != from {
                reached.entry(edge.to).or_insert_with(|| {
                    queue.push_back(edge.to);
                    (node, edge)
                });
            }
        }
    }
    None
}
