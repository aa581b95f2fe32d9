//! The bounds and checks of one schedule.

use dally_core::{Bug, Problem, Program, fingerprint};

use crate::liveness::{Fairness, Loops};
use crate::options::Options;
use crate::strategy::Properties;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_steps: usize,
    pub(crate) max_fair_steps: usize,
    pub(crate) fail_on_max_steps: bool,
    pub(crate) temperature: usize,
    pub(crate) confirm_temperature: u32,
    /// Whether a monitor may be hot for longer where the backlog is large.
    pub(crate) by_backlog: bool,
    pub(crate) fairness: Fairness,
    pub(crate) loops: Loops,
    /// The monitor that a loop must violate, by the hash of its name; `None` for any.
    pub(crate) blamed: Option<u64>,
    pub(crate) step_items: u32,
    /// Whether a step with more items ends the schedule; otherwise it is a bug.
    pub(crate) long_steps_end: bool,
}

impl Limits {
    pub(crate) const NONE: Limits = Limits {
        max_steps: usize::MAX,
        max_fair_steps: usize::MAX,
        fail_on_max_steps: false,
        temperature: usize::MAX,
        confirm_temperature: 0,
        by_backlog: false,
        fairness: Fairness::Weak,
        loops: Loops::Ignored,
        blamed: None,
        step_items: u32::MAX,
        long_steps_end: false,
    };

    /// The bounds of a run of this program, where loops are no bugs yet.
    pub(crate) fn of(options: &Options, program: &impl Program) -> Limits {
        let max_fair_steps = options.max_fair_steps.unwrap_or(options.max_steps);
        Limits {
            max_steps: options.max_steps,
            max_fair_steps,
            fail_on_max_steps: options.fail_on_max_steps,
            temperature: options.temperature.unwrap_or(max_fair_steps / 2),
            confirm_temperature: options.confirm_temperature,
            by_backlog: options.temperature.is_none(),
            fairness: options.fairness,
            step_items: options.step_items,
            long_steps_end: program.long_steps_end_schedules(),
            ..Limits::NONE
        }
    }

    /// For how many fair steps in a row a monitor has to be hot to be suspected, with this backlog.
    pub(super) fn least_hot(&self, backlog: usize) -> usize {
        self.temperature.max(self.by_backlog(backlog))
    }

    /// For how many steps it has to have been hot in the end.
    pub(super) fn hot_with(&self, backlog: usize) -> usize {
        self.temperature.max(self.by_backlog(backlog).saturating_mul(2))
    }

    /// Chance gives each of `n` workers one step in `n`, so a worker with a queue of `m` messages has
    /// gone through it after about `n * m` times the steps that a message takes. What a monitor waits
    /// for may be the answer to the last of them.
    fn by_backlog(&self, backlog: usize) -> usize {
        if self.by_backlog { backlog.saturating_mul(TURNS) } else { 0 }
    }

    /// How many steps a fair schedule may have in which a monitor has been hot for so many of them.
    pub(super) fn longest(&self, hot: usize) -> usize {
        // A large backlog may take a monitor that is too hot beyond the bound.
        let longer = hot > self.temperature && self.confirm_temperature > 0;
        self.max_fair_steps.saturating_mul(1 + usize::from(longer))
    }

    /// The limits for following a recording with this bug; `stem` steps lead to its loop, if known.
    pub(crate) fn to_follow(self, bug: &Bug, stem: Option<usize>) -> Limits {
        let known = Limits { by_backlog: false, confirm_temperature: 0, ..self };
        match *bug.problem {
            Problem::Temperature { bound } => {
                return Limits { loops: Loops::Ignored, temperature: bound, ..known };
            }
            Problem::Livelock { .. } => {}
            Problem::StepBound { .. } => {
                return Limits { loops: Loops::Ignored, temperature: usize::MAX, ..known };
            }
            // The bug may have come after a bound, while a hot monitor was judged.
            _ => {
                let (max_steps, temperature) = (usize::MAX, usize::MAX);
                return Limits { loops: Loops::Ignored, max_steps, temperature, ..known };
            }
        }
        // The loop may have been closed exactly at the step bound.
        let loops = Loops::AtEnd { stem, rounds: None };
        let blamed = bug.culprit.as_deref().map(blame);
        Limits { loops, blamed, max_steps: usize::MAX, temperature: usize::MAX, ..known }
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

/// How often all that waits has to have had its turn before a monitor is too hot.
const TURNS: usize = 16;

/// Logging begins when a monitor has been hot for one part in so many of the bounds.
const LOG_AFTER_PART: usize = 50;

pub(crate) fn blame(monitor: &str) -> u64 {
    fingerprint::of_bytes(monitor.as_bytes())
}
