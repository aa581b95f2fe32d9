//! Where steps lead, known without taking them.
//!
//! In a search of states most steps lead to states that were visited before, and nothing of such
//! a state is needed but its fingerprint. That is a sum of shares, and a step changes few of them:
//! that of the machine that steps, by the machine's own state and the values chosen; that of each
//! machine it sends to, by that machine's state and the message; that of the monitors, by theirs
//! and the announcement. So what a step changed once is noted, part by part, and a step whose
//! parts have all been seen before need not be taken to know where it leads.
//!
//! Parts are known by their shares, as states are by their fingerprints. A search that compares
//! whole states does not use this.

use std::ops::Range;

use dally_core::{Answer, Cut, Env, EventSink, MessageId, Question, RecordedStep, Stop, WorkerId};
use rustc_hash::FxHashMap;

use crate::digest::Digest;
use crate::message::Message;
use crate::place::Place;
use crate::system::MachineSystem;

/// How many parts are noted before all are forgotten: some megabytes.
const MOST: usize = 1 << 16;

/// Makes different actions of one machine different keys.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// What is known of steps.
#[derive(Default)]
pub(crate) struct TransitionCache {
    /// What comes next in a step, by the state of its machine and the answers so far.
    steps: FxHashMap<u64, Next>,
    /// The share of a machine, or of the monitors, after it was told something.
    told: FxHashMap<u64, u64>,
    /// What others are told in the steps that are known.
    tellings: Vec<Telling>,
    /// The shares of those who were told something in the step that is foreseen.
    shares: Vec<(usize, u64)>,
    note: Note,
}

/// What a step does next.
#[derive(Clone, Copy)]
enum Next {
    /// It asks.
    Ask(Question),
    /// Nothing more. So much is added to the share of its machine, and these of the tellings are
    /// what others are told.
    End { change: u64, first: u32, end: u32 },
}

/// A machine gets a message or, where no machine is named, the monitors get an announcement.
#[derive(Clone, Copy)]
struct Telling {
    to: Option<WorkerId>,
    /// A hash of what.
    what: u64,
}

/// What the present step does, as it does it.
#[derive(Default)]
struct Note {
    /// The machine that steps.
    slot: usize,
    tellings: Vec<Telling>,
    asked: Vec<Answer>,
}

impl TransitionCache {
    /// For a step of the machine in this slot.
    fn begin_note(&mut self, slot: usize) {
        if self.steps.len() + self.told.len() + self.tellings.len() > MOST {
            self.steps.clear();
            self.told.clear();
            self.tellings.clear();
        }
        self.note.slot = slot;
        self.note.tellings.clear();
        self.note.asked.clear();
    }

    /// Takes note of a step that has come to its end.
    fn learn(&mut self, mut key: u64, change: u64) {
        for &Answer { question, index } in &self.note.asked {
            self.steps.insert(key, Next::Ask(question));
            key = after(key, index as u32);
        }
        if self.steps.contains_key(&key) {
            return;
        }
        let first = self.tellings.len() as u32;
        self.tellings.extend_from_slice(&self.note.tellings);
        let end = self.tellings.len() as u32;
        self.steps.insert(key, Next::End { change, first, end });
    }

    fn heard(&mut self, to: Option<WorkerId>, what: u64, before: u64, after: u64) {
        self.note.tellings.push(Telling { to, what });
        self.told.insert(before.wrapping_add(what), after);
    }
}

impl MachineSystem {
    /// The fingerprint after a step of this worker, if it is known. The state stays as it is.
    pub(crate) fn look_ahead(
        &mut self,
        worker: WorkerId,
        env: &mut dyn Env,
    ) -> Result<Option<u64>, Cut> {
        // A step that is foreseen is not run, and the check that handlers are functions needs to
        // run them.
        if self.rules.twice {
            return Ok(None);
        }
        let Some((slot, mut key)) = self.beginning(worker) else { return Ok(None) };
        let (change, tellings) = loop {
            let transition_cache = self.transition_cache.get_or_insert_default();
            match transition_cache.steps.get(&key).copied() {
                // What was asked of an input is not noted.
                None | Some(Next::Ask(Question::Input)) => return Ok(None),
                Some(Next::End { change, first, end }) => break (change, first..end),
                Some(Next::Ask(Question::Value { of, tag })) => {
                    key = after(key, env.value(of, tag)?);
                }
                Some(Next::Ask(Question::Delivery { .. })) => {
                    self.list_candidates(slot);
                    key = after(key, env.delivery(&self.candidate_ids)? as u32);
                }
            }
        };
        Ok(self.sum_after(change, tellings))
    }

    /// The fingerprint after `change` was added to one share and these were received, if it is known
    /// what they change.
    fn sum_after(&mut self, change: u64, tellings: Range<u32>) -> Option<u64> {
        let mut sum = self.sum().wrapping_add(change);
        if tellings.is_empty() {
            return Some(sum);
        }
        let mut transition_cache = self.transition_cache.take()?;
        transition_cache.shares.clear();
        let mut known = true;
        for at in tellings {
            let Telling { to, what } = transition_cache.tellings[at as usize];
            // The monitors have a place that no machine has.
            let (there, untold) = match to.map(|to| self.find(to)) {
                None => (usize::MAX, self.monitors_share()),
                Some(Some(Place::Machine(there))) => {
                    (there, self.slots[there].share(self.rules.mailbox))
                }
                Some(_) => {
                    known = false;
                    break;
                }
            };
            let earlier = transition_cache.shares.iter().rfind(|&&(told, _)| told == there);
            let before = earlier.map_or(untold, |&(_, share)| share);
            let Some(&after) = transition_cache.told.get(&before.wrapping_add(what)) else {
                known = false;
                break;
            };
            sum = sum.wrapping_add(after).wrapping_sub(before);
            transition_cache.shares.push((there, after));
        }
        self.transition_cache = Some(transition_cache);
        known.then_some(sum)
    }

    /// Takes a step and notes what it changes, unless that is known.
    #[inline(never)]
    pub(crate) fn step_noted(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let Some((slot, key)) = self.beginning(worker) else {
            return self.step_in_search(worker, &mut EventSink::new(env));
        };
        if self.is_known(key) {
            return self.step_in_search(worker, &mut EventSink::new(env));
        }
        let transition_cache = self.transition_cache.get_or_insert_default();
        transition_cache.begin_note(slot);
        let mut asked = std::mem::take(&mut transition_cache.note.asked);
        let before = self.slots[slot].share(self.rules.mailbox);
        let (budget, machines) = (self.budget, self.slots.len());
        self.noting = true;
        let stepped = self
            .step_in_search(worker, &mut EventSink::new(&mut RecordedStep::new(env, &mut asked)));
        // `noting` has been cleared if the step did something that a note cannot express.
        let noted = std::mem::take(&mut self.noting);
        let Some(transition_cache) = &mut self.transition_cache else { return stepped };
        transition_cache.note.asked = asked;
        if noted && stepped.is_ok() && budget == self.budget && machines == self.slots.len() {
            let after = self.slots[slot].share(self.rules.mailbox);
            transition_cache.learn(key, after.wrapping_sub(before));
        }
        stepped
    }

    /// A step of a worker. All that search takes are here in one place: inlined three times they
    /// would only push each other out of the cache.
    #[inline(never)]
    fn step_in_search(&mut self, worker: WorkerId, env: &mut EventSink<'_>) -> Result<(), Stop> {
        self.step_of(worker, env)
    }

    /// Whether the step with this key asks for nothing and is known.
    fn is_known(&mut self, key: u64) -> bool {
        let next = self
            .transition_cache
            .as_ref()
            .and_then(|transition_cache| transition_cache.steps.get(&key));
        match next {
            Some(&Next::End { change, first, end }) => self.sum_after(change, first..end).is_some(),
            _ => false,
        }
    }

    /// The machine whose state decides what a step of this worker does, and the key of what it
    /// does first. None where others decide too: what a bad network does to a message is asked
    /// only if the receiver is there.
    #[inline]
    fn beginning(&self, worker: WorkerId) -> Option<(usize, u64)> {
        if self.budget.lose | self.budget.duplicate != 0 {
            return None;
        }
        let (slot, action) = match self.find(worker)? {
            Place::Machine(slot) => (slot, 1),
            Place::Timer(slot, timer) => (slot, timer as u64 + 2),
        };
        let share = self.slots[slot].share(self.rules.mailbox).wrapping_add(self.budget.share());
        Some((slot, share.wrapping_add(action.wrapping_mul(FACTOR))))
    }

    /// Whether a message to this machine is to be noted: what a machine sends itself is part of
    /// what it does.
    #[inline]
    pub(crate) fn notes_message_to(&self, slot: usize) -> bool {
        self.noting
            && self
                .transition_cache
                .as_ref()
                .is_some_and(|transition_cache| transition_cache.note.slot != slot)
    }

    /// The share of a machine that is about to get this message, and a hash of the message.
    pub(crate) fn before_message(
        &self,
        slot: usize,
        id: MessageId,
        event: u16,
        message: &Message,
    ) -> (u64, u64) {
        let mut what = Digest::new(id.sender.to_bits());
        what.word(u64::from(event));
        what.word(message.hash());
        (self.slots[slot].share(self.rules.mailbox), what.value())
    }

    /// Notes what a message has changed.
    pub(crate) fn note_message(&mut self, slot: usize, (before, what): (u64, u64)) {
        let after = self.slots[slot].share(self.rules.mailbox);
        let to = self.slots[slot].id;
        if let Some(transition_cache) = &mut self.transition_cache {
            transition_cache.heard(Some(to), what, before, after);
        }
    }

    /// Notes what an announcement with this hash has changed.
    pub(crate) fn note_announcement(&mut self, before: u64, hash: u64) {
        let after = self.monitors_share();
        let mut what = Digest::new(0);
        what.word(hash);
        if let Some(transition_cache) = &mut self.transition_cache {
            transition_cache.heard(None, what.value(), before, after);
        }
    }
}

/// The key of what comes after an answer.
#[inline]
fn after(key: u64, answer: u32) -> u64 {
    (key.rotate_left(23) ^ (u64::from(answer) + 1)).wrapping_mul(FACTOR)
}
