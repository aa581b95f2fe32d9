//! A state on the stack of a depth-first search.

use dally_core::WorkerId;

use super::entry::{Entry, NextTransition, Value};
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;

/// A state on the stack, and how far its transitions have been taken.
pub(super) struct Frame<S: StateSpace, O: TransitionOrder> {
    pub(super) state: Entry<S, O>,
    /// The index of the next transition, and, in `end`, the first that is not to be taken here.
    pub(super) next: u32,
    pub(super) end: u32,
    /// The worker of the transition that was taken last, and its place among the enabled.
    pub(super) worker: WorkerId,
    pub(super) place: usize,
    /// The cost of the path up to and including that transition, without its values.
    pub(super) base: u32,
    pub(super) values: Vec<Value>,
    /// How many of the values are fixed: other entries have the alternatives.
    pub(super) fixed: usize,
    /// Whether the transition is still to be taken with these values.
    pub(super) ready: bool,
}

impl<S: StateSpace, O: TransitionOrder> Frame<S, O> {
    /// The frame of an entry, before its next transition.
    pub(super) fn of(mut state: Entry<S, O>) -> Frame<S, O> {
        let all = state.enabled.len() as u32;
        let end = if state.sealed { all.min(1) } else { all };
        let (worker, base, values) = (WorkerId::FAULTS, 0, Vec::new());
        let next = std::mem::replace(&mut state.next, NextTransition::Worker(0));
        let (fixed, place, ready) = (0, 0, false);
        let frame = Frame { state, next: 0, end, worker, place, base, values, fixed, ready };
        match next {
            NextTransition::Worker(next) => Frame { next, ..frame },
            NextTransition::Values(index, worker, values) => Frame {
                next: index + 1,
                end: index + 1,
                base: frame.state.cost_of(index),
                fixed: values.len().saturating_sub(1),
                place: worker.place_in(&frame.state.enabled).unwrap_or_default(),
                worker,
                values,
                ready: true,
                ..frame
            },
        }
    }

    /// The cost of the path up to and including the present transition.
    pub(super) fn transition_cost(&self) -> u32 {
        self.base + self.state.cost_of_values(&self.values)
    }

    #[inline]
    pub(super) fn has_next_within(&self, bound: i64) -> bool {
        self.next < self.end && i64::from(self.state.cost_of(self.next)) <= bound
    }
}
