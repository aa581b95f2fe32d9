//! The log of one execution from where a monitor began to wait.

use std::ops::Range;

use dally_core::{
    Acceptance, Answer, MessageId, Observe, Question, System, Tag, WorkerId, fingerprint,
};

use super::latest::Latest;

mod again;
mod closing;

use again::Round;
pub(crate) use closing::{Loop, Loops};

/// More states than this are not remembered: the log is begun again.
const MAX_STATES: usize = 1 << 18;

/// The states of an execution while some monitor waits, with what led from one to the next. The
/// memory is used again by the next execution.
#[derive(Default)]
pub(crate) struct LoopDetector {
    /// Where the execution was; empty while no monitor waits, or not for long enough.
    states: Vec<State>,
    /// `steps[i]` leads from `states[i]` to `states[i + 1]`; the last may be under way.
    steps: Vec<Step>,
    enabled: Vec<WorkerId>,
    /// What was chosen inside of steps.
    answers: Vec<Answer>,
    /// The senders of the messages that could be delivered, and where those of each answer begin.
    senders: Vec<WorkerId>,
    first_senders: Vec<u32>,
    /// Where in the program each answer was asked for, and where the next one is.
    places: Vec<u64>,
    place: u64,
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
    /// For how many choices a monitor has to wait before states are logged, and after how many
    /// choices one began to wait.
    log_after: usize,
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
    /// Values by the state, the worker and the question, which is a hash of its place and of what
    /// was answered before it in the step.
    pub(super) taken: Vec<(u64, WorkerId, u64, u32)>,
    pub(super) asked: Vec<(u64, WorkerId, u64, u32)>,
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

impl LoopDetector {
    /// A new execution begins.
    pub(crate) fn restart(&mut self, only_whole: bool, everything: bool, log_after: usize) {
        self.forget();
        (self.only_whole, self.everything) = (only_whole, everything);
        (self.log_after, self.since, self.credit) = (log_after, 0, 0);
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

    /// The execution is in a state, after this many choices and steps of workers. The log begins
    /// where a monitor has waited for [`LoopDetector::log_after`] choices, and ends where no monitor
    /// has waited in all of its states: no loop of these states can be a bug.
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
        if !self.is_watching() || at - self.since < self.log_after {
            return;
        }
        let known = hash(system, acceptance).filter(|&(_, whole)| whole || !self.only_whole);
        let Some((hash, whole)) = known else {
            self.forget();
            return;
        };
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

    /// The next value of the present step is asked for at this place of the program.
    pub(crate) fn asks_at(&mut self, place: u64) {
        self.place = place;
    }

    /// A value was chosen inside the present step.
    pub(crate) fn chose(&mut self, index: u32, of: u32, tag: Tag) {
        let question = Question::Value { of, tag };
        self.log_answer(Answer { question, index: index.into() }, &[]);
    }

    /// A message was chosen inside the present step.
    pub(crate) fn delivered(&mut self, index: usize, candidates: &[MessageId]) {
        let question = Question::Delivery { of: candidates.len() as u32 };
        self.log_answer(Answer { question, index: index as i64 }, candidates);
    }

    /// This number from outside was given inside the present step.
    pub(crate) fn given(&mut self, value: i64) {
        self.log_answer(Answer { question: Question::Input, index: value }, &[]);
    }

    fn log_answer(&mut self, answer: Answer, candidates: &[MessageId]) {
        self.weight += 1 + candidates.len();
        self.first_senders.push(self.senders.len() as u32);
        self.senders.extend(candidates.iter().map(|message| message.sender));
        self.places.push(std::mem::take(&mut self.place));
        self.answers.push(answer);
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

    /// What was chosen in a step of the log, where in the program, and of deliveries whose messages
    /// there were.
    pub(super) fn answered(
        &self,
        step: usize,
    ) -> impl Iterator<Item = (Answer, u64, &[WorkerId])> + use<'_> {
        self.answers_of(step).map(|place| {
            let answer = self.answers[place];
            let senders = match answer.question {
                Question::Value { .. } | Question::Input => 0,
                Question::Delivery { of } => of as usize,
            };
            let senders = &self.senders[self.first_senders[place] as usize..][..senders];
            (answer, self.places[place], senders)
        })
    }

    fn answers_of(&self, step: usize) -> Range<usize> {
        let end = self.steps.get(step + 1).map_or(self.answers.len(), |next| next.answers as usize);
        self.steps[step].answers as usize..end
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

    /// Begins the log anew, as if no monitor had waited yet.
    fn forget(&mut self) {
        self.clear();
        (self.hot, self.visited) = (0, false);
    }

    /// Begins the log anew. Monitors that wait count as waiting from where they began to.
    fn clear(&mut self) {
        self.states.clear();
        self.steps.clear();
        self.enabled.clear();
        self.answers.clear();
        self.senders.clear();
        self.first_senders.clear();
        self.places.clear();
        self.place = 0;
        self.scratch.owed.clear();
        (self.weight, self.round) = (0, None);
        self.latest.clear();
    }
}

/// A hash of the present state, and whether it is known whole; `None` where nothing of it can be
/// had. Observations leave monitors out.
fn hash<S: System>(system: &S, acceptance: Acceptance) -> Option<(u64, bool)> {
    match system.fingerprint() {
        Some(whole) => Some((whole.0, true)),
        None => {
            let observed = system.observe(Observe::Control)?;
            Some((fingerprint::mix(observed, acceptance.hot), false))
        }
    }
}
