//! Findings: bugs with what is needed to see them again.

use crate::bug::Bug;
use crate::schedule::Schedule;
use crate::trace::Trace;

/// A bug, the schedule that causes it and what happens in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What went wrong.
    pub bug: Bug,
    /// The choices that make it go wrong every time.
    pub schedule: Schedule,
    /// What happens under these choices; empty where the execution could not be repeated.
    pub trace: Trace,
    /// The number of the schedule that showed it, from 1.
    pub found_at: u64,
    /// How many schedules showed a bug with the same cause.
    pub occurrences: u64,
    /// What shrinking did, if it was done.
    pub shrunk: Option<Shrunk>,
    /// What else a reader should know, a sentence each.
    pub notes: Vec<String>,
}

/// Sizes before and after shrinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
