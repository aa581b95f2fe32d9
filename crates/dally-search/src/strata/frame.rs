//! A state on the stack of a depth-first search.

use std::sync::Arc;

use dally_core::WorkerId;

use super::entry::{Entry, NextTransition, Offered, Value};
use super::look_ahead::LookAhead;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::liveness::Node;
use crate::prefix::Prefix;

/// A state on the stack, and how far its transitions have been taken.
pub(super) struct Frame<S: StateSpace, O: TransitionOrder> {
    pub(super) snapshot: Option<S::Snapshot>,
    pub(super) order: O,
    pub(super) enabled: Vec<WorkerId>,
    /// What it cost to come here.
    pub(super) cost: u32,
    /// The index of the next transition, and the first that is not to be taken here.
    pub(super) next: u32,
    pub(super) end: u32,
    pub(super) offered: Offered,
    /// The transition that was taken last: its worker, its cost without its values, its values.
    pub(super) worker: WorkerId,
    /// The place of the worker among the enabled.
    pub(super) place: usize,
    pub(super) base: u32,
    pub(super) values: Vec<Value>,
    /// How many of the values stay as they are: what else they can be is in other entries.
    pub(super) fixed: usize,
    /// Whether these values are still to be taken as they are.
    pub(super) ready: bool,
    /// Whether the program has sealed the state: only first choices are taken.
    pub(super) sealed: bool,
    pub(super) ahead: LookAhead,
    /// How many choices lead here.
    pub(super) path: usize,
    pub(super) identity: u64,
    /// Its number in the log, if there is one.
    pub(super) node: Node,
    /// The path, once an entry has needed it.
    pub(super) prefix: Option<Arc<Prefix>>,
}

impl<S: StateSpace, O: TransitionOrder> Frame<S, O> {
    /// A frame without a state, to be filled later.
    pub(super) fn blank(order: O) -> Frame<S, O> {
        Frame {
            snapshot: None,
            order,
            enabled: Vec::new(),
            cost: 0,
            next: 0,
            end: 0,
            offered: Offered::default(),
            worker: WorkerId::FAULTS,
            place: 0,
            base: 0,
            values: Vec::new(),
            fixed: 0,
            ready: false,
            sealed: false,
            ahead: LookAhead::default(),
            path: 0,
            identity: 0,
            node: 0,
            prefix: None,
        }
    }

    /// The state of an entry, to which so many choices lead, before its next transition.
    pub(super) fn of(entry: Entry<S, O>, path: usize) -> Frame<S, O> {
        let mut frame = Frame {
            snapshot: Some(entry.snapshot),
            enabled: entry.enabled,
            cost: entry.cost,
            offered: entry.offered,
            ahead: entry.ahead,
            sealed: entry.sealed,
            path,
            identity: entry.identity,
            node: entry.node,
            prefix: entry.prefix,
            ..Frame::blank(entry.order)
        };
        match entry.next {
            NextTransition::Worker(next) => {
                let all = frame.enabled.len() as u32;
                (frame.next, frame.end) = (next, if frame.sealed { all.min(1) } else { all });
            }
            NextTransition::Values(index, worker, values) => {
                (frame.next, frame.end) = (index + 1, index + 1);
                frame.fixed = values.len().saturating_sub(1);
                (frame.worker, frame.values, frame.ready) = (worker, values, true);
                frame.base = frame.cost + frame.order.cost(index, &frame.enabled);
            }
        }
        frame
    }

    /// What the present transition costs, with all that led to it.
    pub(super) fn transition_cost(&self) -> u32 {
        let values = self.values.iter().map(|value| value.index).sum::<u32>();
        self.base + values * if self.sealed { 0 } else { O::VALUE }
    }
}
