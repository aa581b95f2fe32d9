//! The wall clock: the one place that reads it.
//!
//! Time decides when a run ends, when a step counts as stuck and what the progress shows. It
//! never decides what a schedule does.

use std::time::{Duration, Instant};

/// A moment from which time is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts counting.
    #[allow(clippy::disallowed_methods, reason = "time limits, the watchdog and progress only")]
    pub(crate) fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// The time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Whether this much time has passed.
    pub(crate) fn is_past(self, limit: Duration) -> bool {
        self.elapsed() >= limit
    }
}
