//! How the search goes back to a state of the execution under way.

use dally_core::bug::Uncontrolled;
use dally_core::{Bug, Choice, EventBudget, Problem, Stop};

use super::engine::Engine;
use super::env::{Answers, StepEnv};
use super::inputs::InputDriver;
use crate::strata::{ReturnError, StateSpace};

impl<S: StateSpace, D: InputDriver> Engine<S, D> {
    /// Makes the node at this depth the live state; `false` if that fails, and the search ends.
    pub(super) fn return_to_node(&mut self, inputs: Option<D::Assignment>) -> bool {
        self.writer.truncate(self.nodes[self.depth].path);
        let returned = if D::BRANCHES {
            self.run_again(inputs)
        } else {
            let Some(snapshot) = &self.nodes[self.depth].snapshot else { return false };
            self.space.go_to(snapshot, &mut self.writer)
        };
        let difference = match returned {
            Ok(()) => return true,
            Err(ReturnError::Bug(bug)) => format!("it failed on the way: {bug}"),
            Err(ReturnError::Diverged(message)) => message,
        };
        let bug = Bug::new(Problem::Uncontrolled(Uncontrolled::Prefix { difference }));
        self.found(bug);
        self.results.stopped = true;
        false
    }

    /// Runs the steps up to the node again, with these inputs or those of the latest execution.
    fn run_again(&mut self, inputs: Option<D::Assignment>) -> Result<(), ReturnError> {
        let inputs = inputs.unwrap_or_else(|| self.driver.assignment());
        self.writer.rewind(0);
        self.space.start(&mut self.writer).map_err(ReturnError::Bug)?;
        self.driver.begin_execution(Some(&inputs), self.depth);
        for depth in 0..self.depth {
            let Some(step) = self.nodes[depth].step.clone() else { return Ok(()) };
            self.nodes[depth].path = self.writer.len();
            self.writer.write(Choice::Worker(step.worker));
            self.driver.begin_step(depth, step.worker);
            self.footprint.begin(step.worker);
            let mut env = StepEnv {
                writer: &mut self.writer,
                driver: &mut self.driver,
                answers: Answers::Exactly(&step.picks, 0),
                picks: Vec::new(),
                had_options: false,
                footprint: &mut self.footprint,
                listens: false,
                items: EventBudget::new(self.limits.step_items),
                endless: false,
                inputs: false,
                asleep: false,
                astray: false,
                branches: 0,
            };
            let stepped = self.space.step(step.worker, &mut env);
            let astray = env.astray;
            match stepped {
                Ok(()) if !astray => {}
                Err(Stop::Bug(bug)) => return Err(ReturnError::Bug(*bug)),
                _ => {
                    let message = format!("step {}: it asks for something else", depth + 1);
                    return Err(ReturnError::Diverged(message));
                }
            }
        }
        self.nodes[self.depth].path = self.writer.len();
        Ok(())
    }
}
