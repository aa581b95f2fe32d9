//! How a search takes transitions, and returns to take others.

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
    /// Takes the next transition of the top frame.
    pub(super) fn step(&mut self) {
        let frame = &mut self.frames[self.depth - 1];
        if frame.state.ahead.is_visited(frame.next - 1) {
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
        let stepped = self.take(worker, &mut values);
        self.frames[self.depth - 1].values = values;
        self.at_top = false;
        self.counters.transitions += 1;
        if stepped {
            self.arrive();
        } else {
            self.log_failed();
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

    /// Runs a step, or asks where it leads, with these values; a step that asks for a value is cut
    /// unless it `chooses`. The error is the bug that it showed, or `None` if it was cut.
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
            place: 0,
            places: 0,
            summary: O::LISTENS.then_some(&mut self.summary),
            items: EventBudget::new(self.shared_state.limits.step_items),
            endless: false,
        };
        let stepped = step(&mut self.space, &mut env);
        self.places = env.places;
        if env.inputs {
            self.shared_state.inputs.store(true, Ordering::Relaxed);
        }
        match stepped {
            Ok(()) if !env.endless => Ok(()),
            Err(Stop::Bug(bug)) if !env.endless => Err(Some(bug)),
            _ => Err(None),
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
