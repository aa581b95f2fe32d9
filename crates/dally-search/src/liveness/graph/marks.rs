//! What searches note of states: which are on a stack, which have changed, which are not complete.

use super::{Graph, MARK, Node, RECORD};

/// A value for [`Map`](crate::liveness::map::Map), less than this bit; and this bit, if anything
/// about the state has changed since it was [seen](Graph::seen) last. For nested search, whether the
/// state is on the stack.
pub(super) type Mark = u32;
const TOUCHED: Mark = 1 << 31;
const ON_STACK: Mark = 1;

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
        self.open.as_ref().is_some_and(|open| open.half(node as usize) == 0)
    }

    fn change_open(&self, node: Node, change: impl Fn(u32) -> u32) -> Option<u32> {
        let open = self.open.as_ref()?;
        loop {
            let now = open.half(node as usize);
            if open.replace(node as usize, now, change(now), self.shared) {
                return Some(change(now));
            }
        }
    }

    /// Whether a transition was added to this state, its value raised or its last transition
    /// taken, since it was [seen](Graph::seen).
    pub(crate) fn is_touched(&self, node: Node) -> bool {
        self.mark(node) & TOUCHED != 0
    }

    /// Something about this state has changed.
    #[inline]
    pub(crate) fn touch(&self, node: Node) {
        while !self.is_touched(node) {
            let mark = self.mark(node);
            self.replace_mark(node, mark, mark | TOUCHED);
        }
    }

    /// All that there is was looked at.
    pub(crate) fn seen(&self) {
        for node in 0..self.len() as Node {
            let mark = self.mark(node);
            if mark & TOUCHED != 0 {
                self.replace_mark(node, mark, mark ^ TOUCHED);
            }
        }
    }

    /// Puts a state on the stack of a nested search, or takes it away.
    #[inline]
    pub(crate) fn set_on_stack(&self, node: Node, is_there: bool) {
        let mark = self.mark(node);
        let changed = if is_there { mark | ON_STACK } else { mark & !ON_STACK };
        self.replace_mark(node, mark, changed | TOUCHED);
    }

    #[inline]
    pub(crate) fn is_on_stack(&self, node: Node) -> bool {
        self.mark(node) & ON_STACK != 0
    }

    /// The value of a state for the map that has its values here.
    #[inline]
    pub(crate) fn value(&self, node: Node) -> u32 {
        self.mark(node) & !TOUCHED
    }

    /// Raises that value from an old one, unless it is another by now, and touches the state.
    #[inline]
    pub(crate) fn replace_value(&self, node: Node, old: u32, new: u32) -> bool {
        let mark = self.mark(node);
        mark & !TOUCHED == old && self.replace_mark(node, mark, new | TOUCHED)
    }

    #[inline]
    fn mark(&self, node: Node) -> Mark {
        self.states.half(node as usize * RECORD + MARK)
    }

    #[inline]
    fn replace_mark(&self, node: Node, old: Mark, new: Mark) -> bool {
        self.states.replace(node as usize * RECORD + MARK, old, new, self.shared)
    }
}
