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
use super::entry::{OpenState, Value};
use super::frame::Frame;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use super::visited::Visited;
use crate::liveness::bits;

/// What is known of the transitions out of a state, by the places of their workers.
#[derive(Default)]
pub(crate) struct LookAhead {
    looked: bool,
    /// The transitions whose targets are known: none that choose values, fail or never end.
    foreseen: u64,
    /// The transitions that lead to visited states; in a search that logs transitions, those are
    /// logged.
    visited: u64,
    /// How many states the thread that asked the log last knew then.
    asked: u64,
    /// The identities of the targets that are foreseen.
    targets: Vec<u64>,
}

impl LookAhead {
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.looked, self.foreseen, self.visited) = (false, 0, 0);
    }

    #[inline]
    fn is_foreseen(&self, place: usize) -> bool {
        place < 64 && self.foreseen >> place & 1 == 1
    }

    #[inline]
    pub(super) fn is_visited(&self, place: usize) -> bool {
        place < 64 && self.visited >> place & 1 == 1
    }

    /// Where the transitions lead, as far as that is foreseen.
    pub(super) fn targets(&self) -> &[u64] {
        &self.targets
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.targets.capacity()
    }
}

/// Whether it is worth asking where the transitions of a state lead. Of a sealed state one is taken.
fn can_look<S: StateSpace, O: TransitionOrder>(state: &OpenState<S, O>) -> bool {
    state.enabled.len() <= 64 && !state.sealed
}

impl<S: StateSpace, O: TransitionOrder> Frame<S, O> {
    /// Passes over all transitions that are left, if all of them lead to visited states; how many.
    #[inline]
    fn pass_over_rest(&mut self) -> Option<u32> {
        let OpenState { enabled, offered, ahead, .. } = &mut *self.state;
        let left = u64::MAX.checked_shr(64 - enabled.len() as u32).unwrap_or(0) & !offered.few();
        let is_whole = self.next < self.end && self.end as usize == enabled.len();
        if !is_whole || left & !ahead.visited != 0 {
            return None;
        }
        offered.add_few(left);
        Some(self.end - std::mem::replace(&mut self.next, self.end))
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
            let can_look = can_look(&frame.state);
            if !is_between_workers || !frame.has_next_within(bound) || !can_look {
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
        let logs = self.shared_state.log.is_some();
        loop {
            let frame = &mut self.frames[at];
            // A state of which all is logged need not wait for a stratum to offer it.
            if logs && let Some(passed) = frame.pass_over_rest() {
                self.counters.transitions += u64::from(passed);
            }
            if !frame.has_next_within(bound) {
                return None;
            }
            let next = frame.next;
            if frame.state.order.is_by_id() {
                let visited =
                    (frame.state.ahead.visited >> next).trailing_ones().min(frame.end - next);
                if visited > 0 {
                    frame.state.offered.add_all(next, visited);
                    frame.next += visited;
                    self.counters.transitions += u64::from(visited);
                    continue;
                }
            }
            // An offer that is not sound is reported when it is made again.
            let place = frame.state.peek(next).ok()?;
            let ahead = &frame.state.ahead;
            if !ahead.is_visited(place) {
                if !ahead.is_foreseen(place) {
                    return None;
                }
                // A target that was new when it was asked for may have been visited since.
                let target = ahead.targets[place];
                let is_visited = match logs {
                    true => self.has_become_visited(at, place),
                    false => self.shared_state.visited.holds(target),
                };
                if !is_visited {
                    return Some(target);
                }
            }
            let frame = &mut self.frames[at];
            frame.state.offered.add(place);
            frame.next += 1;
            self.counters.transitions += 1;
        }
    }

    /// Prefetches the memory that tells whether the targets of the frame below the top have been
    /// visited meanwhile: a search that goes back mostly goes back further, and asks for them soon.
    #[inline]
    pub(super) fn prepare_to_go_back(&self) {
        let Some(below) = self.depth.checked_sub(2) else { return };
        self.prefetch_targets(&self.frames[below].state);
    }

    /// Prefetches the memory that tells whether the targets of a state have been visited.
    #[inline]
    pub(super) fn prefetch_targets(&self, state: &OpenState<S, O>) {
        let OpenState { ahead, offered, .. } = state;
        for place in bits(ahead.foreseen & !ahead.visited & !offered.few()) {
            self.prefetch(ahead.targets[place as usize]);
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

    /// Asks where the transitions lead that are left of the top frame, and whether there was visited.
    #[inline(never)]
    fn look_ahead(&mut self) {
        if !self.at_top && !self.return_to_top() {
            return;
        }
        let top = self.depth - 1;
        self.foresee_all(top);
        if self.shared_state.log.is_none() {
            let ahead = &mut self.frames[top].state.ahead;
            let holds = |place| self.shared_state.visited.holds(ahead.targets[place as usize]);
            ahead.visited =
                bits(ahead.foreseen).fold(0, |all, place| all | u64::from(holds(place)) << place);
        }
        let expected = self.expect_visited(top);
        self.log_visited(top, expected);
    }

    /// Whether where the transitions of a new state lead is asked as soon as it is come to. A search
    /// that logs transitions takes the first of them at once.
    #[inline]
    pub(super) fn looks_at_once(&self, at: usize) -> bool {
        self.looks_ahead && self.shared_state.log.is_some() && can_look(&self.frames[at].state)
    }

    /// Asks where the transitions lead that are left of a frame, whose state is the live state.
    #[inline]
    pub(super) fn foresee_all(&mut self, at: usize) {
        let state = &mut *self.frames[at].state;
        let left = !state.offered.few();
        let places = 0..state.enabled.len();
        let mut targets = std::mem::take(&mut state.ahead.targets);
        targets.clear();
        targets.resize(places.end, 0);
        let mut foreseen = 0;
        for place in places.filter(|place| left >> place & 1 == 1) {
            let worker = self.frames[at].state.enabled[place];
            if let Some(identity) = self.foresee(worker, &mut Vec::new(), false) {
                self.prefetch(identity);
                targets[place] = identity;
                foreseen |= 1 << place;
            }
        }
        self.frames[at].state.ahead =
            LookAhead { looked: true, foreseen, visited: 0, asked: 0, targets };
    }

    /// The transitions of a frame that are foreseen and likely lead to states in the log, and are not
    /// logged.
    #[inline]
    pub(super) fn expect_visited(&mut self, at: usize) -> u64 {
        let OpenState { ahead, offered, .. } = &mut *self.frames[at].state;
        ahead.asked = self.counters.states;
        let open = ahead.foreseen & !ahead.visited & !offered.few();
        self.log_expects(at, open)
    }

    /// Whether a transition of a frame that was foreseen to lead to a state not in the log leads to one
    /// now. All such transitions are asked for: they lead close to each other, so that what the
    /// search has come to since is mostly the targets of several.
    #[inline]
    fn has_become_visited(&mut self, at: usize, place: usize) -> bool {
        if self.frames[at].state.ahead.asked == self.counters.states {
            return false;
        }
        let expected = self.expect_visited(at);
        self.log_visited(at, expected);
        self.frames[at].state.ahead.is_visited(place)
    }

    /// Has those of these transitions logged that lead there.
    #[inline]
    pub(super) fn log_visited(&mut self, at: usize, expected: u64) {
        let visited = self.log_expected(at, expected);
        self.frames[at].state.ahead.visited |= visited;
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
            || frame.state.ahead.is_foreseen(frame.place)
        {
            return false;
        }
        let (worker, path) = (frame.worker, frame.state.path);
        let there = self.foresee(worker, values, true);
        self.writer.truncate(path);
        there.is_some_and(|identity| self.shared_state.visited.holds(identity))
    }
}
