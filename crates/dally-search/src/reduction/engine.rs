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

use dally_core::{Bug, Footprint, System, WorkerId};
use rustc_hash::FxHashSet;

use super::estimate::Leaves;
use super::inputs::InputDriver;
use super::node::{Node, WorkerNumbers};
use super::outcome::Outcome;
use super::races::Race;
use super::rule::Reduction;
use super::sharing::SharedSearch;
use super::step::Step;
use super::taking::Taken;
use super::wakeup::Branch;
use crate::choice_log::{Activity, ChoiceWriter};
use crate::executor::Limits;
use crate::strata::StateSpace;

/// A search under way.
pub(crate) struct Engine<S: StateSpace, D: InputDriver> {
    pub(super) space: S,
    pub(super) driver: D,
    pub(super) writer: ChoiceWriter,
    pub(super) limits: Limits,
    search: Arc<SharedSearch>,
    /// What has come of the search so far.
    pub(super) results: Outcome,
    /// The execution under way. `nodes[depth]` is the live one; those after it are spare memory.
    pub(super) nodes: Vec<Node<S::Snapshot, D::Assignment>>,
    pub(super) depth: usize,
    pub(super) seats: WorkerNumbers,
    /// The races of the execution that have not been reversed.
    pub(super) races: Vec<Race>,
    pub(super) footprint: Footprint,
    pub(super) rule: Reduction,
    /// What the choices of a schedule may cost, by the rule.
    pub(super) bound: u32,
    /// The classes executed, where one may be executed again.
    classes: FxHashSet<u64>,
    /// The steps that were told of, and the estimates that were asked for.
    told: u64,
    asked: u64,
}

impl<S: StateSpace, D: InputDriver> Engine<S, D> {
    pub(crate) fn new(
        space: S,
        driver: D,
        writer: ChoiceWriter,
        search: Arc<SharedSearch>,
        limits: Limits,
        (rule, bound): (Reduction, u32),
    ) -> Engine<S, D> {
        Engine {
            space,
            driver,
            writer,
            limits,
            search,
            results: Outcome::default(),
            nodes: Vec::new(),
            depth: 0,
            seats: WorkerNumbers::default(),
            races: Vec::new(),
            footprint: Footprint::default(),
            rule,
            bound,
            classes: FxHashSet::default(),
            told: 0,
            asked: 0,
        }
    }

    /// Explores everything, unless it is told to stop.
    pub(crate) fn work(mut self) {
        let explored = self.begin().map(|()| self.explore());
        self.writer.now(Activity::Nothing);
        self.results.unfinished = !matches!(explored, Ok(true));
        if let Err(bug) = explored {
            self.search.failed(bug);
        }
        let expected = self.estimate();
        self.search.explored(self.results, expected);
    }

    /// Goes to the first state.
    fn begin(&mut self) -> Result<(), Bug> {
        self.writer.rewind(0);
        self.driver.begin_execution(None, 0);
        self.space.start(&mut self.writer)?;
        self.arrive(Vec::new());
        Ok(())
    }

    /// Explores the tree to its end, from its live node. Answers whether that was done.
    fn explore(&mut self) -> bool {
        while !self.is_stopped() {
            match self.forward() {
                Taken::Deeper => continue,
                Taken::Ended => self.reverse_races(),
                Taken::Nothing => self.reverse_races_of_part(),
            }
            if !self.back() {
                return !self.is_stopped();
            }
            if self.asked != self.search.asked() {
                self.asked = self.search.asked();
                self.search.expect(self.estimate());
            }
        }
        false
    }

    /// Whether the search is over before all is explored.
    fn is_stopped(&self) -> bool {
        self.results.stopped || self.search.is_halted()
    }

    /// An execution has come to its end, or a bug has ended it.
    pub(super) fn executed(&mut self) {
        if !self.rule.repeats_nothing() {
            self.classes.insert(self.class());
            self.results.distinct = self.classes.len() as u64;
        }
        self.leaf();
        self.results.executed += 1;
        self.search.executed(self.results.steps - self.told, &self.writer);
        self.told = self.results.steps;
    }

    /// A branch ends at the live node.
    pub(super) fn leaf(&mut self) {
        self.nodes[self.depth].leaves.found(1);
    }

    /// Takes note of a bug, to which the choices in the log lead.
    pub(super) fn found(&mut self, bug: Bug) {
        if let Some(raw) = self.results.found(bug, &self.writer) {
            self.search.found(raw);
        }
        self.results.stopped |= !self.search.keeps_going();
    }

    /// Makes the live state the node at this depth; `then` is what is to be explored from it.
    pub(super) fn arrive(&mut self, then: Vec<Branch<D::Assignment>>) {
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
                self.results.redundant += 1;
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
            if self.is_stopped() {
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

    /// A worker can step from the live node that this step was taken from.
    pub(super) fn is_enabled_at(&self, node: usize, worker: WorkerId) -> bool {
        worker.place_in(&self.nodes[node].enabled).is_ok()
    }
}
