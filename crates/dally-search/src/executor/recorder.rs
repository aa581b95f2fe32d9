//! A full record of one execution.

use dally_core::{System, Trace, Tracer, WorkerId};

#[derive(Default)]
pub(crate) struct Recorder {
    pub(super) tracer: Tracer,
    enabled: Vec<Vec<WorkerId>>,
    /// The sum of the sizes of these sets.
    entries: usize,
}

/// The most entries of all enabled sets of a recording. A program that spawns for ever would need
/// the square of its steps; past this bound sets are left out, and a replay compares less.
const MAX_ENABLED_ENTRIES: usize = 1 << 22;

impl Recorder {
    /// For an execution that is only compared with another.
    pub(crate) fn to_compare() -> Recorder {
        Recorder { tracer: Tracer::without_order(), ..Recorder::default() }
    }

    /// For an execution of which only the order of steps is wanted.
    pub(crate) fn of_order() -> Recorder {
        Recorder { tracer: Tracer::without_texts(), ..Recorder::default() }
    }

    pub(crate) fn finish(self) -> (Trace, Vec<Vec<WorkerId>>) {
        (self.tracer.finish(), self.enabled)
    }

    #[cold]
    pub(super) fn step<S: System>(&mut self, worker: WorkerId, system: &S) {
        let enabled = system.enabled();
        self.entries += enabled.len();
        if self.entries <= MAX_ENABLED_ENTRIES {
            self.enabled.push(enabled.to_vec());
        }
        self.tracer.step(worker, || system.name(worker));
    }
}
