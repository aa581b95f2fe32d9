//! Where steps of machines lead, known without taking them.
//!
//! The fingerprint of a state is a sum of shares, and a step changes few of them: that of the
//! machine that steps, by the machine's own state and the values chosen; that of each machine it
//! sends to, by that machine's state and the message; that of the monitors, by theirs and the
//! announcement. So what a step changed once is noted, part by part, and a step whose parts have
//! all been seen before need not be taken to know where it leads.
//!
//! Parts are known by their shares, as states are by their fingerprints. A search that compares
//! whole states does not use this.

use std::ops::Range;

use dally_core::transition_cache::{FACTOR, Known, TransitionCache, after};
use dally_core::{Answer, Cut, Env, EventSink, MessageId, Question, RecordedStep, Stop, WorkerId};
use rustc_hash::FxHashMap;

use crate::digest::Digest;
use crate::message::Message;
use crate::place::Place;
use crate::system::MachineSystem;

/// How many parts are noted before all are forgotten: some megabytes.
const MOST: usize = 1 << 16;

/// What is known of steps.
#[derive(Default)]
pub(crate) struct KnownSteps {
    /// What comes next in a step, by the state of its machine and the answers so far.
    steps: TransitionCache<Ending>,
    /// The share of a machine, or of the monitors, after it was told something.
    told: FxHashMap<u64, u64>,
    /// What others are told in the steps that are known.
    tellings: Vec<Telling>,
    /// The shares of those who were told something in the step that is foreseen.
    shares: Vec<(usize, u64)>,
    note: Note,
}

/// What a step comes to: so much is added to the share of its machine, and these of the tellings
/// are what others are told.
#[derive(Clone, Copy)]
struct Ending {
    change: u64,
    first: u32,
    end: u32,
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

impl KnownSteps {
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
    fn learn(&mut self, key: u64, change: u64) {
        let KnownSteps { steps, tellings, note, .. } = self;
        steps.learn(key, &note.asked, || {
            let first = tellings.len() as u32;
            tellings.extend_from_slice(&note.tellings);
            Ending { change, first, end: tellings.len() as u32 }
        });
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
            match self.known_steps.get_or_insert_default().steps.get(key) {
                // What a step does with an input is not noted.
                None | Some(Known::Asks(Question::Input)) => return Ok(None),
                Some(Known::Ends(Ending { change, first, end })) => break (change, first..end),
                Some(Known::Asks(Question::Value { of, tag })) => {
                    key = after(key, env.value(of, tag)?);
                }
                Some(Known::Asks(Question::Delivery { .. })) => {
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
        let mut known_steps = self.known_steps.take()?;
        known_steps.shares.clear();
        let mut known = true;
        for at in tellings {
            let Telling { to, what } = known_steps.tellings[at as usize];
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
            let earlier = known_steps.shares.iter().rfind(|&&(told, _)| told == there);
            let before = earlier.map_or(untold, |&(_, share)| share);
            let Some(&after) = known_steps.told.get(&before.wrapping_add(what)) else {
                known = false;
                break;
            };
            sum = sum.wrapping_add(after).wrapping_sub(before);
            known_steps.shares.push((there, after));
        }
        self.known_steps = Some(known_steps);
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
        let known_steps = self.known_steps.get_or_insert_default();
        known_steps.begin_note(slot);
        let mut asked = std::mem::take(&mut known_steps.note.asked);
        let before = self.slots[slot].share(self.rules.mailbox);
        let (budget, machines) = (self.budget, self.slots.len());
        self.noting = true;
        let stepped = self
            .step_in_search(worker, &mut EventSink::new(&mut RecordedStep::new(env, &mut asked)));
        // `noting` has been cleared if the step did something that a note cannot express.
        let noted = std::mem::take(&mut self.noting);
        let Some(known_steps) = &mut self.known_steps else { return stepped };
        known_steps.note.asked = asked;
        if noted && stepped.is_ok() && budget == self.budget && machines == self.slots.len() {
            let after = self.slots[slot].share(self.rules.mailbox);
            known_steps.learn(key, after.wrapping_sub(before));
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
        match self.known_steps.as_ref().and_then(|known| known.steps.get(key)) {
            Some(Known::Ends(Ending { change, first, end })) => {
                self.sum_after(change, first..end).is_some()
            }
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
        self.noting && self.known_steps.as_ref().is_some_and(|known| known.note.slot != slot)
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
        if let Some(known_steps) = &mut self.known_steps {
            known_steps.heard(Some(to), what, before, after);
        }
    }

    /// Notes what an announcement with this hash has changed.
    pub(crate) fn note_announcement(&mut self, before: u64, hash: u64) {
        let after = self.monitors_share();
        let mut what = Digest::new(0);
        what.word(hash);
        if let Some(known_steps) = &mut self.known_steps {
            known_steps.heard(None, what.value(), before, after);
        }
    }
}
