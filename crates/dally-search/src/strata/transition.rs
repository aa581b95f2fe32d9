//! How a search takes transitions, and goes back to take others.

use std::sync::atomic::Ordering;

use dally_core::bug::Uncontrolled;
use dally_core::{Bug, Choice, EventBudget, Problem, Stop, WorkerId};

use super::depth_first::DepthFirstWorker;
use super::entry::Value;
use super::state_space::{ReturnError, StateSpace};
use super::step_env::StepEnv;
use super::transition_order::TransitionOrder;
use crate::executor::endless;

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Takes the transition that the frame on top stands before.
    pub(super) fn step(&mut self) {
        let frame = &mut self.frames[self.depth - 1];
        if frame.ahead.is_visited(frame.place) {
            // It comes after one with values, so it was not passed over.
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
        let stepped = self.take(worker, &mut values);
        self.frames[self.depth - 1].values = values;
        self.at_top = false;
        self.counters.transitions += 1;
        if stepped {
            self.arrive();
        } else {
            self.log_gap(self.frames[self.depth - 1].node);
        }
    }

    /// Takes a step from the live state with these values; `false` if it showed a bug.
    pub(super) fn take(&mut self, worker: WorkerId, values: &mut Vec<Value>) -> bool {
        self.writer.write(Choice::Worker(worker));
        let bug = match self.attempt(values, true, |space, env| space.step(worker, env)) {
            Ok(()) => return true,
            Err(Some(bug)) => bug.in_step_of(worker),
            Err(None) => endless(self.space.system(), worker, self.shared_state.limits.step_items),
        };
        self.found(bug);
        false
    }

    /// Has a worker take a step, or asks where it leads, with these values, or with none unless it
    /// `chooses`. The step may show a bug; if it was cut short there is none yet.
    #[inline]
    pub(super) fn attempt(
        &mut self,
        values: &mut Vec<Value>,
        chooses: bool,
        step: impl FnOnce(&mut S, &mut StepEnv<'_>) -> Result<(), Stop>,
    ) -> Result<(), Option<Box<Bug>>> {
        if O::LISTENS {
            self.summary.clear();
        }
        let mut env = StepEnv {
            writer: &mut self.writer,
            values,
            answered: 0,
            chooses,
            inputs: false,
            summary: O::LISTENS.then_some(&mut self.summary),
            items: EventBudget::new(self.shared_state.limits.step_items),
            endless: false,
        };
        let stepped = step(&mut self.space, &mut env);
        if env.inputs {
            self.shared_state.inputs.store(true, Ordering::Relaxed);
        }
        match stepped {
            Ok(()) if !env.endless => Ok(()),
            Err(Stop::Bug(bug)) if !env.endless => Err(Some(bug)),
            _ => Err(None),
        }
    }

    /// Ends the live execution.
    pub(super) fn leave(&mut self) {
        if let Err(bug) = self.space.leave() {
            self.found(bug);
        }
    }

    /// Makes the state on top of the stack the live state. `false` if that cannot be done.
    pub(super) fn return_to_top(&mut self) -> bool {
        self.leave();
        let top = self.depth - 1;
        self.writer.truncate(self.frames[top].path);
        let Some(snapshot) = &self.frames[top].snapshot else { return false };
        self.at_top = match self.space.go_to(snapshot, &mut self.writer) {
            Ok(()) => true,
            Err(error) => self.cannot_return(error),
        };
        self.at_top
    }

    /// Goes to the state of a snapshot, to which the choices in the choice log lead. `false` if that
    /// cannot be done: then the search is over.
    pub(super) fn go_to(&mut self, snapshot: &S::Snapshot) -> bool {
        match self.space.go_to(snapshot, &mut self.writer) {
            Ok(()) => true,
            Err(error) => self.cannot_return(error),
        }
    }

    /// The search could not come back to a state, and is over.
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
