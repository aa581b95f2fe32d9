//! Looking ahead: the transitions out of a state are tried together before they are taken one by
//! one, so that the waits for memory overlap.
//!
//! To ask whether a state was visited is to wait for memory: nothing else of a cheap transition
//! takes as long. One after the other the waits add up; asked together, they are one wait.
//!
//! What is foreseen decides nothing but whether a transition has to be taken at all. Those that
//! lead to visited states are counted and passed over; the others are taken in their turn, and
//! may lead to states that were visited meanwhile. So the search is the same, transition by
//! transition.

use dally_core::Choice;

use super::diver::Diver;
use super::frame::Frame;
use super::order::Order;
use super::space::Space;
use crate::liveness::bits;

/// The largest mark of a state for which it is worth while: several are kept for each state on
/// the stack.
const CHEAP: usize = 512;

/// What is known of the transitions out of a state, by the places of their workers among the
/// enabled.
pub(crate) struct Ahead<M> {
    /// Whether somebody has looked.
    looked: bool,
    /// The transitions of which it is known where they lead. Those that choose values, fail or
    /// never end are not among them.
    foreseen: u64,
    /// Those that lead to visited states.
    visited: u64,
    /// Where they lead, if foreseen: the identity of the state, and unless it was visited, the
    /// state.
    targets: Vec<(u64, Option<Box<M>>)>,
}

impl<M> Ahead<M> {
    pub(super) fn nothing() -> Ahead<M> {
        Ahead { looked: false, foreseen: 0, visited: 0, targets: Vec::new() }
    }

    /// For another state.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.looked = false;
        self.foreseen = 0;
    }

    /// How many states are kept.
    pub(super) fn kept(&self) -> usize {
        self.targets.iter().filter(|(_, target)| target.is_some()).count()
    }

    /// Whether the transition of this place is known to lead to a visited state.
    #[inline]
    pub(super) fn is_visited(&self, place: usize) -> bool {
        place < 64 && (self.foreseen & self.visited) >> place & 1 == 1
    }

    /// The state that the transition of this place leads to, if it was foreseen and is not known
    /// to be visited.
    #[inline]
    pub(super) fn target(&mut self, place: usize) -> Option<&mut M> {
        if place >= 64 || self.foreseen >> place & 1 == 0 {
            return None;
        }
        self.targets[place].1.as_deref_mut()
    }
}

impl<S: Space, O: Order> Diver<S, O> {
    /// Whether a search is one that can look ahead: by identities alone, which are never
    /// forgotten.
    pub(super) fn can_look_ahead(&self) -> bool {
        let joint = &self.joint;
        let by_identity =
            !joint.exact && !joint.partial && !joint.with_order && joint.log.is_none();
        S::FORKS && !O::LISTENS && by_identity && self.space.mark_bytes() <= CHEAP
    }

    /// Passes over the transitions of the frame on top, from the next on, that lead to visited
    /// states. If nobody has looked yet where they lead, somebody does now.
    #[inline]
    pub(super) fn pass_over(&mut self, bound: i64) {
        let frame = &mut self.frames[self.depth - 1];
        if !frame.ahead.looked {
            if !is_worth_it(frame, bound) {
                return;
            }
            self.look_ahead();
        }
        let frame = &mut self.frames[self.depth - 1];
        if !frame.ahead.looked || !frame.values.is_empty() {
            return;
        }
        let ahead = &mut frame.ahead;
        while frame.next < frame.end {
            let next = frame.next;
            let visited = (ahead.visited >> next).trailing_ones().min(frame.end - next);
            if visited > 0 {
                frame.offered.add_all(next, visited);
                frame.next += visited;
                self.tally.transitions += u64::from(visited);
                continue;
            }
            // What was new when somebody looked may have been visited since.
            let (identity, target) = &mut ahead.targets[next as usize];
            if ahead.foreseen >> next & 1 == 0 || !self.joint.visited.holds(*identity) {
                return;
            }
            ahead.visited |= 1 << next;
            self.spare_targets.extend(target.take());
        }
    }

    /// Tries the transitions that the frame on top has left.
    #[inline(never)]
    fn look_ahead(&mut self) {
        let top = self.depth - 1;
        let frame = &mut self.frames[top];
        let Some(mark) = frame.mark.take() else { return };
        let (range, path) = (frame.next as usize..frame.end as usize, frame.path);
        let mut targets = std::mem::take(&mut frame.ahead.targets);
        if targets.len() < range.end {
            targets.resize_with(range.end, || (0, None));
        }
        let mut foreseen = 0;
        for place in range.clone() {
            let (identity, target) = &mut targets[place];
            let target = target.get_or_insert_with(|| {
                self.spare_targets.pop().unwrap_or_else(|| {
                    self.joint.stack_grows(self.space.mark_bytes());
                    Box::new(S::copy(&mark))
                })
            });
            let worker = self.frames[top].enabled[place];
            self.pen.truncate(path);
            self.pen.write(Choice::Worker(worker));
            let stepped = self.attempt(&mut Vec::new(), false, |_, env| {
                S::branch(&mark, target, worker, env).map(|there| *identity = there)
            });
            if stepped.is_ok() {
                self.joint.visited.prefetch(*identity);
                foreseen |= 1 << place;
            }
        }
        self.at_hand = false;
        let mut visited = 0;
        for place in range {
            visited |= u64::from(self.joint.visited.holds(targets[place].0)) << place;
        }
        visited &= foreseen;
        for place in bits(visited) {
            self.spare_targets.extend(targets[place as usize].1.take());
        }
        for place in bits(foreseen & !visited) {
            targets[place as usize].1.as_deref_mut().into_iter().for_each(S::condense);
        }
        let frame = &mut self.frames[top];
        frame.mark = Some(mark);
        frame.ahead = Ahead { looked: true, foreseen, visited, targets };
    }
}

/// Whether several transitions are left, all within the bound, in the order of their places.
#[inline]
fn is_worth_it<S: Space, O: Order>(frame: &Frame<S, O>, bound: i64) -> bool {
    frame.next + 1 < frame.end
        && frame.end <= 64
        && !frame.ready
        && frame.values.is_empty()
        && frame.order.is_by_id()
        && i64::from(frame.cost + frame.order.cost(frame.end - 1, &frame.enabled)) <= bound
}
