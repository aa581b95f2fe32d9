//! What a search leaves for later or for others: transitions of the stack that become entries.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dally_core::WorkerId;

use super::depth_first::{DepthFirstWorker, Pick};
use super::entry::{Entry, NextTransition};
use super::look_ahead::LookAhead;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::prefix::Prefix;

/// A bound that nothing fits in.
const NOTHING: i64 = -1;

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Empties the stack. What was left to do there becomes entries, if they are to be kept.
    pub(super) fn abandon_stack(&mut self) {
        while self.depth > 0 {
            if self.shared_state.keeps_unfinished() {
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

    /// Puts a state of the stack on the frontier; with `take` it is left there for good.
    pub(super) fn postpone(&mut self, at: usize, next: NextTransition, take: bool) {
        if let Some(entry) = self.entry(at, next, take) {
            self.shared_state.frontier_bytes.fetch_add(entry.bytes as u64, Ordering::Relaxed);
            self.frontier.push(entry);
        }
    }

    /// Gives the transitions that are left nearest to the bottom of the stack to an idle thread.
    pub(super) fn share_work(&mut self, bound: i64) {
        let spare = (0..self.depth).find(|&at| {
            // No thread is woken for transitions to states that were visited since.
            self.pass_over_visited(at);
            let frame = &self.frames[at];
            let cost = || frame.cost + frame.order.cost(frame.next, &frame.enabled);
            frame.next < frame.end && i64::from(cost()) <= bound
        });
        let Some(at) = spare else { return };
        let next = self.frames[at].next;
        if let Some(mut entry) = self.entry(at, NextTransition::Worker(next), false) {
            self.frames[at].end = next;
            // What is known of the transitions goes with them.
            entry.ahead = std::mem::take(&mut self.frames[at].ahead);
            self.shared_state.frontier_bytes.fetch_add(entry.bytes as u64, Ordering::Relaxed);
            self.shared_state.frontier.push(entry);
        }
    }

    fn entry(&mut self, at: usize, next: NextTransition, take: bool) -> Option<Box<Entry<S, O>>> {
        let prefix = self.prefix(at);
        if let Some(log) = &self.shared_state.log {
            log.opened(self.frames[at].node);
        }
        let frame = &mut self.frames[at];
        let snapshot =
            if take { frame.snapshot.take()? } else { S::copy(frame.snapshot.as_ref()?) };
        let bytes = self.space.snapshot_bytes() + entry_bytes::<S, O>(&frame.order, &frame.enabled);
        let (order, enabled) = match self.spare.take() {
            Some(spare) if take => {
                let order = std::mem::replace(&mut frame.order, spare);
                (order, std::mem::take(&mut frame.enabled))
            }
            _ => (frame.order.clone(), frame.enabled.clone()),
        };
        Some(Box::new(Entry {
            snapshot,
            order,
            enabled,
            cost: frame.cost,
            next,
            offered: frame.offered,
            ahead: LookAhead::default(),
            sealed: frame.sealed,
            prefix,
            identity: frame.identity,
            node: frame.node,
            bytes,
        }))
    }

    /// The path to a state of the stack. States below it that have not needed theirs do now.
    fn prefix(&mut self, at: usize) -> Option<Arc<Prefix>> {
        let known = self.frames[..=at].iter().rposition(|frame| frame.prefix.is_some());
        for frame in known.map_or(1, |known| known + 1)..=at {
            let choices =
                self.writer.choices_in(self.frames[frame - 1].path..self.frames[frame].path);
            let before = self.frames[frame - 1].prefix.clone();
            let identity = self.frames[frame].identity;
            self.frames[frame].prefix = Prefix::extend(before, &choices, identity);
        }
        self.frames[at].prefix.clone()
    }
}

/// About how many bytes an entry takes, but for its snapshot.
pub(super) fn entry_bytes<S: StateSpace, O: TransitionOrder>(
    order: &O,
    enabled: &[WorkerId],
) -> usize {
    size_of::<Entry<S, O>>() + order.bytes() + size_of_val(enabled) + Prefix::BYTES
}
