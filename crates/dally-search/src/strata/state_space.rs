//! Where a search stands, and how it comes back to a state: by a copy where the system can be
//! captured, by running the prefix again where it cannot.

use std::sync::Arc;

use dally_core::{Bug, Captured, Env, Program, Stop, System, WorkerId, fingerprint};

use super::plan::Plan;
use super::visited::{Visited, VisitedStates};
use crate::choice_log::{Activity, ChoiceWriter};

/// The states of a program, one of which is live.
///
/// The choices that lead to the live state are always in the writer's choice log: the search keeps
/// them there.
pub(crate) trait StateSpace: 'static {
    type System: System;

    /// What it takes to come back to a state.
    type Snapshot: Send;

    /// The set in which visited states are remembered.
    type Visited: Visited;

    /// Whether the system may know where a step leads without taking it.
    const FORESEES: bool = false;

    /// An empty set of visited states, as the plan says, for so many threads.
    fn visited(plan: &Plan, threads: usize) -> Self::Visited;

    /// Goes to the first state; the choice log is empty.
    fn start(&mut self, writer: &mut ChoiceWriter) -> Result<(), Bug>;

    /// The live state: there is one after a start.
    fn system(&self) -> &Self::System;

    /// A step from the live state.
    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop>;

    /// The identity of the state that a step from the live state leads to, if it is known. The live
    /// state stays as it is.
    fn foresee(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<Option<u64>, Stop> {
        let _ = (worker, env);
        Ok(None)
    }

    /// What tells the live state from all others.
    fn identity(&mut self) -> u64;

    /// The live state in parts, for exact storage; nothing where states cannot be captured.
    fn parts(&self, part: &mut dyn FnMut(&[u8]));

    /// A hash of what must be the same whenever identities are, if that is not beyond doubt.
    fn visible_hash(&self) -> Option<u64>;

    /// The live state, to come back to.
    fn snapshot(&mut self, writer: &ChoiceWriter) -> Self::Snapshot;

    /// A snapshot of the live state in the place of an old one, and in its memory.
    fn snapshot_in(&mut self, writer: &ChoiceWriter, place: &mut Option<Self::Snapshot>) {
        *place = Some(self.snapshot(writer));
    }

    /// A second snapshot of the same state.
    fn copy(snapshot: &Self::Snapshot) -> Self::Snapshot;

    /// Goes to the state of a snapshot, to which the choices in the choice log lead.
    fn go_to(
        &mut self,
        snapshot: &Self::Snapshot,
        writer: &mut ChoiceWriter,
    ) -> Result<(), ReturnError>;

    /// Ends the live execution, complete or not; reports a panic of its destructors.
    fn leave(&mut self) -> Result<(), Bug>;

    /// About how many bytes the snapshot of the live state takes.
    fn snapshot_bytes(&self) -> usize;
}

/// Why a search could not come back to a state.
#[derive(Debug)]
pub(crate) enum ReturnError {
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

impl<P: Program + 'static> StateSpace for Forking<P>
where
    P::System: Captured + Send + 'static,
{
    type System = P::System;
    type Snapshot = P::System;
    type Visited = VisitedStates;

    const FORESEES: bool = P::System::FORESEES;

    fn visited(plan: &Plan, threads: usize) -> VisitedStates {
        VisitedStates::new(plan.cache, plan.exact, plan.visited_memory(), threads)
    }

    fn start(&mut self, writer: &mut ChoiceWriter) -> Result<(), Bug> {
        writer.now(Activity::Starting);
        self.program.restart(&mut self.live)?;
        writer.now(Activity::Stepping);
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
    fn foresee(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<Option<u64>, Stop> {
        Ok(self.live.foresee(worker, env)?.map(|there| there.0))
    }

    #[inline]
    fn identity(&mut self) -> u64 {
        self.live.fingerprint().map_or_else(|| of_encoding(&self.live), |whole| whole.0)
    }

    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        self.live.parts(part);
    }

    fn visible_hash(&self) -> Option<u64> {
        None
    }

    fn snapshot(&mut self, _writer: &ChoiceWriter) -> P::System {
        self.live.condense();
        self.live.fork()
    }

    #[inline]
    fn snapshot_in(&mut self, writer: &ChoiceWriter, place: &mut Option<P::System>) {
        match place {
            Some(old) => {
                self.live.condense();
                old.restore_from(&self.live);
            }
            None => *place = Some(self.snapshot(writer)),
        }
    }

    fn copy(snapshot: &P::System) -> P::System {
        snapshot.fork()
    }

    #[inline]
    fn go_to(
        &mut self,
        snapshot: &P::System,
        _writer: &mut ChoiceWriter,
    ) -> Result<(), ReturnError> {
        self.live.restore_from(snapshot);
        Ok(())
    }

    fn leave(&mut self) -> Result<(), Bug> {
        Ok(())
    }

    fn snapshot_bytes(&self) -> usize {
        self.live.footprint()
    }
}

/// What tells a state without a fingerprint from all others.
#[cold]
fn of_encoding<S: Captured>(system: &S) -> u64 {
    let mut bytes = Vec::new();
    system.encode(&mut bytes);
    fingerprint::of_bytes(&bytes)
}
