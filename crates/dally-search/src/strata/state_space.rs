//! The live state of a search, and how it returns to others: by a copy where the system can be
//! captured, by running the prefix again where it cannot.

use std::sync::Arc;

use dally_core::{Bug, Captured, Env, Program, Stop, System, WorkerId, fingerprint};

use super::plan::Plan;
use super::visited::{Visited, VisitedStates};
use crate::choice_log::{Activity, ChoiceWriter};

/// The states of a program, one of which is live. The choice log always has the choices to it.
pub(crate) trait StateSpace: 'static {
    type System: System;

    /// What is needed to return to a state.
    type Snapshot: Send;

    type Visited: Visited;

    /// Whether [`StateSpace::foresee`] may know a target.
    const FORESEES: bool = false;

    /// Whether a search for cycles may pass over steps of which it is known where they lead.
    const JUDGES_STATES_ALONE: bool = false;

    /// An empty set of visited states, as the plan says, for so many threads.
    fn visited(plan: &Plan, threads: usize) -> Self::Visited;

    /// Goes to the first state; the choice log is empty.
    fn start(&mut self, writer: &mut ChoiceWriter) -> Result<(), Bug>;

    /// The live state; there is none before the first start.
    fn system(&self) -> &Self::System;

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop>;

    /// The identity of the state that a step would lead to, if it is known without taking the step.
    fn foresee(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<Option<u64>, Stop> {
        let _ = (worker, env);
        Ok(None)
    }

    fn identity(&mut self) -> u64;

    /// The live state in parts, for exact storage; none where states cannot be captured.
    fn parts(&self, part: &mut dyn FnMut(&[u8]));

    /// A hash that must be equal for equal identities, where identities may be wrong.
    fn visible_hash(&self) -> Option<u64>;

    fn snapshot(&mut self, writer: &ChoiceWriter) -> Self::Snapshot;

    /// A snapshot of the live state in the memory of an old one. If it will be `kept` for long, it
    /// shares memory with others.
    fn snapshot_in(
        &mut self,
        writer: &ChoiceWriter,
        place: &mut Option<Self::Snapshot>,
        kept: bool,
    ) {
        let _ = kept;
        *place = Some(self.snapshot(writer));
    }

    fn copy(snapshot: &Self::Snapshot) -> Self::Snapshot;

    /// Goes to the state of a snapshot; the choice log already has the choices that lead there.
    fn go_to(
        &mut self,
        snapshot: &Self::Snapshot,
        writer: &mut ChoiceWriter,
    ) -> Result<(), ReturnError>;

    /// Ends the live execution, which the program has brought to its end, and reports a panic of
    /// its destructors. An execution that the search gives up half-way is ended without this.
    fn finish(&mut self) -> Result<(), Bug>;

    fn snapshot_bytes(&self) -> usize;
}

#[derive(Debug)]
pub(crate) enum ReturnError {
    /// The program fails on the way, which it did not before.
    Bug(Bug),
    /// The program does something else when the same choices are made again.
    Diverged(String),
}

pub(crate) struct Forking<P: Program> {
    program: Arc<P>,
    live: P::System,
}

impl<P: Program> Forking<P> {
    /// Starts at the first state of the program.
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
    const JUDGES_STATES_ALONE: bool = P::System::JUDGES_STATES_ALONE;

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
    fn snapshot_in(&mut self, _: &ChoiceWriter, place: &mut Option<P::System>, kept: bool) {
        if kept {
            self.live.condense();
        }
        match place {
            Some(old) => old.restore_from(&self.live),
            None => *place = Some(self.live.fork()),
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

    fn finish(&mut self) -> Result<(), Bug> {
        Ok(())
    }

    fn snapshot_bytes(&self) -> usize {
        self.live.footprint()
    }
}

/// The identity of a state without a fingerprint.
#[cold]
fn of_encoding<S: Captured>(system: &S) -> u64 {
    let mut bytes = Vec::new();
    system.encode(&mut bytes);
    fingerprint::of_bytes(&bytes)
}
