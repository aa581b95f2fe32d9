//! Findings: bugs with what is needed to see them again.

use serde::{Deserialize, Serialize};

use crate::bug::Bug;
use crate::choice::Choice;
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
    /// The nearest schedule that does not fail, if one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
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
            nearest: None,
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

/// The nearest schedule that does not fail: the shortest edit of the finding's after which no bug shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Nearest {
    /// The difference between the two schedules. The rest of the failing one is followed as far as possible.
    pub edit: Edit,
    /// The choices of the schedule that passes, to the end of its execution.
    pub choices: Vec<Choice>,
    /// What happens under these choices.
    #[serde(flatten)]
    pub trace: Trace,
    /// Whether nothing is left to do at its end; otherwise it was followed for so long.
    pub ends: bool,
}

/// A change of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// Steps come before another.
    Order {
        /// The steps, from 1, in their order. The last is the one that should come earlier, the others
        /// are what it needs.
        steps: Vec<usize>,
        /// The step, from 1, that they come before.
        before: usize,
    },
    /// A value is another.
    Value {
        /// The step that it is chosen in, from 1.
        step: usize,
        /// Which choice inside of the step it is, from 0.
        choice: usize,
        /// The value of the schedule.
        was: Choice,
        /// The value instead.
        instead: Choice,
    },
}

impl Edit {
    /// The step, from 1, of the failing schedule where the edited one is different first.
    pub fn step(&self) -> usize {
        match *self {
            Edit::Order { before, .. } => before,
            Edit::Value { step, .. } => step,
        }
    }

    /// These choices with the change made. What follows may not fit any more.
    ///
    /// ```
    /// use dally_core::{Choice, Edit, WorkerId};
    ///
    /// let [a, b, c] = [0, 1, 2].map(|n| Choice::Worker(WorkerId::root(n)));
    /// let edit = Edit::Order { steps: vec![2, 4], before: 1 };
    /// assert_eq!(edit.applied_to(&[a, b, a, c]), [b, c, a, a]);
    /// ```
    pub fn applied_to(&self, choices: &[Choice]) -> Vec<Choice> {
        let mut steps: Vec<Vec<Choice>> = Vec::new();
        for &choice in choices {
            match (choice, steps.last_mut()) {
                (Choice::Worker(_), _) | (_, None) => steps.push(vec![choice]),
                (_, Some(step)) => step.push(choice),
            }
        }
        match self {
            Edit::Order { steps: moved, before } => {
                let is_moved = |at: &usize| moved.contains(&(at + 1));
                let (early, rest): (Vec<usize>, Vec<usize>) = (0..steps.len()).partition(is_moved);
                let at = rest.partition_point(|&step| step + 1 < *before);
                let order = rest[..at].iter().chain(&early).chain(&rest[at..]);
                order.flat_map(|&at| steps[at].clone()).collect()
            }
            Edit::Value { step, choice, instead, .. } => {
                let changed = steps.get_mut(step.wrapping_sub(1));
                if let Some(place) = changed.and_then(|step| step.get_mut(choice + 1)) {
                    *place = *instead;
                }
                steps.concat()
            }
        }
    }
}
