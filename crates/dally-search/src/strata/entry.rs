//! Entries: work that is left for later, exactly where it stopped.

use std::sync::Arc;

use dally_core::WorkerId;

use super::look_ahead::LookAhead;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::liveness::Node;
use crate::prefix::Prefix;

/// A value chosen inside a step, or the position of a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    /// Its position, from 0.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

/// A state with transitions that have not been taken: the frontier is a list of these, and what
/// threads hand to each other is one of them (Desai, Qadeer and Seshia, "Systematic Testing of
/// Asynchronous Reactive Systems", Fig. 5).
pub(crate) struct Entry<S: StateSpace, O: TransitionOrder> {
    pub(crate) snapshot: S::Snapshot,
    /// As it was before the next transition was offered.
    pub(crate) order: O,
    pub(crate) enabled: Vec<WorkerId>,
    /// What it cost to come to the state.
    pub(crate) cost: u32,
    pub(crate) next: NextTransition,
    /// Which of the enabled workers have been offered, by position; see [`Offered`].
    pub(crate) offered: Offered,
    pub(crate) ahead: LookAhead,
    /// Whether the program has sealed the state: only first choices are taken.
    pub(crate) sealed: bool,
    pub(crate) prefix: Option<Arc<Prefix>>,
    /// The identity of the state.
    pub(crate) identity: u64,
    /// Its number in the log, if there is one.
    pub(crate) node: Node,
    pub(crate) bytes: usize,
}

impl<S: StateSpace, O: TransitionOrder> Entry<S, O> {
    /// What the next transition costs, with all that led to it.
    pub(super) fn next_cost(&self) -> u32 {
        let (index, values) = match &self.next {
            NextTransition::Worker(index) => (*index, &[][..]),
            NextTransition::Values(index, _, values) => (*index, &values[..]),
        };
        let chosen = values.iter().map(|value| value.index).sum::<u32>();
        let base = self.cost + self.order.cost(index, &self.enabled);
        base + if self.sealed { 0 } else { O::VALUE * chosen }
    }
}

/// Which transition of an entry comes next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextTransition {
    /// The one of this index, and those after it.
    Worker(u32),
    /// The one of this index, whose worker has been offered, with its values beginning like
    /// this, and the values after the last of them. No further worker.
    Values(u32, WorkerId, Vec<Value>),
}

/// A set of positions among the enabled workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Offered(u64);

impl Offered {
    /// Adds a position; whether it is new. Positions from 64 on are not kept apart, and always
    /// new: a state with that many workers is checked for its first 64.
    #[inline]
    pub(crate) fn add(&mut self, place: usize) -> bool {
        if place >= 64 {
            return true;
        }
        let new = self.0 >> place & 1 == 0;
        self.0 |= 1 << place;
        new
    }

    /// Adds so many positions from this one on, all of them below 64.
    #[inline]
    pub(crate) fn add_all(&mut self, from: u32, count: u32) {
        self.0 |= u64::MAX >> (64 - count) << from;
    }

    /// The first of `of` positions that is not in the set.
    pub(crate) fn first_missing(self, of: usize) -> Option<usize> {
        let missing = self.0.trailing_ones() as usize;
        (missing < of.min(64)).then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_worker_that_was_not_offered_is_known() {
        let mut offered = Offered::default();
        assert!(offered.add(0) && offered.add(2) && !offered.add(2));
        assert_eq!(offered.first_missing(3), Some(1));
        assert!(offered.add(1));
        assert_eq!(offered.first_missing(3), None);
    }
}
