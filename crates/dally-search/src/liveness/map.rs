//! Maximal accepting predecessors (Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle Detection
//! via Delaying Explorers", Figs. 3 to 5, after Brim et al.): cycles found without regard to the
//! order in which states are visited, so that what was found out in one stratum serves in the next.
//!
//! States are ordered by age, the oldest is the greatest. Of the accepting predecessors of a
//! state that are known, the oldest is then seldom replaced by one that is found later.
//!
//! All threads calculate one map. The value of a state only rises, so what two of them pass to it
//! at the same time is merged by the maximum. A thread adds a transition and then reads the value of
//! its source; another raises that value and then reads the transitions; each access takes its
//! place in one order of all, so at least one of the two sees what the other did.

use super::graph::{Graph, Node, VALUE_BYTES};
use super::property::Property;
use crate::strata::NumberList;

/// The greatest accepting predecessor of a state, by its place in the order; 0 is `null` of the
/// paper.
pub(crate) type Rank = u32;

/// The place of a state in the order. It leaves one bit of a number free.
pub(crate) fn rank(node: Node) -> Rank {
    u32::MAX / 2 - node
}

/// The state at a place in the order.
pub(crate) fn at_rank(rank: Rank) -> Node {
    u32::MAX / 2 - rank
}

/// The maximal accepting predecessors of one property, of all states that are known.
pub(crate) struct Map {
    property: Property,
    /// The values of all states, unless they are kept in the graph.
    values: Option<NumberList>,
}

/// The bytes that a state takes for each map.
pub(crate) const BYTES: usize = size_of::<Rank>();
const _: () = assert!(BYTES == VALUE_BYTES);

/// An accepting transition from a state to its own accepting predecessor: it is on a cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    pub(crate) from: Node,
    pub(crate) to: Node,
}

impl Map {
    /// A map with its values in the graph; there can be one.
    pub(crate) fn within(property: Property) -> Map {
        Map { property, values: None }
    }

    /// A map with values of its own, of at most so many bytes.
    pub(crate) fn apart(property: Property, memory: u64) -> Map {
        Map { property, values: Some(NumberList::new(memory)) }
    }

    pub(crate) fn property(&self) -> Property {
        self.property
    }

    /// Whether it has room for the states before this number.
    pub(crate) fn has_room(&self, end: usize) -> bool {
        self.values.as_ref().is_none_or(|values| values.has_room(end))
    }

    /// The greatest accepting predecessor of a state that is known.
    #[inline]
    pub(crate) fn value(&self, graph: &Graph, node: Node) -> Rank {
        match &self.values {
            None => graph.value(node),
            Some(values) if self.has_room(node as usize + 1) => values.get(node as usize),
            // The search is about to end for want of room.
            Some(_) => 0,
        }
    }

    /// Raises the value of a state; whether it was less.
    #[inline]
    fn raise(&self, graph: &Graph, node: Node, to: Rank) -> bool {
        if self.value(graph, node) >= to {
            return false;
        }
        match &self.values {
            None => graph.raise_value(node, to) < to,
            Some(values) if self.has_room(node as usize + 1) => {
                graph.touch(node);
                values.raise(node as usize, to, graph.is_shared()) < to
            }
            Some(_) => false,
        }
    }

    /// A transition that `visits` this was added to the graph: passes on what follows from it (Fig. 4,
    /// `CalculateMap`, over stored edges). Answers a transition that closes an accepting cycle, if
    /// one shows. `raised` is empty, before and after.
    #[inline]
    pub(crate) fn calculate(
        &self,
        graph: &Graph,
        (from, to): (Node, Node),
        visits: u64,
        raised: &mut Vec<Node>,
    ) -> Option<Closing> {
        let found = self.pass(graph, from, to, self.property.accepts_visits(visits), raised);
        if raised.is_empty() { found } else { self.pass_on(graph, raised, found) }
    }

    /// Passes on the values of the states that were raised.
    fn pass_on(
        &self,
        graph: &Graph,
        raised: &mut Vec<Node>,
        mut found: Option<Closing>,
    ) -> Option<Closing> {
        while let Some(node) = raised.pop() {
            let mut cursor = graph.cursor(node);
            while let Some((to, visits)) = graph.next_visits(&mut cursor) {
                let accepting = self.property.accepts_visits(visits);
                found = found.or(self.pass(graph, node, to, accepting, raised));
            }
        }
        found
    }

    /// Lines 10 to 21 of Fig. 4 for one transition.
    #[inline]
    fn pass(
        &self,
        graph: &Graph,
        from: Node,
        to: Node,
        accepting: bool,
        raised: &mut Vec<Node>,
    ) -> Option<Closing> {
        let property = self.property;
        let (passed, closes) = passed(self.value(graph, from), from, to, accepting);
        // Mostly the values tell that there is nothing to do: what the property does not allow has
        // none, and is not looked at before it would get one.
        let is_less = self.value(graph, to) < passed;
        if !(is_less || closes) || !property.allows(graph, from) || !property.allows(graph, to) {
            return None;
        }
        if is_less && self.raise(graph, to, passed) {
            raised.push(to);
        }
        closes.then_some(Closing { from, to })
    }
}

/// What a transition passes on to its target, where so much is known of its source; and whether it
/// closes an accepting cycle.
#[inline]
pub(crate) fn passed(known: Rank, from: Node, to: Node, accepting: bool) -> (Rank, bool) {
    match accepting {
        true => (known.max(rank(to)), known == rank(to) || from == to),
        false => (known, false),
    }
}
