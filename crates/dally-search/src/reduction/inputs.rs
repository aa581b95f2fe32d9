//! Where the inputs of executions come from, and which branches they decide: the hook of concolic
//! execution.
//!
//! A [`InputDriver`] makes a step that branches on inputs a step with several outcomes, as one that
//! asks for values is. The reduction explores all of them, so that one engine goes through orders
//! and paths together: for each class of orders all feasible paths, one execution each.
//!
//! # What the reduction does with it
//!
//! 1. [`begin_execution`](InputDriver::begin_execution): an execution begins at the first state. It
//!    is told the assignment to answer with, and how many of its first steps were taken before with
//!    the same outcome. With a driver every execution begins here: a copy of a state would hold the
//!    numbers of another assignment.
//! 2. [`begin_step`](InputDriver::begin_step): the step at this depth begins. Branches count from 0
//!    again.
//! 3. [`input`](InputDriver::input) answers [`Env::input`](dally_core::Env::input). An input that
//!    the assignment does not have gets a number of the driver's choice, and keeps it: the
//!    assignment grows.
//! 4. [`branches`](InputDriver::branches) has the outcomes of the branches of the step under way
//!    that depend on inputs. It is read when the step asks for a value and when it ends, so the
//!    reduction knows the order of values and branches.
//! 5. [`flip`](InputDriver::flip): when everything after a step has been explored, the reduction
//!    asks for each branch of it, from the last one, whether the other outcome is feasible. If it
//!    is, the prefix is run again with the assignment of the answer, and the step is taken again.
//!
//! A schedule that is explored because two steps race begins with steps of the execution that
//! showed the race, and needs the numbers of that execution:
//! [`assignment`](InputDriver::assignment) gives them, and they come back by `begin_execution`.
//!
//! # How to write one
//!
//! Name an input by the worker that asks and how many it has asked for before: the name is then the
//! same in every order of the steps of others. Keep, for each depth, the conditions of the branches
//! of that step in the latest execution; `begin_step(depth, _)` drops those of `depth` and deeper.
//! `flip(depth, branch)` solves the conditions of all steps before `depth` as they came out, those
//! of this step before `branch` too, and the negation of that of `branch`. When it is asked, the
//! conditions of depths up to `depth` are those of an execution through this very step: with a
//! driver, prefixes are run and not skipped. An answer that cannot be had in time is `None`, and the
//! driver counts it as a hole of what it covered.
//!
//! An outcome with three sides, such as `cmp`, is two branches. A step that returns
//! [`Stop::Cut`](dally_core::Stop::Cut) by itself, because an assumption about its inputs does not
//! hold, ends the execution as irrelevant; its branches are flipped like those of any other.
//!
//! ```
//! use dally_core::{Input, WorkerId};
//! use dally_search::reduction::InputDriver;
//!
//! /// Asks a program that branches once, on whether its only input is 7.
//! #[derive(Default)]
//! struct Seven {
//!     value: i64,
//!     taken: Vec<bool>,
//! }
//!
//! impl InputDriver for Seven {
//!     type Assignment = i64;
//!     fn assignment(&self) -> i64 {
//!         self.value
//!     }
//!     fn begin_execution(&mut self, with: Option<&i64>, _again: usize) {
//!         self.value = with.copied().unwrap_or(0);
//!     }
//!     fn begin_step(&mut self, _depth: usize, _worker: WorkerId) {
//!         self.taken.clear();
//!     }
//!     fn input(&mut self, _asked: Input<'_>) -> i64 {
//!         self.taken.push(self.value == 7);
//!         self.value
//!     }
//!     fn branches(&mut self) -> &[bool] {
//!         &self.taken
//!     }
//!     fn flip(&mut self, _depth: usize, branch: usize) -> Option<i64> {
//!         Some(if self.taken[branch] { 0 } else { 7 })
//!     }
//! }
//! ```

use dally_core::{Input, WorkerId};
use dally_settings::INPUTS;

use crate::named::named;

/// How a concolic search comes to inputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Inputs {
    /// All paths, with all classes of orders, by the reduction: one execution each.
    #[default]
    DepthFirst,
    /// Every branch of a path is turned round, of the path first that brought most (Godefroid, Levin and
    /// Molnar, "Automated Whitebox Fuzz Testing"); orders are drawn.
    Generational,
    /// Inputs and orders are drawn, and a branch is turned round where that has brought nothing new for
    /// a while (Majumdar and Sen, "Hybrid Concolic Testing").
    Random,
}

named!(Inputs, INPUTS, DepthFirst, Generational, Random);

/// Answers the inputs of executions and says what depends on them. See the documentation of the
/// module for the order of calls and for how to write one.
pub trait InputDriver {
    /// The numbers that inputs have, by a name of the driver's own; cheap to copy.
    type Assignment: Clone + Send;

    /// Whether it branches at all; a driver that says `false` is never asked for branches, and
    /// states may be copied.
    const BRANCHES: bool = true;

    /// The assignment of the latest execution, with all that it has been asked for.
    fn assignment(&self) -> Self::Assignment;

    /// An execution begins, with this assignment; `None` for the first one, which may have any. The
    /// first `again` steps were taken before with the same choices and the same outcomes.
    fn begin_execution(&mut self, with: Option<&Self::Assignment>, again: usize);

    /// A step of `worker` begins, at this depth from 0.
    fn begin_step(&mut self, depth: usize, worker: WorkerId);

    /// The number for this input; one that is out of range becomes the nearest.
    fn input(&mut self, asked: Input<'_>) -> i64;

    /// One of so many values, if the program follows what it gets by the branches that it decides:
    /// the value is then an input, and not explored value by value.
    fn value(&mut self, _of: u32) -> Option<u32> {
        None
    }

    /// The outcomes of the branches so far of the step under way, or of the latest one.
    fn branches(&mut self) -> &[bool];

    /// Whether the path up to and including this branch of the step at `depth` is feasible with the
    /// other outcome of the branch; if so, the assignment that takes it.
    fn flip(&mut self, depth: usize, branch: usize) -> Option<Self::Assignment>;
}

/// Inputs are as given, and nothing is varied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GivenInputs;

impl InputDriver for GivenInputs {
    type Assignment = ();

    const BRANCHES: bool = false;

    fn assignment(&self) {}

    fn begin_execution(&mut self, _: Option<&()>, _: usize) {}

    fn begin_step(&mut self, _: usize, _: WorkerId) {}

    fn input(&mut self, asked: Input<'_>) -> i64 {
        asked.given
    }

    fn branches(&mut self) -> &[bool] {
        &[]
    }

    fn flip(&mut self, _: usize, _: usize) -> Option<()> {
        None
    }
}
