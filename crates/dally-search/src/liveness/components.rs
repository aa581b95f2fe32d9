//! Strongly connected components, and which of them hold a cycle that counts.
//!
//! A cycle that goes through all transitions of a component visits all that can be visited there,
//! so a component holds a fair bad cycle if it is one itself (weak fairness), or if a part of it
//! is that is left when unfair states are taken away (strong fairness).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use dally_core::WorkerId;

use super::fairness::Fairness;
use super::graph::{Cursor, Graph, Node};
use super::property::Property;
use crate::prefetch::prefetch;

/// A number for each state, 0 at first. Threads that go through different states share one.
#[derive(Default)]
pub(crate) struct Numbers(Vec<AtomicU32>);

/// The bytes that a state takes there.
pub(crate) const BYTES: usize = 4;

/// The number of a state whose component was judged and will not change.
const SETTLED: u32 = u32::MAX;

impl Numbers {
    pub(crate) fn new(states: usize) -> Numbers {
        Numbers((0..states).map(|_| AtomicU32::new(0)).collect())
    }

    /// For so many states, all 0 but those that are settled.
    pub(crate) fn renew(&mut self, states: usize) {
        for number in &mut self.0 {
            let number = number.get_mut();
            *number = if *number == SETTLED { SETTLED } else { 0 };
        }
        self.0.resize_with(states, AtomicU32::default);
    }

    #[inline]
    pub(crate) fn get(&self, node: Node) -> u32 {
        self.0[node as usize].load(Relaxed)
    }

    /// The number of this state will be asked for soon, if there is one.
    #[inline]
    fn prefetch(&self, node: Node) {
        if let Some(number) = self.0.get(node as usize) {
            prefetch(number);
        }
    }

    #[inline]
    pub(crate) fn set(&self, node: Node, number: u32) {
        self.0[node as usize].store(number, Relaxed);
    }
}

/// Finds components (Pearce, "A Space-Efficient Algorithm for Finding Strongly Connected Components",
/// after Tarjan): one number for each state tells when it was come to, then the earliest state that
/// is reachable from it and in its component, and in the end its component.
struct Components<'a> {
    numbers: &'a Numbers,
    /// Whether what is inside goes by the values of states.
    by_value: bool,
    /// How many states were come to whose component is not known.
    come_to: u32,
    /// The number of the next component: they are counted downwards, and so greater than all
    /// [`Components::come_to`].
    next: u32,
    path: Vec<OnPath>,
    /// States that were left before their component was known.
    pending: Vec<Node>,
}

/// A state on the way.
struct OnPath {
    node: Node,
    /// Where in its edges.
    cursor: Cursor,
    /// Whether it is the first of its component as far as is known.
    first: bool,
    /// Whether a state that may get more transitions can be reached from it.
    open: bool,
}

impl<'a> Components<'a> {
    fn new(numbers: &'a Numbers) -> Components<'a> {
        let (path, pending) = (Vec::new(), Vec::new());
        Components { numbers, by_value: false, come_to: 0, next: SETTLED - 1, path, pending }
    }

    /// Finds all components that can be reached from a state through states `inside`, unless they
    /// were found before. `each` gets the states of each; if it answers, that is the end of it.
    ///
    /// States that `may_grow` may get more transitions. A component from which none of them can be
    /// reached stays as it is, and is settled.
    fn from<R>(
        &mut self,
        start: Node,
        graph: &Graph,
        inside: impl Fn(Node) -> bool,
        may_grow: impl Fn(Node) -> bool,
        mut each: impl FnMut(&[Node]) -> Option<R>,
    ) -> Option<R> {
        let numbers = self.numbers;
        if numbers.get(start) != 0 || !inside(start) {
            return None;
        }
        self.enter(start, graph, may_grow(start));
        while let Some(OnPath { node, cursor, first, open }) = self.path.last_mut() {
            let node = *node;
            if let Some(to) = graph.next_target(cursor) {
                // The numbers lie close together, and most of them tell at once that a target is of
                // a component that is known; whether a state is inside is asked of the others alone.
                match numbers.get(to) {
                    SETTLED => {}
                    0 if inside(to) => self.enter(to, graph, may_grow(to)),
                    0 => *open |= may_grow(to),
                    known if known < numbers.get(node) => {
                        if inside(to) {
                            numbers.set(node, known);
                            *first = false;
                        }
                    }
                    // It is of a component that was found and is not settled.
                    known => *open |= known > self.come_to,
                }
                continue;
            }
            let (first, open, own) = (*first, *open, numbers.get(node));
            self.path.pop();
            self.pending.push(node);
            if first {
                let is_later = |&one: &Node| numbers.get(one) >= own;
                let others = self.pending.iter().rev().take_while(|&one| is_later(one)).count();
                let start = self.pending.len() - others;
                let component = &self.pending[start..];
                component.iter().for_each(|&one| numbers.set(one, self.next));
                self.come_to -= others as u32;
                self.next -= 1;
                let answer = each(component);
                if answer.is_some() {
                    return answer;
                }
                if !open {
                    component.iter().for_each(|&one| numbers.set(one, SETTLED));
                }
                self.pending.truncate(start);
            }
            if let Some(before) = self.path.last_mut() {
                before.open |= open;
                if !first && own < numbers.get(before.node) {
                    numbers.set(before.node, own);
                    before.first = false;
                }
            }
        }
        None
    }

    fn enter(&mut self, node: Node, graph: &Graph, open: bool) {
        self.come_to += 1;
        self.numbers.set(node, self.come_to);
        let cursor = graph.cursor(node);
        graph.prefetch_targets(&cursor, |target| {
            self.numbers.prefetch(target);
            if self.by_value {
                graph.prefetch_value(target);
            }
        });
        self.path.push(OnPath { node, cursor, first: true, open });
    }
}

/// Judges the components of a graph.
pub(crate) struct Judge<'a> {
    graph: &'a Graph,
    property: Property,
    fairness: Fairness,
    components: Components<'a>,
    /// Kept for its memory.
    owed: Vec<WorkerId>,
    parts: Option<Parts>,
}

impl<'a> Judge<'a> {
    /// The numbers of the states that will be judged are 0.
    pub(crate) fn new(
        property: Property,
        fairness: Fairness,
        graph: &'a Graph,
        numbers: &'a Numbers,
    ) -> Judge<'a> {
        let (components, owed) = (Components::new(numbers), Vec::new());
        Judge { graph, property, fairness, components, owed, parts: None }
    }

    /// What is inside goes by the values that the graph has of states, which will be brought.
    pub(crate) fn by_value(mut self) -> Judge<'a> {
        self.components.by_value = true;
        self
    }

    /// Judges all components that can be reached from a state through states `inside`, which the
    /// property allows. Answers the states of one that holds a bad cycle that counts. Components
    /// that hold none and from which no state can be reached that `may_grow` are settled: their
    /// numbers tell later judges that they need not be judged again. Nor is one judged of which
    /// nothing `has_changed`, which holds none since it was judged before.
    pub(crate) fn from(
        &mut self,
        start: Node,
        inside: impl Fn(Node) -> bool,
        may_grow: impl Fn(Node) -> bool,
        has_changed: impl Fn(Node) -> bool,
    ) -> Option<Vec<Node>> {
        let Judge { graph, property, fairness, components, owed, parts } = self;
        let (graph, property, numbers) = (*graph, *property, components.numbers);
        components.from(start, graph, &inside, may_grow, |component| {
            if !component.iter().any(|&node| has_changed(node)) {
                return None;
            }
            let number = numbers.get(component[0]);
            let joins = |other: Node| numbers.get(other) == number && inside(other);
            if !is_bad(graph, property, component, joins) {
                return None;
            }
            match fairness {
                Fairness::None => Some(component.to_vec()),
                Fairness::Weak => {
                    is_weakly_fair(graph, component, joins, owed).then(|| component.to_vec())
                }
                Fairness::Strong => parts.get_or_insert_with(|| Parts::new(graph)).strongly_fair(
                    graph,
                    property,
                    component.to_vec(),
                ),
            }
        })
    }
}

impl Fairness {
    /// The bytes that a state takes while its component is taken apart.
    pub(super) fn judging_bytes(self) -> usize {
        match self {
            Fairness::None | Fairness::Weak => 0,
            Fairness::Strong => BYTES + 4,
        }
    }

    /// Whether a bad cycle that counts can go through a state, as far as that is known.
    pub(crate) fn admits(self, graph: &Graph, property: Property, node: Node) -> bool {
        // What else could be done in a state that is not complete, and would be owed, is not known.
        property.allows(graph, node) && (self != Fairness::Strong || graph.is_complete(node))
    }
}

/// Whether a component has a cycle that visits what the property wants visited.
fn is_bad(
    graph: &Graph,
    property: Property,
    component: &[Node],
    joins: impl Fn(Node) -> bool,
) -> bool {
    // Every transition between two states of a component is on a cycle.
    if component.len() > 1 && matches!(property, Property::Hot(_)) {
        return true;
    }
    component
        .iter()
        .any(|&node| graph.edges(node).any(|edge| joins(edge.to) && property.accepts(graph, edge)))
}

/// Whether every worker that can step in all states of a component steps inside it. `owed` is memory.
fn is_weakly_fair(
    graph: &Graph,
    component: &[Node],
    joins: impl Fn(Node) -> bool,
    owed: &mut Vec<WorkerId>,
) -> bool {
    let first = graph.look_of(component[0]).enabled.iter();
    let first = first.filter(|&&worker| worker != WorkerId::FAULTS);
    // Most components are small, and one worker that stands still in them is enough.
    if let Some(&worker) = first.clone().next()
        && component.iter().all(|&node| {
            let place = worker.place_in(&graph.look_of(node).enabled);
            place.is_ok_and(|place| !graph.targets_at(node, place).any(&joins))
        })
    {
        return false;
    }
    owed.clear();
    owed.extend(first);
    let mut last = graph.look_number(component[0]);
    for &node in component {
        let look = graph.look_number(node);
        if std::mem::replace(&mut last, look) != look {
            let enabled = &graph.look_of(node).enabled;
            owed.retain(|worker| enabled.contains(worker));
        }
        if owed.is_empty() {
            return true;
        }
        for edge in graph.edges(node).filter(|edge| joins(edge.to)) {
            let worker = graph.label_of(edge).worker;
            owed.retain(|&one| one != worker);
        }
    }
    owed.is_empty()
}

/// Judges the components of a graph of which something was touched since it was
/// [seen](Graph::seen): the states of one that holds a bad cycle that counts, if there is one. The others
/// are as they were when they were judged. `numbers` are memory.
pub(crate) fn bad_component(
    graph: &Graph,
    property: Property,
    fairness: Fairness,
    numbers: &mut Numbers,
) -> Option<Vec<Node>> {
    numbers.renew(graph.len());
    let mut judge = Judge::new(property, fairness, graph, numbers);
    let inside = |node| fairness.admits(graph, property, node);
    let is_touched = |node| graph.is_touched(node);
    graph.touched().find_map(|node| judge.from(node, inside, |_| true, is_touched))
}

/// Memory for taking components apart.
struct Parts {
    numbers: Numbers,
    /// Which part a state is in; a part that is split is never looked at again.
    part: Vec<u32>,
    parts: u32,
    /// In which part each action was last seen to be taken.
    done: Vec<u32>,
}

impl Parts {
    fn new(graph: &Graph) -> Parts {
        Parts {
            numbers: Numbers::new(graph.len()),
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
            let joins = |other: Node| part[other as usize] == number;
            if !is_bad(graph, property, &states, joins) {
                continue;
            }
            for &node in &states {
                for edge in graph.edges(node).filter(|edge| joins(edge.to)) {
                    if let Some(action) = graph.label_of(edge).action {
                        self.done[action as usize] = number;
                    }
                }
            }
            let is_owed = |&node: &Node| {
                graph.actions(node).any(|action| self.done[action as usize] != number)
            };
            let (unfair, rest): (Vec<Node>, Vec<Node>) =
                states.iter().partition(|node| is_owed(node));
            if unfair.is_empty() {
                return Some(states);
            }
            unfair.iter().for_each(|&node| self.part[node as usize] = 0);
            rest.iter().for_each(|&node| self.numbers.set(node, 0));
            let mut components = Components::new(&self.numbers);
            for &node in &rest {
                let inside = |node: Node| self.part[node as usize] == number;
                components.from(
                    node,
                    graph,
                    inside,
                    |_| true,
                    |component| {
                        left.push(component.to_vec());
                        None::<()>
                    },
                );
            }
        }
        None
    }
}
