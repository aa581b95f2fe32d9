//! The loops that the states of an execution close, and which of them are bugs.

use std::ops::Range;

use super::{LoopDetector, NONE, State};
use crate::liveness::Fairness;
use crate::liveness::property::bits;

/// How an execution looks out for loops that are bugs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loops {
    /// Not at all.
    Ignored,
    /// Now and then: to look costs less than to go on. What looks like a loop is gone round at
    /// once; if it is none, the execution goes on from where that led. Where fairness is strong,
    /// the loop must be one that chance cannot leave: see [`LoopDetector::closed`].
    Sampled,
    /// Wherever a state comes back, the shortest loop first.
    All,
    /// At the end of the recording that is followed, and nowhere before: what the recording went
    /// through, it went through for good.
    AtEnd {
        /// How many steps of workers lead to the loop, where that is known.
        stem: Option<usize>,
        /// How often to go round it, where that was said.
        rounds: Option<u32>,
    },
}

impl Loops {
    /// The same for an execution that need not be the recorded one.
    pub(crate) fn loosely(self) -> Loops {
        match self {
            Loops::AtEnd { .. } => Loops::All,
            other => other,
        }
    }
}

/// A part of the log that begins and ends in the same state, and violates a monitor.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Its steps, by their places in the log.
    pub(crate) steps: Range<usize>,
    /// The monitor, by its number.
    pub(crate) monitor: usize,
    /// Whether the monitor is violated by what the loop visits, and not by staying hot.
    pub(crate) visits: bool,
    /// How many steps of workers lead to it.
    pub(crate) stem: usize,
    /// Whether its states are known whole.
    pub(crate) whole: bool,
}

/// What a logged entry earns towards looking at a loop, which costs one for each of its entries.
const EARNED: i64 = 4;

/// The same where looking is what the execution is for.
const EARNED_BY_ALL: i64 = 64;

impl LoopDetector {
    /// The loop that the present state closes, if it is a bug.
    ///
    /// An execution that is sampled goes where chance leads it. Two coins that fall alike, or two
    /// workers that always step at the wrong moment, are no sign of a livelock, although a loop
    /// may be strongly fair in which they go on like that: sooner or later chance leaves it. So
    /// whatever could be done in a state of the loop must have been done in that state. To tell
    /// what was found, a part of it that is strongly fair will do.
    ///
    /// Only monitors that are `blamed` count.
    pub(crate) fn closed(
        &mut self,
        loops: Loops,
        fairness: Fairness,
        blamed: impl Fn(usize) -> bool,
    ) -> Option<Loop> {
        let last = self.states.len().checked_sub(1)?;
        let State { first, before, weight, .. } = self.states[last];
        let logged = weight - last.checked_sub(1).map_or(0, |place| self.states[place].weight);
        let logged = i64::try_from(logged).unwrap_or(i64::MAX);
        match loops {
            Loops::Ignored => None,
            // A part of a loop is weakly fair only if the loop is, and a loop that sees all there
            // is to see is strongly fair sooner or later: so it is the longest that is looked at.
            Loops::Sampled => {
                self.credit = self.credit.saturating_add(logged.saturating_mul(EARNED));
                (before != NONE && self.pay_for(first))
                    .then(|| self.judged(first, fairness, true, &blamed))?
            }
            Loops::All => {
                self.credit = self.credit.saturating_add(logged.saturating_mul(EARNED_BY_ALL));
                self.shortest(before, |loop_detector, from| {
                    loop_detector
                        .pay_for(from)
                        .then(|| loop_detector.judged(from, fairness, false, &blamed))?
                })
            }
            Loops::AtEnd { stem, .. } => self.shortest(before, |loop_detector, from| {
                let here = loop_detector.states[from as usize].step;
                stem.is_none_or(|stem| stem == here)
                    .then(|| loop_detector.judged(from, fairness, false, &blamed))?
            }),
        }
    }

    /// Whether there is credit for looking at the loop from this state.
    fn pay_for(&mut self, from: u32) -> bool {
        let cost = self.weight - self.states[from as usize].weight;
        let cost = i64::try_from(cost).unwrap_or(i64::MAX);
        let pays = cost <= self.credit;
        if pays {
            self.credit -= cost;
        }
        pays
    }

    /// The first answer for this state or, in turn, an earlier one with the same hash.
    fn shortest<T>(
        &mut self,
        mut from: u32,
        mut look: impl FnMut(&mut LoopDetector, u32) -> Option<T>,
    ) -> Option<T> {
        while from != NONE {
            if let Some(found) = look(self, from) {
                return Some(found);
            }
            from = self.states[from as usize].before;
        }
        None
    }

    /// The loop from this state to the last, if it violates a monitor and is fair.
    fn judged(
        &mut self,
        from: u32,
        fairness: Fairness,
        by_chance: bool,
        blamed: &impl Fn(usize) -> bool,
    ) -> Option<Loop> {
        let steps = from as usize..self.states.len() - 1;
        let states = &self.states[steps.start..];
        let hot = states.iter().fold(u64::MAX, |hot, state| hot & state.hot);
        let visits = states[1..].iter().fold(0, |visits, state| visits | state.visits);
        let blamed = |monitors| bits(monitors).map(|monitor| monitor as usize).find(|&m| blamed(m));
        let violated = blamed(hot).map(|monitor| (monitor, false));
        let (monitor, visits) = violated.or_else(|| Some((blamed(visits)?, true)))?;
        if !self.is_fair(steps.clone(), fairness, by_chance) {
            return None;
        }
        let State { step: stem, whole, .. } = self.states[steps.start];
        Some(Loop { steps, monitor, visits, stem, whole })
    }
}
