//! Random with iterative depth bounding.

use dally_core::{Input, Tag, WorkerId};

use crate::sampling::Random;
use crate::strategy::{EndSchedule, Point, Properties, Strategy};

/// The iterative random scheduler (Desai, Qadeer
/// and Seshia, "Systematic Testing of Asynchronous Reactive Systems", section 6.1): random
/// scheduling where iteration `i`, from 0, samples `100 + 3^i` schedules of at most `100 (i + 1)`
/// steps. Bugs need not lie deep, and short schedules are cheap.
///
/// Once the depth bound reaches the step bound of the run it stays there.
#[derive(Clone, Debug)]
pub struct Irs {
    random: Random,
    max_steps: usize,
    bound: usize,
}

/// By how much the depth bound grows with each iteration.
const DEPTH: usize = 100;

impl Irs {
    /// With this seed, for schedules of at most `max_steps`.
    pub fn new(seed: u64, max_steps: usize) -> Irs {
        Irs { random: Random::new(seed), max_steps, bound: DEPTH }
    }

    /// The depth bound of schedule number `schedule`.
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

impl Strategy for Irs {
    fn reseed(&mut self, seed: u64) {
        self.random.reseed(seed);
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.bound = self.bound(schedule);
        self.random.begin(schedule)
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        if point.step >= self.bound { Err(EndSchedule::Cut) } else { self.random.worker(point) }
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        self.random.value(of, tag)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        self.random.input(asked)
    }

    fn properties(&self) -> Properties {
        Properties { fair: true, varies_inputs: true, longest: self.bound, ..Properties::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_grow_by_100_after_100_plus_3_to_the_i_schedules() {
        let irs = Irs::new(0, 350);
        // Iterations of 101, 103, 109, ... schedules begin at 0, 101, 204, 313.
        for (schedule, bound) in
            [(0, 100), (100, 100), (101, 200), (203, 200), (204, 300), (312, 300), (313, 350)]
        {
            assert_eq!(irs.bound(schedule), bound, "schedule {schedule}");
        }
        assert_eq!(irs.bound(u64::MAX), 350);
        assert_eq!(Irs::new(0, 50).bound(0), 50);
    }
}
