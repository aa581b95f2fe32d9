//! Random with iterative depth bounding.

use dally_core::WorkerId;
use fastrand::Rng;

use crate::sampling::{Random, Sampler};
use crate::strategy::{EndSchedule, Point, Properties};

/// The iterative random scheduler (Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous
/// Reactive Systems", section 6.1): random scheduling where iteration `i`, from 0, samples `100 +
/// 3^i` schedules of at most `100 (i + 1)` steps, up to the step bound of the run. Short schedules
/// are cheap, and many bugs show in them.
#[derive(Clone, Debug)]
pub struct Irs {
    max_steps: usize,
    bound: usize,
}

/// By how much the depth bound grows with each iteration.
const DEPTH: usize = 100;

impl Irs {
    /// For schedules of at most `max_steps`.
    pub fn new(max_steps: usize) -> Irs {
        Irs { max_steps, bound: DEPTH }
    }

    fn bound(&self, schedule: u64) -> usize {
        let mut left = schedule;
        let mut bound = DEPTH;
        let mut power: u64 = 1;
        while bound < self.max_steps {
            let samples = power.saturating_add(100);
            if left < samples {
                return bound;
            }
            left -= samples;
            power = power.saturating_mul(3);
            bound += DEPTH;
        }
        self.max_steps
    }
}

impl Sampler for Irs {
    fn begin(&mut self, schedule: u64, _rng: &mut Rng) {
        self.bound = self.bound(schedule);
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        if point.step >= self.bound {
            return Err(EndSchedule::Cut);
        }
        Ok(Random::pick(point.enabled, rng))
    }

    fn properties(&self) -> Properties {
        let longest = self.bound;
        Properties { fair: true, draws_alike: false, longest, ..Properties::DRAWN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_grow_by_100_after_100_plus_3_to_the_i_schedules() {
        let irs = Irs::new(350);
        // Iterations of 101, 103, 109, ... schedules begin at 0, 101, 204, 313.
        for (schedule, bound) in
            [(0, 100), (100, 100), (101, 200), (203, 200), (204, 300), (312, 300), (313, 350)]
        {
            assert_eq!(irs.bound(schedule), bound, "schedule {schedule}");
        }
        assert_eq!(irs.bound(u64::MAX), 350);
        assert_eq!(Irs::new(50).bound(0), 50);
    }
}
