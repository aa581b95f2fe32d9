//! A monitor that has been hot for long is blamed only if chance does not cool it down either.
//!
//! An execution that goes on under a fair strategy may have been unlucky: what the monitor waits for
//! may be rare, such as a majority that agrees before the next timeout. So the execution goes on from
//! there by chance, in stretches as long as the monitor was hot. Every other stretch has quick and slow
//! workers and likely and unlikely values, others each time: what needs a timer to be slow for a while
//! comes about then. All of it is fair, as nothing has probability 0. If the monitor leaves its hot
//! states, the schedule ends as one that is cut; otherwise the bug is where the suspicion arose.

use std::sync::atomic::Ordering;

use dally_core::{
    Choice, Cut, Env, Event, EventBudget, Input, MessageId, Stop, System, Tag, Text, WorkerId,
    fingerprint,
};
use fastrand::Rng;

use super::End;
use super::bugs::bug_at_end;
use super::live::{Conclusion, Failure, HotMonitor, LiveExecution};
use crate::choice_log::ChoiceWriter;
use crate::sampling::Random;

/// In a biased stretch one worker in so many is slow, and is taken as seldom as this when drawn.
const SLOW: u64 = 3;
const SELDOM: u32 = 16;

/// How likely the preferred value of a place is in a biased stretch: this of 8, and its share of the rest.
const PREFERRED: u32 = 6;

impl LiveExecution<'_> {
    /// What becomes of an execution whose monitor was hot for longer than the bound.
    #[cold]
    pub(super) fn concluded<S: System>(
        &mut self,
        suspicion: HotMonitor,
        system: &mut S,
    ) -> Conclusion {
        let HotMonitor { bug, monitor, hot } = suspicion;
        let at = (self.env.steps, self.env.values);
        let mut chance = RandomSteps {
            rng: Rng::with_seed(fingerprint::mix(at.0 as u64, monitor as u64)),
            stretch: 0,
            place: 0,
            writer: &mut *self.env.writer,
            steps: 0,
            values: 0,
            items: EventBudget::new(self.limits.step_items),
        };
        let stretch = hot.max(self.limits.least_hot(system.backlog()));
        let mut left = None;
        'stretches: for number in 0..self.limits.confirm_temperature {
            (chance.stretch, chance.steps) = (number, 0);
            while chance.steps < stretch {
                if self.halt.load(Ordering::Relaxed) {
                    left = Some(Conclusion::Ended(End::Halted));
                } else if system.acceptance().waiting() >> monitor & 1 == 0 {
                    left = Some(Conclusion::Ended(End::StepBound));
                } else if system.enabled().is_empty() {
                    left = bug_at_end(system).map(Conclusion::failed);
                } else {
                    left = chance.step(system);
                }
                if left.is_some() {
                    break 'stretches;
                }
            }
        }
        let went_on = chance.writer.len() - at.0;
        if self.limits.confirm_temperature > 0
            && left.is_none()
            && hot + went_on <= self.limits.hot_with(system.backlog())
        {
            left = Some(Conclusion::Ended(End::StepBound));
        }
        match left {
            // Another bug, which the choices of the stretches lead to.
            Some(Conclusion::Failed(failure)) => {
                self.env.values = at.1 + chance.values;
                self.env.steps = at.0 + went_on;
                Conclusion::Failed(failure)
            }
            Some(ended) => {
                self.env.writer.truncate(at.0);
                ended
            }
            None => {
                self.env.writer.truncate(at.0);
                Conclusion::Failed(Box::new(Failure { bug, at: Some(at), lasso: None }))
            }
        }
    }
}

/// Steps by chance, in a way of its own in each stretch.
struct RandomSteps<'a> {
    rng: Rng,
    stretch: u32,
    /// Where the program asks for its next value.
    place: u64,
    writer: &'a mut ChoiceWriter,
    /// The choices in this stretch, and all values.
    steps: usize,
    values: usize,
    items: EventBudget,
}

impl RandomSteps<'_> {
    /// Takes a step; how the execution ends, if it does.
    fn step<S: System>(&mut self, system: &mut S) -> Option<Conclusion> {
        let worker = self.worker(system.enabled());
        self.items.restart();
        self.wrote(Choice::Worker(worker));
        match system.step(worker, self) {
            Ok(()) => None,
            Err(Stop::Bug(bug)) => Some(Conclusion::failed(bug.in_step_of(worker))),
            Err(Stop::Cut) => Some(Conclusion::Ended(End::StepBound)),
        }
    }

    fn is_biased(&self) -> bool {
        self.stretch % 2 == 1
    }

    /// A number that goes with something in this stretch.
    fn lot(&self, of: u64) -> u64 {
        fingerprint::mix(of, u64::from(self.stretch))
    }

    fn worker(&mut self, enabled: &[WorkerId]) -> WorkerId {
        loop {
            let worker = Random::pick(enabled, &mut self.rng);
            let slow = self.is_biased() && self.lot(worker.to_bits()).is_multiple_of(SLOW);
            if !slow || self.rng.u32(..SELDOM) == 0 {
                return worker;
            }
        }
    }

    fn items(&mut self, more: u32) -> Result<(), Cut> {
        if self.items.spend(more) { Ok(()) } else { Err(Cut) }
    }

    fn wrote(&mut self, choice: Choice) {
        self.steps += 1;
        self.writer.write(choice);
    }

    fn chose(&mut self, choice: Choice) {
        self.values += 1;
        self.wrote(choice);
    }
}

impl Env for RandomSteps<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.items(1)?;
        let prefers = tag == Tag::Program && self.is_biased() && self.rng.u32(..8) < PREFERRED;
        let index = match prefers {
            true => (self.lot(self.place) % u64::from(of.max(1))) as u32,
            false => Random::value(of, tag, &mut self.rng),
        };
        self.chose(Choice::Value { index, of, tag });
        Ok(index)
    }

    fn place(&mut self, place: u64) {
        self.place = place;
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.items(1)?;
        let index = self.rng.usize(..candidates.len().max(1));
        if let Some(&message) = candidates.get(index) {
            self.chose(Choice::Delivery(message));
        }
        Ok(index)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.items(1)?;
        let value = Random::input(asked, &mut self.rng);
        self.chose(Choice::Input(value));
        Ok(value)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        self.items(1)
    }

    fn leeway(&self) -> u32 {
        self.items.limit()
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.items(events)
    }
}
