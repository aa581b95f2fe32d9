//! The log of one execution from where a monitor began to wait, and the loops in it.

use std::ops::Range;

use dally_core::{Acceptance, MessageId, Observe, System, Tag, WorkerId, fingerprint};

use super::Fairness;
use super::latest::Latest;
use super::property::bits;

/// How an execution looks out for loops that are bugs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loops {
    /// Not at all.
    Ignored,
    /// Now and then: to look costs less than to go on. What looks like a loop is gone round at
    /// once; if it is none, the execution goes on from where that led. Where fairness is strong,
    /// the loop must be one that chance cannot leave: see [`Laps::closed`].
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

/// More states than this are not remembered: the log is begun again.
const MAX_STATES: usize = 1 << 18;

/// What a logged entry earns towards looking at a loop, which costs one for each of its entries.
const EARNED: i64 = 4;

/// The same where looking is what the execution is for.
const EARNED_BY_ALL: i64 = 64;

/// What a step costs that went round in vain. It was taken from what the strategy would have
/// done, and that must not become most of the execution.
const STRAYED: i64 = 16;

/// The states of an execution while some monitor waits, with what led from one to the next. The
/// memory is used again by the next execution.
#[derive(Default)]
pub(crate) struct Laps {
    /// Where the execution was; empty while no monitor waits, or not for long enough.
    states: Vec<State>,
    /// `steps[i]` leads from `states[i]` to `states[i + 1]`; the last may be under way.
    steps: Vec<Step>,
    enabled: Vec<WorkerId>,
    answers: Vec<Answer>,
    /// The senders of the messages that could be delivered.
    senders: Vec<WorkerId>,
    /// The latest state with each hash.
    latest: Latest,
    /// The monitors that are hot in all states.
    hot: u64,
    /// Some transition has visited what is allowed only finitely often.
    visited: bool,
    /// Only states that are known whole are logged.
    only_whole: bool,
    /// All states are logged, whether a monitor waits or not: a loop is known to end here, and
    /// while one monitor began to wait another may have stopped.
    everything: bool,
    /// For how many choices a monitor has to wait before its states are logged, and since which
    /// choice one does.
    patience: usize,
    since: usize,
    credit: i64,
    /// All entries logged so far.
    weight: usize,
    pub(super) scratch: Scratch,
    /// The loop that is being gone round.
    round: Option<Round>,
}

/// Memory for judging a loop.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) workers: Vec<WorkerId>,
    pub(super) others: Vec<WorkerId>,
    /// The states of the loop, each by its hash and its first place.
    pub(super) states: Vec<(u64, usize)>,
    /// Who steps in which state.
    pub(super) moves: Vec<(u64, WorkerId)>,
    /// Values by the state, the worker and the question.
    pub(super) taken: Vec<(u64, WorkerId, u32, u32)>,
    pub(super) asked: Vec<(u64, WorkerId, u32, u32)>,
    /// Whose messages some worker could take and was not seen to choose. It may have taken them
    /// where there was no other; that shows when the loop is gone round.
    pub(super) owed: Vec<(WorkerId, WorkerId)>,
    pub(super) delivered: Vec<(WorkerId, WorkerId)>,
}

#[derive(Clone, Copy)]
struct State {
    hash: u64,
    whole: bool,
    /// The monitors that are hot in it.
    hot: u64,
    /// The monitors that allow the transition to it only finitely often.
    visits: u64,
    enabled: (u32, u32),
    /// How many choices, and how many steps of workers, led to it.
    at: usize,
    step: usize,
    /// The earliest state with the same hash, and the one before this.
    first: u32,
    before: u32,
    weight: usize,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Step {
    worker: WorkerId,
    /// Where its answers begin.
    answers: u32,
}

/// What was chosen inside a step.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) question: Question,
    pub(super) index: u32,
    pub(super) of: u32,
    /// Where the senders begin, of a delivery.
    senders: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Question {
    Value(Tag),
    Delivery,
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

/// One step of a loop that is gone round again.
struct Round {
    /// The answers that the step has not asked for yet.
    answers: Range<usize>,
    /// What it asked for that it had not asked for before.
    strayed: Option<String>,
}

impl Laps {
    /// A new execution begins.
    pub(crate) fn restart(&mut self, only_whole: bool, everything: bool, patience: usize) {
        self.clear();
        (self.hot, self.visited) = (0, false);
        (self.only_whole, self.everything) = (only_whole, everything);
        (self.patience, self.since, self.credit) = (patience, 0, 0);
    }

    /// Whether some monitor waits, be it for long enough or not.
    #[inline]
    pub(crate) fn is_watching(&self) -> bool {
        self.everything || self.hot != 0 || self.visited
    }

    /// Whether states are being logged.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        !self.states.is_empty()
    }

    /// Begins the log anew. Who waits goes on waiting.
    fn clear(&mut self) {
        self.states.clear();
        self.steps.clear();
        self.enabled.clear();
        self.answers.clear();
        self.senders.clear();
        self.scratch.owed.clear();
        (self.weight, self.round) = (0, None);
        self.latest.clear();
    }

    /// The execution is in a state, after this many choices and steps of workers. The log begins
    /// where a monitor has waited for as long as was said, and ends where none has waited all along:
    /// no loop from there can be a bug.
    pub(crate) fn arrive<S: System>(
        &mut self,
        system: &S,
        acceptance: Acceptance,
        at: usize,
        step: usize,
    ) {
        // What a step visits while a monitor waits counts, also if the monitor ceases to in that step.
        self.visited |= self.is_watching() && acceptance.visits != 0;
        self.hot &= acceptance.waiting();
        if !self.is_watching() {
            self.clear();
            self.hot = acceptance.waiting();
            self.visited = acceptance.visits != 0;
            self.since = at;
        } else if self.states.len() >= MAX_STATES && !self.everything {
            self.clear();
        }
        if !self.is_watching() || at - self.since < self.patience {
            return;
        }
        let (hash, whole) = hash(system, acceptance);
        if self.only_whole && !whole {
            self.clear();
            (self.hot, self.visited) = (0, false);
            return;
        }
        if self.states.is_empty() {
            self.hot = acceptance.waiting();
        }
        let enabled = self.enabled_set(system.enabled());
        let place = self.states.len() as u32;
        let hash_of = |place: u32| self.states[place as usize].hash;
        let before = self.latest.insert(hash, place, &hash_of);
        let (first, before) =
            before.map_or((place, NONE), |known| (self.states[known as usize].first, known));
        self.weight += 1 + system.enabled().len();
        self.states.push(State {
            hash,
            whole,
            hot: acceptance.waiting(),
            visits: acceptance.visits,
            enabled,
            at,
            step,
            first,
            before,
            weight: self.weight,
        });
    }

    /// Keeps a set of enabled workers, once if it is the one of the state before.
    fn enabled_set(&mut self, enabled: &[WorkerId]) -> (u32, u32) {
        if let Some(&State { enabled: (from, to), .. }) = self.states.last()
            && self.enabled[from as usize..to as usize] == *enabled
        {
            return (from, to);
        }
        let from = self.enabled.len() as u32;
        self.enabled.extend_from_slice(enabled);
        (from, self.enabled.len() as u32)
    }

    /// A worker is about to step.
    #[inline]
    pub(crate) fn leave(&mut self, worker: WorkerId) {
        self.steps.push(Step { worker, answers: self.answers.len() as u32 });
    }

    /// Whether what is chosen now is to be logged.
    #[inline]
    pub(crate) fn is_logging(&self) -> bool {
        self.is_open() && self.round.is_none()
    }

    /// A value was chosen inside the present step.
    pub(crate) fn chose(&mut self, index: u32, of: u32, tag: Tag) {
        let senders = self.senders.len() as u32;
        self.weight += 1;
        self.answers.push(Answer { question: Question::Value(tag), index, of, senders });
    }

    /// A message was chosen inside the present step.
    pub(crate) fn delivered(&mut self, index: usize, candidates: &[MessageId]) {
        let senders = self.senders.len() as u32;
        self.senders.extend(candidates.iter().map(|message| message.sender));
        self.weight += 1 + candidates.len();
        let (index, of) = (index as u32, candidates.len() as u32);
        self.answers.push(Answer { question: Question::Delivery, index, of, senders });
    }

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
                self.shortest(before, |laps, from| {
                    laps.pay_for(from).then(|| laps.judged(from, fairness, false, &blamed))?
                })
            }
            Loops::AtEnd { stem, .. } => self.shortest(before, |laps, from| {
                let here = laps.states[from as usize].step;
                stem.is_none_or(|stem| stem == here)
                    .then(|| laps.judged(from, fairness, false, &blamed))?
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
        mut look: impl FnMut(&mut Laps, u32) -> Option<T>,
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

    /// Who steps in a step of the log.
    pub(crate) fn worker(&self, step: usize) -> WorkerId {
        self.steps[step].worker
    }

    /// Who could step in a state of the log.
    pub(crate) fn enabled(&self, state: usize) -> &[WorkerId] {
        let (from, to) = self.states[state].enabled;
        &self.enabled[from as usize..to as usize]
    }

    /// Whether the monitor is violated by the transition to a state of the log alone.
    pub(crate) fn is_visited(&self, state: usize, monitor: usize) -> bool {
        self.states[state].visits >> monitor & 1 == 1
    }

    pub(super) fn hash_of(&self, state: usize) -> u64 {
        self.states[state].hash
    }

    /// How many choices led to a state of the log.
    pub(crate) fn choices(&self, state: usize) -> usize {
        self.states[state].at
    }

    fn answers_of(&self, step: usize) -> Range<usize> {
        let end = self.steps.get(step + 1).map_or(self.answers.len(), |next| next.answers as usize);
        self.steps[step].answers as usize..end
    }

    /// What was chosen in a step of the log, and of deliveries whose messages there were.
    pub(super) fn answered(
        &self,
        step: usize,
    ) -> impl Iterator<Item = (Answer, &[WorkerId])> + use<'_> {
        self.answers[self.answers_of(step)].iter().map(|&answer| {
            let senders = match answer.question {
                Question::Value(_) => 0,
                Question::Delivery => answer.of as usize,
            };
            (answer, &self.senders[answer.senders as usize..][..senders])
        })
    }

    /// Whether the present state looks like a state of the log.
    pub(crate) fn is_again<S: System>(
        &self,
        state: usize,
        system: &S,
        acceptance: Acceptance,
    ) -> bool {
        let known = &self.states[state];
        (known.hash, known.whole) == hash(system, acceptance)
            && known.hot == acceptance.waiting()
            && known.visits == acceptance.visits
    }

    /// A step of the log is taken again: its answers are given again, each by its place among
    /// those that were possible.
    pub(crate) fn again(&mut self, step: usize) {
        self.round = Some(Round { answers: self.answers_of(step), strayed: None });
    }

    /// The step that was taken again is over; what it did differently.
    pub(crate) fn strayed(&mut self) -> Option<String> {
        let round = self.round.as_mut()?;
        if round.strayed.is_none() && !round.answers.is_empty() {
            round.strayed = Some("asks for less than before".into());
        }
        round.strayed.take()
    }

    /// The answer of a step that is taken again; `None` where the strategy is to be asked.
    #[inline]
    pub(crate) fn value_again(&mut self, of: u32, tag: Tag) -> Option<u32> {
        self.round.is_some().then(|| self.answer_again(Question::Value(tag), of))?
    }

    /// As [`Laps::value_again`], for a message by its place among the candidates.
    #[inline]
    pub(crate) fn delivery_again(&mut self, of: usize) -> Option<usize> {
        let of = of as u32;
        let answer = self.round.is_some().then(|| self.answer_again(Question::Delivery, of))?;
        answer.map(|index| index as usize)
    }

    fn answer_again(&mut self, question: Question, of: u32) -> Option<u32> {
        let round = self.round.as_mut()?;
        if round.strayed.is_some() {
            return None;
        }
        match round.answers.next().map(|place| self.answers[place]) {
            Some(known) if known.question == question && known.of == of => Some(known.index),
            _ => {
                round.strayed = Some("asks for something else than before".into());
                None
            }
        }
    }

    /// Whether it matters which messages are taken in the loop that is gone round.
    #[inline]
    pub(crate) fn is_owed(&self) -> bool {
        self.round.is_some() && !self.scratch.owed.is_empty()
    }

    /// A worker took a message of this sender.
    pub(crate) fn took(&mut self, worker: WorkerId, sender: WorkerId) {
        self.scratch.owed.retain(|&owed| owed != (worker, sender));
    }

    /// Whether all that was owed in the loop was taken, after it was gone round once.
    pub(crate) fn is_settled(&self) -> bool {
        self.scratch.owed.is_empty()
    }

    /// The loop was gone round, and this many steps of that were in vain. The log begins again.
    pub(crate) fn end_rounds(&mut self, in_vain: usize) {
        self.clear();
        let cost = i64::try_from(in_vain).unwrap_or(i64::MAX).saturating_mul(STRAYED);
        self.credit = self.credit.saturating_sub(cost);
    }
}

/// A hash of the present state, and whether it is known whole. Observations leave monitors out.
fn hash<S: System>(system: &S, acceptance: Acceptance) -> (u64, bool) {
    match system.whole() {
        Some(whole) => (whole.0, true),
        None => (fingerprint::mix(system.observe(Observe::Control), acceptance.hot), false),
    }
}
