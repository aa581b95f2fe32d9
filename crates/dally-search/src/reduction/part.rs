//! Parts of the tree of executions that can be explored at the same time, and how they are put together.
//!
//! What is explored below a node depends on the steps to the node, on what sleeps there and on how the
//! executions from there are to begin, and on nothing else. So a part that has run for a while gives
//! away what is left at one of its nodes: that is explored *beside* the step under way at the node, which
//! the part itself goes on with, *below*. Both reverse races whose first step is at that node or before
//! it. The beginnings that they find are kept, and when both are done the part *afterwards* goes on
//! from the node with those that are not covered.
//!
//! A part is given away after a fixed number of executions, whether or not a thread waits for it. So the
//! tree that is explored is the same with any number of threads. A part of a part of a part is not divided
//! any further, or what waits would grow with the square of the length of an execution.

use dally_core::Choice;

use super::engine::Engine;
use super::estimate::Estimate;
use super::inputs::InputDriver;
use super::node::{Node, WorkerNumbers};
use super::races::Race;
use super::wakeup::{Branch, Covered};
use crate::strata::StateSpace;

/// Parts are given away after so many executions at first, later after more: a small tree is worth
/// dividing early, and one that is large is divided often enough.
const FIRST_PATIENCE: u64 = 4;
const MOST_PATIENCE: u64 = 256;

/// A part that was divided so often is explored as a whole. Each division has copies of the nodes before it.
///
/// No part is divided at present. A step that sleeps is taken to cover every beginning with it that is found
/// later. That holds where all that executions before it show is noted when it is explored, and not where
/// another part shows it meanwhile: classes were missed so, a few in some thousand random programs.
const MOST_DIVISIONS: u32 = 0;

/// An execution that is to be gone on with from its last node, and from those before it as far as they
/// belong to the part.
pub(crate) struct Part<Snapshot, A> {
    /// The choices that lead to the last node.
    choices: Vec<Choice>,
    nodes: Vec<Node<Snapshot, A>>,
    seats: WorkerNumbers,
    races: Vec<Race>,
    /// The first node that belongs to the part. What is to be explored from those before it is kept
    /// for whoever they belong to.
    base: usize,
    patience: u64,
    /// How many divisions it is below or beside of.
    divisions: u32,
}

/// What is left of a part that was explored: its first node, and what is to be explored from those
/// before it.
pub(crate) struct Rest<Snapshot, A> {
    before: Vec<Vec<Branch<A>>>,
    node: Node<Snapshot, A>,
}

/// What a part gives away.
pub(crate) struct Division<Snapshot, A> {
    pub(crate) beside: Part<Snapshot, A>,
    pub(crate) afterwards: Part<Snapshot, A>,
    /// The leaves that are expected below, of which the node knows.
    pub(crate) leaves: u64,
    /// The leaves that are expected beside.
    pub(crate) expected: Estimate,
}

impl<Snapshot, A: Clone> Part<Snapshot, A> {
    /// Takes over what the parts below and beside have left. So many leaves were expected below.
    pub(crate) fn follow(
        &mut self,
        below: Rest<Snapshot, A>,
        beside: Rest<Snapshot, A>,
        leaves: u64,
    ) {
        let last = self.nodes.len() - 1;
        self.nodes[last] = beside.node;
        self.nodes[last].leaves.found(below.node.leaves.total().saturating_sub(leaves));
        for left in [below.before, beside.before] {
            for (node, tree) in self.nodes.iter_mut().zip(left) {
                for (sequence, inputs) in sequences(tree) {
                    node.explore(sequence, inputs.as_ref());
                }
            }
        }
    }
}

/// The sequences of a tree, and those that they cover.
fn sequences<A>(tree: Vec<Branch<A>>) -> Covered<A> {
    let mut found = Vec::new();
    for Branch { next, then, inputs, covers } in tree {
        if then.is_empty() {
            found.push((vec![next].into(), inputs));
        } else {
            let after = sequences(then).into_iter();
            found.extend(after.map(|(sequence, inputs)| (sequence.after(next.clone()), inputs)));
        }
        found.extend(covers);
    }
    found
}

impl<S: StateSpace, D: InputDriver> Engine<S, D> {
    /// Goes to the last node of a part.
    pub(super) fn load(&mut self, part: Part<S::Snapshot, D::Assignment>) {
        let Part { choices, nodes, seats, races, base, patience, divisions } = part;
        self.writer.rewind(0);
        choices.into_iter().for_each(|choice| self.writer.write(choice));
        self.depth = nodes.len() - 1;
        for (at, node) in nodes.into_iter().enumerate() {
            match self.nodes.get_mut(at) {
                Some(place) => *place = node,
                None => self.nodes.push(node),
            }
        }
        (self.seats, self.races) = (seats, races);
        (self.base, self.patience, self.executions) = (base, patience, 0);
        self.divisions = divisions;
    }

    /// The whole tree is one part.
    pub(super) fn load_first(&mut self) {
        (self.base, self.patience, self.executions) = (0, FIRST_PATIENCE, 0);
        self.divisions = 0;
    }

    /// Gives away what is left at the first node that has something left, if another node has too. An
    /// execution has just come to its end.
    pub(super) fn divide(&mut self) -> Option<Division<S::Snapshot, D::Assignment>> {
        if self.executions < self.patience || self.divisions == MOST_DIVISIONS {
            return None;
        }
        let is_left = |&at: &usize| !self.nodes[at].wakeup.is_empty();
        let mut left = (self.base..self.depth).filter(is_left);
        let (at, Some(_)) = (left.next()?, left.next()) else { return None };
        self.executions = 0;
        self.patience = (self.patience * 2).min(MOST_PATIENCE);
        let below = self.estimate_from(at + 1);
        let leaves = below.mean as u64;
        let node = &mut self.nodes[at];
        let all = node.leaves.estimate(below, node.wakeup.len());
        let known = node.leaves.total() as f64 + below.mean;
        let expected = Estimate { mean: (all.mean - known).max(0.0), ..all };
        node.leaves.found(leaves);
        let mut afterwards = Vec::with_capacity(at + 1);
        for node in &mut self.nodes[..=at] {
            let seen = node.as_seen();
            afterwards.push(std::mem::replace(node, seen));
        }
        let mut beside: Vec<_> = afterwards[..at].iter().map(Node::as_seen).collect();
        let divided = std::mem::replace(&mut afterwards[at], self.nodes[at].as_seen());
        let choices = self.writer.choices_in(0..divided.path);
        beside.push(divided);
        let divisions = self.divisions + 1;
        let part = |nodes, base, divisions, seats| Part {
            choices: choices.clone(),
            nodes,
            seats,
            races: self.races.iter().filter(|race| race.last() < at).copied().collect(),
            base,
            patience: self.patience,
            divisions,
        };
        let division = Division {
            beside: part(beside, at, divisions, self.seats.up_to(at)),
            afterwards: part(afterwards, self.base, self.divisions, self.seats.before(at)),
            leaves,
            expected,
        };
        (self.base, self.divisions) = (at + 1, divisions);
        Some(division)
    }

    /// What is left of the part, which was explored.
    pub(super) fn rest(&mut self) -> Rest<S::Snapshot, D::Assignment> {
        let take = |node: &mut Node<_, _>| std::mem::take(&mut node.wakeup);
        let before = self.nodes[..self.base].iter_mut().map(take).collect();
        Rest { before, node: std::mem::replace(&mut self.nodes[self.base], Node::blank()) }
    }

    /// How many leaves the part has, with those that it has found.
    pub(super) fn estimate(&self) -> Estimate {
        let found = self.results.leaves as f64;
        if self.nodes.len() <= self.depth {
            return Estimate { mean: found, variance: 0.0 };
        }
        let base = self.base.min(self.depth);
        let known: u64 = self.nodes[base..=self.depth].iter().map(|node| node.leaves.total()).sum();
        let all = self.estimate_from(base);
        Estimate { mean: found + all.mean - known as f64, ..all }
    }

    /// How many leaves there are from this node on.
    fn estimate_from(&self, node: usize) -> Estimate {
        let live = self.nodes[self.depth].leaves.total();
        let mut estimate = Estimate { mean: (live as f64).max(1.0), variance: 0.0 };
        for node in self.nodes[node..self.depth].iter().rev() {
            estimate = node.leaves.estimate(estimate, node.wakeup.len());
        }
        estimate
    }
}
