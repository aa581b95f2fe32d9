//! Selectively uniform random walk.

use dally_core::{Event, Footprint, Text, WorkerId};
use fastrand::Rng;

use super::Sampler;
use super::pending::PendingSteps;
use super::profile::{ProfileKey, Profiles, Weights, draw};
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
    about: Option<ProfileKey>,
    weights: Weights,
    intended: Option<WorkerId>,
    pending: PendingSteps,
}

impl Surw {
    /// Whether the next step of the enabled worker at this position is one of those that are drawn uniformly.
    fn counts(&mut self, at: usize, point: &Point<'_>) -> bool {
        let Some(about) = self.about else { return true };
        let counts = |touched: &Footprint| ProfileKey::of(touched).any(|spot| spot == about);
        let (yes, no) = (1, 2);
        self.pending.fact(at, point, |touched| if counts(touched) { yes } else { no }) == yes
    }

    fn picked(&mut self, at: usize, point: &Point<'_>, rng: &mut Rng) -> WorkerId {
        self.pending.draw(at, rng);
        point.enabled[at]
    }
}

impl Sampler for Surw {
    fn begin(&mut self, _schedule: u64, rng: &mut Rng) {
        self.pending.clear();
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
        let all_known = self.pending.look(point);
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
            self.pending.add(rng);
        }
        loop {
            let Some(at) = self.pending.highest() else {
                self.pending.hold_nobody();
                let weights = &self.weights;
                let here = point.enabled.iter().map(|&w| (w, weights.left(w).max(1)));
                self.intended = draw(here, rng);
                continue;
            };
            let worker = point.enabled[at];
            if !self.counts(at, point) {
                return Ok(self.picked(at, point, rng));
            }
            if self.intended.is_none_or(|intended| intended == worker) {
                self.weights.done(worker);
                self.pending.hold_nobody();
                self.intended = None;
                return Ok(self.picked(at, point, rng));
            }
            self.pending.hold_back(at);
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
