//! The softmax policy.

use std::f64::consts::{LN_2, LOG2_E};

use fastrand::Rng;

use super::walk::untaken;

/// Picks one of `of` actions, each with a probability proportional to e to the power of its value.
/// `taken` has the values of some, none above 0, sorted by place; all others have the value 0. The
/// values in `taken` are overwritten.
///
/// Values are counted from the greatest, so the sum of the powers is at least 1 however small all
/// values are. Only additions, multiplications and divisions are used, so every machine picks the
/// same. The cost depends on how many actions are in `taken`, not on how many there are.
pub(super) fn pick(of: usize, taken: &mut [(usize, f64)], rng: &mut Rng) -> usize {
    let others = of - taken.len();
    let mut greatest = 0.0;
    if others == 0 {
        let greater = |one: f64, other: f64| if other > one { other } else { one };
        let values = taken.iter().map(|&(_, value)| value);
        greatest = values.fold(f64::NEG_INFINITY, greater);
    }
    let mut total = others as f64;
    for (_, value) in taken.iter_mut() {
        *value = power(*value - greatest);
        total += *value;
    }
    let mut left = rng.f64() * total;
    if left < others as f64 {
        return untaken(left as usize, taken);
    }
    left -= others as f64;
    let mut last = 0;
    for &(place, weight) in taken.iter() {
        if weight > 0.0 {
            last = place;
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}

/// e to the power of `x`, for `x` up to 0: a Taylor series within a 64th of a binary order, a root
/// of 2 from a table, and the order by the exponent of the number. The relative error is below
/// 10^-12. Below e^-40, which no draw of 53 bits could tell from 0, the result is 0.
#[inline]
fn power(x: f64) -> f64 {
    if x < -40.0 || x.is_nan() {
        return 0.0;
    }
    // Adding 1.5 * 2^52 rounds to the nearest whole number, which is then in the last bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let rounded = x * (PARTS as f64 * LOG2_E) + ROUND;
    let steps = rounded.to_bits().wrapping_sub(ROUND.to_bits()) as i64;
    let rest = x - (rounded - ROUND) * (LN_2 / PARTS as f64);
    // Pairs do not wait for one another, as the steps of Horner's scheme do.
    let square = rest * rest;
    let high = (0.5 + rest * (1.0 / 6.0)) + square * (1.0 / 24.0 + rest * (1.0 / 120.0));
    let sum = (1.0 + rest) + square * high;
    let (order, part) = (steps.div_euclid(PARTS), steps.rem_euclid(PARTS));
    sum * ROOTS[part as usize] * f64::from_bits(((order + 1023) as u64) << 52)
}

const PARTS: i64 = 32;

const ROOTS: [f64; PARTS as usize] = {
    let mut roots = [1.0; PARTS as usize];
    let mut part = 0;
    while part < roots.len() {
        let x = part as f64 * (LN_2 / PARTS as f64);
        let (mut term, mut n) = (1.0, 1);
        while n < 24 {
            term *= x / n as f64;
            roots[part] += term;
            n += 1;
        }
        part += 1;
    }
    roots
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_e() {
        let mut x = 0.0;
        while x > -40.0 {
            let expected = f64::exp(x);
            assert!((power(x) - expected).abs() <= 1e-12 * expected, "{x}: {}", power(x));
            x -= 0.00371;
        }
        assert_eq!((power(0.0), power(-0.0)), (1.0, 1.0));
        assert_eq!(power(-40.1), 0.0);
        assert_eq!(power(f64::NEG_INFINITY), 0.0);
    }

    /// How often each action is picked; those without a value were not taken.
    fn shares(values: &[Option<f64>]) -> Vec<f64> {
        let mut rng = Rng::with_seed(9);
        let mut counts = vec![0u32; values.len()];
        for _ in 0..40_000 {
            let mut taken: Vec<(usize, f64)> =
                values.iter().enumerate().filter_map(|(n, v)| v.map(|v| (n, v))).collect();
            counts[pick(values.len(), &mut taken, &mut rng)] += 1;
        }
        counts.iter().map(|&count| f64::from(count) / 40_000.0).collect()
    }

    fn near(values: &[Option<f64>], expected: &[f64]) {
        for (share, expected) in shares(values).iter().zip(expected) {
            // Five standard deviations of a share of 1/2.
            assert!((share - expected).abs() < 0.0125, "{values:?}: {share} for {expected}");
        }
    }

    #[test]
    fn an_action_is_picked_as_often_as_its_power_says() {
        near(&[None; 4], &[0.25; 4]);
        near(&[Some(0.0), None, None, Some(0.0)], &[0.25; 4]);
        let powers = [1.0, (-1.0f64).exp(), (-2.0f64).exp()];
        let share = |total: f64| powers.map(|power| power / total);
        near(&[Some(0.0), Some(-1.0), Some(-2.0)], &share(powers.iter().sum()));
        let [one, less, least] = share(2.0 + powers[1] + powers[2]);
        near(&[Some(-2.0), None, Some(-1.0), None], &[least, one, less, one]);
    }

    #[test]
    fn the_policy_never_degenerates_where_all_exponentials_would_vanish() {
        near(&[Some(-10_000.0), Some(-10_000.0)], &[0.5, 0.5]);
        near(&[Some(-1e300); 3], &[1.0 / 3.0; 3]);
        near(&[Some(-5_000.0), Some(-5_001.0), Some(-1e9)], &[0.731, 0.269, 0.0]);
        // A draw over vanished exponentials would always fall to the last action.
        near(&[Some(-800.0), Some(-1_600.0)], &[1.0, 0.0]);
        near(&[Some(-800.0), None, Some(-1_600.0)], &[0.0, 1.0, 0.0]);
    }

    #[test]
    fn one_of_a_billion_actions_is_picked_at_once() {
        let mut rng = Rng::with_seed(3);
        let picked = pick(1_000_000_000, &mut [(2, -1.0), (5, -1.0)], &mut rng);
        assert!(picked < 1_000_000_000);
    }
}
