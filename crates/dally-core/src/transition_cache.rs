//! Where steps lead, known without taking them.
//!
//! Most steps of a search lead to visited states, of which only the fingerprint is needed. A part
//! of the state, such as the machine that steps, and the answers that the step gets decide what it
//! does: a front end stores the result under a hash of that part.

use rustc_hash::FxHashMap;

use crate::player::{Answer, Question};

/// What steps ask for and come to, by keys: hashes of what decides them.
///
/// ```
/// use dally_core::transition_cache::{Known, TransitionCache, after};
/// use dally_core::{Answer, Question, Tag};
///
/// let mut cache = TransitionCache::default();
/// let coin = Question::Value { of: 2, tag: Tag::Program };
/// cache.learn(7, &[Answer { question: coin, index: 1 }], || "tails");
/// assert_eq!(cache.get(7), Some(Known::Asks(coin)));
/// assert_eq!(cache.get(after(7, 1)), Some(Known::Ends("tails")));
/// assert_eq!(cache.get(after(7, 0)), None);
/// ```
#[derive(Clone, Debug)]
pub struct TransitionCache<T> {
    steps: FxHashMap<u64, Known<T>>,
}

/// What a step does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known<T> {
    /// It asks; with the answer, [`after`] gives the key of what comes then.
    Asks(Question),
    /// Nothing more: this is what it comes to.
    Ends(T),
}

impl<T> Default for TransitionCache<T> {
    fn default() -> TransitionCache<T> {
        TransitionCache { steps: FxHashMap::default() }
    }
}

impl<T: Copy> TransitionCache<T> {
    /// What the step of this key does next, if it is known.
    #[inline]
    pub fn get(&self, key: u64) -> Option<Known<T>> {
        self.steps.get(&key).copied()
    }

    /// Stores the questions and answers of a step and its `end`, which is made if it was not known.
    pub fn learn(&mut self, mut key: u64, asked: &[Answer], end: impl FnOnce() -> T) {
        for &Answer { question, index } in asked {
            self.steps.insert(key, Known::Asks(question));
            key = after(key, index as u32);
        }
        self.steps.entry(key).or_insert_with(|| Known::Ends(end()));
    }

    /// How many keys are known.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.steps.clear();
    }
}

/// Factor by which keys of different actions of one machine are told apart.
pub const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The key of what comes after an answer.
#[inline]
pub fn after(key: u64, answer: u32) -> u64 {
    (key.rotate_left(23) ^ (u64::from(answer) + 1)).wrapping_mul(FACTOR)
}
