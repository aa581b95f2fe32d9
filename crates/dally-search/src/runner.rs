//! Runs.

use std::sync::Arc;

use dally_core::Program;

use crate::options::{Options, Sink};
use crate::report::{Ended, Report};

/// Runs schedules of `program` as the options say, and tells the sink of findings the moment
/// they are found.
pub fn run<P: Program + 'static>(program: Arc<P>, options: Options, sink: Arc<dyn Sink>) -> Report {
    let _ = sink;
    Report {
        program: options.program,
        strategy: options.strategy.name(),
        seed: options.seed,
        granularity: program.granularity(),
        schedules: 0,
        steps: 0,
        longest: 0,
        cut: 0,
        max_steps: options.max_steps,
        observations: 0,
        findings: vec![],
        ended: Ended::Schedules,
        notes: vec![],
        elapsed: std::time::Duration::ZERO,
    }
}
