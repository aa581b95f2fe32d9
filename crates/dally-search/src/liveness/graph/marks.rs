//! What searches note of states: which are on a stack, which have changed, which are not complete.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::{Graph, Node};
use crate::strata::NumberList;

/// Notes by state.
pub(super) struct Marks {
    /// For nested search, which states are on the stack: a bit each.
    on_stack: NumberList,
    /// For maps, a [`Mark`] each.
    values: NumberList,
}

/// A value for [`Map`](crate::liveness::map::Map), less than this bit; and this bit, if anything
/// about the state has changed since it was [seen](Graph::seen) last.
type Mark = u32;
const TOUCHED: Mark = 1 << 31;

/// The bytes of marks that a state takes in a search that has maps. Those of a nested search are an
/// eighth.
pub(crate) const MARK_BYTES: usize = size_of::<Mark>();

impl Marks {
    pub(super) fn new(memory: u64) -> Marks {
        Marks { on_stack: NumberList::new(memory), values: NumberList::new(memory) }
    }

    /// Whether there is room for the states before this number.
    #[inline]
    pub(super) fn has_room(&self, end: usize) -> bool {
        self.on_stack.has_room(end / 32 + 1) && self.values.has_room(end)
    }
}

impl Graph {
    /// The search will take some transitions of this state in another place.
    pub(crate) fn opened(&self, node: Node) {
        self.change_open(node, |open| open + 1);
    }

    /// The search has left this state in one place.
    pub(crate) fn closed(&self, node: Node) {
        if self.change_open(node, |open| open.saturating_sub(1)) == Some(0) {
            self.touch(node);
        }
    }

    /// Whether all transitions of this state have been taken, of a graph that keeps that in mind.
    pub(crate) fn is_complete(&self, node: Node) -> bool {
        self.open.as_ref().is_some_and(|open| open.get(node as usize) == 0)
    }

    fn change_open(&self, node: Node, change: impl Fn(u32) -> u32) -> Option<u32> {
        let open = self.open.as_ref()?;
        loop {
            let now = open.get(node as usize);
            if open.replace(node as usize, now, change(now), self.shared) {
                return Some(change(now));
            }
        }
    }

    /// Whether this state was [touched](Graph::touch) since it was [seen](Graph::seen): a search with
    /// maps touches a state when a transition is added to it, its value raised or its last transition
    /// taken.
    pub(crate) fn is_touched(&self, node: Node) -> bool {
        self.mark(node) & TOUCHED != 0
    }

    /// Something about this state has changed.
    #[inline]
    pub(crate) fn touch(&self, node: Node) {
        if !self.is_touched(node) {
            let mark = self.marks.values.at(node as usize);
            match self.shared {
                true => drop(mark.fetch_or(TOUCHED, SeqCst)),
                false => mark.store(mark.load(Relaxed) | TOUCHED, Relaxed),
            }
        }
    }

    /// All that there is was looked at. No thread touches states meanwhile.
    pub(crate) fn seen(&self) {
        for node in 0..self.len() as Node {
            let mark = self.marks.values.at(node as usize);
            let now = mark.load(Relaxed);
            if now & TOUCHED != 0 {
                mark.store(now ^ TOUCHED, Relaxed);
            }
        }
    }

    /// Puts a state on the stack of a nested search, or takes it away. Such a search has one thread.
    #[inline]
    pub(crate) fn set_on_stack(&self, node: Node, is_there: bool) {
        let bits = self.marks.on_stack.at(node as usize / 32);
        let (now, bit) = (bits.load(Relaxed), 1 << (node % 32));
        bits.store(if is_there { now | bit } else { now & !bit }, Relaxed);
    }

    #[inline]
    pub(crate) fn is_on_stack(&self, node: Node) -> bool {
        self.marks.on_stack.get(node as usize / 32) >> (node % 32) & 1 != 0
    }

    /// The value of a state for the map that has its values here.
    #[inline]
    pub(crate) fn value(&self, node: Node) -> u32 {
        self.mark(node) & !TOUCHED
    }

    /// Raises that value, and touches the state; what the value was before.
    #[inline]
    pub(crate) fn raise_value(&self, node: Node, to: u32) -> u32 {
        self.marks.values.raise(node as usize, to | TOUCHED, self.shared) & !TOUCHED
    }

    #[inline]
    fn mark(&self, node: Node) -> Mark {
        self.marks.values.get(node as usize)
    }
}
