//! PCT over chains of messages.

use dally_core::{Event, Input, MessageId, System, Tag, Text, WorkerId};
use fastrand::Rng;

use super::chains::{Chains, Mailbox};
use super::{Pct, Random};
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// PCT with chain partitioning (Kulahcioglu Ozkan, Majumdar, Niksic, Tabaei Befrouei and
/// Weissenbacher, "Randomized testing of distributed systems with probabilistic guarantees",
/// OOPSLA 2018): priorities belong to chains of steps that follow from each other, such as a
/// request, its handling and its answer, and not to workers; `d` random steps make their chains
/// fall.
///
/// A bug of depth `d + 1`, one that needs that many steps in a certain order, shows in each
/// schedule with a probability of at least `1 / (w^2 n^d)`, where `n` is the number of steps and
/// `w` their width: the most steps none of which follows from another. A program of many
/// short-lived workers or messages has a small width, where PCT's bound counts all workers.
/// `n` is the largest of earlier batches; while none is known, schedules guess powers of two.
/// Values are uniform; of several messages that can be delivered it is that of the highest
/// chain.
///
/// The bound is about programs whose steps can be taken as soon as those have been that they
/// follow from, whatever else was done. That a message in a queue waits for those before it is
/// one more such order: the bound holds for the messages as they were queued, and to queue them in
/// another order is a matter of the steps that send them. It does not hold where a worker waits
/// for a lock, or defers what is first in its queue.
#[derive(Clone, Debug)]
pub struct Pctcp {
    seed: u64,
    d: u32,
    rng: Rng,
    /// The most steps that came up in a schedule.
    steps: u64,
    mailbox: Mailbox,
    chains: Chains,
    /// The steps that make their chains fall; the place is the level they fall to.
    falls: Vec<u64>,
}

impl Pctcp {
    /// With `d` steps at which priorities change, and this seed.
    pub fn new(seed: u64, d: u32) -> Pctcp {
        Pctcp {
            seed,
            d,
            rng: Rng::with_seed(seed),
            steps: 0,
            mailbox: Mailbox::default(),
            chains: Chains::default(),
            falls: Vec::new(),
        }
    }
}

impl Strategy for Pctcp {
    fn name(&self) -> String {
        format!("pctcp({})", self.d)
    }

    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        self.chains.clear(self.mailbox);
        let steps = Pct::length(self.steps, schedule);
        self.falls.clear();
        self.falls.extend((0..self.d).map(|_| self.rng.u64(..steps)));
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.chains.catch_up(point, &mut self.rng);
        loop {
            let (worker, step) = self.chains.highest(point).ok_or(EndSchedule::Cut)?;
            let falls = self.falls.iter().position(|&number| number == step.number);
            let Some(level) = falls else {
                self.chains.step(worker);
                return Ok(worker);
            };
            let chain = step.chain;
            // It falls once.
            self.falls[level] = u64::MAX;
            self.chains.lower(chain, level as u64);
        }
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        Ok(Random::choose(&mut self.rng, of, tag))
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        Ok(self.chains.delivery(candidates))
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        Properties {
            listens: true,
            draws_alike: true,
            varies_inputs: true,
            ..Properties::default()
        }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.chains.heard(event);
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Pctcp {
    /// How many steps came up, and what is known of mailboxes.
    fn lesson(&mut self, _last: Option<&dyn System>) -> Option<Lesson> {
        Some([self.chains.count(), self.chains.mailbox().to_bits()].into())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        for lesson in batch.iter().filter_map(|outcome| outcome.lesson.as_deref()) {
            let &[steps, mailbox] = lesson else { continue };
            self.steps = self.steps.max(steps);
            self.mailbox = self.mailbox.max(Mailbox::from_bits(mailbox));
        }
    }
}
