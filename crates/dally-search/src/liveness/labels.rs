//! What there is to know of states and transitions but for how they hang together: kept once for
//! all that are alike.

use std::sync::atomic::Ordering::Relaxed;

use dally_core::{Choice, Tag, WorkerId, fingerprint};

use super::interner::Interner;
use crate::strata::{NumberList, Value};

/// What fairness and monitors want to know of a state. Many states look alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Look {
    /// The workers that can step, in order.
    pub(crate) enabled: Box<[WorkerId]>,
    /// The label of each one's step, if it chooses no values and no monitor minds it.
    pub(super) labels: Box<[u32]>,
    /// The monitors that are hot, and were so all through the transition that led here.
    hot: u64,
}

/// What there is to know of a transition but for its ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Label {
    pub(crate) worker: WorkerId,
    /// The values and deliveries chosen in the step, by position.
    pub(crate) values: Box<[Value]>,
    /// The monitors that allow it only finitely often.
    pub(crate) visits: u64,
    /// What is done, as far as strong fairness tells things apart; `None` for a fault.
    pub(crate) action: Option<u32>,
}

/// What a step did, as a search knows it.
#[derive(Clone, Copy)]
pub(crate) struct Transition<'a> {
    pub(crate) worker: WorkerId,
    pub(crate) values: &'a [Value],
    /// The choices of the step; may be left out where there are no values.
    pub(crate) choices: &'a [Choice],
    /// The places of the program where its values were chosen, as one hash.
    pub(crate) places: u64,
    pub(crate) visits: u64,
}

/// The looks of states and the labels of transitions, by their numbers.
pub(super) struct Labels {
    looks: Interner<Look>,
    /// [`BRIEF`] numbers for each look, which are asked for far more often than all else: the
    /// monitors that are hot, in two halves, and how many workers are enabled.
    brief: NumberList,
    labels: Interner<Label>,
    actions: Interner<u64>,
}

const BRIEF: usize = 4;
const ENABLED: usize = 2;

/// The look of a state that is none: a number that a thread has taken and not used. No monitor is hot
/// in it, and no worker enabled.
pub(super) const NONE: u32 = 0;

/// The looks that a thread came to lately, by bits of their hashes: about as many as there are.
#[derive(Default)]
pub(super) struct Lately(Vec<u32>);

/// How many looks a thread remembers at first, and at most.
const FEWEST: usize = 1 << 8;
const MOST: usize = 1 << 16;

impl Labels {
    pub(super) fn new(memory: u64) -> Labels {
        Labels {
            looks: Interner::default(),
            brief: NumberList::new(memory),
            labels: Interner::default(),
            actions: Interner::default(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.looks.bytes() + self.labels.bytes() + self.actions.bytes()
    }

    /// The look of this number, which is not [`NONE`].
    #[inline]
    pub(super) fn look_of(&self, look: u32) -> &Look {
        self.looks.get(look - 1)
    }

    /// The monitors that are hot where states look like this.
    #[inline]
    pub(super) fn hot(&self, look: u32) -> u64 {
        let half = |at: usize| u64::from(self.brief.at(BRIEF * look as usize + at).load(Relaxed));
        half(0) | half(1) << 32
    }

    /// How many workers are enabled where states look like this.
    #[inline]
    pub(super) fn enabled(&self, look: u32) -> u32 {
        self.brief.at(BRIEF * look as usize + ENABLED).load(Relaxed)
    }

    /// The label of this number.
    #[inline]
    pub(super) fn get(&self, label: u32) -> &Label {
        self.labels.get(label)
    }

    /// How many actions strong fairness tells apart.
    pub(super) fn action_count(&self) -> usize {
        self.actions.len()
    }

    /// The number of the look of a state where these workers are enabled and these monitors hot;
    /// `None` if there is no room.
    pub(super) fn look(&self, lately: &mut Lately, enabled: &[WorkerId], hot: u64) -> Option<u32> {
        // Asked for each new state. Looks of the same hash are told apart.
        let mix = |hash: u64, id: &WorkerId| {
            (hash.rotate_left(23) ^ id.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let hash = enabled.iter().fold(hot, mix);
        let same = |look: &Look| look.hot == hot && *look.enabled == *enabled;
        let place = |lately: &Lately| (hash >> 32) as usize & lately.0.len().saturating_sub(1);
        if let Some(&known) = lately.0.get(place(lately))
            && known != NONE
            && same(self.look_of(known))
        {
            return Some(known);
        }
        let look = 1 + self.looks.number(hash, same, || {
            let label = |&worker: &WorkerId| {
                self.number(Transition { worker, values: &[], choices: &[], places: 0, visits: 0 })
            };
            let labels = enabled.iter().map(label).collect();
            (Look { enabled: enabled.into(), labels, hot }, size_of_val(enabled) * 3 / 2 + 16)
        });
        let at = BRIEF * look as usize;
        if !self.brief.has_room(at + BRIEF) {
            return None;
        }
        // Every thread that comes to this writes the same.
        let brief = [hot as u32, (hot >> 32) as u32, enabled.len() as u32];
        brief.iter().zip(at..).for_each(|(&number, at)| self.brief.set(at, number));
        if lately.0.len() < MOST.min(self.looks.len()).max(FEWEST) {
            lately.0 = vec![NONE; FEWEST.max(2 * lately.0.len())];
        }
        let place = place(lately);
        lately.0[place] = look;
        Some(look)
    }

    /// The number of the label of a transition.
    pub(super) fn number(&self, transition: Transition<'_>) -> u32 {
        let Transition { worker, values, choices, places, visits } = transition;
        let action = action(worker, choices, places);
        let start = fingerprint::mix(visits ^ action.unwrap_or(1), worker.to_bits());
        let hash = values.iter().fold(start, |hash, value| {
            fingerprint::mix(hash, u64::from(value.index) << 32 | u64::from(value.of))
        });
        let action =
            action.map(|action| self.actions.number(action, |&one| one == action, || (action, 0)));
        let same = |label: &Label| {
            label.worker == worker
                && label.visits == visits
                && *label.values == *values
                && label.action == action
        };
        self.labels.number(hash, same, || {
            (Label { worker, values: values.into(), visits, action }, size_of_val(values))
        })
    }
}

/// What a step does, as far as strong fairness tells things apart: who steps, whose messages it
/// takes, and what it chooses where. `None` for a fault, which is owed to nobody.
fn action(worker: WorkerId, choices: &[Choice], places: u64) -> Option<u64> {
    if worker == WorkerId::FAULTS {
        return None;
    }
    let mut hash = fingerprint::mix(worker.to_bits(), places);
    for choice in choices {
        let word = match *choice {
            Choice::Worker(_) => continue,
            Choice::Value { index, tag: Tag::Fault, .. } if index > 0 => return None,
            Choice::Value { tag: Tag::Fault, .. } => continue,
            Choice::Value { index, of, .. } => u64::from(index) << 32 | u64::from(of),
            Choice::Delivery(message) => message.sender.to_bits(),
            Choice::Input(value) => value as u64,
        };
        hash = fingerprint::mix(hash, word);
    }
    Some(hash)
}
