//! Selectively uniform random walk.

use dally_core::{Event, Footprint, Text, WorkerId};
use fastrand::Rng;

use super::profile::{Profiles, Spot, Weights, draw};
use super::{Pos, Sampler};
use crate::strategy::{EndSchedule, Learner, Point, Properties};

/// The selectively uniform random walk (ASPLOS 2025): each schedule picks one thing that several
/// workers touch (an inbox, a lock, a shared object), in proportion to how often they do, and is
/// uniform over the interleavings of the steps on that thing, where nothing blocks.
///
/// Among these steps one worker is *intended* to be the next, drawn in proportion to how many it
/// has left. Other workers that come to such a step are held back until the intended one has taken
/// its own. All other steps run by random priorities, a fresh one for each step. If all enabled
/// workers are held back, the intention is drawn again among them. When the intended worker creates
/// another, the intention moves to it with the probability of its share.
///
/// The steps on an inbox are the sends to it, those of its owner included: in a queue they decide
/// in which order messages are received. In a mailbox that is no queue, receipts count too.
///
/// Counts come from the random schedules of the first batch, as for [`Urw`](crate::research::Urw).
/// If no two workers touch the same thing, all steps count.
#[derive(Clone, Debug, Default)]
pub struct Surw {
    profiles: Profiles,
    /// The thing that the present schedule is about; `None` if all steps count.
    about: Option<Spot>,
    weights: Weights,
    intended: Option<WorkerId>,
    held: Vec<WorkerId>,
    /// Sorted by worker.
    priorities: Vec<(WorkerId, u64)>,
    /// The places of the enabled workers among them. Kept for its memory.
    places: Vec<usize>,
    touched: Footprint,
}

impl Surw {
    /// The worker of the highest priority that is not held back, and its place.
    fn highest(&self, enabled: &[WorkerId]) -> Option<(WorkerId, usize)> {
        let free =
            enabled.iter().zip(&self.places).filter(|(worker, _)| !self.held.contains(worker));
        let highest = free.max_by_key(|&(_, &place)| self.priorities[place].1);
        highest.map(|(&worker, &place)| (worker, place))
    }

    /// Finds the places of the enabled workers, unless one of them is new in this schedule.
    fn all_known(&mut self, enabled: &[WorkerId]) -> bool {
        self.places.clear();
        for &worker in enabled {
            let Ok(place) = Pos::known(&self.priorities, worker, &self.places) else {
                return false;
            };
            self.places.push(place);
        }
        true
    }

    fn counts(&mut self, worker: WorkerId, point: &Point<'_>) -> bool {
        let Some(about) = self.about else { return true };
        point.system.pending(worker, &mut self.touched);
        Spot::of(&self.touched).any(|spot| spot == about)
    }

    fn picked(&mut self, worker: WorkerId, place: usize, rng: &mut Rng) -> WorkerId {
        self.priorities[place].1 = Pos::fresh(worker, rng);
        worker
    }
}

impl Sampler for Surw {
    fn begin(&mut self, _schedule: u64, rng: &mut Rng) {
        self.priorities.clear();
        self.held.clear();
        self.intended = None;
        if let Some(profile) = self.profiles.begin(rng) {
            let about = draw(profile.contended.iter().copied(), rng);
            self.about = about;
            self.weights
                .reset(profile, |spot| about.map_or(spot.is_whole(), |about| about == spot));
        }
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        if let Some(worker) = self.profiles.pick(point, rng) {
            return Ok(worker);
        }
        let all_known = self.all_known(point.enabled);
        if !all_known {
            for &worker in point.enabled {
                if let Some((creator, chance)) = self.weights.meet(worker)
                    && self.intended == Some(creator)
                    && rng.f64() < chance
                {
                    self.intended = Some(worker);
                }
            }
        }
        if self.intended.is_none() {
            self.intended = draw(self.weights.here(), rng);
        }
        if !all_known {
            Pos::places(&mut self.priorities, point.enabled, &mut self.places, rng);
        }
        loop {
            let Some((worker, place)) = self.highest(point.enabled) else {
                self.held.clear();
                let weights = &self.weights;
                let here = point.enabled.iter().map(|&w| (w, weights.left(w).max(1)));
                self.intended = draw(here, rng);
                continue;
            };
            if !self.counts(worker, point) {
                return Ok(self.picked(worker, place, rng));
            }
            if self.intended.is_none_or(|intended| intended == worker) {
                self.weights.done(worker);
                self.held.clear();
                self.intended = None;
                return Ok(self.picked(worker, place, rng));
            }
            self.held.push(worker);
        }
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
