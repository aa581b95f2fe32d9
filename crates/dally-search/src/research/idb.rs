//! Iterative delay bounding (Mukherjee et al., "Learning-Based Controlled Concurrency Testing").

use dally_core::{Observe, System, WorkerId};
use fastrand::Rng;
use rustc_hash::FxHashSet;

use crate::sampling::Sampler;
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties};

/// Lets one worker run on until it cannot, but for a bounded number of delays: at a delay, another
/// worker that can step, drawn at random, goes on instead. The bound is 0 at first and grows by one
/// whenever 100 schedules in a row have shown no new observation.
///
/// A worker that cannot go on is followed by any other, drawn at random, as in the tool of the
/// paper. Delays are spread uniformly over the decisions at which one has an effect: where a worker
/// could go on and another step, too. It is not fair.
#[derive(Clone, Debug, Default)]
pub struct Idb {
    delays: usize,
    barren: u32,
    /// The most decisions at which a delay has an effect that a schedule had.
    length: usize,
    known: FxHashSet<u64>,
    /// The decisions at which delays are, the last first, each at most once.
    points: Vec<usize>,
    /// How many such decisions there were in the present schedule.
    met: usize,
    /// The observations of the present schedule that were not known at the last batch.
    new: Vec<u64>,
}

/// After how many schedules in a row without a new observation the bound grows.
const BARREN: u32 = 100;

/// More observations than this are not told apart.
const MOST: usize = 1 << 22;

impl Idb {
    fn observe(&mut self, system: &dyn System) {
        let observation = system.observe(Observe::Control).unwrap_or_default();
        if !self.known.contains(&observation) {
            self.new.push(observation);
        }
    }
}

impl Sampler for Idb {
    fn restart(&mut self, _seed: u64) {
        *self = Idb::default();
    }

    fn begin(&mut self, _schedule: u64, rng: &mut Rng) {
        let length = self.length.max(1);
        self.points.clear();
        self.points.extend((0..self.delays).map(|_| rng.usize(..length)));
        self.points.sort_unstable_by(|a, b| b.cmp(a));
        self.points.dedup();
        self.met = 0;
        self.new.clear();
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        self.observe(point.system);
        let enabled = point.enabled;
        let Some(Ok(mut place)) = point.last.map(|last| last.place_in(enabled)) else {
            return Ok(enabled[rng.usize(..enabled.len())]);
        };
        if enabled.len() > 1 {
            if self.points.last() == Some(&self.met) {
                self.points.pop();
                place = (place + rng.usize(1..enabled.len())) % enabled.len();
            }
            self.met += 1;
        }
        Ok(enabled[place])
    }

    fn properties(&self) -> Properties {
        Properties { batch: 16, draws_alike: false, ..Properties::DRAWN }
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Idb {
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        if let Some(system) = last {
            self.observe(system);
        }
        let met = self.met as u64;
        Some(std::iter::once(met).chain(self.new.iter().copied()).collect())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        for outcome in batch {
            let Some((&met, new)) = outcome.lesson.as_deref().and_then(<[u64]>::split_first) else {
                continue;
            };
            self.length = self.length.max(usize::try_from(met).unwrap_or(usize::MAX));
            let mut fresh = false;
            for &observation in new {
                fresh |= self.known.len() < MOST && self.known.insert(observation);
            }
            self.barren = if fresh { 0 } else { self.barren + 1 };
            if self.barren == BARREN {
                (self.barren, self.delays) = (0, self.delays + 1);
            }
        }
    }
}
