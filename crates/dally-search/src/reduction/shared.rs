//! What the thread of a reduced search shares with its supervisor.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dally_core::{Bug, Cause};

use super::estimate::Estimate;
use crate::batch::{self, Shared};
use crate::choice_log::ChoiceWriter;
use crate::confirm::RawFinding;

/// The results so far. Counts are written by one thread.
pub(crate) struct Results {
    shared: Arc<Shared>,
    pub(crate) redundant: AtomicU64,
    pub(crate) cut: AtomicU64,
    pub(crate) irrelevant: AtomicU64,
    pub(crate) abandoned: AtomicU64,
    pub(crate) astray: AtomicU64,
    /// Choices that were left out since they cost more than the bound.
    pub(crate) bounded: AtomicU64,
    /// The classes executed, where one may be executed again.
    pub(crate) distinct: AtomicU64,
    pub(crate) deepest: AtomicUsize,
    pub(crate) inputs: AtomicBool,
    /// Whether nothing is left to explore.
    pub(crate) finished: AtomicBool,
    pub(crate) estimate: Mutex<Estimate>,
    /// Whether an estimate is wanted.
    asked: AtomicBool,
    pub(crate) bugs: Mutex<Vec<(Cause, Option<Box<RawFinding>>)>>,
}

impl Results {
    pub(crate) fn new(shared: Arc<Shared>) -> Results {
        Results {
            shared,
            redundant: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            irrelevant: AtomicU64::new(0),
            abandoned: AtomicU64::new(0),
            astray: AtomicU64::new(0),
            bounded: AtomicU64::new(0),
            distinct: AtomicU64::new(0),
            deepest: AtomicUsize::new(0),
            inputs: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            estimate: Mutex::default(),
            asked: AtomicBool::new(false),
            bugs: Mutex::default(),
        }
    }

    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.shared.halt.load(Ordering::Relaxed)
    }

    pub(crate) fn halt(&self) {
        self.shared.halt.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn stepped(&self) {
        add(&self.shared.steps);
    }

    /// An execution has come to its end, or a bug has ended it.
    pub(crate) fn executed(&self, writer: &ChoiceWriter) {
        add(&self.shared.schedules);
        if self.shared.sink.wants_executions() {
            self.shared.sink.executed(&writer.choices());
        }
    }

    /// An execution was given up since it is covered by others.
    pub(crate) fn redundant(&self) {
        add(&self.redundant);
    }

    /// An execution or a step was given up since it has more steps or items than it may have.
    pub(crate) fn cut(&self) {
        add(&self.cut);
    }

    /// The program gave the execution up; `alone` if nobody else could step.
    pub(crate) fn irrelevant(&self, alone: bool) {
        add(&self.irrelevant);
        if !alone {
            add(&self.abandoned);
        }
    }

    /// A step asked for something else when it was taken in another order.
    pub(crate) fn astray(&self) {
        add(&self.astray);
    }

    /// A choice costs more than the bound.
    pub(crate) fn bounded(&self) {
        add(&self.bounded);
    }

    /// So many classes have been executed.
    pub(crate) fn distinct(&self, classes: usize) {
        self.distinct.store(classes as u64, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn deepest(&self, path: usize) {
        if path > self.deepest.load(Ordering::Relaxed) {
            self.deepest.store(path, Ordering::Relaxed);
        }
    }

    pub(crate) fn finished(&self) {
        self.finished.store(true, Ordering::Relaxed);
    }

    /// The latest estimate; the next one is asked for, and can be had later.
    pub(crate) fn ask(&self) -> Estimate {
        self.asked.store(true, Ordering::Relaxed);
        *self.estimate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an estimate is wanted, and has not been since the last time.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed) && self.asked.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn estimated(&self, estimate: Estimate) {
        *self.estimate.lock().unwrap_or_else(PoisonError::into_inner) = estimate;
    }

    /// Reports a bug, to which the choices in the log lead.
    pub(crate) fn found(&self, bug: Bug, writer: &ChoiceWriter) {
        let mut bugs = self.bugs.lock().unwrap_or_else(PoisonError::into_inner);
        let cause = bug.cause();
        let number = self.shared.schedules.load(Ordering::Relaxed).saturating_sub(1);
        let raw = RawFinding { searched: true, ..RawFinding::new(bug, number) };
        bugs.push((cause, batch::keep(raw, writer, &self.shared)));
        if !self.shared.keep_going {
            self.halt();
        }
    }
}

/// Adds one where only one thread does.
#[inline]
fn add(count: &AtomicU64) {
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
