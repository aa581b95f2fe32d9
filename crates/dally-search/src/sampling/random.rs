//! Uniform random choice.

use dally_core::{Input, Tag, WorkerId};
use fastrand::Rng;

use super::Sampler;
use crate::strategy::{EndSchedule, Point, Properties};

/// Picks uniformly among the enabled workers and among values.
///
/// Faults are the exception: they are scarce by budget, and a uniform pick would spend the budget
/// in the first steps of every schedule. So a pick of the fault injector stands with probability
/// 1/8 (otherwise it is drawn again among the others, if there are any), and a value tagged as a
/// fault is other than "no fault" with probability 1/8.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl Random {
    /// One of the enabled workers, of which there is at least one.
    #[inline]
    pub(crate) fn pick(enabled: &[WorkerId], rng: &mut Rng) -> WorkerId {
        let picked = enabled[rng.usize(..enabled.len())];
        if picked == WorkerId::FAULTS { Random::rather(enabled, rng) } else { picked }
    }

    #[cold]
    fn rather(enabled: &[WorkerId], rng: &mut Rng) -> WorkerId {
        match enabled {
            // The injector has the smallest of all ids, so it is first.
            [WorkerId::FAULTS, others @ ..] if !others.is_empty() && rng.u8(..8) != 0 => {
                others[rng.usize(..others.len())]
            }
            _ => WorkerId::FAULTS,
        }
    }

    pub(crate) fn value(of: u32, tag: Tag, rng: &mut Rng) -> u32 {
        match tag {
            _ if of < 2 => 0,
            Tag::Fault if rng.u8(..8) == 0 => rng.u32(1..of),
            Tag::Fault => 0,
            Tag::Program => rng.u32(..of),
        }
    }

    /// A number from outside, one time in four each: the given one; a boundary (an end of the
    /// range, 0, or a neighbour of these); a number near 0 or the given one, where every number of
    /// bits is as likely; a uniform one.
    pub(crate) fn input(asked: Input<'_>, rng: &mut Rng) -> i64 {
        let (least, most) = (asked.least, asked.most);
        asked.clamp(match rng.u8(..4) {
            0 => asked.given,
            1 => [least, most, 0][rng.usize(..3)].saturating_add(rng.i64(-1..=1)),
            2 => {
                let centre = [0, asked.given][rng.usize(..2)];
                let distance = rng.i64(0..=i64::MAX) >> rng.u32(0..63);
                centre.saturating_add(if rng.bool() { distance } else { -distance })
            }
            _ => rng.i64(least..=most),
        })
    }
}

impl Sampler for Random {
    #[inline]
    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        if point.enabled.is_empty() {
            return Err(EndSchedule::Cut);
        }
        Ok(Random::pick(point.enabled, rng))
    }

    fn properties(&self) -> Properties {
        Properties { fair: true, ..Properties::DRAWN }
    }
}

#[cfg(test)]
mod tests {
    use dally_core::fingerprint;

    use super::*;

    #[test]
    fn workers_are_picked_equally_often() {
        let enabled = [0, 1, 2, 3].map(WorkerId::root);
        let mut rng = Rng::with_seed(1);
        let mut counts = [0u32; 4];
        for _ in 0..40_000 {
            let picked = Random::pick(&enabled, &mut rng);
            counts[enabled.iter().position(|&worker| worker == picked).unwrap()] += 1;
        }
        // Binomial(40,000, 1/4) has a standard deviation of 87.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 440), "{counts:?}");
    }

    #[test]
    fn the_fault_injector_is_picked_an_eighth_as_often_as_a_worker_would_be() {
        let enabled = [WorkerId::FAULTS, WorkerId::root(0), WorkerId::root(1), WorkerId::root(2)];
        let mut rng = Rng::with_seed(1);
        let picks = (0..32_000).filter(|_| Random::pick(&enabled, &mut rng) == WorkerId::FAULTS);
        assert!(picks.count().abs_diff(1_000) < 160);
        assert_eq!(Random::pick(&enabled[..1], &mut rng), WorkerId::FAULTS);
    }

    #[test]
    fn inputs_are_given_at_boundaries_small_and_anywhere_in_the_range() {
        let mut rng = Rng::with_seed(fingerprint::mix(5, 6));
        let port = Input::named("port").within(1..=65_535).by_default(8_080);
        let drawn: Vec<i64> = (0..16_000).map(|_| Random::input(port, &mut rng)).collect();
        assert!(drawn.iter().all(|port| (1..=65_535).contains(port)));
        let share = |wanted: &dyn Fn(i64) -> bool| {
            drawn.iter().filter(|&&port| wanted(port)).count() * 100 / drawn.len()
        };
        assert!((24..=40).contains(&share(&|port| port == 8_080)));
        assert!((24..=45).contains(&share(&|port| [1, 2, 65_534, 65_535].contains(&port))));
        // A quarter is uniform.
        assert!(share(&|port| port > 32_768 && port < 65_534) >= 11);
        let any = Input::named("id");
        let drawn: Vec<i64> = (0..16_000).map(|_| Random::input(any, &mut rng)).collect();
        for wanted in [i64::MIN, i64::MAX, -1, 0, 1, 2] {
            assert!(drawn.contains(&wanted), "{wanted}");
        }
        assert_eq!(Random::input(Input::named("one").within(3..=3), &mut rng), 3);
    }

    #[test]
    fn a_fault_is_injected_once_in_eight_and_every_fault_has_its_share() {
        let mut rng = Rng::with_seed(3);
        let mut counts = [0u32; 3];
        for _ in 0..16_000 {
            counts[Random::value(3, Tag::Fault, &mut rng) as usize] += 1;
        }
        assert!(counts[0].abs_diff(14_000) < 210, "{counts:?}");
        assert!(counts[1].abs_diff(1_000) < 160 && counts[2].abs_diff(1_000) < 160, "{counts:?}");
    }
}
