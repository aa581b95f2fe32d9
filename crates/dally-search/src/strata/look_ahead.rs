//! Looking ahead: a transition that is known to lead to a visited state is counted and passed over.
//!
//! Before a transition is taken, the system is asked where it leads ([`StateSpace::foresee`]). A
//! transition whose target is unknown or new is taken, and its target may turn out to have been
//! visited meanwhile. So looking ahead does not change the search.
//!
//! All transitions of a state are asked for together, when the first of them is about to be taken.
//! Asking whether a state was visited waits for memory, longer than all else in a cheap transition:
//! asked together, the waits overlap. The answers stay with the state on the frontier, so that a
//! later stratum passes over a transition to a visited state without returning to the state.

use dally_core::WorkerId;

use super::depth_first::DepthFirstWorker;
use super::entry::{OpenState, Value, offer};
use super::frame::Frame;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use super::visited::Visited;

/// What is known of the transitions out of a state, by their indices.
#[derive(Default)]
pub(crate) struct LookAhead {
    looked: bool,
    /// The transitions whose targets are known: none that choose values, fail or never end.
    foreseen: u64,
    /// The transitions that lead to visited states.
    visited: u64,
    /// The identities of the targets that are foreseen.
    targets: Vec<u64>,
}

impl LookAhead {
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.looked, self.foreseen, self.visited) = (false, 0, 0);
    }

    #[inline]
    fn is_foreseen(&self, index: u32) -> bool {
        index < 64 && self.foreseen >> index & 1 == 1
    }

    #[inline]
    pub(super) fn is_visited(&self, index: u32) -> bool {
        index < 64 && self.visited >> index & 1 == 1
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.targets.capacity()
    }
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Whether a search can look ahead: the system must foresee, and visited states must be known
    /// by identities alone and never forgotten. A search that stores explorers beside states needs
    /// the explorer after the step, and one that logs transitions must know what monitors say of a
    /// transition that is not taken.
    pub(super) fn can_look_ahead(&self) -> bool {
        let shared_state = &self.shared_state;
        let by_identity = !shared_state.exact
            && !shared_state.partial
            && !shared_state.with_order
            && (shared_state.log.is_none() || S::JUDGES_STATES_ALONE);
        S::FORESEES && by_identity
    }

    /// Passes over the next transitions of the top frame that lead to visited states.
    #[inline]
    pub(super) fn pass_over(&mut self, bound: i64) {
        let frame = &self.frames[self.depth - 1];
        if !frame.state.ahead.looked {
            let is_between_workers = !frame.ready && frame.values.is_empty();
            if !is_between_workers || !frame.has_next_within(bound) || frame.end > 64 {
                return;
            }
            self.look_ahead();
        }
        if let Some(target) = self.pass_over_visited(self.depth - 1, bound) {
            self.shared_state.visited.prefetch_to_write(target);
        }
    }

    /// Passes over the next transitions of a frame within the bound that are known to lead to
    /// visited states. Returns the target of the first other one, if it is known.
    #[inline]
    pub(super) fn pass_over_visited(&mut self, at: usize, bound: i64) -> Option<u64> {
        let frame = &self.frames[at];
        if !frame.state.ahead.looked || !frame.values.is_empty() {
            return None;
        }
        while self.frames[at].has_next_within(bound) {
            let frame = &mut self.frames[at];
            let next = frame.next;
            let ahead = &mut frame.state.ahead;
            if frame.state.order.is_by_id() {
                let visited = (ahead.visited >> next).trailing_ones().min(frame.end - next);
                if visited > 0 {
                    frame.state.offered.add_all(next, visited);
                    frame.next += visited;
                    self.counters.transitions += u64::from(visited);
                    continue;
                }
            }
            if !ahead.is_visited(next) {
                if !ahead.is_foreseen(next) {
                    return None;
                }
                // A target that was new when it was asked for may have been visited since.
                let target = ahead.targets[next as usize];
                if self.shared_state.log.is_some() {
                    if !self.log_foreseen(at, target) {
                        return Some(target);
                    }
                    continue;
                }
                if !self.shared_state.visited.holds(target) {
                    return Some(target);
                }
            }
            // The order has made this offer once before, and it was sound.
            let _ = frame.state.offer(next);
            frame.next += 1;
            self.counters.transitions += 1;
        }
        None
    }

    /// Prefetches the memory that tells whether the targets of the frame below the top have been
    /// visited meanwhile: a search that goes back mostly goes back further, and asks for them soon.
    #[inline]
    pub(super) fn prepare_to_go_back(&self) {
        let Some(below) = self.depth.checked_sub(2) else { return };
        let Frame { state, next, .. } = &self.frames[below];
        let ahead = &state.ahead;
        let mut left = ahead.foreseen & !ahead.visited & u64::MAX.checked_shl(*next).unwrap_or(0);
        while left != 0 {
            self.prefetch(ahead.targets[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
    }

    /// Has the memory brought that tells whether a state was visited.
    #[inline]
    fn prefetch(&self, identity: u64) {
        match &self.shared_state.log {
            None => self.shared_state.visited.prefetch(identity),
            Some(log) => log.prefetch(&self.log_writer, identity),
        }
    }

    /// Asks where the transitions lead that are left of the top frame.
    #[inline(never)]
    fn look_ahead(&mut self) {
        if !self.at_top && !self.return_to_top() {
            return;
        }
        let top = self.depth - 1;
        let Frame { state, next, end, .. } = &mut self.frames[top];
        let range = *next..*end;
        let mut targets = std::mem::take(&mut state.ahead.targets);
        targets.clear();
        targets.resize(range.end as usize, 0);
        let mut offered = state.offered.clone();
        let mut copy = None;
        if O::OFFERS_CHANGE_IT {
            let order = self.offering.get_or_insert_with(|| state.order.clone());
            order.clone_from(&state.order);
            copy = self.offering.take();
        }
        let mut foreseen = 0;
        for index in range.clone() {
            let OpenState { order, enabled, .. } = &mut *self.frames[top].state;
            let order = copy.as_mut().unwrap_or(order);
            // An offer that is not sound is reported when it is made again.
            let Ok(place) = offer(order, index, enabled) else { break };
            if !offered.add(place) {
                break;
            }
            let worker = enabled[place];
            if let Some(identity) = self.foresee(worker, &mut Vec::new(), false) {
                self.prefetch(identity);
                targets[index as usize] = identity;
                foreseen |= 1 << index;
            }
        }
        let mut visited = 0;
        for index in range {
            let target = targets[index as usize];
            match &self.shared_state.log {
                None => visited |= u64::from(self.shared_state.visited.holds(target)) << index,
                Some(log) => log.prefetch_state(&self.log_writer, target),
            }
        }
        visited &= foreseen;
        self.frames[top].state.ahead = LookAhead { looked: true, foreseen, visited, targets };
        self.offering = copy;
    }

    #[inline]
    fn foresee(&mut self, worker: WorkerId, values: &mut Vec<Value>, chooses: bool) -> Option<u64> {
        let mut there = None;
        let asked = self.attempt(values, chooses, |space, env| {
            there = space.foresee(worker, env)?;
            Ok(())
        });
        asked.ok().and(there)
    }

    /// Whether the transition of the top frame with these values is known to lead to a visited
    /// state; `false` if it was asked for before. The state on top is the live state, and stays so.
    #[inline]
    pub(super) fn leads_nowhere_new(&mut self, values: &mut Vec<Value>) -> bool {
        let frame = &self.frames[self.depth - 1];
        if !self.looks_ahead
            || self.shared_state.log.is_some()
            || frame.state.ahead.is_foreseen(frame.next - 1)
        {
            return false;
        }
        let (worker, path) = (frame.worker, frame.state.path);
        let there = self.foresee(worker, values, true);
        self.writer.truncate(path);
        there.is_some_and(|identity| self.shared_state.visited.holds(identity))
    }
}
