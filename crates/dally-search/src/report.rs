//! What a run found, and what it covered.

use std::fmt;
use std::time::Duration;

use dally_core::Finding;
use dally_core::words::{count, grouped};

use crate::seen::Seen;
use crate::strata::States;

/// What came of a run. All but [`Report::elapsed`] is the same for the same program, seed and
/// options, with any number of threads, unless the clock or the user ended the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The program's name.
    pub program: String,
    /// The strategy's name.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// What a step is in this program.
    pub granularity: &'static str,
    /// How many schedules were run.
    pub schedules: u64,
    /// Steps in all of them together; every value chosen counts as one.
    pub steps: u64,
    /// Steps of the longest of them.
    pub longest: usize,
    /// How many schedules were cut by the step bound or by the strategy's own depth bound.
    pub cut: u64,
    /// The step bound.
    pub max_steps: usize,
    /// Distinct observations of last states, and of all states where the options ask for them.
    pub observations: u64,
    /// Who showed them, and how likely the next schedule is to show something new, if that can be
    /// told. Nothing in a search of states.
    pub seen: Seen,
    /// One finding for each cause, in the order in which their first schedules come.
    pub findings: Vec<Finding>,
    /// Why the run ended.
    pub ended: Ended,
    /// What a search of states came to.
    pub states: Option<States>,
    /// What else a reader should know, a sentence each.
    pub notes: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ended {
    /// All the schedules asked for were run.
    Schedules,
    /// A bug was found, and the run was to end at the first.
    Bug,
    /// The strategy or search has nothing left to try. That need not be everything there is: see
    /// [`Report::is_exhausted`].
    Exhausted,
    /// The time was up.
    Time,
    /// The last stratum that was asked for was completed.
    Bound,
    /// The memory was full.
    Memory,
    /// The user stopped it.
    Interrupted,
    /// A step did not come back, and its thread with it.
    Stuck,
    /// What was asked for was not done, and the notes say why: threads could not be started or
    /// died, the search is none for this program, or a predicate that seals states panicked.
    Failed,
    /// The explorer does not offer every worker that can step: the notes say where. What it
    /// leaves out is not covered, so nothing is claimed.
    Unsound,
}

impl Ended {
    /// What cut the run short, as the end of a sentence; nothing where it came to its own end.
    pub(crate) fn until(self) -> &'static str {
        match self {
            Ended::Schedules | Ended::Exhausted | Ended::Bound => "",
            Ended::Bug => ", up to the first bug",
            Ended::Time => ", until the time was up",
            Ended::Memory => ", until the memory was full",
            Ended::Interrupted => ", until it was interrupted",
            Ended::Stuck => ", until a step did not come back",
            Ended::Failed => ", until the run itself failed",
            Ended::Unsound => ", until the explorer turned out not to be sound",
        }
    }
}

/// What was covered, in a form that can be printed: never just "no bug".
#[derive(Clone, Debug, PartialEq)]
pub enum Coverage {
    /// Every schedule was run.
    Exhausted {
        /// How many there are.
        schedules: u64,
    },
    /// Every schedule was run up to the step bound, which cut some of them.
    ExhaustedToBound {
        /// How many there are.
        schedules: u64,
        /// How many of them were cut.
        cut: u64,
        /// The step bound.
        max_steps: usize,
    },
    /// Some schedules were run.
    Sampled {
        /// How many.
        schedules: u64,
        /// How many of them were cut.
        cut: u64,
        /// By which strategy.
        strategy: String,
        /// Why there were no more.
        ended: Ended,
    },
    /// States were searched.
    Searched {
        /// What it came to.
        states: Box<States>,
        /// Why there were no more.
        ended: Ended,
    },
}

impl Report {
    /// Whether all that can happen was tried. A search that has nothing left to try may have left
    /// something out on the way: states that the program had sealed, or that the step bound cut.
    pub fn is_exhausted(&self) -> bool {
        let all = self.states.as_ref().map_or(self.cut == 0, States::is_exhausted);
        self.ended == Ended::Exhausted && all
    }

    /// What was covered.
    pub fn coverage(&self) -> Coverage {
        let (schedules, cut) = (self.schedules, self.cut);
        if let Some(states) = &self.states {
            return Coverage::Searched { states: Box::new(states.clone()), ended: self.ended };
        }
        match self.ended {
            Ended::Exhausted if cut == 0 => Coverage::Exhausted { schedules },
            Ended::Exhausted => {
                Coverage::ExhaustedToBound { schedules, cut, max_steps: self.max_steps }
            }
            ended => Coverage::Sampled { schedules, cut, strategy: self.strategy.clone(), ended },
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coverage::Exhausted { schedules } => {
                write!(f, "exhausted: {}", count(*schedules, "schedule"))
            }
            Coverage::ExhaustedToBound { schedules, cut, max_steps } => write!(
                f,
                "exhausted up to the step bound of {}: {}, {} of them cut by the bound",
                grouped(*max_steps as u64),
                count(*schedules, "schedule"),
                grouped(*cut),
            ),
            Coverage::Sampled { schedules, cut, strategy, ended } => {
                write!(f, "sampled {} by {strategy}", count(*schedules, "schedule"))?;
                if *cut > 0 {
                    write!(f, ", {} of them cut by a bound", grouped(*cut))?;
                }
                f.write_str(ended.until())
            }
            Coverage::Searched { states, ended } => states.describe(*ended, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_says_what_was_done_and_what_cut_it_short() {
        let sampled = |schedules, cut, ended| {
            Coverage::Sampled { schedules, cut, strategy: "pct(3)".into(), ended }.to_string()
        };
        assert_eq!(Coverage::Exhausted { schedules: 90 }.to_string(), "exhausted: 90 schedules");
        assert_eq!(
            Coverage::ExhaustedToBound { schedules: 1, cut: 1, max_steps: 10_000 }.to_string(),
            "exhausted up to the step bound of 10,000: 1 schedule, 1 of them cut by the bound",
        );
        assert_eq!(sampled(1_000, 0, Ended::Schedules), "sampled 1,000 schedules by pct(3)");
        assert_eq!(
            sampled(12, 3, Ended::Time),
            "sampled 12 schedules by pct(3), 3 of them cut by a bound, until the time was up",
        );
    }
}
