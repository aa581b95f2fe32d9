//! The depth-first exploration of one schedule for each class.
//!
//! An execution is followed to its end. Then each *race* in it is reversed: two steps that follow each
//! other in its partial order and could come the other way round. The beginning of an execution in
//! which they do goes into the wakeup tree of the node before the first of them, unless it is covered
//! by what was or will be explored from there. Then the search goes back to the deepest node that
//! has something left.
//!
//! A step that was explored from a node *sleeps* in what is explored from there afterwards, until a
//! step is taken that depends on it. So no class is executed twice. A wakeup tree leads to where
//! nothing sleeps any more, and only there steps are picked freely.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dally_core::bug::Uncontrolled;
use rustc_hash::FxHashSet;

use dally_core::{
    Access, Bug, Choice, EventBudget, Footprint, Problem, Resource, Stop, System, WorkerId,
};

use super::env::{Answers, StepEnv};
use super::estimate::{Estimate, Leaves};
use super::inputs::InputDriver;
use super::node::{Node, Seats};
use super::races::Race;
use super::rule::Reduction;
use super::shared::Results;
use super::step::Step;
use super::wakeup::{Branch, Next};
use crate::choice_log::{Activity, ChoiceWriter};
use crate::executor::{Limits, bug_at_end, endless, too_long};
use crate::strata::{ReturnError, StateSpace};

pub(crate) struct Engine<S: StateSpace, D: InputDriver> {
    pub(super) space: S,
    pub(super) driver: D,
    pub(super) writer: ChoiceWriter,
    pub(super) results: Arc<Results>,
    limits: Limits,
    /// The execution under way. `nodes[depth]` is the live one; those after it are spare memory.
    pub(super) nodes: Vec<Node<S::Snapshot, D::Assignment>>,
    pub(super) depth: usize,
    pub(super) seats: Seats,
    /// The races of the execution that have not been reversed.
    pub(super) races: Vec<Race>,
    footprint: Footprint,
    pub(super) rule: Reduction,
    /// What the choices of a schedule may cost, by the rule.
    bound: u32,
    /// The classes executed, where one may be executed again.
    classes: FxHashSet<u64>,
}

/// What came of a step.
enum Taken {
    /// The live node is the next one.
    Deeper,
    /// The execution is over.
    Ended,
    /// What the step does is asleep, or it could not be taken: there is nothing to explore.
    Nothing,
}

impl<S: StateSpace, D: InputDriver> Engine<S, D> {
    pub(crate) fn new(
        space: S,
        driver: D,
        writer: ChoiceWriter,
        results: Arc<Results>,
        limits: Limits,
        (rule, bound): (Reduction, u32),
    ) -> Engine<S, D> {
        Engine {
            rule,
            bound,
            classes: FxHashSet::default(),
            space,
            driver,
            writer,
            results,
            limits,
            nodes: Vec::new(),
            depth: 0,
            seats: Seats::default(),
            races: Vec::new(),
            footprint: Footprint::default(),
        }
    }

    /// Explores everything, unless it is told to stop. A bug kept the program from starting.
    pub(crate) fn explore(&mut self) -> Result<(), Bug> {
        self.writer.rewind(0);
        self.driver.begin_execution(None, 0);
        self.space.start(&mut self.writer)?;
        self.arrive(Vec::new());
        while !self.results.is_halted() {
            match self.forward() {
                Taken::Deeper => continue,
                Taken::Ended => self.reverse_races(),
                Taken::Nothing => self.reverse_races_of_part(),
            }
            if !self.back() {
                self.results.finished();
                break;
            }
            if self.results.is_asked() {
                self.results.estimated(self.estimate());
            }
        }
        self.writer.now(Activity::Nothing);
        self.results.estimated(self.estimate());
        Ok(())
    }

    /// Makes the live state the node at this depth; `then` is what is to be explored from it.
    fn arrive(&mut self, then: Vec<Branch<D::Assignment>>) {
        let depth = self.depth;
        if self.nodes.len() == depth {
            self.nodes.push(Node::blank());
        }
        let (before, rest) = self.nodes.split_at_mut(depth);
        let node = &mut rest[0];
        node.asleep.clear();
        if let Some(parent) = before.last()
            && let Some(step) = &parent.step
            && self.rule.sleeps()
        {
            let sleeps = |asleep: &&Arc<Step>| !asleep.depends(step);
            node.asleep.extend(parent.asleep.iter().filter(sleeps).cloned());
        }
        node.wakeup = then;
        (node.step, node.any) = (None, false);
        node.taken = false;
        node.tried.clear();
        node.leaves = Leaves::default();
        node.path = self.writer.len();
        node.enabled.clear();
        node.enabled.extend_from_slice(self.space.system().enabled());
        node.cost = before.last().map_or(0, |parent| parent.next_cost);
        self.results.deepest(node.path);
        if !node.enabled.is_empty() {
            self.space.snapshot_in(&self.writer, &mut node.snapshot, false);
        }
        if self.rule == Reduction::None {
            self.add_all(depth);
        }
    }

    /// Takes the next step from the live node, which was just arrived at.
    fn forward(&mut self) -> Taken {
        let node = &mut self.nodes[self.depth];
        if node.enabled.is_empty() {
            return self.at_the_end();
        }
        if self.writer.len() >= self.limits.max_steps {
            return self.at_the_bound();
        }
        if !node.wakeup.is_empty() {
            let branch = node.wakeup.remove(0);
            node.asked.clear();
            return self.take(branch);
        }
        match self.anyone() {
            Some(worker) => self.take(Branch::any(worker)),
            None => {
                // All that can follow is covered by executions that begin with steps asleep.
                self.results.redundant();
                Taken::Nothing
            }
        }
    }

    /// A worker to step from the live node, from which nothing was explored and nothing need be
    /// explored first. It is noted as tried.
    fn anyone(&mut self) -> Option<WorkerId> {
        let last = self.depth.checked_sub(1).map(|before| self.nodes[before].worker);
        let node = &mut self.nodes[self.depth];
        node.asked.clear();
        let untried = |worker: &WorkerId| !node.tried.contains(worker);
        // What a step asleep has picked is covered, and nothing else that it could pick here.
        let picks = node.asleep.iter().filter(|asleep| asleep.may_differ());
        let other_picks = picks.map(|asleep| asleep.worker).find(untried);
        let awake = |worker: &&WorkerId| {
            untried(worker) && node.asleep.iter().all(|asleep| asleep.worker != **worker)
        };
        // Taking turns, so that an execution that the step bound cuts has steps of all workers. Where the
        // rule wants an order, it is that of ids, from the last worker on if turns cost.
        let rule = self.rule;
        let after = |worker: &&WorkerId| match rule {
            Reduction::NeedsDelay => true,
            rule if rule.is_bounded() => last.is_none_or(|last| **worker >= last),
            _ => last.is_some_and(|last| **worker > last),
        };
        let in_turn = || {
            let mut enabled = node.enabled.iter().filter(awake);
            let first = enabled.clone().next();
            enabled.find(after).or(first).copied()
        };
        let worker = other_picks.or_else(in_turn)?;
        node.tried.push(worker);
        Some(worker)
    }

    /// Goes back to the deepest node with something left to explore, and takes a step from it;
    /// `false` if there is none.
    fn back(&mut self) -> bool {
        loop {
            if self.results.is_halted() {
                return true;
            }
            self.end_branch();
            let node = &mut self.nodes[self.depth];
            let mut inputs = None;
            let branch = if (node.any || D::BRANCHES)
                && node.next_picks(self.depth, &mut self.driver, &mut inputs)
            {
                Branch::any(node.worker)
            } else if !node.covers.is_empty() {
                // No step of the worker was explored.
                node.uncover();
                continue;
            } else if !node.tried.is_empty()
                && !node.taken
                && let Some(worker) = self.anyone()
            {
                // Whoever was tried can pick nothing here that is not asleep.
                Branch::any(worker)
            } else if let node = &self.nodes[self.depth]
                && node.wakeup.is_empty()
            {
                if self.depth == 0 {
                    return false;
                }
                let leaves = node.leaves.total();
                self.depth -= 1;
                let node = &mut self.nodes[self.depth];
                node.leaves.found(leaves);
                if leaves == 0 {
                    node.uncover();
                }
                continue;
            } else {
                let node = &mut self.nodes[self.depth];
                let mut branch = node.wakeup.remove(0);
                node.asked.clear();
                inputs = branch.inputs.take();
                branch
            };
            if !self.return_to_node(inputs) {
                return true;
            }
            match self.take(branch) {
                Taken::Deeper => return true,
                Taken::Ended => self.reverse_races(),
                Taken::Nothing => self.reverse_races_of_part(),
            }
        }
    }

    /// The step from the live node is explored: it sleeps from now on.
    fn end_branch(&mut self) {
        let node = &mut self.nodes[self.depth];
        if let Some(step) = node.step.take() {
            self.seats.steps[node.seat].pop();
            if node.explored {
                // What begins with other picks of the worker is covered by those, if they are.
                node.covers.retain(|(sequence, _)| sequence.picks_other_than(&step));
                node.asleep.push(step);
            }
            node.leaves.end_branch();
            self.forget_races();
        }
    }

    /// Takes a step from the live node.
    fn take(&mut self, branch: Branch<D::Assignment>) -> Taken {
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
            self.results.bounded();
            node.any = false;
            return Taken::Nothing;
        }
        if !node.enabled.contains(&worker) {
            self.results.redundant();
            node.any = false;
            node.uncover();
            return Taken::Nothing;
        }
        self.results.stepped();
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
            self.results.inputs.store(true, Ordering::Relaxed);
        }
        if asleep || astray {
            if astray {
                self.results.astray();
            }
            return Taken::Nothing;
        }
        let bug = match stepped {
            Ok(()) if !too_long => None,
            Err(Stop::Bug(bug)) if !too_long => Some(bug.in_step_of(worker)),
            Err(Stop::Cut) if !too_long => return self.is_irrelevant(),
            _ if self.limits.long_steps_end => {
                self.results.cut();
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
            self.results.redundant();
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
                self.results.found(bug, &self.writer);
                Taken::Ended
            }
        }
    }

    /// Called where no worker can step.
    fn at_the_end(&mut self) -> Taken {
        self.executed();
        let bug = bug_at_end(self.space.system());
        self.writer.now(Activity::Ending);
        let finished = self.space.finish();
        self.writer.now(Activity::Stepping);
        if let Some(bug) = bug.or(finished.err()) {
            self.results.found(bug, &self.writer);
        }
        Taken::Ended
    }

    /// Called where the execution has as many steps as it may have.
    fn at_the_bound(&mut self) -> Taken {
        self.results.cut();
        self.nodes[self.depth].leaves.found(1);
        if self.limits.fail_on_max_steps {
            self.results.found(too_long(self.limits.max_steps), &self.writer);
        }
        Taken::Ended
    }

    /// Called where the program itself gave up the execution: an assumption does not hold.
    fn is_irrelevant(&mut self) -> Taken {
        self.results.irrelevant(self.nodes[self.depth].enabled.len() == 1);
        self.nodes[self.depth].leaves.found(1);
        Taken::Ended
    }

    fn executed(&mut self) {
        if !self.rule.repeats_nothing() {
            self.classes.insert(self.class());
            self.results.distinct(self.classes.len());
        }
        self.nodes[self.depth].leaves.found(1);
        self.results.executed(&self.writer);
    }

    /// Makes the node at this depth the live state; `false` if that fails, and the search ends.
    fn return_to_node(&mut self, inputs: Option<D::Assignment>) -> bool {
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
        self.results.found(bug, &self.writer);
        self.results.halt();
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

    /// How many classes there are.
    pub(crate) fn estimate(&self) -> Estimate {
        let nothing = Estimate { mean: 0.0, variance: 0.0 };
        let Some(live) = self.nodes.get(self.depth) else { return nothing };
        let mut estimate = Estimate { mean: (live.leaves.total() as f64).max(1.0), variance: 0.0 };
        for node in self.nodes[..self.depth].iter().rev() {
            estimate = node.leaves.estimate(estimate, node.wakeup.len());
        }
        estimate
    }

    /// A worker can step from the live node that this step was taken from.
    pub(super) fn is_enabled_at(&self, node: usize, worker: WorkerId) -> bool {
        worker.place_in(&self.nodes[node].enabled).is_ok()
    }
}
