//! What the thread that explores and the one that supervises it tell each other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dally_core::Bug;

use super::estimate::Estimate;
use super::outcome::Outcome;
use crate::batch::Shared;
use crate::choice_log::ChoiceWriter;
use crate::confirm::RawFinding;

/// A reduced search, as both threads see it.
pub(crate) struct SharedSearch {
    shared: Arc<Shared>,
    /// After so many executions the search ends.
    most: u64,
    results: Mutex<Results>,
    /// How often estimates were asked for.
    asked: AtomicU64,
}

#[derive(Default)]
struct Results {
    /// `None` until the search is over.
    outcome: Option<Outcome>,
    expected: Estimate,
    /// The bug that kept the program from starting.
    failed: Option<Bug>,
}

impl SharedSearch {
    pub(crate) fn new(shared: Arc<Shared>, most: Option<u64>) -> SharedSearch {
        let most = most.unwrap_or(u64::MAX);
        SharedSearch { shared, most, results: Mutex::default(), asked: AtomicU64::new(0) }
    }

    pub(crate) fn keeps_going(&self) -> bool {
        self.shared.keep_going
    }

    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.shared.halt.load(Ordering::Relaxed)
    }

    /// How often estimates were asked for.
    #[inline]
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// An execution has come to its end, with so many steps since the last one.
    pub(crate) fn executed(&self, steps: u64, writer: &ChoiceWriter) {
        if self.shared.schedules.fetch_add(1, Ordering::Relaxed) + 1 >= self.most {
            self.shared.halt.store(true, Ordering::Relaxed);
        }
        self.shared.steps.fetch_add(steps, Ordering::Relaxed);
        if self.shared.sink.wants_executions() {
            self.shared.sink.executed(&writer.choices());
        }
    }

    /// Tells the sink of a bug, unless its cause is known.
    pub(crate) fn found(&self, raw: &RawFinding) {
        let mut first = self.shared.first.lock().unwrap_or_else(PoisonError::into_inner);
        if self.shared.full.load(Ordering::Relaxed) || first.contains_key(&raw.bug.cause()) {
            return;
        }
        first.insert(raw.bug.cause(), raw.schedule);
        drop(first);
        self.shared.sink.found(&raw.finding(&self.shared.description));
    }

    /// How many leaves are expected.
    pub(crate) fn expect(&self, expected: Estimate) {
        self.lock().expected = expected;
    }

    /// The search is over.
    pub(crate) fn explored(&self, outcome: Outcome, expected: Estimate) {
        let mut results = self.lock();
        (results.outcome, results.expected) = (Some(outcome), expected);
    }

    /// The program could not be started: the search ends.
    pub(crate) fn failed(&self, bug: Bug) {
        self.lock().failed.get_or_insert(bug);
        self.shared.halt.store(true, Ordering::Relaxed);
    }

    /// Asks for an estimate, and answers the one that is known.
    pub(crate) fn ask(&self) -> Estimate {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.lock().expected
    }

    /// What came of the search, the estimate of how many leaves it has, and the bug that kept the program
    /// from starting. A thread that was left behind has handed nothing over.
    pub(crate) fn take(&self) -> (Outcome, Estimate, Option<Bug>) {
        let Results { outcome, expected, failed } = std::mem::take(&mut *self.lock());
        let is_left_behind = outcome.is_none();
        let mut outcome = outcome.unwrap_or_default();
        outcome.unfinished |= is_left_behind;
        (outcome, expected, failed)
    }

    fn lock(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
