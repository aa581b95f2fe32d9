//! Programs of any front end as trait objects.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{Program, Schedule};
use dally_explore::Explorable;
use dally_search::strata::{self, Bundled, Plan};
use dally_search::{Batch, Mode, NotIndependent, Options, Replayed, Report, Sink};

use super::{Checked, Checking};

/// A program of any front end, as a trait object. Every [`Program`] is one.
pub trait AnyProgram: Explorable {
    /// See [`Program::granularity`].
    fn granularity(&self) -> &'static str;

    /// See [`Checking::run`].
    fn check(self: Arc<Self>, checking: Checking) -> Checked;

    /// See [`dally_search::run`].
    fn run(self: Arc<Self>, options: Options, sink: Arc<dyn Sink>) -> Report;

    /// See [`dally_search::run_batch`].
    fn run_batch(
        self: Arc<Self>,
        batch: Batch,
        options: Options,
        sink: Arc<dyn Sink>,
    ) -> Result<Report, NotIndependent>;

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

    fn check(self: Arc<Self>, checking: Checking) -> Checked {
        checking.run(self, None::<Bundled>)
    }

    fn run(self: Arc<Self>, options: Options, sink: Arc<dyn Sink>) -> Report {
        dally_search::run(self, options, sink)
    }

    fn run_batch(
        self: Arc<Self>,
        batch: Batch,
        options: Options,
        sink: Arc<dyn Sink>,
    ) -> Result<Report, NotIndependent> {
        dally_search::run_batch(self, batch, options, sink)
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
