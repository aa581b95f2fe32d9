//! Reinforcement learning with an exploration bonus that is passed on by its maximum.

use fastrand::Rng;

use crate::learning::walk::untaken;
use crate::learning::{Rule, table};

/// BonusMaxRL (Borgarelli, Enea, Majumdar and Nagendra, OOPSLA 2024): follows the actions of the
/// greatest value, one time in twenty a random one. Every action is worth 1 at first; when it has
/// been taken it is worth the greater of its own novelty, 1 / visits, and 0.95 times the best that
/// follows, moved by 0.2 towards that.
///
/// So novelty far ahead raises the value of the actions that lead there, and an action whose whole
/// future is known loses its value.
#[derive(Clone, Copy, Debug)]
pub struct BonusMax;

#[derive(Clone, Copy, Debug)]
pub struct Bonus {
    value: f64,
    visits: u32,
}

impl From<Bonus> for f64 {
    fn from(bonus: Bonus) -> f64 {
        bonus.value
    }
}

impl table::Worth for Bonus {
    const WORDS: usize = 2;

    fn write(self, words: &mut [u64]) {
        words[0] = self.value.to_bits();
        words[1] = self.visits.into();
    }

    fn read(words: &[u64]) -> Bonus {
        Bonus { value: f64::from_bits(words[0]), visits: words[1] as u32 }
    }

    fn is_sound(words: &[u64]) -> bool {
        (0.0..=1.0).contains(&f64::from_bits(words[0])) && u32::try_from(words[1]).is_ok()
    }
}

const ALPHA: f64 = 0.2;
const GAMMA: f64 = 0.95;
const EPSILON: f64 = 0.05;

impl Rule for BonusMax {
    type Worth = Bonus;
    const NEW: Bonus = Bonus { value: 1.0, visits: 0 };
    const LAST: Option<f64> = Some(0.0);

    fn rates(&self) -> [f64; 2] {
        [ALPHA, GAMMA]
    }

    fn pick<'t>(
        &self,
        of: usize,
        taken: impl FnOnce() -> Option<&'t mut Vec<(usize, f64)>>,
        rng: &mut Rng,
    ) -> usize {
        let any = rng.usize(..of);
        if rng.f64() < EPSILON {
            return any;
        }
        let Some(taken) = taken() else { return any };
        let left = of - taken.len();
        if left > 0 {
            // An action that was never taken has the greatest value.
            return untaken(rng.usize(..left), taken);
        }
        let best = taken.iter().fold(0.0, |best: f64, &(_, value)| best.max(value));
        taken.retain(|&(_, value)| value == best);
        taken[rng.usize(..taken.len())].0
    }

    fn update(&self, Bonus { value, visits }: Bonus, _: u32, _: bool, next: f64) -> Bonus {
        let visits = visits.saturating_add(1);
        let novelty = 1.0 / f64::from(visits);
        Bonus { value: value + ALPHA * (novelty.max(GAMMA * next) - value), visits }
    }
}
