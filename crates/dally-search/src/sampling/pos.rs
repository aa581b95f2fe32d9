//! Partial order sampling.

use dally_core::WorkerId;
use fastrand::Rng;

use super::Sampler;
use super::pending::PendingSteps;
use crate::strategy::{EndSchedule, Point, Properties};

/// Partial order sampling (Yuan, Yang and Gu, CAV 2018): every pending step has a random
/// priority and the highest runs; then its worker draws a new one, and so does every pending step
/// that races with the one that ran, by [`Footprint::races`](dally_core::Footprint::races).
///
/// The order of pending steps that do not race is decided once, by priorities that stay: a step
/// comes after `n` others of another worker as often as before them all, with probability
/// `1/(n+1)`, where uniform picks have `1/2^n`. A step that has lost a race draws anew, so each of
/// its races is even.
#[derive(Clone, Debug, Default)]
pub struct Pos {
    pending: PendingSteps,
}

impl Sampler for Pos {
    fn begin(&mut self, _schedule: u64, _rng: &mut Rng) {
        self.pending.clear();
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        if !self.pending.look(point) {
            self.pending.add(rng);
        }
        let picked = self.pending.highest().ok_or(EndSchedule::Cut)?;
        self.pending.draw_racing(picked, point, rng);
        Ok(point.enabled[picked])
    }

    fn properties(&self) -> Properties {
        Properties::DRAWN
    }
}
