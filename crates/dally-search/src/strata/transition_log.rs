//! A log of transitions, for searches to which it matters how states hang together.

use dally_core::{Choice, System, WorkerId};

use super::depth_first::DepthFirstWorker;
use super::entry::Value;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::choice_log::Activity;
use crate::liveness::Node;

/// Keeps states and the transitions between them. A search without one keeps states alone.
pub(crate) trait TransitionLog: Send + Sync {
    /// A step from a known state has led to this one; or it is the first.
    fn arrived(&self, from: Option<Node>, arrival: &Arrival<'_>) -> Logged;

    /// Some transitions of a state will be taken later or by another thread.
    fn opened(&self, node: Node);

    /// A thread has taken all transitions of a state that it will take for now.
    fn left(&self, node: Node);

    /// How many bytes it takes.
    fn bytes(&self) -> u64;
}

/// A state that was come to, and the step that led there.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) identity: u64,
    /// Gives the parts of the state, for exact storage.
    pub(crate) parts: &'a Parts<'a>,
    pub(crate) system: &'a dyn System,
    pub(crate) worker: WorkerId,
    pub(crate) values: &'a [Value],
    /// The choices of the step, if there are values.
    pub(crate) choices: &'a [Choice],
}

/// Gives the parts of a state to the function that it gets, one after the other.
pub(crate) type Parts<'a> = dyn Fn(&mut dyn FnMut(&[u8])) + 'a;

/// What a log says of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Logged {
    /// It is new, and has this number.
    New(Node),
    Known,
    /// There is no room for it, or for the transition to it.
    NoRoom,
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Has the first state logged, if there is a log.
    pub(super) fn log_first(&mut self, identity: u64) -> Option<Node> {
        let log = self.shared_state.log.clone()?;
        let (system, space) = (self.space.system(), &self.space);
        let parts = &|part: &mut dyn FnMut(&[u8])| space.parts(part);
        let (worker, values, choices) = (WorkerId::FAULTS, &[], &[]);
        let logged =
            log.arrived(None, &Arrival { identity, parts, system, worker, values, choices });
        self.logged(logged)
    }

    /// Has the step logged that led from the top of the stack to the live state; the number of
    /// that state if it is new.
    pub(super) fn log_arrival(&mut self, identity: u64) -> Option<Node> {
        let log = self.shared_state.log.clone()?;
        let parent = &self.frames[self.depth - 1];
        let (worker, values) = (parent.worker, &parent.values[..]);
        let choices = match values {
            [] => Vec::new(),
            _ => self.writer.choices_in(parent.path..self.writer.len()),
        };
        let (system, choices, space) = (self.space.system(), &choices[..], &self.space);
        let parts = &|part: &mut dyn FnMut(&[u8])| space.parts(part);
        let arrival = Arrival { identity, parts, system, worker, values, choices };
        // To judge what is logged takes its time now and then: no step is stuck then.
        self.writer.now(Activity::Nothing);
        let logged = log.arrived(Some(parent.node), &arrival);
        self.writer.now(Activity::Stepping);
        self.logged(logged)
    }

    fn logged(&self, logged: Logged) -> Option<Node> {
        match logged {
            Logged::New(node) => Some(node),
            Logged::Known => None,
            Logged::NoRoom => {
                self.shared_state.memory_is_full();
                None
            }
        }
    }

    /// Not everything that can be done in the state on top of the stack will be in the log.
    pub(super) fn log_gap(&self, node: Node) {
        if let Some(log) = &self.shared_state.log {
            log.opened(node);
        }
    }

    /// Nothing more is done from this state for now.
    pub(super) fn log_left(&mut self, node: Node) {
        if let Some(log) = &self.shared_state.log {
            self.writer.now(Activity::Nothing);
            log.left(node);
            self.writer.now(Activity::Stepping);
        }
    }
}
