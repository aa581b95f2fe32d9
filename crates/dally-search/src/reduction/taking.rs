//! How a step is taken, and how an execution ends.

use std::sync::Arc;

use dally_core::{Access, Choice, EventBudget, Resource, Stop, System};

use super::engine::Engine;
use super::env::{Answers, StepEnv};
use super::inputs::InputDriver;
use super::step::Step;
use super::wakeup::{Branch, Next};
use crate::choice_log::Activity;
use crate::executor::{bug_at_end, endless, too_long};
use crate::strata::StateSpace;

/// What came of a step.
pub(super) enum Taken {
    /// The live node is the next one.
    Deeper,
    /// The execution is over.
    Ended,
    /// What the step does is asleep, or it could not be taken: there is nothing to explore.
    Nothing,
}

impl<S: StateSpace, D: InputDriver> Engine<S, D> {
    /// Takes a step from the live node.
    pub(super) fn take(&mut self, branch: Branch<D::Assignment>) -> Taken {
        let Branch { next, then, covers, .. } = branch;
        let again = !self.nodes[self.depth].asked.is_empty();
        let worker = next.worker();
        let node = &mut self.nodes[self.depth];
        (node.worker, node.any) = (worker, matches!(next, Next::Any(..)));
        node.explored = true;
        if !again {
            node.covers = covers;
        }
        let cost = if self.rule.is_bounded() { self.price(worker) } else { 0 };
        let node = &mut self.nodes[self.depth];
        node.next_cost = node.cost.saturating_add(cost);
        if node.next_cost > self.bound {
            self.results.bounded += 1;
            node.any = false;
            return Taken::Nothing;
        }
        if !node.enabled.contains(&worker) {
            self.results.redundant += 1;
            node.any = false;
            node.uncover();
            return Taken::Nothing;
        }
        self.results.steps += 1;
        self.writer.write(Choice::Worker(worker));
        self.driver.begin_step(self.depth, worker);
        let chooses = node.any && {
            self.space.system().pending(worker, &mut self.footprint);
            let inbox = Resource::Inbox(worker);
            let listed = |access: &Access| access.resource == inbox;
            self.footprint.is_unknown() || self.footprint.accesses().iter().any(listed)
        };
        self.footprint.begin(worker);
        let answers = match &next {
            Next::Exactly(step) => Answers::Exactly(&step.picks, 0),
            Next::Any(..) => Answers::Any { asked: &mut node.asked, asleep: &node.asleep },
        };
        let mut env = StepEnv {
            writer: &mut self.writer,
            driver: &mut self.driver,
            answers,
            picks: Vec::new(),
            had_options: false,
            footprint: &mut self.footprint,
            listens: node.any,
            items: EventBudget::new(self.limits.step_items),
            endless: false,
            inputs: false,
            asleep: false,
            astray: false,
            branches: 0,
        };
        let stepped = self.space.step(worker, &mut env);
        env.note_branches();
        let StepEnv { picks, had_options, endless: too_long, asleep, astray, inputs, .. } = env;
        if inputs && !D::BRANCHES {
            self.results.inputs = true;
        }
        if asleep || astray {
            if astray {
                self.results.astray += 1;
            }
            return Taken::Nothing;
        }
        let bug = match stepped {
            Ok(()) if !too_long => None,
            Err(Stop::Bug(bug)) if !too_long => Some(bug.in_step_of(worker)),
            Err(Stop::Cut) if !too_long => return self.is_irrelevant(),
            _ if self.limits.long_steps_end => {
                self.results.cut += 1;
                return Taken::Nothing;
            }
            _ => Some(endless(self.space.system(), worker, self.limits.step_items)),
        };
        if bug.is_some() {
            // It ends the execution, so its order with every other step matters.
            self.footprint.add(Access::update(Resource::Execution));
        }
        let step = match next {
            Next::Exactly(step) if bug.is_none() => step,
            _ => Arc::new(Step::new(self.footprint.clone(), picks, had_options, chooses)),
        };
        let node = &mut self.nodes[self.depth];
        if node.asleep.iter().any(|asleep| asleep.is(&step)) {
            self.results.redundant += 1;
            return Taken::Nothing;
        }
        if D::BRANCHES && !node.any {
            // Another outcome of a branch may be feasible here that was not where the step comes from.
            node.ask_branches_of(&step);
        }
        (node.step, node.taken) = (Some(step), true);
        self.order();
        match bug {
            None => {
                self.depth += 1;
                self.arrive(then);
                self.note_disabled();
                Taken::Deeper
            }
            Some(bug) => {
                self.note_all_disabled();
                self.executed();
                self.found(bug);
                Taken::Ended
            }
        }
    }

    /// Called where no worker can step.
    pub(super) fn at_the_end(&mut self) -> Taken {
        self.executed();
        let bug = bug_at_end(self.space.system());
        self.writer.now(Activity::Ending);
        let finished = self.space.finish();
        self.writer.now(Activity::Stepping);
        if let Some(bug) = bug.or(finished.err()) {
            self.found(bug);
        }
        Taken::Ended
    }

    /// Called where the execution has as many steps as it may have.
    pub(super) fn at_the_bound(&mut self) -> Taken {
        self.results.cut += 1;
        self.leaf();
        if self.limits.fail_on_max_steps {
            self.found(too_long(self.limits.max_steps));
        }
        Taken::Ended
    }

    /// Called where the program itself gave up the execution: an assumption does not hold.
    fn is_irrelevant(&mut self) -> Taken {
        self.results.irrelevant(self.nodes[self.depth].enabled.len() == 1);
        self.leaf();
        Taken::Ended
    }
}
