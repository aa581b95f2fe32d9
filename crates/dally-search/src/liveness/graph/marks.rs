//! What searches note of states: which are on a stack, which have changed, which are not complete.

use std::sync::atomic::Ordering::Relaxed;

use super::{Graph, Node};
use crate::liveness::property::bits;
use crate::prefetch::prefetch;
use crate::strata::NumberList;

/// The bytes of the value of a state for a map, in a search that has one: see
/// [`Map`](crate::liveness::map::Map).
pub(crate) const VALUE_BYTES: usize = size_of::<u32>();

/// A bit for each state: to look at many of them touches little memory.
pub(super) struct Bits(NumberList);

impl Bits {
    pub(super) fn new(memory: u64) -> Bits {
        Bits(NumberList::new(memory))
    }

    /// Whether there is room for the states before this number.
    #[inline]
    pub(super) fn has_room(&self, end: usize) -> bool {
        self.0.has_room(end / 32 + 1)
    }

    #[inline]
    fn has(&self, node: Node) -> bool {
        self.0.at(node as usize / 32).load(Relaxed) >> (node % 32) & 1 != 0
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
        self.touched.has(node)
    }

    /// Something about this state has changed.
    #[inline]
    pub(crate) fn touch(&self, node: Node) {
        if !self.is_touched(node) {
            let (bits, bit) = (self.touched.0.at(node as usize / 32), 1 << (node % 32));
            match self.shared {
                true => drop(bits.fetch_or(bit, Relaxed)),
                false => bits.store(bits.load(Relaxed) | bit, Relaxed),
            }
        }
    }

    /// The states that were touched, in the order of their numbers.
    pub(crate) fn touched(&self) -> impl Iterator<Item = Node> {
        let words =
            (0..self.len().div_ceil(32)).map(|at| (at, self.touched.0.at(at).load(Relaxed)));
        let changed = words.filter(|&(_, word)| word != 0);
        changed.flat_map(|(at, word)| bits(word.into()).map(move |bit| 32 * at as Node + bit))
    }

    /// All that there is was looked at. No thread touches states meanwhile.
    pub(crate) fn seen(&self) {
        (0..self.len().div_ceil(32)).for_each(|at| self.touched.0.set(at, 0));
    }

    /// Puts a state on the stack of a nested search, or takes it away. Such a search has one thread.
    #[inline]
    pub(crate) fn set_on_stack(&self, node: Node, is_there: bool) {
        let bits = self.on_stack.0.at(node as usize / 32);
        let (now, bit) = (bits.load(Relaxed), 1 << (node % 32));
        bits.store(if is_there { now | bit } else { now & !bit }, Relaxed);
    }

    #[inline]
    pub(crate) fn is_on_stack(&self, node: Node) -> bool {
        self.on_stack.has(node)
    }

    /// The value of a state for the map that has its values here, read in one order of all threads.
    #[inline]
    pub(crate) fn value(&self, node: Node) -> u32 {
        self.values.get(node as usize)
    }

    /// That value is needed soon.
    #[inline]
    pub(crate) fn prefetch_value(&self, node: Node) {
        prefetch(self.values.at(node as usize));
    }

    /// Raises that value, and touches the state; what the value was before.
    #[inline]
    pub(crate) fn raise_value(&self, node: Node, to: u32) -> u32 {
        self.touch(node);
        self.values.raise(node as usize, to, self.shared)
    }
}
