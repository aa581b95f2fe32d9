//! Uniform random walk.

use dally_core::{Event, Text, WorkerId};
use fastrand::Rng;

use crate::sampling::Sampler;
use crate::sampling::profile::{ProfileKey, Profiles, Weights, draw};
use crate::strategy::{EndSchedule, Learner, Point, Properties};

/// The uniform random walk of "Selectively uniform concurrency testing" (ASPLOS 2025): a worker
/// steps with a probability in proportion to the steps that it has left, those of workers that it
/// will still create included.
///
/// Where nothing blocks and every worker takes as many steps in every schedule, all interleavings
/// have the same probability, unlike under a uniform choice among workers. Counts come from the
/// random schedules of the first batch that came to their own ends (or, if none did, that a bound
/// cut); each later schedule takes the counts of one of them. A worker without steps left, or
/// without a count, weighs as much as one with a single step.
#[derive(Clone, Debug, Default)]
pub struct Urw {
    profiles: Profiles,
    weights: Weights,
}

impl Sampler for Urw {
    fn begin(&mut self, _schedule: u64, rng: &mut Rng) {
        if let Some(profile) = self.profiles.begin(rng) {
            self.weights.reset(profile, ProfileKey::is_whole);
        }
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        if let Some(worker) = self.profiles.pick(point, rng) {
            return Ok(worker);
        }
        for &worker in point.enabled {
            self.weights.meet(worker);
        }
        let weights = &self.weights;
        let enabled = point.enabled.iter().map(|&worker| (worker, weights.left(worker).max(1)));
        let picked = draw(enabled, rng).ok_or(EndSchedule::Cut)?;
        self.weights.done(picked);
        Ok(picked)
    }

    fn properties(&self) -> Properties {
        self.profiles.properties()
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.profiles.heard(event);
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(&mut self.profiles)
    }
}
