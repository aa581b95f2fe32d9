//! Selectively uniform random walk.

use std::sync::Arc;

use dally_core::{Event, Footprint, Input, System, Tag, Text, WorkerId};
use fastrand::Rng;

use super::profile::{Profile, Profiler, Spot, Weights, draw};
use super::{Pos, Random};
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// The selectively uniform random walk (ASPLOS 2025): each schedule picks one thing that several
/// workers touch (an inbox, a lock, a shared object), in proportion to how often they do, and is
/// uniform over the interleavings of the steps on that thing, where nothing blocks.
///
/// Among these steps one worker is *intended* to be the next, drawn in proportion to how many it
/// has left. Whoever else comes to such a step is held back until the intended one has taken
/// its own. All other steps run by random priorities, a fresh one for each step. If all who can
/// step are held back, the intention is given up and drawn again among them. When the intended
/// worker creates another, the intention moves to it with the probability of its share.
///
/// Of an inbox the steps are the sends to it, its owner's to itself included: in a queue they
/// decide in which order messages are received, and when these are received is another matter. In a
/// mailbox that is no queue the receipts are among them: they take what is there.
///
/// Counts come from the random schedules of the first batch, as for [`Urw`](crate::research::Urw). Without a
/// thing that several workers touch, all steps count. Values are uniform.
#[derive(Clone, Debug)]
pub struct Surw {
    seed: u64,
    rng: Rng,
    profiles: Vec<(Arc<Profile>, Touched)>,
    profiler: Profiler,
    /// What the present schedule is about; everything if that is not said.
    about: Option<Spot>,
    weights: Weights,
    intended: Option<WorkerId>,
    held: Vec<WorkerId>,
    /// Sorted by worker.
    priorities: Vec<(WorkerId, u64)>,
    /// What a step touches.
    touched: Footprint,
}

/// The things that several workers touch in a schedule, each with how often.
type Touched = Vec<(Spot, u64)>;

impl Surw {
    /// With this seed.
    pub fn new(seed: u64) -> Surw {
        Surw {
            seed,
            rng: Rng::with_seed(seed),
            profiles: Vec::new(),
            profiler: Profiler::default(),
            about: None,
            weights: Weights::default(),
            intended: None,
            held: Vec::new(),
            priorities: Vec::new(),
            touched: Footprint::default(),
        }
    }

    /// The enabled worker with the highest priority that is not held back.
    fn highest(&mut self, enabled: &[WorkerId]) -> Option<WorkerId> {
        let mut best = None;
        for &worker in enabled {
            let place = Pos::place(&mut self.priorities, &mut self.rng, worker);
            if !self.held.contains(&worker) {
                best = best.max(Some((self.priorities[place].1, worker)));
            }
        }
        best.map(|(_, worker)| worker)
    }

    fn counts(&mut self, worker: WorkerId, point: &Point<'_>) -> bool {
        let Some(about) = self.about else { return true };
        point.system.pending(worker, &mut self.touched);
        Spot::of(&self.touched).any(|spot| spot == about)
    }

    fn picked(&mut self, worker: WorkerId) -> WorkerId {
        let place = Pos::place(&mut self.priorities, &mut self.rng, worker);
        self.priorities[place].1 = Pos::fresh(&mut self.rng, worker);
        worker
    }
}

impl Strategy for Surw {
    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        self.profiler.clear();
        self.priorities.clear();
        self.held.clear();
        self.intended = None;
        if let Some((profile, contended)) = self.rng.choice(&self.profiles) {
            let about = draw(&mut self.rng, contended.iter().copied());
            self.about = about;
            self.weights
                .reset(profile, |spot| about.map_or(spot.is_whole(), |about| about == spot));
        }
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        if self.profiles.is_empty() {
            return Ok(self.profiler.pick(&mut self.rng, point));
        }
        for &worker in point.enabled {
            if let Some((creator, chance)) = self.weights.meet(worker)
                && self.intended == Some(creator)
                && self.rng.f64() < chance
            {
                self.intended = Some(worker);
            }
        }
        if self.intended.is_none() {
            self.intended = draw(&mut self.rng, self.weights.here());
        }
        loop {
            let Some(worker) = self.highest(point.enabled) else {
                // All who can step are held back.
                self.held.clear();
                let weights = &self.weights;
                let here = point.enabled.iter().map(|&w| (w, weights.left(w).max(1)));
                self.intended = draw(&mut self.rng, here);
                continue;
            };
            if !self.counts(worker, point) {
                return Ok(self.picked(worker));
            }
            if self.intended.is_none_or(|intended| intended == worker) {
                self.weights.done(worker);
                self.held.clear();
                self.intended = None;
                return Ok(self.picked(worker));
            }
            self.held.push(worker);
        }
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

impl Learner for Surw {
    fn lesson(&mut self, _last: Option<&dyn System>) -> Option<Lesson> {
        self.profiles.is_empty().then(|| self.profiler.lesson())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        if self.profiles.is_empty() {
            let profiles = Profile::all(batch).into_iter();
            self.profiles =
                profiles.map(|profile| (profile.clone(), profile.contended())).collect();
        }
    }
}
