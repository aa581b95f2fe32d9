//! Programs of any front end behind one type.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{Program, Schedule};
use dally_search::strata::{self, Bundled, Plan};
use dally_search::{Mode, Options, Replayed, Report, Sink};

use super::{Checked, Checking};

/// A program of any front end: what lists of programs hold. Every [`Program`] is one.
pub trait AnyProgram: Send + Sync {
    /// What a step is in it: [`Program::granularity`].
    fn granularity(&self) -> &'static str;

    /// Runs schedules of it or searches its states: [`Checking::run`].
    fn check(self: Arc<Self>, checking: Checking) -> Checked;

    /// Runs schedules of it: [`dally_search::run`].
    fn run(self: Arc<Self>, options: Options, sink: Arc<dyn Sink>) -> Report;

    /// Searches its states: [`strata::explore`].
    fn explore(self: Arc<Self>, explorer: Bundled, plan: Plan, options: Options) -> Report;

    /// Runs a recorded schedule of it: [`dally_search::replay`].
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

    fn explore(self: Arc<Self>, explorer: Bundled, plan: Plan, options: Options) -> Report {
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
