//! How a search takes transitions, and returns to take others.

use std::sync::atomic::Ordering;

use dally_core::bug::Uncontrolled;
use dally_core::{Bug, Choice, EventBudget, Problem, Stop, WorkerId};

use super::depth_first::DepthFirstWorker;
use super::entry::Value;
use super::state_space::{ReturnError, StateSpace};
use super::transition_env::TransitionEnv;
use super::transition_order::TransitionOrder;
use crate::executor::endless;

/// What came of a transition.
pub(super) enum Taken {
    Stepped,
    /// It showed a bug.
    Failed,
    /// It leads where transitions with other values lead.
    Redundant,
    /// It is longer than a step may be.
    Cut,
}

/// Why a step was not taken to its end.
pub(super) enum NotTaken {
    Bug(Box<Bug>),
    Redundant,
    Cut,
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Takes the next transition of the top frame.
    pub(super) fn step(&mut self) {
        let frame = &mut self.frames[self.depth - 1];
        if frame.state.ahead.is_visited(frame.place) {
            // It was not passed over, since it comes after one with values.
            self.counters.transitions += 1;
            return;
        }
        if !self.at_top && !self.return_to_top() {
            return;
        }
        let frame = &mut self.frames[self.depth - 1];
        let (worker, mut values) = (frame.worker, std::mem::take(&mut frame.values));
        if self.leads_nowhere_new(&mut values) {
            self.frames[self.depth - 1].values = values;
            self.counters.transitions += 1;
            return;
        }
        let taken = self.take(worker, &mut values);
        self.frames[self.depth - 1].values = values;
        self.at_top = false;
        self.counters.transitions += 1;
        match taken {
            Taken::Stepped => self.arrive(),
            Taken::Failed => self.log_failed(),
            Taken::Redundant => {}
            Taken::Cut => self.log_gap(self.frames[self.depth - 1].state.node),
        }
    }

    /// Takes a step from the live state with these values.
    pub(super) fn take(&mut self, worker: WorkerId, values: &mut Vec<Value>) -> Taken {
        self.writer.write(Choice::Worker(worker));
        let limits = self.shared_state.limits;
        let bug = match self.attempt(values, true, |space, env| space.step(worker, env)) {
            Ok(()) => return Taken::Stepped,
            Err(NotTaken::Bug(bug)) => bug.in_step_of(worker),
            Err(NotTaken::Redundant) => return Taken::Redundant,
            Err(NotTaken::Cut) if limits.long_steps_end => {
                self.counters.cut += 1;
                return Taken::Cut;
            }
            Err(NotTaken::Cut) => endless(self.space.system(), worker, limits.step_items),
        };
        self.found(bug);
        Taken::Failed
    }

    /// Runs a step, or asks where it leads, with these values; a step that asks for a value is cut
    /// unless it `chooses`.
    #[inline]
    pub(super) fn attempt(
        &mut self,
        values: &mut Vec<Value>,
        chooses: bool,
        step: impl FnOnce(&mut S, &mut TransitionEnv<'_>) -> Result<(), Stop>,
    ) -> Result<(), NotTaken> {
        // What a step would do is of no interest to explorers before it is taken.
        let listens = O::LISTENS && chooses;
        if listens {
            self.summary.clear();
        }
        let mut env = TransitionEnv {
            writer: &mut self.writer,
            values,
            answered: 0,
            chooses,
            inputs: false,
            place: 0,
            places: 0,
            summary: listens.then_some(&mut self.summary),
            items: EventBudget::new(self.shared_state.limits.step_items),
            endless: false,
            redundant: false,
        };
        let stepped = step(&mut self.space, &mut env);
        self.places = env.places;
        if env.inputs {
            self.shared_state.inputs.store(true, Ordering::Relaxed);
        }
        match stepped {
            Ok(()) if !env.endless => Ok(()),
            Err(Stop::Bug(bug)) if !env.endless => Err(NotTaken::Bug(bug)),
            _ if env.redundant && !env.endless => Err(NotTaken::Redundant),
            _ => Err(NotTaken::Cut),
        }
    }

    /// Makes the state on top of the stack the live state; `false` if that fails.
    pub(super) fn return_to_top(&mut self) -> bool {
        let top = self.depth - 1;
        self.writer.truncate(self.frames[top].state.path);
        let Some(snapshot) = &self.frames[top].state.snapshot else { return false };
        self.at_top = match self.space.go_to(snapshot, &mut self.writer) {
            Ok(()) => true,
            Err(error) => self.cannot_return(error),
        };
        self.at_top
    }

    /// Goes to the state of a snapshot. `false` if that fails: then the search ends.
    pub(super) fn go_to(&mut self, snapshot: &S::Snapshot) -> bool {
        match self.space.go_to(snapshot, &mut self.writer) {
            Ok(()) => true,
            Err(error) => self.cannot_return(error),
        }
    }

    /// Ends the search because it could not return to a state.
    #[cold]
    fn cannot_return(&mut self, error: ReturnError) -> bool {
        let difference = match error {
            ReturnError::Bug(bug) => format!("it failed on the way: {bug}"),
            ReturnError::Diverged(message) => message,
        };
        self.found(Bug::new(Problem::Uncontrolled(Uncontrolled::Prefix { difference })));
        self.shared_state.stop();
        false
    }
}
