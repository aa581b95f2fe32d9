//! Findings: bugs with what is needed to see them again.

use serde::{Deserialize, Serialize};

use crate::bug::Bug;
use crate::schedule::Schedule;
use crate::trace::Trace;
use crate::worker::WorkerId;

/// A bug, the schedule that causes it and what happens in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    /// What went wrong.
    pub bug: Bug,
    /// The choices that make it go wrong every time.
    pub schedule: Schedule,
    /// What happens under these choices; empty where the execution could not be repeated.
    #[serde(flatten)]
    pub trace: Trace,
    /// The number of the schedule that showed it, from 1.
    pub found_at: u64,
    /// How many schedules showed a bug with the same cause.
    pub occurrences: u64,
    /// What shrinking did, if it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Shrunk>,
    /// Where the schedule goes round for ever, if that is the bug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasso: Option<Lasso>,
    /// The schedule as an explorer sees it, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays: Option<Delays>,
    /// What else a reader should know, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Finding {
    /// A bug that the schedule with this number, from 1, has shown, and nothing more.
    pub fn new(bug: Bug, schedule: Schedule, found_at: u64) -> Finding {
        Finding {
            bug,
            schedule,
            trace: Trace::default(),
            found_at,
            occurrences: 1,
            shrunk: None,
            lasso: None,
            delays: None,
            notes: Vec::new(),
        }
    }
}

/// Sizes before and after shrinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shrunk {
    /// Steps before.
    pub steps_before: usize,
    /// Steps after.
    pub steps_after: usize,
    /// Changes of worker before.
    pub switches_before: usize,
    /// Changes of worker after.
    pub switches_after: usize,
}

/// An execution without end: the schedule leads into a loop and goes round it once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lasso {
    /// How many steps of workers lead to the loop; the rest of the schedule is the loop.
    pub stem: usize,
    /// The monitor that waits in vain.
    pub monitor: String,
    /// The state it is in where the loop begins, and after each step of the loop.
    pub states: Vec<String>,
    /// How often the loop was gone round to see that the state repeats.
    pub rounds: u32,
    /// Whether the whole state was compared; otherwise as much of it as can be seen.
    pub whole: bool,
}

/// A schedule as a delaying explorer sees it: it runs in the explorer's own order, except here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delays {
    /// The explorer, by its name.
    pub explorer: String,
    /// How many delays it takes in all.
    pub count: u64,
    /// Whether a search has shown that no execution with fewer delays has this bug.
    pub minimal: bool,
    /// Where they are spent, in the order of the execution.
    pub at: Vec<DelayAt>,
}

/// Delays spent at one point of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayAt {
    /// The step before which, or the one in which they are spent, from 1, as the trace counts.
    pub step: usize,
    /// How many.
    pub delays: u32,
    /// Whom the explorer would have run instead; `None` for a value.
    pub instead_of: Option<WorkerId>,
    /// Whether they are spent on a value or a delivery that is not the first one.
    pub value: bool,
}
