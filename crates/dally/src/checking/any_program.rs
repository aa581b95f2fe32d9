//! Programs of any front end as trait objects.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{Finding, Foreign, Program, Schedule};
use dally_explore::Explorable;
use dally_search::strata::{self, Bundled, Plan};
use dally_search::{Batch, BatchOutcome, Mode, NotIndependent, Options, Replayed, Report, Sink};

use super::{Checked, Checking};

/// A program of any front end, as a trait object. Every [`Program`] is one.
pub trait AnyProgram: Explorable {
    /// See [`Program::granularity`].
    fn granularity(&self) -> &'static str;

    /// See [`Program::source`].
    fn source(&self) -> u64;

    /// See [`Checking::run`].
    fn check(self: Arc<Self>, checking: Checking) -> Checked;

    /// See [`dally_search::run`].
    fn run(self: Arc<Self>, options: Options, sink: Arc<dyn Sink>) -> Report;

    /// See [`dally_search::run_in_turn`].
    fn run_in_turn(
        self: Arc<Self>,
        batch: Batch,
        learned: Option<&[u8]>,
        options: Options,
        sink: Arc<dyn Sink>,
    ) -> Result<BatchOutcome, NotIndependent>;

    /// See [`dally_search::shrunk`].
    fn shrunk(self: Arc<Self>, finding: &Finding, options: Options) -> Finding;

    /// See [`dally_search::confirmed`].
    fn confirmed(self: Arc<Self>, finding: &Finding, options: Options) -> Finding;

    /// See [`Program::foreign`].
    fn foreign(&self) -> Option<Foreign>;

    /// See [`strata::explore`].
    fn explore(self: Arc<Self>, explorer: Bundled, plan: Plan, options: Options) -> Report;

    /// See [`dally_search::replay`].
    fn replay(
        self: Arc<Self>,
        schedule: &Schedule,
        mode: Mode,
        rounds: u32,
        step_time: Duration,
    ) -> Replayed;
}

impl<P: Program + 'static> AnyProgram for P {
    fn granularity(&self) -> &'static str {
        Program::granularity(self)
    }

    fn source(&self) -> u64 {
        Program::source(self)
    }

    fn check(self: Arc<Self>, checking: Checking) -> Checked {
        checking.run(self, None::<Bundled>)
    }

    fn run(self: Arc<Self>, options: Options, sink: Arc<dyn Sink>) -> Report {
        dally_search::run(self, options, sink)
    }

    fn run_in_turn(
        self: Arc<Self>,
        batch: Batch,
        learned: Option<&[u8]>,
        options: Options,
        sink: Arc<dyn Sink>,
    ) -> Result<BatchOutcome, NotIndependent> {
        dally_search::run_in_turn(self, batch, learned, options, sink)
    }

    fn shrunk(self: Arc<Self>, finding: &Finding, options: Options) -> Finding {
        dally_search::shrunk(self, finding, options, Arc::new(()))
    }

    fn confirmed(self: Arc<Self>, finding: &Finding, options: Options) -> Finding {
        dally_search::confirmed(self, finding, options, Arc::new(()))
    }

    fn foreign(&self) -> Option<Foreign> {
        Program::foreign(self)
    }

    fn explore(self: Arc<Self>, explorer: Bundled, plan: Plan, options: Options) -> Report {
        #[cfg(feature = "concolic")]
        if plan.search == strata::SearchKind::Concolic {
            return dally_concolic::search(self, plan.inputs, options, Arc::new(())).0;
        }
        strata::explore(self, explorer, plan, options, Arc::new(()))
    }

    fn replay(
        self: Arc<Self>,
        schedule: &Schedule,
        mode: Mode,
        rounds: u32,
        step_time: Duration,
    ) -> Replayed {
        dally_search::replay(self, schedule, mode, rounds, step_time)
    }
}
