//! Transitions of the stack that become entries, for later or for other threads.

use std::sync::atomic::Ordering;

use super::depth_first::{DepthFirstWorker, Pick};
use super::entry::{Entry, NextTransition, OpenState};
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;

/// A bound below every cost.
const NOTHING: i64 = -1;

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Empties the stack. The transitions that are left become entries if unfinished work is kept.
    pub(super) fn abandon_stack(&mut self) {
        while self.depth > 0 {
            if self.shared_state.keeps_unfinished {
                let frame = &mut self.frames[self.depth - 1];
                if std::mem::take(&mut frame.ready) {
                    let next =
                        NextTransition::Values(frame.next - 1, frame.worker, frame.values.clone());
                    self.postpone(self.depth - 1, next, false);
                    let frame = &mut self.frames[self.depth - 1];
                    frame.values.clear();
                }
                while !matches!(self.pick(NOTHING), Pick::Done) {}
            }
            self.pop();
        }
    }

    /// Puts a state of the stack on the frontier, or a copy of it unless `take`.
    pub(super) fn postpone(&mut self, at: usize, next: NextTransition, take: bool) {
        self.log_gap(self.frames[at].state.node);
        if self.frames[at].state.prefix.is_none() {
            self.find_prefix(at);
        }
        let entry = if take { self.take_state(at, next) } else { self.frames[at].state.copy(next) };
        if let Some(mut entry) = entry {
            self.count_bytes(&mut entry);
            self.frontier.push(entry);
        }
    }

    /// Gives the transitions nearest to the bottom of the stack to an idle thread.
    pub(super) fn share_work(&mut self, bound: i64) {
        let spare = (0..self.depth).find(|&at| {
            // No thread is woken for transitions to states that have been visited meanwhile.
            self.pass_over_visited(at, bound);
            self.frames[at].has_next_within(bound)
        });
        let Some(at) = spare else { return };
        let next = self.frames[at].next;
        self.find_prefix(at);
        if let Some(mut entry) = self.frames[at].state.copy(NextTransition::Worker(next)) {
            let frame = &mut self.frames[at];
            frame.end = next;
            // The entry gets what was looked ahead of these transitions.
            entry.ahead = std::mem::take(&mut frame.state.ahead);
            self.count_bytes(&mut entry);
            // Whoever takes it takes its bytes off.
            self.tell_frontier_bytes();
            self.log_gap(entry.node);
            self.shared_state.frontier.push(entry);
        }
    }

    pub(super) fn count_bytes(&mut self, state: &mut OpenState<S, O>) {
        if state.bytes == 0 {
            state.bytes = self.space.snapshot_bytes() + state.bytes_but_for_snapshot();
        }
        self.frontier_change += state.bytes as i64;
    }

    /// Adds to what all threads know of the size of the frontier.
    pub(super) fn tell_frontier_bytes(&mut self) {
        let change = std::mem::take(&mut self.frontier_change);
        self.shared_state.progress.frontier_bytes.fetch_add(change as u64, Ordering::Relaxed);
    }

    fn take_state(&mut self, at: usize, next: NextTransition) -> Option<Entry<S, O>> {
        let state = &mut self.frames[at].state;
        state.snapshot.as_ref()?;
        let blank = match self.spare.pop() {
            Some(spare) => {
                self.spare_bytes -= spare.bytes as u64;
                spare
            }
            None => Box::new(OpenState::blank(state.order.clone())),
        };
        let mut taken = std::mem::replace(state, blank);
        // The transition log still needs these when the frame is left.
        (state.identity, state.node) = (taken.identity, taken.node);
        taken.next = next;
        Some(taken)
    }

    /// Makes the prefix of a state of the stack, and those of the states below it that it shares.
    fn find_prefix(&mut self, at: usize) {
        let known = self.frames[..=at].iter().rposition(|frame| frame.state.prefix.is_some());
        for place in known.map_or(1, |known| known + 1)..=at {
            let (below, above) = self.frames.split_at_mut(place);
            let (parent, state) = (&below[place - 1], &mut above[0].state);
            let before = parent.state.prefix.clone();
            let inside = match state.path - parent.state.path {
                1 => Vec::new(),
                _ => self.writer.choices_in(parent.state.path + 1..state.path),
            };
            let prefix = self.prefixes.extend(before, parent.worker, &inside, state.identity);
            state.prefix = Some(prefix);
        }
    }
}
