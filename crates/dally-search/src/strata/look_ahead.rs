//! Looking ahead: a transition that is known to lead to a visited state is counted and passed over.
//!
//! Before a transition is taken, the system is asked where it leads ([`StateSpace::foresee`]). That
//! decides nothing but whether the transition has to be taken at all: one whose target is unknown
//! or new is taken, and its target may turn out to have been visited meanwhile. So the search is
//! the same, transition by transition, with or without looking ahead.
//!
//! Where transitions come in the order of ids, all transitions of a state are asked for together.
//! To ask whether a state was visited is to wait for memory, and nothing else of a cheap transition
//! takes as long: asked one after the other the waits add up, asked together they overlap.

use dally_core::WorkerId;

use super::depth_first::DepthFirstWorker;
use super::entry::Value;
use super::frame::Frame;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use super::visited::Visited;

/// What is known of the transitions out of a state, by the places of their workers among the
/// enabled.
#[derive(Default)]
pub(crate) struct LookAhead {
    /// Whether the transitions of the state were asked for together.
    looked: bool,
    /// The transitions of which it is known where they lead. Those that choose values, fail or
    /// never end are not among them.
    foreseen: u64,
    /// Those that lead to visited states.
    visited: u64,
    /// The identities of the states that they lead to, if foreseen.
    targets: Vec<u64>,
}

impl LookAhead {
    /// For another state.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.looked = false;
        self.foreseen = 0;
        self.visited = 0;
    }

    /// Whether it is known where the transition of this place leads.
    #[inline]
    fn is_foreseen(&self, place: usize) -> bool {
        place < 64 && self.foreseen >> place & 1 == 1
    }

    /// Whether the transition of this place is known to lead to a visited state.
    #[inline]
    pub(super) fn is_visited(&self, place: usize) -> bool {
        place < 64 && self.visited >> place & 1 == 1
    }
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Whether a search can look ahead: the system must foresee, and visited states must be known
    /// by identities alone, which are never forgotten. A search that stores explorers beside states
    /// needs the explorer after the step, and one that logs transitions needs the transition.
    pub(super) fn can_look_ahead(&self) -> bool {
        let shared_state = &self.shared_state;
        let by_identity = !shared_state.exact
            && !shared_state.partial
            && !shared_state.with_order
            && shared_state.log.is_none();
        S::FORESEES && by_identity
    }

    /// Passes over the transitions of the frame on top, from the next on, that lead to visited
    /// states. If they have not been asked for together yet and can be, they are now.
    #[inline]
    pub(super) fn pass_over(&mut self, bound: i64) {
        let frame = &mut self.frames[self.depth - 1];
        if !frame.ahead.looked {
            if !is_worth_it(frame, bound) {
                return;
            }
            self.look_ahead();
        }
        if let Some(target) = self.pass_over_visited(self.depth - 1) {
            // It is the next to be visited.
            self.shared_state.visited.prefetch_to_write(target);
        }
    }

    /// Passes over the transitions of a frame, from the next on, that are known to lead to visited
    /// states. Where the first of the others leads, if that is known.
    #[inline]
    pub(super) fn pass_over_visited(&mut self, at: usize) -> Option<u64> {
        let frame = &mut self.frames[at];
        if !frame.ahead.looked || !frame.values.is_empty() {
            return None;
        }
        let ahead = &mut frame.ahead;
        while frame.next < frame.end {
            let next = frame.next;
            let visited = (ahead.visited >> next).trailing_ones().min(frame.end - next);
            if visited > 0 {
                frame.offered.add_all(next, visited);
                frame.next += visited;
                self.counters.transitions += u64::from(visited);
                continue;
            }
            if !ahead.is_foreseen(next as usize) {
                return None;
            }
            // What was new when it was asked for may have been visited since.
            let target = ahead.targets[next as usize];
            if !self.shared_state.visited.holds(target) {
                return Some(target);
            }
            ahead.visited |= 1 << next;
        }
        None
    }

    /// Has the memory brought that tells whether the states that the frame below the top leads to
    /// have been visited meanwhile. A search that goes back mostly goes back further: then they
    /// are asked for soon, and one after the other.
    #[inline]
    pub(super) fn prepare_to_go_back(&self) {
        let Some(below) = self.depth.checked_sub(2) else { return };
        let Frame { ahead, next, .. } = &self.frames[below];
        let mut left = ahead.foreseen & !ahead.visited & u64::MAX.checked_shl(*next).unwrap_or(0);
        while left != 0 {
            self.shared_state.visited.prefetch(ahead.targets[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
    }

    /// Asks where the transitions lead that the frame on top has left.
    #[inline(never)]
    fn look_ahead(&mut self) {
        if !self.at_top && !self.return_to_top() {
            return;
        }
        let top = self.depth - 1;
        let frame = &mut self.frames[top];
        let range = frame.next as usize..frame.end as usize;
        let mut targets = std::mem::take(&mut frame.ahead.targets);
        if targets.len() < range.end {
            targets.resize(range.end, 0);
        }
        let mut foreseen = 0;
        for place in range.clone() {
            let worker = self.frames[top].enabled[place];
            if let Some(identity) = self.foresee(worker, &mut Vec::new(), false) {
                self.shared_state.visited.prefetch(identity);
                targets[place] = identity;
                foreseen |= 1 << place;
            }
        }
        let mut visited = 0;
        for place in range {
            visited |= u64::from(self.shared_state.visited.holds(targets[place])) << place;
        }
        visited &= foreseen;
        self.frames[top].ahead = LookAhead { looked: true, foreseen, visited, targets };
    }

    /// The identity of the state that a step from the live state leads to, if it is known.
    #[inline]
    fn foresee(&mut self, worker: WorkerId, values: &mut Vec<Value>, chooses: bool) -> Option<u64> {
        let mut there = None;
        let asked = self.attempt(values, chooses, |space, env| {
            there = space.foresee(worker, env)?;
            Ok(())
        });
        asked.ok().and(there)
    }

    /// Whether the transition of the frame on top, with these values, is known to lead to a visited
    /// state; `false` if it was asked for before. The state on top is the live state, and stays so.
    #[inline]
    pub(super) fn leads_nowhere_new(&mut self, values: &mut Vec<Value>) -> bool {
        let frame = &self.frames[self.depth - 1];
        if !self.looks_ahead || frame.ahead.is_foreseen(frame.place) {
            return false;
        }
        let (worker, path) = (frame.worker, frame.path);
        let there = self.foresee(worker, values, true);
        self.writer.truncate(path);
        there.is_some_and(|identity| self.shared_state.visited.holds(identity))
    }
}

/// Whether transitions are left, all within the bound, in the order of their places.
#[inline]
fn is_worth_it<S: StateSpace, O: TransitionOrder>(frame: &Frame<S, O>, bound: i64) -> bool {
    frame.order.is_by_id()
        && frame.next < frame.end
        && frame.end <= 64
        && !frame.ready
        && frame.values.is_empty()
        && i64::from(frame.cost + frame.order.cost(frame.end - 1, &frame.enabled)) <= bound
}
