//! Uniform random walk.

use std::sync::Arc;

use dally_core::{Event, Input, System, Tag, Text, WorkerId};
use fastrand::Rng;

use crate::sampling::Random;
use crate::sampling::profile::{Profile, Profiler, Spot, Weights, draw};
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// The uniform random walk of "Selectively uniform concurrency testing" (ASPLOS 2025): a worker
/// steps with a probability in proportion to the steps that it has left, those of workers that
/// it will still create included.
///
/// Where nothing blocks and every worker takes as many steps in every schedule, all
/// interleavings have the same probability; a uniform choice among the workers gives the
/// interleavings of a short worker with a long one very different ones. Counts come from the
/// schedules of the first batch that came to their own ends (or, if none did, were cut by a
/// bound), which are random; where these differ, each later schedule takes the counts of one of
/// them. A worker that has no steps left, or that no count knows, weighs as
/// much as one with a single step. Values are uniform.
#[derive(Clone, Debug)]
pub struct Urw {
    seed: u64,
    rng: Rng,
    profiles: Vec<Arc<Profile>>,
    profiler: Profiler,
    weights: Weights,
}

impl Urw {
    /// With this seed.
    pub fn new(seed: u64) -> Urw {
        Urw {
            seed,
            rng: Rng::with_seed(seed),
            profiles: Vec::new(),
            profiler: Profiler::default(),
            weights: Weights::default(),
        }
    }
}

impl Strategy for Urw {
    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        self.profiler.clear();
        if let Some(profile) = self.rng.choice(&self.profiles) {
            self.weights.reset(profile, Spot::is_whole);
        }
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        if self.profiles.is_empty() {
            return Ok(self.profiler.pick(&mut self.rng, point));
        }
        for &worker in point.enabled {
            self.weights.meet(worker);
        }
        let weights = &self.weights;
        let enabled = point.enabled.iter().map(|&worker| (worker, weights.left(worker).max(1)));
        let picked = draw(&mut self.rng, enabled).ok_or(EndSchedule::Cut)?;
        self.weights.done(picked);
        Ok(picked)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        Ok(Random::choose(&mut self.rng, of, tag))
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        let listens = self.profiles.is_empty();
        Properties { listens, draws_alike: true, varies_inputs: true, ..Properties::default() }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.profiler.heard(event);
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Urw {
    fn lesson(&mut self, _last: Option<&dyn System>) -> Option<Lesson> {
        self.profiles.is_empty().then(|| self.profiler.lesson())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        if self.profiles.is_empty() {
            self.profiles = Profile::all(batch);
        }
    }
}
