//! Nested depth-first search (Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle Detection via
//! Delaying Explorers", section 4.2, after Godefroid and Holzmann): the order in which a
//! depth-first search leaves states tells where cycles can be.
//!
//! A cycle that stays in allowed states has a transition that leads back to a state on the stack,
//! the one of its states that was come to first. So for what cycles stay in, such transitions
//! are the candidates. For what cycles visit, a second search starts from every accepting
//! transition when its source is left, and looks for a state on the stack. It passes every state
//! once: of the accepting transitions on cycles of one component, the first whose source is left
//! finds the stack, because nothing of that component was passed before.

use rustc_hash::FxHashMap;

use super::graph::{Cursor, Edge, Graph, Node};
use super::property::{Property, bits};

/// What nested depth-first search knows of a graph that grows, but for the states on the stack,
/// which the graph has marked.
#[derive(Default)]
pub(crate) struct Nested {
    /// For each monitor, the states that its second searches have passed.
    passed: FxHashMap<u32, Vec<bool>>,
    path: Vec<Cursor>,
}

impl Nested {
    /// The bytes that a state takes here.
    pub(crate) fn bytes_a_state(&self) -> usize {
        self.passed.len()
    }

    /// All transitions of a state on the stack have been taken: searches from those that are
    /// accepting for one of these monitors.
    pub(crate) fn left(
        &mut self,
        graph: &Graph,
        node: Node,
        visits: u64,
        mut candidate: impl FnMut(Property, Node),
    ) {
        for edge in graph.edges(node) {
            for monitor in bits(graph.label_of(edge).visits & visits) {
                if self.leads_to_stack(graph, monitor, edge) {
                    candidate(Property::Visits(monitor), node);
                }
            }
        }
    }

    /// Whether the stack can be reached by this transition, through states that no search for
    /// this monitor has passed.
    fn leads_to_stack(&mut self, graph: &Graph, monitor: u32, edge: Edge) -> bool {
        let passed = self.passed.entry(monitor).or_default();
        passed.resize(graph.len(), false);
        let mut reached = false;
        let mut enter = |node: Node, path: &mut Vec<Cursor>| {
            if graph.is_on_stack(node) {
                reached = true;
            } else if !std::mem::replace(&mut passed[node as usize], true) {
                path.push(graph.cursor(node));
            }
        };
        enter(edge.to, &mut self.path);
        while let Some(cursor) = self.path.last_mut() {
            match graph.next_target(cursor) {
                Some(to) => enter(to, &mut self.path),
                None => drop(self.path.pop()),
            }
        }
        reached
    }
}
