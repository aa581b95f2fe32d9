//! What comes of a reduced search.

use std::collections::BTreeMap;

use dally_core::report::MAX_FINDINGS;
use dally_core::{Bug, Cause};

use crate::choice_log::ChoiceWriter;
use crate::confirm::RawFinding;

/// The figures of a search, and its bugs.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Executions that came to their end, or that a bug has ended.
    pub(crate) executed: u64,
    pub(crate) steps: u64,
    /// Beginnings that were given up since they are covered by others.
    pub(crate) redundant: u64,
    /// Executions and steps that were given up since they have more steps or items than they may have.
    pub(crate) cut: u64,
    pub(crate) irrelevant: u64,
    pub(crate) abandoned: u64,
    /// Steps that asked for something else when they were taken in another order.
    pub(crate) astray: u64,
    /// Choices that were left out since they cost more than the bound.
    pub(crate) bounded: u64,
    /// The classes executed, where one may be executed again.
    pub(crate) distinct: u64,
    pub(crate) deepest: usize,
    /// Whether inputs were asked for, and got the given numbers.
    pub(crate) inputs: bool,
    /// A bug has ended the search.
    pub(crate) stopped: bool,
    /// The search was ended before all was explored.
    pub(crate) unfinished: bool,
    /// The bugs by their causes, in the order of the first of each.
    pub(crate) bugs: Vec<Found>,
    places: BTreeMap<Cause, usize>,
}

/// The bugs of one cause.
pub(crate) struct Found {
    pub(crate) cause: Cause,
    pub(crate) times: u64,
    /// The first one.
    pub(crate) raw: Option<Box<RawFinding>>,
}

impl Outcome {
    /// The program gave the execution up; `alone` if nobody else could step.
    pub(crate) fn irrelevant(&mut self, alone: bool) {
        self.irrelevant += 1;
        self.abandoned += u64::from(!alone);
    }

    pub(crate) fn deepest(&mut self, path: usize) {
        self.deepest = self.deepest.max(path);
    }

    /// Takes note of a bug, to which the choices in the log lead. The finding is answered if it is the
    /// first of its cause.
    pub(crate) fn found(&mut self, bug: Bug, writer: &ChoiceWriter) -> Option<&RawFinding> {
        let cause = bug.cause();
        if let Some(&place) = self.places.get(&cause) {
            self.bugs[place].times += 1;
            return None;
        }
        // A report has so many findings at most.
        let raw = (self.bugs.len() < MAX_FINDINGS).then(|| {
            let choices = writer.choices();
            let raw = RawFinding::new(bug, self.executed.saturating_sub(1));
            Box::new(RawFinding { searched: true, choices, ..raw })
        });
        self.places.insert(cause, self.bugs.len());
        self.bugs.push(Found { cause, times: 1, raw });
        self.bugs.last().and_then(|found| found.raw.as_deref())
    }
}
