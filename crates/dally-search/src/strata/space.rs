//! Where a search stands, and how it comes back to a state: by a copy where the system can be
//! captured, by running the prefix again where it cannot.

use std::sync::Arc;

use dally_core::{Bug, Captured, Env, Program, Stop, System, WorkerId};

use crate::tape::{Doing, Pen};

/// The states of a program, and one of them at hand.
///
/// The choices that lead to the state at hand are on the pen's tape, always; the search keeps
/// them there.
pub(crate) trait Space: 'static {
    type System: System;

    /// What it takes to come back to a state.
    type Mark: Send;

    /// Whether a mark is the state itself, so that one can step from it.
    const FORKS: bool;

    /// Goes to the first state; the tape is empty.
    fn start(&mut self, pen: &mut Pen) -> Result<(), Bug>;

    /// The state at hand: there is one after a start.
    fn system(&self) -> &Self::System;

    /// A step from the state at hand.
    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop>;

    /// What tells the state at hand from all others.
    fn identity(&mut self) -> u64;

    /// The state at hand in parts, for exact storage; nothing where states cannot be captured.
    fn parts(&self, part: &mut dyn FnMut(&[u8]));

    /// A hash of what must be the same whenever identities are, if that is not beyond doubt.
    fn look(&self) -> Option<u64>;

    /// The state at hand, to come back to; in the memory of an old mark if there is one.
    fn mark(&mut self, pen: &Pen, old: Option<Self::Mark>) -> Self::Mark;

    /// A mark that was branched to will be kept.
    fn condense(mark: &mut Self::Mark);

    /// A second mark of the same state.
    fn copy(mark: &Self::Mark) -> Self::Mark;

    /// A step from a marked state, which makes another mark that of where it leads: the identity
    /// there. The state at hand has no part in it. Only if marks are states.
    fn branch(
        from: &Self::Mark,
        into: &mut Self::Mark,
        worker: WorkerId,
        env: &mut dyn Env,
    ) -> Result<u64, Stop>;

    /// Goes to a marked state and leaves the state at hand as a mark. Only if marks are states.
    fn swap(&mut self, mark: &mut Self::Mark);

    /// Goes to a marked state, to which the choices on the tape lead.
    fn go_to(&mut self, mark: &Self::Mark, pen: &mut Pen) -> Result<(), Lost>;

    /// Ends the execution at hand, complete or not; reports a panic of its destructors.
    fn leave(&mut self) -> Result<(), Bug>;

    /// About how many bytes the mark of the state at hand takes.
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
pub(crate) struct Forking<P: Program> {
    program: Arc<P>,
    live: P::System,
}

impl<P: Program> Forking<P> {
    /// At the first state of the program.
    pub(crate) fn new(program: Arc<P>) -> Result<Forking<P>, Bug> {
        let live = program.start()?;
        Ok(Forking { program, live })
    }
}

impl<P: Program + 'static> Space for Forking<P>
where
    P::System: Captured + Send + 'static,
{
    type System = P::System;
    type Mark = P::System;

    const FORKS: bool = true;

    fn start(&mut self, pen: &mut Pen) -> Result<(), Bug> {
        pen.now(Doing::Starting);
        self.program.restart(&mut self.live)?;
        pen.now(Doing::Stepping);
        Ok(())
    }

    #[inline]
    fn system(&self) -> &P::System {
        &self.live
    }

    #[inline]
    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        self.live.step(worker, env)
    }

    #[inline]
    fn identity(&mut self) -> u64 {
        self.live.fingerprint().0
    }

    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        self.live.parts(part);
    }

    fn look(&self) -> Option<u64> {
        None
    }

    #[inline]
    fn mark(&mut self, _pen: &Pen, old: Option<P::System>) -> P::System {
        self.live.condense();
        match old {
            Some(mut old) => {
                old.restore_from(&self.live);
                old
            }
            None => self.live.fork(),
        }
    }

    #[inline]
    fn condense(mark: &mut P::System) {
        mark.condense();
    }

    fn copy(mark: &P::System) -> P::System {
        mark.fork()
    }

    #[inline]
    fn branch(
        from: &P::System,
        into: &mut P::System,
        worker: WorkerId,
        env: &mut dyn Env,
    ) -> Result<u64, Stop> {
        into.restore_from(from);
        into.step(worker, env)?;
        Ok(into.fingerprint().0)
    }

    #[inline]
    fn swap(&mut self, mark: &mut P::System) {
        std::mem::swap(&mut self.live, mark);
    }

    #[inline]
    fn go_to(&mut self, mark: &P::System, _pen: &mut Pen) -> Result<(), Lost> {
        self.live.restore_from(mark);
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Bug> {
        Ok(())
    }

    fn mark_bytes(&self) -> usize {
        self.live.footprint()
    }
}
