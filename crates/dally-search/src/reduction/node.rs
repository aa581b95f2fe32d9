//! The execution under way: its states, the steps between them, and what is left to explore from
//! each state.

use std::sync::Arc;

use dally_core::WorkerId;
use rustc_hash::FxHashMap;

use super::env::{Asked, Options, is_asleep};
use super::estimate::Leaves;
use super::inputs::InputDriver;
use super::step::{Pick, Step};
use super::wakeup::{Branch, Covered, Next, Sequence};

/// A state of the execution under way, and the step that was taken from it.
pub(crate) struct Node<Snapshot, A> {
    pub(crate) snapshot: Option<Snapshot>,
    /// The number of choices that lead here.
    pub(crate) path: usize,
    /// What they cost of a bound, and what they cost with the step under way.
    pub(crate) cost: u32,
    pub(crate) next_cost: u32,
    pub(crate) enabled: Vec<WorkerId>,
    /// Steps that need not be taken from here: all that they begin was explored. Those that were
    /// taken from here come last.
    pub(crate) asleep: Vec<Arc<Step>>,
    /// What must still be explored from here, besides the step under way.
    pub(crate) wakeup: Vec<Branch<A>>,
    /// The step under way, and the worker that took it last.
    pub(crate) step: Option<Arc<Step>>,
    pub(crate) worker: WorkerId,
    /// What need not be explored if a step of the worker is.
    pub(crate) covers: Covered<A>,
    /// Whether the step under way is explored.
    pub(crate) explored: bool,
    /// Whether a step was taken from here, and the workers of whom any step was or is to be taken
    /// because nothing else was to be explored, or a rule says so.
    pub(crate) taken: bool,
    pub(crate) tried: Vec<WorkerId>,
    /// Whether all picks of the worker are to be explored.
    pub(crate) any: bool,
    /// What the step picked and could have picked, if others are to be explored.
    pub(crate) asked: Vec<Asked>,
    /// How many steps of each worker happen before the step or are it, by seats.
    pub(crate) clock: Vec<u32>,
    pub(crate) seat: usize,
    pub(crate) leaves: Leaves,
}

impl<Snapshot, A> Node<Snapshot, A> {
    pub(crate) fn blank() -> Node<Snapshot, A> {
        Node {
            snapshot: None,
            path: 0,
            cost: 0,
            next_cost: 0,
            enabled: Vec::new(),
            asleep: Vec::new(),
            wakeup: Vec::new(),
            step: None,
            worker: WorkerId::FAULTS,
            covers: Vec::new(),
            explored: true,
            taken: false,
            tried: Vec::new(),
            any: false,
            asked: Vec::new(),
            clock: Vec::new(),
            seat: 0,
            leaves: Leaves::default(),
        }
    }

    /// Has executions explored that begin so, unless those that were or will be explored from here
    /// cover them.
    pub(crate) fn explore(&mut self, sequence: Sequence, inputs: Option<&A>)
    where
        A: Clone,
    {
        if !sequence.is_covered_by(&self.asleep) {
            sequence.insert(&mut self.wakeup, inputs);
        }
    }

    /// The number of the step among those of its worker, from 1.
    pub(crate) fn number(&self) -> u32 {
        self.clock[self.seat]
    }

    /// Whether the step of `self` happens before that of `later`, or is it.
    pub(crate) fn is_before(&self, later: &Node<Snapshot, A>) -> bool {
        later.clock.get(self.seat).is_some_and(|&number| number >= self.number())
    }

    /// The step is not explored after all: what it was to cover must be.
    pub(crate) fn uncover(&mut self)
    where
        A: Clone,
    {
        self.explored = false;
        for (sequence, inputs) in std::mem::take(&mut self.covers) {
            self.explore(sequence, inputs.as_ref());
        }
    }

    /// Other outcomes of the branches of this step, which was taken as it is, are to be explored.
    pub(crate) fn ask_branches_of(&mut self, step: &Step) {
        self.asked.clear();
        let mut branches = 0;
        for &pick in &step.picks {
            let options = match pick {
                Pick::Branch(_) => {
                    branches += 1;
                    Options::Branch(branches - 1)
                }
                _ => Options::None,
            };
            self.asked.push(Asked { pick, options });
        }
    }

    /// Whether a step of the worker that begins with these picks is still to be explored from here.
    fn is_awaited(&self, before: &[Pick], last: Pick) -> bool {
        self.wakeup.iter().any(|branch| match &branch.next {
            Next::Exactly(step) => {
                step.worker == self.worker
                    && step.picks.starts_with(before)
                    && step.picks.get(before.len()) == Some(&last)
            }
            Next::Any(..) => false,
        })
    }

    /// Moves on to other picks of the step, and the inputs for them; `false` if there are none.
    pub(crate) fn next_picks<D>(
        &mut self,
        depth: usize,
        driver: &mut D,
        inputs: &mut Option<A>,
    ) -> bool
    where
        D: InputDriver<Assignment = A>,
    {
        let worker = self.worker;
        while let Some(Asked { pick, options }) = self.asked.pop() {
            let before: Vec<Pick> = self.asked.iter().map(|asked| asked.pick).collect();
            let open = |pick: &Pick| !is_asleep(&self.asleep, worker, &before, *pick);
            let (next, options) = match (pick, options) {
                (Pick::Value { index, of, tag }, Options::Values) => {
                    let further = (index + 1..of).map(|index| Pick::Value { index, of, tag });
                    (further.clone().find(open), Options::Values)
                }
                (Pick::Take(message), Options::Messages(all)) => {
                    let at = all.iter().position(|&one| one == message).unwrap_or(all.len());
                    let further = all.iter().skip(at + 1).map(|&message| Pick::Take(message));
                    (further.clone().find(open), Options::Messages(all))
                }
                (Pick::Branch(outcome), Options::Branch(number)) => {
                    let other = Pick::Branch(!outcome);
                    // What is to be explored from here anyway is not explored twice.
                    let found = match self.is_awaited(&before, other) {
                        true => None,
                        false => driver.flip(depth, number),
                    };
                    let flipped = found.is_some().then_some(other);
                    *inputs = found.or(inputs.take());
                    (flipped, Options::None)
                }
                _ => (None, Options::None),
            };
            if let Some(pick) = next {
                self.asked.push(Asked { pick, options });
                return true;
            }
        }
        false
    }
}

/// Numbers for workers, in the order in which they first step.
#[derive(Default)]
pub(crate) struct WorkerNumbers {
    seats: FxHashMap<WorkerId, usize>,
    workers: Vec<WorkerId>,
    /// The nodes from which each worker has stepped in the execution under way.
    pub(crate) steps: Vec<Vec<usize>>,
}

impl WorkerNumbers {
    /// The seat of a worker that has stepped.
    pub(crate) fn known(&self, worker: WorkerId) -> Option<usize> {
        self.seats.get(&worker).copied()
    }

    /// The workers, by seats.
    pub(crate) fn workers(&self) -> &[WorkerId] {
        &self.workers
    }

    pub(crate) fn of(&mut self, worker: WorkerId) -> usize {
        let next = self.steps.len();
        let seat = *self.seats.entry(worker).or_insert(next);
        if seat == next {
            self.steps.push(Vec::new());
            self.workers.push(worker);
        }
        seat
    }
}
