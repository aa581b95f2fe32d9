//! Strongly connected components, and which of them hold a cycle that counts.
//!
//! A cycle that goes through all transitions of a component visits all that can be visited there,
//! so a component holds a fair bad cycle if it is one itself (weak fairness), or if a part of it
//! is that is left when unfair states are taken away (strong fairness).

use super::fairness::Fairness;
use super::graph::{Cursor, Graph, Node};
use super::property::Property;

/// The components found so far in the part of a graph that a property allows.
#[derive(Default)]
pub(crate) struct Components {
    /// When each state was come to, from 1; 0 if it was not.
    order: Vec<u32>,
    /// The earliest state that is known to be reachable from it and in its component.
    low: Vec<u32>,
    /// The component of each state, from 1; 0 while that is not known.
    number: Vec<u32>,
    visited: u32,
    found: u32,
    /// The states on the way, and where in their edges.
    path: Vec<(Node, Cursor)>,
    /// States whose component is not complete.
    pending: Vec<Node>,
}

/// The bytes that a state takes here.
const BYTES: usize = 12;

/// The bytes that a state takes in [`Parts`].
const PARTS_BYTES: usize = BYTES + 4;

impl Fairness {
    /// The bytes that a state takes while it is judged.
    pub(super) fn judging_bytes(self) -> usize {
        match self {
            Fairness::None | Fairness::Weak => BYTES,
            Fairness::Strong => BYTES + PARTS_BYTES,
        }
    }
}

impl Components {
    pub(crate) fn new(states: usize) -> Components {
        Components {
            order: vec![0; states],
            low: vec![0; states],
            number: vec![0; states],
            visited: 0,
            found: 0,
            path: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Whether two states are in one component that was found.
    pub(crate) fn joins(&self, one: Node, other: Node) -> bool {
        let number = self.number[one as usize];
        number != 0 && number == self.number[other as usize]
    }

    /// Forgets these states.
    fn forget(&mut self, states: &[Node]) {
        for &state in states {
            self.order[state as usize] = 0;
            self.number[state as usize] = 0;
        }
    }

    /// Finds all components that can be reached from a state (Tarjan 1972, without recursion),
    /// unless they were found before. `each` gets the states of each; if it answers, that is
    /// the end of it.
    pub(crate) fn from<R>(
        &mut self,
        start: Node,
        graph: &Graph,
        inside: impl Fn(Node) -> bool,
        mut each: impl FnMut(&Components, &[Node]) -> Option<R>,
    ) -> Option<R> {
        if !inside(start) || self.order[start as usize] != 0 {
            return None;
        }
        self.enter(start, graph);
        while let Some((node, cursor)) = self.path.last_mut() {
            let node = *node as usize;
            if let Some((edge, rest)) = graph.edge(*cursor) {
                *cursor = rest;
                let to = edge.to as usize;
                if !inside(edge.to) || self.number[to] != 0 {
                    continue;
                }
                if self.order[to] == 0 {
                    self.enter(edge.to, graph);
                } else {
                    self.low[node] = self.low[node].min(self.order[to]);
                }
                continue;
            }
            self.path.pop();
            if let Some(&(before, _)) = self.path.last() {
                let low = &mut self.low;
                low[before as usize] = low[before as usize].min(low[node]);
            }
            if self.low[node] == self.order[node]
                && let Some(first) = self.pending.iter().rposition(|&one| one as usize == node)
            {
                let component = self.pending.split_off(first);
                self.found += 1;
                for &one in &component {
                    self.number[one as usize] = self.found;
                }
                if let Some(answer) = each(self, &component) {
                    self.path.clear();
                    self.pending.clear();
                    return Some(answer);
                }
            }
        }
        None
    }

    fn enter(&mut self, node: Node, graph: &Graph) {
        self.visited += 1;
        self.order[node as usize] = self.visited;
        self.low[node as usize] = self.visited;
        self.pending.push(node);
        self.path.push((node, graph.cursor(node)));
    }
}

/// Judges the components of a graph.
pub(crate) struct Judge {
    property: Property,
    fairness: Fairness,
    /// What has been judged, and does not count.
    rejected: Components,
    parts: Parts,
}

impl Judge {
    pub(crate) fn new(property: Property, fairness: Fairness, graph: &Graph) -> Judge {
        let parts = match fairness {
            Fairness::Strong => Parts::new(graph),
            Fairness::None | Fairness::Weak => Parts::default(),
        };
        Judge { property, fairness, rejected: Components::new(graph.len()), parts }
    }

    /// Whether these states are in one component that does not count.
    pub(crate) fn rejects(&self, one: Node, other: Node) -> bool {
        self.rejected.joins(one, other)
    }

    /// Whether a bad cycle that counts can go through a state, as far as that is known.
    pub(crate) fn admits(&self, graph: &Graph, node: Node) -> bool {
        is_inside(graph, self.property, self.fairness, node)
    }

    /// Judges all components that can be reached from a state. Answers the states of one that
    /// holds a bad cycle that counts.
    pub(crate) fn from(&mut self, start: Node, graph: &Graph) -> Option<Vec<Node>> {
        let Judge { property, fairness, rejected, parts } = self;
        let (property, fairness) = (*property, *fairness);
        let inside = |node| is_inside(graph, property, fairness, node);
        rejected.from(start, graph, inside, |found, component| {
            let joins = |one, other| found.joins(one, other);
            if !is_bad(graph, property, component, joins) {
                return None;
            }
            match fairness {
                Fairness::None => Some(component.to_vec()),
                Fairness::Weak => {
                    is_weakly_fair(graph, component, joins).then(|| component.to_vec())
                }
                Fairness::Strong => parts.strongly_fair(graph, property, component.to_vec()),
            }
        })
    }
}

/// Whether a bad cycle that counts can go through a state, as far as that is known.
fn is_inside(graph: &Graph, property: Property, fairness: Fairness, node: Node) -> bool {
    // What else could be done in a state that is not complete, and would be owed, is not known.
    property.allows(graph, node) && (fairness != Fairness::Strong || graph.is_complete(node))
}

/// Whether a component has a cycle that visits what the property wants visited.
fn is_bad(
    graph: &Graph,
    property: Property,
    component: &[Node],
    joins: impl Fn(Node, Node) -> bool,
) -> bool {
    component.iter().any(|&node| {
        graph.edges(node).any(|edge| joins(node, edge.to) && property.accepts(graph, edge))
    })
}

/// Whether every worker that can step in all states of a component steps inside it.
fn is_weakly_fair(graph: &Graph, component: &[Node], joins: impl Fn(Node, Node) -> bool) -> bool {
    let mut owed = graph.look_of(component[0]).enabled.to_vec();
    for &node in component {
        let enabled = &graph.look_of(node).enabled;
        owed.retain(|worker| enabled.contains(worker));
        if owed.is_empty() {
            return true;
        }
        for edge in graph.edges(node).filter(|edge| joins(node, edge.to)) {
            let worker = graph.label_of(edge).worker;
            owed.retain(|&one| one != worker);
        }
    }
    owed.is_empty()
}

/// Memory for taking components apart.
#[derive(Default)]
struct Parts {
    components: Components,
    /// Which part a state is in; a part that is split is never looked at again.
    part: Vec<u32>,
    parts: u32,
    /// In which part each action was last seen to be taken.
    done: Vec<u32>,
}

impl Parts {
    fn new(graph: &Graph) -> Parts {
        Parts {
            components: Components::new(graph.len()),
            part: vec![0; graph.len()],
            parts: 0,
            done: vec![0; graph.action_count()],
        }
    }

    /// A part of a component in which every action that can be taken is taken, and which is bad;
    /// found by taking away the states where something can be done that is not done inside, until
    /// nothing is to be taken away or nothing is left.
    fn strongly_fair(
        &mut self,
        graph: &Graph,
        property: Property,
        component: Vec<Node>,
    ) -> Option<Vec<Node>> {
        let mut left = vec![component];
        while let Some(states) = left.pop() {
            self.parts += 1;
            let number = self.parts;
            states.iter().for_each(|&node| self.part[node as usize] = number);
            let part = &self.part;
            let joins = |_, other: Node| part[other as usize] == number;
            if !is_bad(graph, property, &states, joins) {
                continue;
            }
            for &node in &states {
                for edge in graph.edges(node).filter(|edge| joins(node, edge.to)) {
                    if let Some(action) = graph.label_of(edge).action {
                        self.done[action as usize] = number;
                    }
                }
            }
            let is_owed = |&node: &Node| {
                let mut actions = graph.edges(node).filter_map(|edge| graph.label_of(edge).action);
                actions.any(|action| self.done[action as usize] != number)
            };
            let (unfair, rest): (Vec<Node>, Vec<Node>) =
                states.iter().partition(|node| is_owed(node));
            if unfair.is_empty() {
                return Some(states);
            }
            unfair.iter().for_each(|&node| self.part[node as usize] = 0);
            self.components.forget(&rest);
            for &node in &rest {
                let inside = |node: Node| self.part[node as usize] == number;
                self.components.from(node, graph, inside, |_, component| {
                    left.push(component.to_vec());
                    None::<()>
                });
            }
        }
        None
    }
}
