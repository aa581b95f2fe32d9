//! Entries of the frontier: states with transitions that have not been taken.

use std::sync::Arc;

use dally_core::WorkerId;

use super::look_ahead::LookAhead;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::liveness::Node;
use crate::prefetch::{prefetch, prefetch_all};
use crate::prefix::Prefix;

/// A value chosen inside a step, or the position of a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    /// Its position, from 0.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

/// A state with transitions that have not been taken, as the frontier holds it and threads pass it
/// on (Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems", Fig. 5). It
/// is boxed, so that it moves between stack and frontier without a copy.
pub(crate) type Entry<S, O> = Box<OpenState<S, O>>;

/// A state that was reached, with what is needed to go on from it.
pub(crate) struct OpenState<S: StateSpace, O: TransitionOrder> {
    /// The next transition; only valid on the frontier.
    pub(crate) next: NextTransition,
    /// `None` in a blank state.
    pub(crate) snapshot: Option<S::Snapshot>,
    /// The order, which has offered the transitions before the next, and perhaps the next.
    pub(crate) order: O,
    pub(crate) enabled: Vec<WorkerId>,
    /// The cost of the path to the state.
    pub(crate) cost: u32,
    /// The positions of the enabled workers that were offered.
    pub(crate) offered: Offered,
    /// The transition for which the order was asked last, and the place of its worker: it is asked for
    /// one after the other, and for most of them twice.
    pub(crate) peeked: Option<(u32, u32)>,
    pub(crate) ahead: LookAhead,
    /// Whether the program has sealed the state, so that only the first choice is taken.
    pub(crate) sealed: bool,
    /// The number of choices that lead here.
    pub(crate) path: usize,
    /// The choices that lead here, once an entry has needed them.
    pub(crate) prefix: Option<Arc<Prefix>>,
    pub(crate) identity: u64,
    /// Its number in the transition log, if there is one.
    pub(crate) node: Node,
    /// About how many bytes it takes on the frontier, once that was counted.
    pub(crate) bytes: usize,
}

impl<S: StateSpace, O: TransitionOrder> OpenState<S, O> {
    pub(super) fn blank(order: O) -> OpenState<S, O> {
        OpenState {
            next: NextTransition::Worker(0),
            snapshot: None,
            order,
            enabled: Vec::new(),
            cost: 0,
            offered: Offered::default(),
            peeked: None,
            ahead: LookAhead::default(),
            sealed: false,
            path: 0,
            prefix: None,
            identity: 0,
            node: 0,
            bytes: 0,
        }
    }

    /// The order is that of another state now, and has offered nobody.
    #[inline]
    pub(super) fn forget_offers(&mut self) {
        (self.offered, self.peeked) = (Offered::default(), None);
    }

    /// A copy with this next transition and without what was looked ahead; `None` of a blank state.
    pub(super) fn copy(&self, next: NextTransition) -> Option<Entry<S, O>> {
        Some(Box::new(OpenState {
            next,
            snapshot: Some(S::copy(self.snapshot.as_ref()?)),
            order: self.order.clone(),
            enabled: self.enabled.clone(),
            offered: self.offered.clone(),
            ahead: LookAhead::default(),
            prefix: self.prefix.clone(),
            ..*self
        }))
    }

    /// It will be gone on from: has its memory brought, but for what it refers to.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_all(self);
    }

    /// It will be gone on from soon, and was prefetched: has brought what it refers to.
    #[inline]
    pub(super) fn prefetch_parts(&self) {
        prefetch_all(&self.enabled[..]);
        prefetch_all(self.ahead.targets());
        self.order.prefetch();
        if let Some(prefix) = &self.prefix {
            prefetch(&**prefix);
        }
    }

    /// About how many bytes it takes on the frontier, without its snapshot.
    pub(super) fn bytes_but_for_snapshot(&self) -> usize {
        let fixed = size_of::<Self>() + Prefix::BYTES;
        fixed + self.order.bytes() + size_of_val(&self.enabled[..]) + self.ahead.bytes()
    }

    /// Has the order offer the worker of the transition of this index. An error is an offer that is
    /// not sound: no worker, one that cannot step, or one that was offered before.
    #[inline]
    pub(super) fn offer(&mut self, index: u32) -> Result<WorkerId, Option<WorkerId>> {
        let place = self.peek(index)?;
        self.offered.add(place);
        Ok(self.enabled[place])
    }

    /// The same, and the offer does not count as made: the place of its worker among the enabled.
    #[inline]
    pub(super) fn peek(&mut self, index: u32) -> Result<usize, Option<WorkerId>> {
        let place = match self.peeked {
            Some((same, place)) if same == index => place as usize,
            _ => {
                let place = self.ask(index)?;
                self.peeked = Some((index, place as u32));
                place
            }
        };
        if self.offered.has(place) { Err(Some(self.enabled[place])) } else { Ok(place) }
    }

    #[inline]
    fn ask(&mut self, index: u32) -> Result<usize, Option<WorkerId>> {
        let worker = self.order.offer(index, &self.enabled).ok_or(None)?;
        match self.enabled.get(index as usize) {
            // Most orders offer workers nearly in the order of ids.
            Some(&same) if same == worker => Ok(index as usize),
            _ => worker.place_in(&self.enabled).map_err(|_| Some(worker)),
        }
    }

    /// The cost of the path up to and including the next transition.
    pub(super) fn next_cost(&self) -> u32 {
        match &self.next {
            NextTransition::Worker(index) => self.cost_of(*index),
            NextTransition::Values(index, _, values) => {
                self.cost_of(*index) + self.cost_of_values(values)
            }
        }
    }

    /// The cost of the path up to and including the transition of this index.
    #[inline]
    pub(super) fn cost_of(&self, index: u32) -> u32 {
        self.cost + self.order.cost(index, &self.enabled)
    }

    /// The cost that these values add to a transition.
    #[inline]
    pub(super) fn cost_of_values(&self, values: &[Value]) -> u32 {
        let chosen = values.iter().map(|value| value.index).sum::<u32>();
        if self.sealed { 0 } else { self.order.value_price() * chosen }
    }
}

/// The next transition of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextTransition {
    /// The transition of this index, and those after it.
    Worker(u32),
    /// The transition of this index and worker, with its values beginning like this, and those
    /// whose last such value is greater. No further worker.
    Values(u32, WorkerId, Vec<Value>),
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Offered {
    first: u64,
    /// The positions from 64 on, 64 to a word; few states have so many workers.
    rest: Vec<u64>,
}

impl Offered {
    /// Whether a position is there.
    #[inline]
    pub(crate) fn has(&self, place: usize) -> bool {
        let word = match (place / 64).checked_sub(1) {
            None => self.first,
            Some(word) => self.rest.get(word).copied().unwrap_or_default(),
        };
        word >> (place % 64) & 1 == 1
    }

    /// Adds a position; `false` if it was there.
    #[inline]
    pub(crate) fn add(&mut self, place: usize) -> bool {
        let word = match (place / 64).checked_sub(1) {
            None => &mut self.first,
            Some(word) => {
                self.rest.resize(self.rest.len().max(word + 1), 0);
                &mut self.rest[word]
            }
        };
        let new = *word >> (place % 64) & 1 == 0;
        *word |= 1 << (place % 64);
        new
    }

    /// The positions below 64, a bit each.
    #[inline]
    pub(crate) fn few(&self) -> u64 {
        self.first
    }

    /// Adds positions below 64, a bit each.
    #[inline]
    pub(crate) fn add_few(&mut self, places: u64) {
        self.first |= places;
    }

    /// Adds so many positions, at least one, from this one on, all of them below 64.
    #[inline]
    pub(crate) fn add_all(&mut self, from: u32, count: u32) {
        self.first |= u64::MAX >> (64 - count) << from;
    }

    /// The first of `of` positions that is not in the set.
    pub(crate) fn first_missing(&self, of: usize) -> Option<usize> {
        let words = std::iter::once(self.first).chain(self.rest.iter().copied());
        let full = words.clone().take_while(|&word| word == u64::MAX).count();
        let missing = full * 64 + words.clone().nth(full).map_or(0, u64::trailing_ones) as usize;
        (missing < of).then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_worker_that_was_not_offered_is_known() {
        for of in [3, 64, 65, 200] {
            for missing in [0, 1, of - 1] {
                let mut offered = Offered::default();
                let others = (0..of).rev().filter(|&place| place != missing);
                assert!(others.clone().all(|place| offered.add(place)), "{of}: each is new once");
                assert!(!others.clone().any(|place| offered.add(place)), "{of}: and once only");
                assert_eq!(offered.first_missing(of), Some(missing));
                assert!(offered.add(missing));
                assert_eq!(offered.first_missing(of), None);
            }
        }
    }
}
