//! Strategies that draw at random, without the parts that they all share.

use dally_core::{Event, Input, MessageId, Tag, Text, WorkerId, fingerprint};
use fastrand::Rng;

use super::Random;
use crate::strategy::{EndSchedule, Learner, Point, Properties, Strategy, name_of_type};

/// Draws who steps next. [`Sampler::seeded`] makes a [`Strategy`] of it, which gives every
/// schedule a generator of its own and draws values and inputs too.
///
/// ```
/// use dally_core::WorkerId;
/// use dally_search::sampling::{Rng, Sampler};
/// use dally_search::{EndSchedule, Point, Strategy};
///
/// /// Lets a worker run on in three cases of four.
/// #[derive(Clone)]
/// struct Lazy;
///
/// impl Sampler for Lazy {
///     fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
///         let same = point.last.filter(|last| point.enabled.contains(last) && rng.u8(..4) > 0);
///         Ok(same.unwrap_or_else(|| point.enabled[rng.usize(..point.enabled.len())]))
///     }
/// }
///
/// assert_eq!(Lazy.seeded(7).name(), "lazy");
/// ```
pub trait Sampler: Clone + Send + 'static {
    /// See [`Strategy::worker`].
    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule>;

    /// Prepares for schedule number `schedule`, from 0.
    fn begin(&mut self, schedule: u64, rng: &mut Rng) {
        let _ = (schedule, rng);
    }

    /// See [`Strategy::value`]: by default uniform, but for faults, which are scarce.
    fn value(&mut self, of: u32, tag: Tag, rng: &mut Rng) -> u32 {
        Random::value(of, tag, rng)
    }

    /// See [`Strategy::delivery`].
    fn delivery(&mut self, candidates: &[MessageId], rng: &mut Rng) -> usize {
        let of = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
        self.value(of, Tag::Program, rng) as usize
    }

    /// See [`Strategy::name`].
    fn name(&self) -> String {
        name_of_type(std::any::type_name::<Self>())
    }

    /// See [`Strategy::properties`]. That all schedules are drawn alike is not claimed unless the sampler says so.
    fn properties(&self) -> Properties {
        Properties { draws_alike: false, ..Properties::DRAWN }
    }

    /// See [`Strategy::heard`].
    fn heard(&mut self, event: &Event<Text<'_>>) {
        let _ = event;
    }

    /// See [`Strategy::learner`].
    fn learner(&mut self) -> Option<&mut dyn Learner> {
        None
    }

    /// Starts over with this seed: what was learnt is forgotten.
    fn restart(&mut self, seed: u64) {
        let _ = seed;
    }

    /// How many schedules the strategy has learnt from in earlier runs.
    fn before(&self) -> u64 {
        0
    }

    /// The strategy, with this seed until a run [gives it another](Strategy::reseed).
    fn seeded(mut self, seed: u64) -> Seeded<Self> {
        self.restart(seed);
        Seeded { seed, first: 0, rng: Rng::with_seed(seed), sampler: self }
    }
}

/// A [`Sampler`] as a [`Strategy`]: the seed and `i` seed the generator of schedule number `i`.
#[derive(Clone, Debug)]
pub struct Seeded<S> {
    seed: u64,
    /// The number of the first schedule of the run.
    first: u64,
    rng: Rng,
    pub(crate) sampler: S,
}

impl<S: Sampler> Strategy for Seeded<S> {
    fn begin(&mut self, schedule: u64) -> bool {
        // A run that goes on from an earlier one has its further schedules, however it counts them.
        let number = schedule - self.first + self.sampler.before().max(self.first);
        self.rng = Rng::with_seed(fingerprint::mix(self.seed, number));
        self.sampler.begin(schedule, &mut self.rng);
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.sampler.worker(point, &mut self.rng)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        Ok(self.sampler.value(of, tag, &mut self.rng))
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        Ok(self.sampler.delivery(candidates, &mut self.rng))
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::input(asked, &mut self.rng))
    }

    fn name(&self) -> String {
        self.sampler.name()
    }

    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
        self.sampler.restart(seed);
    }

    fn start_at(&mut self, first: u64) {
        self.first = first;
    }

    fn properties(&self) -> Properties {
        self.sampler.properties()
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.sampler.heard(event);
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        self.sampler.learner()
    }
}
