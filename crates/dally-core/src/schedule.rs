//! Schedules: the choices of an execution, small, stable and replayable.

use std::fmt;

use crate::choice::Choice;
use crate::worker::WorkerId;

/// The choices of an execution, with what is needed to make them again.
///
/// A schedule has two written forms with the same content: a text file, one choice a line, for
/// people and version control ([`Schedule::to_text`]), and a token of one line that can be
/// pasted anywhere ([`Schedule::to_token`]). [`Schedule::parse`] reads both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The name of the program: a protocol of the command line, or the path of a test.
    pub program: String,
    /// The settings under which the program was run, as (name, value), in the order given.
    pub settings: Vec<(String, String)>,
    /// What came of it, in one line, such as `deadlock: all tasks wait`.
    pub outcome: String,
    /// The choices in the order in which they were made.
    pub choices: Vec<Choice>,
    /// For each [`Choice::Worker`], in order, the workers that were enabled, sorted. Empty
    /// where they were not recorded.
    pub enabled: Vec<Vec<WorkerId>>,
}

impl Schedule {
    /// The value of a setting.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|entry| entry.0 == name).map(|entry| entry.1.as_str())
    }

    /// How many steps of workers it has.
    pub fn steps(&self) -> usize {
        self.workers().count()
    }

    /// How often a step is taken by another worker than the step before.
    pub fn switches(&self) -> usize {
        self.workers().zip(self.workers().skip(1)).filter(|(a, b)| a != b).count()
    }

    fn workers(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.choices.iter().filter_map(|choice| match choice {
            Choice::Worker(worker) => Some(*worker),
            _ => None,
        })
    }
}

/// A text is not a schedule, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// The line of the text, from 1; `None` for a token.
    pub line: Option<usize>,
    /// What is wrong with it, for people.
    pub message: String,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ScheduleError {}
