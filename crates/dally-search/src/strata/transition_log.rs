//! A log of transitions, for searches that need the graph of states.

use dally_core::{Choice, System, WorkerId};

use super::depth_first::DepthFirstWorker;
use super::entry::OpenState;
use super::frame::Frame;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::choice_log::Activity;
use crate::liveness::{Node, Transition};

/// Where a step was taken: the state, and the place of the worker among the enabled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) node: Node,
    pub(crate) place: usize,
}

/// A state that was reached, and the step that led there.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) identity: u64,
    pub(crate) parts: &'a Parts<'a>,
    pub(crate) system: &'a dyn System,
    /// The step; what monitors say of it is known to the system.
    pub(crate) transition: Transition<'a>,
}

/// Passes the parts of a state to the function that it gets, one after the other.
pub(crate) type Parts<'a> = dyn Fn(&mut dyn FnMut(&[u8])) + 'a;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Logged {
    /// It is new, and has this number.
    New(Node),
    Known,
    /// It, or the transition to it, does not fit.
    NoRoom,
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    pub(super) fn log_first(&mut self, identity: u64) -> Option<Node> {
        let log = self.shared_state.log.as_ref()?;
        let (system, space) = (self.space.system(), &self.space);
        let parts = &|part: &mut dyn FnMut(&[u8])| space.parts(part);
        let (worker, values, choices) = (WorkerId::FAULTS, &[], &[]);
        let transition = Transition { worker, values, choices, places: 0, visits: 0 };
        let arrival = Arrival { identity, parts, system, transition };
        let logged = log.arrived(&mut self.log_writer, None, &arrival);
        self.logged(logged)
    }

    /// Logs the step from the top of the stack to the live state; returns its number if it is new.
    pub(super) fn log_arrival(&mut self, identity: u64) -> Option<Node> {
        let choices = self.choices_of_step();
        // The log may take a while to judge cycles: no step is stuck then.
        self.writer.now(Activity::Nothing);
        let log = self.shared_state.log.as_ref()?;
        let (from, transition) = transition(&self.frames[self.depth - 1], self.places, &choices);
        let (system, space) = (self.space.system(), &self.space);
        let parts = &|part: &mut dyn FnMut(&[u8])| space.parts(part);
        let arrival = Arrival { identity, parts, system, transition };
        let logged = log.arrived(&mut self.log_writer, Some(from), &arrival);
        self.writer.now(Activity::Stepping);
        self.logged(logged)
    }

    /// Has the step logged that was taken from the top of the stack and showed a bug.
    pub(super) fn log_failed(&mut self) {
        let choices = self.choices_of_step();
        let Some(log) = &self.shared_state.log else { return };
        let (from, transition) = transition(&self.frames[self.depth - 1], self.places, &choices);
        log.failed(&mut self.log_writer, from.node, transition);
    }

    /// Of the transitions of the workers at these places of a frame, of which it is foreseen where they
    /// lead: those that likely lead to states in the log.
    #[inline]
    pub(super) fn log_expects(&mut self, at: usize, places: u64) -> u64 {
        let Some(log) = self.shared_state.log.as_ref().filter(|_| places != 0) else { return 0 };
        log.expect(&mut self.log_writer, self.frames[at].state.ahead.targets(), places)
    }

    /// Has those of these transitions logged that lead to states in the log. They were expected last.
    /// Answers their places.
    #[inline]
    pub(super) fn log_expected(&mut self, at: usize, expected: u64) -> u64 {
        let Some(log) = &self.shared_state.log else { return 0 };
        if expected == 0 {
            return 0;
        }
        let OpenState { node, enabled, ahead, .. } = &*self.frames[at].state;
        self.writer.now(Activity::Nothing);
        let (known, logged) =
            log.foreseen(&mut self.log_writer, *node, enabled, ahead.targets(), expected);
        self.writer.now(Activity::Stepping);
        self.logged(logged);
        known
    }

    /// The choices of the last step from the top of the stack, if there are values.
    fn choices_of_step(&self) -> Vec<Choice> {
        let parent = &self.frames[self.depth - 1];
        match parent.values[..] {
            [] => Vec::new(),
            _ => self.writer.choices_in(parent.state.path..self.writer.len()),
        }
    }

    pub(super) fn logged(&self, logged: Logged) -> Option<Node> {
        match logged {
            Logged::New(node) => Some(node),
            Logged::Known => None,
            Logged::NoRoom => {
                self.shared_state.memory_is_full();
                None
            }
        }
    }

    /// Notes that not all transitions of this state will be in the log.
    pub(super) fn log_gap(&mut self, node: Node) {
        if let Some(log) = &self.shared_state.log {
            log.opened(&mut self.log_writer, node);
        }
    }

    /// Notes that no more transitions of this state are taken for now.
    pub(super) fn log_left(&mut self, node: Node) {
        if let Some(log) = &self.shared_state.log {
            self.writer.now(Activity::Nothing);
            log.left(&mut self.log_writer, node);
            self.writer.now(Activity::Stepping);
        }
    }
}

/// The step of a frame with these choices, and where it was taken.
fn transition<'a, S: StateSpace, O: TransitionOrder>(
    frame: &'a Frame<S, O>,
    places: u64,
    choices: &'a [Choice],
) -> (Source, Transition<'a>) {
    let (worker, values) = (frame.worker, &frame.values[..]);
    let from = Source { node: frame.state.node, place: frame.place };
    (from, Transition { worker, values, choices, places, visits: 0 })
}
