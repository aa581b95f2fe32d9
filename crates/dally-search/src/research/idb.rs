//! The baseline of iterative delay bounding (Mukherjee et al., "Learning-Based Controlled
//! Concurrency Testing").

use dally_core::{Input, Observe, System, Tag, WorkerId};
use fastrand::Rng;
use rustc_hash::FxHashSet;

use crate::sampling::Random;
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// Lets one worker run on until it cannot, but for a bounded number of delays: at a delay,
/// another worker that can step, drawn at random, goes on instead. The bound is 0 at first and
/// grows by one whenever 100 schedules have shown no new observation.
///
/// Delays are spread uniformly over the longest schedule known, as far as it was its own: not over
/// a random tail. A worker that cannot go on is
/// followed by the next in the order of ids. Values are random. It is not fair. From
/// "Learning-based Controlled Concurrency Testing" (Mukherjee et al., OOPSLA 2020).
#[derive(Clone, Debug)]
pub struct Idb {
    seed: u64,
    rng: Rng,
    /// How many delays a schedule has.
    delays: usize,
    /// How many schedules in a row have shown nothing new.
    barren: u32,
    /// The longest schedule known, in steps of workers.
    length: usize,
    known: FxHashSet<u64>,
    /// Where delays are, the last first.
    points: Vec<usize>,
    /// The steps of workers so far.
    taken: usize,
    /// The observations that are new, or were at the last batch.
    new: Vec<u64>,
}

/// How many schedules without a new observation raise the bound.
const BARREN: u32 = 100;

/// More observations than this are not told apart.
const MOST: usize = 1 << 22;

impl Idb {
    /// With this seed.
    pub fn new(seed: u64) -> Idb {
        Idb {
            seed,
            rng: Rng::with_seed(seed),
            delays: 0,
            barren: 0,
            length: 1,
            known: FxHashSet::default(),
            points: Vec::new(),
            taken: 0,
            new: Vec::new(),
        }
    }

    fn observe(&mut self, system: &dyn System) {
        let observation = system.observe(Observe::Control).unwrap_or_default();
        if !self.known.contains(&observation) {
            self.new.push(observation);
        }
    }
}

impl Strategy for Idb {
    fn reseed(&mut self, seed: u64) {
        *self = Idb::new(seed);
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        let (rng, length) = (&mut self.rng, self.length);
        self.points.clear();
        self.points.extend((0..self.delays).map(|_| rng.usize(..length)));
        self.points.sort_unstable_by(|a, b| b.cmp(a));
        self.taken = 0;
        self.new.clear();
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.observe(point.system);
        let enabled = point.enabled;
        let (mut place, runs_on) = match point.last.map(|last| last.place_in(enabled)) {
            Some(Ok(place)) => (place, true),
            Some(Err(next)) => (next % enabled.len(), false),
            None => (0, false),
        };
        while self.points.last().is_some_and(|&at| at <= self.taken) {
            self.points.pop();
            if runs_on && enabled.len() > 1 {
                let others = self.rng.usize(1..enabled.len());
                place = (place + others) % enabled.len();
            }
        }
        self.taken += 1;
        Ok(enabled[place])
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        Ok(Random::choose(&mut self.rng, of, tag))
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        Properties { batch: 16, varies_inputs: true, ..Properties::default() }
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
        // How many steps were its own, then what was new.
        let steps = self.taken as u64;
        Some(std::iter::once(steps).chain(self.new.iter().copied()).collect())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        for outcome in batch {
            let Some((&steps, new)) = outcome.lesson.as_deref().and_then(<[u64]>::split_first)
            else {
                continue;
            };
            self.length = self.length.max(usize::try_from(steps).unwrap_or(usize::MAX));
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
