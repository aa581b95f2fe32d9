//! The bounds and checks of one schedule.

use dally_core::{Bug, BugKind, fingerprint};

use crate::liveness::{Fairness, Loops};
use crate::strategy::Properties;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_steps: usize,
    pub(crate) fail_on_max_steps: bool,
    pub(crate) temperature: usize,
    pub(crate) fairness: Fairness,
    pub(crate) loops: Loops,
    /// The monitor that a loop must violate, by the hash of its name; `None` for any.
    pub(crate) blamed: Option<u64>,
    pub(crate) step_items: u32,
}

impl Limits {
    pub(crate) const NONE: Limits = Limits {
        max_steps: usize::MAX,
        fail_on_max_steps: false,
        temperature: usize::MAX,
        fairness: Fairness::Weak,
        loops: Loops::Ignored,
        blamed: None,
        step_items: u32::MAX,
    };

    /// The limits for following a recording with this bug; `stem` steps lead to its loop, if known.
    pub(crate) fn to_follow(self, bug: &Bug, stem: Option<usize>) -> Limits {
        if bug.kind() != BugKind::Livelock {
            return Limits { loops: Loops::Ignored, ..self };
        }
        // The loop may have been closed exactly at the step bound.
        let loops = Loops::AtEnd { stem, rounds: None };
        let blamed = bug.culprit.as_deref().map(blame);
        Limits { loops, blamed, max_steps: usize::MAX, temperature: usize::MAX, ..self }
    }

    /// For how many choices a monitor has to be hot before the states of an execution are logged.
    ///
    /// Where choices are random, a loop counts only if chance cannot leave it. An execution in such
    /// a loop stays there up to the bounds of the run or of the strategy, so a log that begins late
    /// finds it too. Most hot monitors cool down sooner and need no log, which costs as much as a
    /// step. A recording is logged from the start, since its loop must be found where it was.
    pub(super) fn log_after(&self, strategy: &Properties) -> usize {
        let by_chance = self.loops == Loops::Sampled && self.fairness == Fairness::Strong;
        if !by_chance || strategy.sequential {
            return 0;
        }
        self.max_steps.min(self.temperature).min(strategy.longest) / LOG_AFTER_PART
    }
}

/// Logging begins when a monitor has been hot for one part in so many of the bounds.
const LOG_AFTER_PART: usize = 50;

pub(crate) fn blame(monitor: &str) -> u64 {
    fingerprint::of_bytes(monitor.as_bytes())
}
