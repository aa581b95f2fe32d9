//! Q-learning (Mukherjee et al., "Learning-Based Controlled Concurrency Testing").

use dally_core::{Input, Observe, System, Tag, WorkerId};
use fastrand::Rng;

use super::knowledge;
use super::softmax;
use super::table::{At, Table, Worth};
use super::walk::{Walk, Walked, place_among, place_below};
use crate::sampling::Random;
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// Q-learning: prefers actions that led to observations seldom made, and never rules one out.
///
/// Every observation that is left by an action costs a reward of -1 and more; an action is picked
/// with a probability proportional to e to the power of what it is expected to cost (algorithm 2
/// of "Learning-based Controlled Concurrency Testing", Mukherjee et al., OOPSLA 2020), and after a
/// schedule the expectations along it are updated from its end to its start (algorithm 3). So it
/// learns to go where it has not been. It promises nothing about a single schedule; with
/// observations that tell apart what matters it finds bugs behind long sequences of choices
/// that random needs exponentially many schedules for. It is not fair.
///
/// An action is a worker that steps or a value that is chosen. The paper's maximum over all
/// actions of an observation is kept by counting: while fewer actions were taken there than
/// could be, one of them is still worth 0, the most there is. That is exact where the observation
/// determines the actions.
#[derive(Clone, Debug)]
pub struct Ql {
    seed: u64,
    how: Observe,
    reward: Reward,
    values: bool,
    alpha: f64,
    gamma: f64,
    batch: u64,
    /// How many schedules were learnt from.
    schedules: u64,
    table: Table<f64>,
    rng: Rng,
    walk: Walk,
    /// The actions that were taken where the next is to be picked, by place.
    taken: Vec<(usize, f64)>,
    /// The places of the observations of a lesson.
    places: Vec<At>,
    /// How many schedules there were before this run.
    before: u64,
}

/// What an action is rewarded with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reward {
    /// Always -1.
    Flat,
    /// Minus the number of times that the observation it led to was ever made (OPT-1), and 1,000
    /// times as much if it injected a fault (OPT-2), so that faults come at other moments.
    ByVisits,
}

/// The learning rate and the discount of the paper.
const RATES: (f64, f64) = (0.3, 0.7);

impl Ql {
    /// The variant that the paper calls d, with all optimisations: it observes inboxes, pending
    /// operations and states of machines; for tasks what each waits for and which locks it holds.
    pub fn new(seed: u64) -> Ql {
        let how = Observe::Control;
        Ql {
            seed,
            how,
            reward: Reward::ByVisits,
            values: true,
            alpha: RATES.0,
            gamma: RATES.1,
            batch: 4,
            schedules: 0,
            table: Table::default(),
            rng: Rng::with_seed(seed),
            walk: Walk::new(how),
            taken: Vec::new(),
            places: Vec::new(),
            before: 0,
        }
    }

    /// With these observations.
    #[must_use]
    pub fn observing(self, how: Observe) -> Ql {
        Ql { how, walk: Walk::new(how), ..self }
    }

    /// With this reward.
    #[must_use]
    pub fn rewarded(self, reward: Reward) -> Ql {
        Ql { reward, ..self }
    }

    /// With values chosen at random and not learnt (NDN in the paper).
    #[must_use]
    pub fn values_at_random(self) -> Ql {
        Ql { values: false, ..self }
    }

    /// With another learning rate and another discount than 0.3 and 0.7, each from 0 to 1.
    #[must_use]
    pub fn rates(self, alpha: f64, gamma: f64) -> Ql {
        Ql { alpha: alpha.clamp(0.0, 1.0), gamma: gamma.clamp(0.0, 1.0), ..self }
    }

    /// With batches of this many schedules. The paper learns after each; every schedule of a batch
    /// knows what was known before the batch.
    #[must_use]
    pub fn batches_of(self, schedules: u64) -> Ql {
        Ql { batch: schedules.max(1), ..self }
    }

    /// Picks one of `of` actions, which `place` finds in their order.
    #[inline]
    fn pick(&mut self, of: usize, mut place: impl FnMut(u64) -> Option<usize>) -> usize {
        if of <= 1 {
            return 0;
        }
        let Some(at) = self.walk.look_up(&self.table) else { return self.rng.usize(..of) };
        self.taken.clear();
        for (action, value) in self.table.taken(at) {
            if let Some(place) = place(action) {
                self.taken.push((place, value));
            }
        }
        softmax::pick(of, &mut self.taken, &mut self.rng)
    }

    /// Algorithm 3, with the rewards of section 5.
    fn study(&mut self, walked: Walked<'_>) {
        let Ql { table, places, .. } = self;
        walked.visit(table, places);
        let mut next = best(table, places[walked.len()], walked.last.1);
        for place in (0..walked.len()).rev() {
            let done = walked.get(place);
            let reward = match self.reward {
                Reward::Flat => -1.0,
                Reward::ByVisits => {
                    let visits = f64::from(table.visits(places[place + 1]));
                    if done.fault { -1_000.0 * visits } else { -visits }
                }
            };
            let at = table.change(places[place], done.action, 0.0, |value| {
                value + self.alpha * (reward + self.gamma * next - value)
            });
            next = best(table, at, done.of);
        }
    }
}

/// What an action is expected to bring: nothing at best.
impl Worth for f64 {
    const WORDS: usize = 1;

    #[inline]
    fn write(self, words: &mut [u64]) {
        words[0] = self.to_bits();
    }

    #[inline]
    fn read(words: &[u64]) -> f64 {
        f64::from_bits(words[0])
    }

    fn is_sound(words: &[u64]) -> bool {
        let value = f64::read(words);
        value <= 0.0 && value.is_finite()
    }
}

/// The greatest value of the actions of an observation, of which there are `of`: 0 while one of
/// them was never taken.
#[inline]
fn best(table: &Table<f64>, at: At, of: u32) -> f64 {
    let taken = table.actions(at);
    if taken == 0 || taken < of as usize {
        return 0.0;
    }
    table.taken(at).fold(f64::NEG_INFINITY, |best, (_, value)| best.max(value))
}

impl Strategy for Ql {
    fn name(&self) -> String {
        let variant = match (self.how, self.reward, self.values) {
            (Observe::Control, Reward::ByVisits, true) => "ql",
            (Observe::Control, Reward::ByVisits, false) => "ql-ndn",
            (Observe::Control, Reward::Flat, _) => "ql-b",
            (Observe::Inboxes, ..) => "ql-i",
            (Observe::Custom, ..) => "ql-c",
        };
        let Ql { alpha, gamma, .. } = self;
        if (*alpha, *gamma) == RATES {
            variant.into()
        } else {
            format!("{variant}({alpha}, {gamma})")
        }
    }

    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
        self.table = Table::default();
        (self.schedules, self.before) = (0, 0);
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, self.before + schedule);
        self.walk.begin();
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.walk.at(point);
        let enabled = point.enabled;
        let place = place_among(enabled);
        let worker = *enabled.get(self.pick(enabled.len(), place)).ok_or(EndSchedule::Cut)?;
        self.walk.step(worker, enabled.len());
        Ok(worker)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        if !self.values {
            return Ok(Random::choose(&mut self.rng, of, tag));
        }
        self.walk.inside();
        let index = self.pick(of as usize, place_below(of)) as u32;
        self.walk.value(index, of, tag == Tag::Fault && index > 0);
        Ok(index)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        Properties { batch: self.batch, varies_inputs: true, ..Properties::default() }
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Ql {
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        Some(self.walk.end(last))
    }

    fn learn(&mut self, batch: &[Outcome]) {
        for outcome in batch {
            self.schedules += 1;
            if let Some(walked) = outcome.lesson.as_ref().and_then(Walked::read) {
                self.study(walked);
            }
        }
    }

    fn learned(&mut self) -> Option<Vec<u8>> {
        let rates = [self.alpha, self.gamma].map(f64::to_bits);
        Some(knowledge::write(rates, self.schedules, &self.table))
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        let rates = [self.alpha, self.gamma].map(f64::to_bits);
        let Some((schedules, table)) = knowledge::read(rates, learned) else { return false };
        (self.schedules, self.before, self.table) = (schedules, schedules, table);
        true
    }
}

#[cfg(test)]
mod tests;
