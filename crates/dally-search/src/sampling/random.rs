//! Uniform random choice.

use dally_core::{Input, Tag, WorkerId, fingerprint};
use fastrand::Rng;

use crate::strategy::{EndSchedule, Point, Properties, Strategy};

/// Picks uniformly among the enabled workers and among values.
///
/// One exception: faults are scarce by budget, and a uniform pick would spend the budget in the
/// first steps of every schedule. So a pick of the fault injector stands with probability 1/8
/// (otherwise it is drawn again among the others, if there are any), and a value tagged as a
/// fault is other than "no fault" with probability 1/8.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    rng: Rng,
}

impl Random {
    /// With this seed.
    pub fn new(seed: u64) -> Random {
        Random { seed, rng: Rng::with_seed(seed) }
    }

    /// The generator of schedule number `schedule` under this seed.
    pub(crate) fn generator(seed: u64, schedule: u64) -> Rng {
        Rng::with_seed(fingerprint::mix(seed, schedule))
    }

    /// A worker of the enabled, of which there is at least one.
    #[inline]
    pub(crate) fn pick(rng: &mut Rng, enabled: &[WorkerId]) -> WorkerId {
        let picked = enabled[rng.usize(..enabled.len())];
        if picked == WorkerId::FAULTS { Random::rather(rng, enabled) } else { picked }
    }

    /// The fault injector, or else one of the others.
    #[cold]
    fn rather(rng: &mut Rng, enabled: &[WorkerId]) -> WorkerId {
        match enabled {
            // The injector has the smallest of all ids, so it comes first.
            [WorkerId::FAULTS, others @ ..] if !others.is_empty() && rng.u8(..8) != 0 => {
                others[rng.usize(..others.len())]
            }
            _ => WorkerId::FAULTS,
        }
    }

    /// A value below `of`.
    pub(crate) fn choose(rng: &mut Rng, of: u32, tag: Tag) -> u32 {
        match (tag, of) {
            (_, 0 | 1) => 0,
            (Tag::Fault, of) => {
                if rng.u8(..8) == 0 {
                    rng.u32(1..of)
                } else {
                    0
                }
            }
            (Tag::Program, of) => rng.u32(..of),
        }
    }
}

impl Random {
    /// A number from outside: one time in four each the given one, one at a boundary (an end of the
    /// range, 0, or a neighbour of these), a small one near 0 or the given one, where every number
    /// of bits is as likely, and one that is uniform in the range.
    pub(crate) fn number(rng: &mut Rng, asked: Input<'_>) -> i64 {
        let (least, most) = (asked.least(), asked.most());
        let near = match rng.u8(..4) {
            0 => asked.given(),
            1 => {
                let boundary = [least, most, 0][rng.usize(..3)];
                boundary.saturating_add(rng.i64(-1..=1))
            }
            2 => {
                let centre = [0, asked.given()][rng.usize(..2)];
                let distance = rng.i64(0..=i64::MAX) >> rng.u32(0..63);
                if rng.bool() {
                    centre.saturating_add(distance)
                } else {
                    centre.saturating_sub(distance)
                }
            }
            _ => rng.i64(least..=most),
        };
        asked.clamp(near)
    }
}

impl Strategy for Random {
    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        Ok(Random::pick(&mut self.rng, point.enabled))
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        Ok(Random::choose(&mut self.rng, of, tag))
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        Properties { fair: true, draws_alike: true, varies_inputs: true, ..Properties::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_picked_equally_often() {
        let enabled = [0, 1, 2, 3].map(WorkerId::root);
        let mut rng = Random::generator(1, 2);
        let mut counts = [0u32; 4];
        for _ in 0..40_000 {
            let picked = Random::pick(&mut rng, &enabled);
            counts[enabled.iter().position(|&worker| worker == picked).unwrap()] += 1;
        }
        // Binomial(40,000, 1/4) has a standard deviation of 87.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 440), "{counts:?}");
    }

    #[test]
    fn the_fault_injector_is_picked_an_eighth_as_often_as_a_worker_would_be() {
        let enabled = [WorkerId::FAULTS, WorkerId::root(0), WorkerId::root(1), WorkerId::root(2)];
        let mut rng = Random::generator(1, 2);
        let picks = (0..32_000).filter(|_| Random::pick(&mut rng, &enabled) == WorkerId::FAULTS);
        assert!(picks.count().abs_diff(1_000) < 160);
        assert_eq!(Random::pick(&mut rng, &enabled[..1]), WorkerId::FAULTS);
    }

    #[test]
    fn inputs_are_given_at_boundaries_small_and_anywhere_in_the_range() {
        let mut rng = Random::generator(5, 6);
        let port = Input::named("port").within(1..=65_535).by_default(8_080);
        let drawn: Vec<i64> = (0..16_000).map(|_| Random::number(&mut rng, port)).collect();
        assert!(drawn.iter().all(|port| (1..=65_535).contains(port)));
        let share = |wanted: &dyn Fn(i64) -> bool| {
            drawn.iter().filter(|&&port| wanted(port)).count() * 100 / drawn.len()
        };
        assert!((24..=40).contains(&share(&|port| port == 8_080)));
        assert!((24..=45).contains(&share(&|port| [1, 2, 65_534, 65_535].contains(&port))));
        // A quarter is uniform.
        assert!(share(&|port| port > 32_768 && port < 65_534) >= 11);
        let any = Input::named("id");
        let drawn: Vec<i64> = (0..16_000).map(|_| Random::number(&mut rng, any)).collect();
        for wanted in [i64::MIN, i64::MAX, -1, 0, 1, 2] {
            assert!(drawn.contains(&wanted), "{wanted}");
        }
        assert_eq!(Random::number(&mut rng, Input::named("one").within(3..=3)), 3);
    }

    #[test]
    fn a_fault_is_injected_once_in_eight_and_every_fault_has_its_share() {
        let mut rng = Random::generator(3, 4);
        let mut counts = [0u32; 3];
        for _ in 0..16_000 {
            counts[Random::choose(&mut rng, 3, Tag::Fault) as usize] += 1;
        }
        assert!(counts[0].abs_diff(14_000) < 210, "{counts:?}");
        assert!(counts[1].abs_diff(1_000) < 160 && counts[2].abs_diff(1_000) < 160, "{counts:?}");
    }
}
