//! PCT over chains of messages.

use dally_core::{Event, MessageId, System, Text, WorkerId};
use fastrand::Rng;

use super::chains::Chains;
use super::{Pct, Sampler};
use crate::learning::words;
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties};

/// PCT with chain partitioning (Kulahcioglu Ozkan, Majumdar, Niksic, Tabaei Befrouei and
/// Weissenbacher, "Randomized testing of distributed systems with probabilistic guarantees", OOPSLA
/// 2018): priorities belong not to workers but to chains of steps that follow from each other, such
/// as a request, its handling and its answer; at `d` random steps their chains fall.
///
/// A bug of depth `d + 1`, one that needs that many steps in a certain order, shows in each
/// schedule with a probability of at least `1 / (w^2 n^d)`, where `n` is the number of steps and
/// `w` their width: the most steps none of which follows from another. A program of many
/// short-lived workers or messages has a small width, where PCT's bound counts all workers. `n` is
/// the largest of earlier batches; while none is known, schedules guess powers of two. Of several
/// messages that can be delivered, the one of the highest chain is.
///
/// The bound holds for programs whose steps can be taken as soon as the steps have been that they
/// follow from. Messages are received in the order in which they were queued, which the steps that
/// send them decide. The bound does not hold where a worker waits for a lock, or defers the first
/// message of its queue.
#[derive(Clone, Debug)]
pub struct Pctcp {
    d: u32,
    /// The most steps that came up in a schedule.
    steps: u64,
    chains: Chains,
}

impl Pctcp {
    /// With `d` steps at which priorities change.
    pub fn new(d: u32) -> Pctcp {
        Pctcp { d, steps: 0, chains: Chains::default() }
    }
}

impl Sampler for Pctcp {
    fn name(&self) -> String {
        format!("pctcp({})", self.d)
    }

    fn begin(&mut self, schedule: u64, rng: &mut Rng) {
        self.chains.begin(self.d, Pct::length(self.steps, schedule), rng);
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        self.chains.pick(point, rng, |_, number, _| Some(number))
    }

    fn delivery(&mut self, candidates: &[MessageId], _rng: &mut Rng) -> usize {
        self.chains.delivery(candidates)
    }

    fn properties(&self) -> Properties {
        Properties { listens: true, ..Properties::DRAWN }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.chains.heard(event);
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Pctcp {
    fn lesson(&mut self, _last: Option<&dyn System>) -> Option<Lesson> {
        Some(self.chains.lesson().into())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        for lesson in batch.iter().filter_map(|outcome| outcome.lesson.as_deref()) {
            let &[steps, mailbox] = lesson else { continue };
            self.steps = self.steps.max(steps);
            self.chains.learn(mailbox);
        }
    }

    fn learned(&mut self) -> Option<Vec<u8>> {
        Some(words::written([self.steps, self.chains.learnt()]))
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        let Some(&[steps, mailbox]) = words::read(learned).as_deref() else { return false };
        self.steps = steps;
        self.chains.learn(mailbox);
        true
    }
}
