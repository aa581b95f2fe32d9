//! Fairness by falling back to random.

use dally_core::{Event, Input, MessageId, System, Tag, Text, WorkerId};

use super::{Random, Sampler, Seeded};
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// Makes a strategy fair: after `unfair` steps of a schedule random takes over.
///
/// Under an unfair strategy a program that waits in a loop may do so for ever; in the random tail
/// it comes to its end, and monitors can be judged.
#[derive(Clone)]
pub struct Fair {
    inner: Box<dyn Strategy>,
    random: Seeded<Random>,
    unfair: usize,
    /// Whether random takes over only if a monitor is hot.
    once_hot: bool,
    in_tail: bool,
    /// The inner strategy's lesson at the start of the tail.
    lesson: Option<Lesson>,
    /// The outcomes that the inner strategy learns from. Kept for its memory.
    share: Vec<Outcome>,
}

impl Fair {
    /// `inner` for the first `unfair` steps, then random with this seed.
    pub fn new(inner: Box<dyn Strategy>, unfair: usize, seed: u64) -> Fair {
        let random = Random.seeded(seed);
        let (lesson, share) = (None, Vec::new());
        Fair { inner, random, unfair, once_hot: false, in_tail: false, lesson, share }
    }

    /// Lets random take over only if a monitor is hot after these steps: nothing else needs
    /// fairness, and the inner strategy can use long schedules.
    #[must_use]
    pub fn once_hot(self) -> Fair {
        Fair { once_hot: true, ..self }
    }
}

impl Fair {
    /// Picks a worker after the first `unfair` steps.
    #[inline(never)]
    fn late(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        if !self.in_tail {
            self.in_tail = !self.once_hot || point.system.acceptance().hot != 0;
            if self.in_tail {
                point.fair_from_here();
                let last = Some(point.system);
                self.lesson = self.inner.learner().and_then(|learner| learner.lesson(last));
            }
        }
        if self.in_tail { self.random.worker(point) } else { self.inner.worker(point) }
    }
}

impl Strategy for Fair {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn reseed(&mut self, seed: u64) {
        self.inner.reseed(seed);
        self.random.reseed(seed);
    }

    fn start_at(&mut self, first: u64) {
        self.inner.start_at(first);
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.in_tail = false;
        self.random.begin(schedule);
        self.inner.begin(schedule)
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        if point.step < self.unfair { self.inner.worker(point) } else { self.late(point) }
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        if self.in_tail { self.random.value(of, tag) } else { self.inner.value(of, tag) }
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        if self.in_tail {
            self.random.delivery(candidates)
        } else {
            self.inner.delivery(candidates)
        }
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        // The given inputs stay the given ones in the tail.
        if self.in_tail && self.inner.properties().varies_inputs {
            self.random.input(asked)
        } else {
            self.inner.input(asked)
        }
    }

    fn properties(&self) -> Properties {
        self.inner.properties()
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        if !self.in_tail {
            self.inner.heard(event);
        }
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        if self.inner.learner().is_some() { Some(self) } else { None }
    }
}

impl Learner for Fair {
    /// For the inner strategy the schedule is over where the tail begins.
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        if self.in_tail { self.lesson.take() } else { self.inner.learner()?.lesson(last) }
    }

    /// The inner strategy learns from its part of each schedule: all of it where the tail begins
    /// only if a monitor is hot, since it is not known whether it has begun.
    fn learn(&mut self, batch: &[Outcome]) {
        let Some(learner) = self.inner.learner() else { return };
        if self.once_hot {
            return learner.learn(batch);
        }
        self.share.clear();
        self.share.extend(batch.iter().cloned().map(|outcome| {
            let steps = outcome.steps.min(self.unfair);
            // The values before the tail are not counted, so their share is estimated.
            let values = outcome.values * steps / outcome.steps.max(1);
            let complete = outcome.complete && outcome.steps <= self.unfair;
            Outcome { steps, values, complete, ..outcome }
        }));
        learner.learn(&self.share);
    }

    fn learned(&mut self) -> Option<Vec<u8>> {
        self.inner.learner()?.learned()
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        self.inner.learner().is_some_and(|learner| learner.recall(learned))
    }
}
