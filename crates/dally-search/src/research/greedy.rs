//! The greedy baseline (Mukherjee et al., "Learning-Based Controlled Concurrency Testing").

use dally_core::{System, WorkerId};
use fastrand::Rng;
use rustc_hash::FxHashMap;

use crate::learning::table::{Table, Taken, Worth};
use crate::learning::walk::{Walk, Walked};
use crate::sampling::Sampler;
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties};

/// Picks a worker whose step has never been seen from this observation, or else one whose step led
/// to the observation made least often; ties are drawn.
///
/// It looks one step ahead and is not fair. Values are random. The paper uses it to show what
/// observations are worth without learning.
#[derive(Clone, Debug, Default)]
pub struct Greedy {
    walk: Walk,
    /// The observation that each step led to when it was last seen.
    table: Table<u64>,
    /// How often each observation was made in the present schedule.
    visits: FxHashMap<u64, u32>,
    least: Vec<usize>,
    /// The visits of the observation that each enabled worker leads to, if it is known.
    seen: Vec<Option<u32>>,
}

impl Greedy {
    /// How often an observation was made, including the present schedule.
    fn visits(&self, observation: u64) -> u32 {
        let before = self.table.find(observation).map_or(0, |at| self.table.visits(at));
        before.saturating_add(self.visits.get(&observation).copied().unwrap_or(0))
    }
}

/// The observation that a step led to.
impl Worth for u64 {
    const WORDS: usize = 1;

    #[inline]
    fn write(self, words: &mut [u64]) {
        words[0] = self;
    }

    #[inline]
    fn read(words: &[u64]) -> u64 {
        words[0]
    }

    fn is_sound(_: &[u64]) -> bool {
        true
    }
}

impl Sampler for Greedy {
    fn restart(&mut self, _seed: u64) {
        *self = Greedy::default();
    }

    fn begin(&mut self, _schedule: u64, _rng: &mut Rng) {
        self.walk.begin();
        self.visits.clear();
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        let here = self.walk.at(point);
        *self.visits.entry(here).or_default() += 1;
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        seen.resize(point.enabled.len(), None);
        if let Some(at) = self.table.find(here) {
            for (action, successor) in self.table.taken(at) {
                if let Ok(place) = WorkerId::from_bits(action).place_in(point.enabled) {
                    seen[place] = Some(self.visits(successor));
                }
            }
        }
        // `None`, for an unknown observation, is less than any number.
        let fewest = seen.iter().copied().min().ok_or(EndSchedule::Cut)?;
        self.least.clear();
        self.least.extend((0..seen.len()).filter(|&place| seen[place] == fewest));
        self.seen = seen;
        let worker = point.enabled[self.least[rng.usize(..self.least.len())]];
        self.walk.step(worker, 0);
        Ok(worker)
    }

    fn properties(&self) -> Properties {
        Properties { batch: 4, draws_alike: false, ..Properties::DRAWN }
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Greedy {
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        Some(self.walk.end(last))
    }

    fn learn(&mut self, batch: &[Outcome]) {
        for walked in batch.iter().filter_map(|outcome| Walked::read(outcome.lesson.as_ref()?)) {
            let mut before = None;
            for (place, (observation, at)) in walked.observations().enumerate() {
                let here = self.table.visit(observation, at, 0);
                if let Some((at, action)) = before {
                    let taken = Taken { action, led_to: here };
                    self.table.change(at, taken, observation, |_| observation);
                }
                before = (place < walked.len()).then(|| (here, walked.get(place).action));
            }
        }
    }
}
