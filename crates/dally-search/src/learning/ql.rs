//! Q-learning (Mukherjee et al., "Learning-based Controlled Concurrency Testing", OOPSLA 2020).

use dally_core::Observe;
use fastrand::Rng;

use super::table::Worth;
use super::{Rule, softmax};

/// Q-learning: prefers actions that led to observations seldom made, and never rules one out.
///
/// Every action gets a reward of -1 or less; an action is picked with a probability proportional to
/// e to the power of its expected reward (algorithm 2), and after a schedule the expectations along
/// it are updated from its end to its start (algorithm 3). So it learns to go where it has not
/// been: with observations that tell apart what matters it finds bugs behind long sequences of
/// choices for which random needs exponentially many schedules.
///
/// The default is the variant that the paper calls d, with all optimisations.
///
/// ```
/// use dally_search::Strategy;
/// use dally_search::learning::{Learning, Ql};
/// use dally_search::sampling::Sampler;
///
/// let slow = Ql { alpha: 0.1, ..Ql::default() };
/// assert_eq!(Learning::by(slow).seeded(7).name(), "ql(0.1, 0.7)");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ql {
    /// What is observed: by default inboxes, pending operations and states of machines; for tasks
    /// what each waits for and which locks it holds.
    pub observes: Observe,
    /// The reward of an action.
    pub reward: Reward,
    /// Whether values are learnt and not chosen at random (NDN in the paper).
    pub values: bool,
    /// The learning rate, from 0 to 1.
    pub alpha: f64,
    /// The discount, from 0 to 1.
    pub gamma: f64,
    /// How many schedules a batch has, at least 1. The paper learns after each schedule; here all
    /// schedules of a batch use what was learnt before the batch.
    pub batch: u64,
}

/// The reward of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reward {
    /// Always -1.
    Flat,
    /// Minus the number of times that the observation it led to was ever made (OPT-1), and 1,000
    /// times as much if it injected a fault (OPT-2), so that faults come at other moments.
    ByVisits,
}

/// The learning rate and the discount of the paper.
const RATES: [f64; 2] = [0.3, 0.7];

impl Default for Ql {
    fn default() -> Ql {
        let [alpha, gamma] = RATES;
        let (observes, reward) = (Observe::Control, Reward::ByVisits);
        Ql { observes, reward, values: true, alpha, gamma, batch: 4 }
    }
}

impl Rule for Ql {
    type Worth = f64;
    const NEW: f64 = 0.0;
    const LAST: Option<f64> = None;

    fn name(&self) -> String {
        let variant = match (self.observes, self.reward, self.values) {
            (Observe::Control, Reward::ByVisits, true) => "ql",
            (Observe::Control, Reward::ByVisits, false) => "ql-ndn",
            (Observe::Control, Reward::Flat, _) => "ql-b",
            (Observe::Inboxes, ..) => "ql-i",
            (Observe::Custom, ..) => "ql-c",
        };
        match self.rates() {
            RATES => variant.into(),
            [alpha, gamma] => format!("{variant}({alpha}, {gamma})"),
        }
    }

    fn observes(&self) -> Observe {
        self.observes
    }

    fn learns_values(&self) -> bool {
        self.values
    }

    fn batch(&self) -> u64 {
        self.batch.max(1)
    }

    fn rates(&self) -> [f64; 2] {
        [self.alpha.clamp(0.0, 1.0), self.gamma.clamp(0.0, 1.0)]
    }

    #[inline]
    fn pick<'t>(
        &self,
        of: usize,
        taken: impl FnOnce() -> Option<&'t mut Vec<(usize, f64)>>,
        rng: &mut Rng,
    ) -> usize {
        match taken() {
            Some(taken) => softmax::pick(of, taken, rng),
            None => rng.usize(..of),
        }
    }

    /// Algorithm 3, with the rewards of section 5.
    #[inline]
    fn update(&self, value: f64, visits: u32, fault: bool, next: f64) -> f64 {
        let reward = match self.reward {
            Reward::Flat => -1.0,
            Reward::ByVisits if fault => -1_000.0 * f64::from(visits),
            Reward::ByVisits => -f64::from(visits),
        };
        let [alpha, gamma] = self.rates();
        value + alpha * (reward + gamma * next - value)
    }
}

/// The expected reward of an action, at most 0.
impl Worth for f64 {
    const WORDS: usize = 1;

    #[inline]
    fn write(self, words: &mut [u64]) {
        words[0] = self.to_bits();
    }

    #[inline]
    fn read(words: &[u64]) -> f64 {
        f64::from_bits(words[0])
    }

    fn is_sound(words: &[u64]) -> bool {
        let value = f64::read(words);
        value <= 0.0 && value.is_finite()
    }
}

#[cfg(test)]
mod tests;
