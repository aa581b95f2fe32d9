//! What a run found and covered: the figures that texts, JSON documents and merging read.

mod census;
mod classes;
mod merge;
mod novelty;
pub(crate) mod seconds;
mod states;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bug::Cause;
use crate::finding::Finding;
use crate::foreign::Foreign;
use crate::written::Document;

pub use census::{Census, MachineCensus, ON_ENTRY, StateCensus};
pub use classes::Classes;
pub use merge::{Batch, MergeError, Part};
pub use novelty::{MAX_OBSERVATIONS, Novelty, Sightings};
pub use states::{CachePolicy, Cycles, Samples, States, Stratum};

/// What came of a run. All but [`Report::threads`] and the times is the same for the same
/// program, seed and options, with any number of threads, unless the clock or the user ended the
/// run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Report {
    /// The program's name, as schedules have it.
    pub program: String,
    /// Who picked the choices: a strategy, or a search with its explorer. Empty for a replay.
    pub strategy: String,
    /// The seed: up to 64 bits, more than a JavaScript number holds.
    pub seed: u64,
    /// What a step is in this program; counts compare only at the same granularity.
    pub granularity: String,
    /// How many threads ran schedules.
    pub threads: usize,
    /// How many schedules were run; in a search of states, executions followed to their end.
    pub schedules: u64,
    /// Steps in all of them together; every value chosen counts as one.
    pub steps: u64,
    /// Steps of the longest of them.
    pub longest: usize,
    /// How many schedules were cut by the step bound or by the strategy's own depth bound.
    pub cut: u64,
    /// How many schedules the strategy ended since what would have followed is covered by others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redundant: u64,
    /// What the strategy itself says that it has covered, as the end of a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<String>,
    /// Whether the program asks for inputs and had the given ones only, since the strategy or
    /// search does not vary them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given_inputs: bool,
    /// The step bound.
    pub max_steps: usize,
    /// Distinct observations of last states, and of all states where the options ask for them.
    pub observations: u64,
    /// Who showed them, and how likely the next schedule is to show something new. `None` in a
    /// search of states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub novelty: Option<Novelty>,
    /// What machines did in some of the schedules, if the options ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub census: Option<Box<Census>>,
    /// Why the run ended.
    pub ended: Ended,
    /// What a search of states came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<States>,
    /// What a search with partial-order reduction came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
    /// How long it took, in seconds.
    #[serde(with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub elapsed: Duration,
    /// What the program did that is not under control, if it did anything of that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
    /// What else a reader should know, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// One finding for each cause, in the order in which their first schedules come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Causes that came when there were [`MAX_FINDINGS`] findings already, sorted: how often each
    /// came is counted, and nothing else is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_causes: Vec<(Cause, u64)>,
    /// Which part of a run this is, if only a part was to be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
}

/// More causes than this are noise: they are counted and no longer kept.
pub const MAX_FINDINGS: usize = 100;

/// Why a run ended.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ended {
    /// All the schedules asked for were run.
    #[default]
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

#[allow(clippy::trivially_copy_pass_by_ref)] // what serde asks for
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Document for Report {
    const FORMAT: &'static str = "dally-run";
    const VERSION: u32 = 3;
}

impl Report {
    /// A report of the program of this name and this granularity that nothing has come of yet.
    pub fn new(program: impl Into<String>, granularity: impl Into<String>) -> Report {
        let (program, granularity) = (program.into(), granularity.into());
        Report { program, granularity, threads: 1, ..Report::default() }
    }

    /// Whether all that can happen was tried. A search with nothing left to try may have left out
    /// states that were sealed or cut by the step bound, or other inputs than those given.
    pub fn is_exhausted(&self) -> bool {
        let all = self.states.as_ref().map_or(self.cut == 0, States::is_exhausted);
        let all = all && self.classes.as_ref().is_none_or(Classes::are_all);
        self.ended == Ended::Exhausted && all && !self.given_inputs
    }

    /// The figures of the run without what it found, for a document about one of its findings.
    #[must_use]
    pub fn without_findings(&self) -> Report {
        Report { findings: Vec::new(), further_causes: Vec::new(), part: None, ..self.clone() }
    }

    /// The report without times and the number of threads: what is the same in every such run.
    #[must_use]
    pub fn without_times(mut self) -> Report {
        (self.elapsed, self.threads) = (Duration::ZERO, 1);
        if let Some(states) = &mut self.states {
            states.strata.iter_mut().for_each(|stratum| stratum.elapsed = Duration::ZERO);
            if let Some(cycles) = &mut states.cycles {
                (cycles.calculating, cycles.refining) = (Duration::ZERO, Duration::ZERO);
            }
        }
        self
    }
}
