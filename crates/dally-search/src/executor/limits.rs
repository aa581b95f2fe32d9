//! The bounds and checks of one schedule.

use dally_core::{Bug, BugKind, fingerprint};

use crate::liveness::{Fairness, Loops};
use crate::strategy::Properties;

/// The bounds and checks of one schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_steps: usize,
    pub(crate) fail_on_max_steps: bool,
    pub(crate) temperature: usize,
    /// Which loops are bugs.
    pub(crate) fairness: Fairness,
    /// Where to look for them.
    pub(crate) loops: Loops,
    /// The monitor that they must violate, by the hash of its name; any if that is not said.
    pub(crate) blamed: Option<u64>,
    pub(crate) step_items: u32,
}

impl Limits {
    /// The limits under which a recording that ends in this bug is followed. `stem` is how many
    /// steps lead to its loop, if it has one and that is known.
    pub(crate) fn to_follow(self, bug: &Bug, stem: Option<usize>) -> Limits {
        if bug.kind() != BugKind::Livelock {
            return Limits { loops: Loops::Ignored, ..self };
        }
        // The loop may have been closed exactly at the step bound.
        let loops = Loops::AtEnd { stem, rounds: None };
        let blamed = bug.culprit.as_deref().map(blame);
        Limits { loops, blamed, max_steps: usize::MAX, temperature: usize::MAX, ..self }
    }

    /// For how many choices a monitor has to wait before the states of an execution are logged.
    ///
    /// Where chance chooses, a loop counts only if chance cannot leave it. An execution in such a
    /// loop stays there with a hot monitor up to the bounds of the run or of the strategy, so a
    /// log that begins late misses none. Most monitors that are hot at times cool down sooner and
    /// need no log, which costs as much as a step does. A recording that is followed is logged from
    /// the start, since its loop must be found where it was.
    pub(super) fn log_after(&self, strategy: &Properties) -> usize {
        let by_chance = self.loops == Loops::Sampled && self.fairness == Fairness::Strong;
        if !by_chance || strategy.sequential {
            return 0;
        }
        self.max_steps.min(self.temperature).min(strategy.longest) / LOG_AFTER_PART
    }
}

/// The log of states begins when a monitor has waited for this part of the bounds.
const LOG_AFTER_PART: usize = 50;

/// What [`Limits::blamed`] holds for the monitor of this name.
pub(crate) fn blame(monitor: &str) -> u64 {
    fingerprint::of_bytes(monitor.as_bytes())
}
