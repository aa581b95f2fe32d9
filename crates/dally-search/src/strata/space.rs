//! Where a search stands, and how it comes back to a state: by a copy where the system can be
//! captured, by running the prefix again where it cannot.

use dally_core::{Bug, Captured, Env, Program, Stop, System, WorkerId};

use crate::tape::{Doing, Pen};

/// The states of a program, and one of them at hand.
///
/// The choices that lead to the state at hand are on the pen's tape, always; the search keeps
/// them there.
pub(crate) trait Space {
    type System: System;

    /// What it takes to come back to a state.
    type Mark: Send;

    /// Goes to the first state; the tape is empty.
    fn start(&mut self, pen: &mut Pen) -> Result<(), Bug>;

    /// The state at hand.
    fn system(&self) -> &Self::System;

    /// A step from the state at hand.
    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop>;

    /// What tells the state at hand from all others.
    fn identity(&mut self) -> u64;

    /// A hash of what must be the same whenever identities are, if that is not beyond doubt.
    fn look(&self) -> Option<u64>;

    /// The state at hand, to come back to; in the memory of an old mark if there is one.
    fn mark(&self, pen: &Pen, old: Option<Self::Mark>) -> Self::Mark;

    /// Goes to a marked state, to which the choices on the tape lead.
    fn go_to(&mut self, mark: &Self::Mark, pen: &mut Pen) -> Result<(), Lost>;

    /// Ends the execution at hand, complete or not; reports a panic of its destructors.
    fn leave(&mut self) -> Result<(), Bug>;

    /// About how many bytes a mark takes.
    fn mark_bytes(&self) -> usize;
}

/// Why a state could not be come back to.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The program fails on the way, where it did not the first time.
    Bug(Bug),
    /// The program does something else when the same choices are made again.
    Diverged(String),
}

/// A space of states that can be copied.
pub(crate) struct Forking<'p, P: Program> {
    program: &'p P,
    live: Option<P::System>,
}
