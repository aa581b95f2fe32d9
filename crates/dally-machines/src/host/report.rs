//! The report of a host at its end, and the failures during its life.

use std::fmt;

use dally_core::words::count;
use dally_core::{Bug, WorkerId};
use dally_report::text;

/// Something that went wrong in production.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The machine that stopped; `None` where a monitor was violated.
    pub worker: Option<WorkerId>,
    /// What happened, with the place in the source where that is known.
    pub bug: Bug,
}

/// One line, such as `` machine `Ledger(0.2)` stopped: out of paper at src/ledger.rs:7:9 ``, in the
/// words of the reports of tests.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.bug.culprit.as_deref().unwrap_or("?");
        match self.worker {
            Some(worker) => write!(f, "machine `{name}({worker})` stopped: ")?,
            None => write!(f, "monitor `{name}` was violated: ")?,
        }
        f.write_str(text::bug(&self.bug).lines().next().unwrap_or_default())?;
        self.bug.location.as_ref().map_or(Ok(()), |place| write!(f, " at {place}"))
    }
}

/// The life of a host, reported by [`Host::shutdown`](super::Host::shutdown). Every created machine is
/// also counted as halted, failed or stopped, or named as stuck.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Machines that were created.
    pub created: u64,
    /// Machines that halted by themselves.
    pub halted: u64,
    /// Machines that stopped because of a failure.
    pub failed: u64,
    /// Machines that were alive until the shutdown.
    pub stopped: u64,
    /// Failures of machines and violated monitors in the order in which they happened; of more
    /// than [`Report::KEPT`] the first.
    pub failures: Vec<Failure>,
    /// Whether all inboxes were empty, but for deferred events, before the deadline.
    pub drained: bool,
    /// Events that machines still had in their inboxes, deferred or not reached, when they failed
    /// or were stopped.
    pub left: u64,
    /// Machines whose handler did not return: a handler that blocks or loops cannot be ended.
    pub stuck: Vec<String>,
    /// Monitors in a hot state at the end, as `Monitor in State`.
    pub hot: Vec<String>,
}

impl Report {
    /// How many failures are kept word for word.
    pub const KEPT: usize = 1000;

    /// Whether nothing went wrong: no failure, everything handled in time, nobody stuck.
    pub fn is_clean(&self) -> bool {
        self.failed == 0 && self.failures.is_empty() && self.drained && self.stuck.is_empty()
    }
}

/// A line of counts, then a line for each thing that went wrong.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { created, halted, failed, stopped, .. } = self;
        let machines = count(*created, "machine");
        write!(f, "{machines}: {halted} halted, {stopped} stopped, {failed} failed")?;
        if self.left > 0 {
            write!(f, "; {} left unhandled", count(self.left, "event"))?;
        }
        if !self.drained {
            f.write_str("\nthe inboxes were not empty at the deadline")?;
        }
        for failure in &self.failures {
            write!(f, "\n{failure}")?;
        }
        for machine in &self.stuck {
            write!(f, "\nmachine `{machine}` is stuck in a handler that does not return")?;
        }
        for monitor in &self.hot {
            write!(f, "\nmonitor {monitor} is hot")?;
        }
        Ok(())
    }
}
