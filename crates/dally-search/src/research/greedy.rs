//! The greedy baseline (Mukherjee et al., "Learning-Based Controlled Concurrency Testing").

use dally_core::{Input, Observe, System, Tag, WorkerId};
use fastrand::Rng;
use rustc_hash::FxHashMap;

use crate::learning::table::{Table, Worth};
use crate::learning::walk::{Walk, Walked};
use crate::sampling::Random;
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// Goes where it has been least: picks a worker whose step has never been seen from this
/// observation, or else one whose step led to the observation made least often; ties are drawn.
///
/// It looks one step ahead and is not fair. Values are random, as in "Learning-based Controlled
/// Concurrency Testing" (Mukherjee et al., OOPSLA 2020), where it shows what observations are
/// worth without learning.
#[derive(Clone, Debug)]
pub struct Greedy {
    seed: u64,
    rng: Rng,
    walk: Walk,
    /// Where each step led when it was last seen.
    table: Table<u64>,
    /// The visits of the present schedule.
    visits: FxHashMap<u64, u32>,
    /// The places that are tied for the least.
    least: Vec<usize>,
    /// How often where each enabled worker leads was seen; `None` if that is not known.
    seen: Vec<Option<u32>>,
}

impl Greedy {
    /// With this seed.
    pub fn new(seed: u64) -> Greedy {
        Greedy {
            seed,
            rng: Rng::with_seed(seed),
            walk: Walk::new(Observe::Control),
            table: Table::default(),
            visits: FxHashMap::default(),
            least: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// How often an observation was made, in the present schedule too.
    fn visits(&self, observation: u64) -> u32 {
        let before = self.table.find(observation).map_or(0, |at| self.table.visits(at));
        before.saturating_add(self.visits.get(&observation).copied().unwrap_or(0))
    }
}

/// Where a step led.
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

impl Strategy for Greedy {
    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
        self.table = Table::default();
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        self.walk.begin();
        self.visits.clear();
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
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
        // Not known is less than any number.
        let fewest = seen.iter().copied().min().ok_or(EndSchedule::Cut)?;
        self.least.clear();
        self.least.extend((0..seen.len()).filter(|&place| seen[place] == fewest));
        self.seen = seen;
        let worker = point.enabled[self.least[self.rng.usize(..self.least.len())]];
        self.walk.step(worker, point.enabled.len());
        Ok(worker)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        Ok(Random::choose(&mut self.rng, of, tag))
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        Properties { batch: 4, varies_inputs: true, ..Properties::default() }
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
                let at = self.table.visit(observation, at);
                if let Some((at, action)) = before {
                    self.table.change(at, action, observation, |_| observation);
                }
                before = (place < walked.len()).then(|| (at, walked.get(place).action));
            }
        }
    }
}
