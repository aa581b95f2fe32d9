//! A cache of steps of machines that gives the next fingerprint without taking the step.
//!
//! The fingerprint of a state is a sum of shares, and a step changes few of them: that of its machine,
//! by the machine's state and the values chosen; that of each receiver, by the receiver's state and
//! the message; that of the monitors, by theirs and the announcement. Each of these changes is noted
//! once, and a step all of whose changes are known need not be taken. A search that compares whole
//! states does not use the cache.

use std::ops::Range;

use dally_core::transition_cache::{FACTOR, Known, TransitionCache, after};
use dally_core::{Answer, Cut, Env, EventSink, MessageId, Question, RecordedStep, Stop, WorkerId};
use rustc_hash::FxHashMap;

use crate::digest::Digest;
use crate::message::Message;
use crate::place::Place;
use crate::system::MachineSystem;

/// How many entries are noted before all are forgotten: some megabytes.
const MOST: usize = 1 << 16;

#[derive(Default)]
pub(crate) struct KnownSteps {
    /// What comes next in a step, by the state of its machine and the answers so far.
    steps: TransitionCache<Ending>,
    /// The share of a receiver after a receipt, by its share before plus [`Receipt::what`].
    received: FxHashMap<u64, u64>,
    /// The receipts of all known steps: see [`Ending`].
    receipts: Vec<Receipt>,
    /// Scratch memory of `sum_after_receipts`: receivers and their shares.
    shares: Vec<(usize, u64)>,
    note: Note,
}

/// What a step changes: `change` is added to the share of its machine, and `receipts[first..end]`
/// are the receipts of others.
#[derive(Clone, Copy)]
struct Ending {
    change: u64,
    first: u32,
    end: u32,
}

/// A machine gets a message or, if `to` is `None`, the monitors get an announcement.
#[derive(Clone, Copy)]
struct Receipt {
    to: Option<WorkerId>,
    /// A hash of the message or announcement.
    what: u64,
}

/// What the present step has done so far.
#[derive(Default)]
struct Note {
    slot: usize,
    receipts: Vec<Receipt>,
    asked: Vec<Answer>,
}

impl KnownSteps {
    fn begin_note(&mut self, slot: usize) {
        if self.steps.len() + self.received.len() + self.receipts.len() > MOST {
            self.steps.clear();
            self.received.clear();
            self.receipts.clear();
        }
        self.note.slot = slot;
        self.note.receipts.clear();
        self.note.asked.clear();
    }

    fn learn(&mut self, key: u64, change: u64) {
        let KnownSteps { steps, receipts, note, .. } = self;
        steps.learn(key, &note.asked, || {
            let first = receipts.len() as u32;
            receipts.extend_from_slice(&note.receipts);
            Ending { change, first, end: receipts.len() as u32 }
        });
    }

    fn receive(&mut self, to: Option<WorkerId>, what: u64, before: u64, after: u64) {
        self.note.receipts.push(Receipt { to, what });
        self.received.insert(before.wrapping_add(what), after);
    }
}

impl MachineSystem {
    /// The fingerprint after a step of this worker, if it is known. The state stays as it is.
    pub(crate) fn look_ahead(
        &mut self,
        worker: WorkerId,
        env: &mut dyn Env,
    ) -> Result<Option<u64>, Cut> {
        // A cached step is not run, and the check of `twice` needs every handler to run.
        if self.rules.twice {
            return Ok(None);
        }
        let Some((slot, mut key)) = self.beginning(worker) else { return Ok(None) };
        let (change, receipts) = loop {
            match self.known_steps.get_or_insert_default().steps.get(key) {
                // What a step does with an input is not cached.
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
        Ok(self.sum_after(change, receipts))
    }

    /// The fingerprint after `change` and these receipts, if the effect of every receipt is known.
    fn sum_after(&mut self, change: u64, receipts: Range<u32>) -> Option<u64> {
        let sum = self.sum().wrapping_add(change);
        if receipts.is_empty() {
            return Some(sum);
        }
        let mut known_steps = self.known_steps.take()?;
        let after = self.sum_after_receipts(sum, &mut known_steps, receipts);
        self.known_steps = Some(known_steps);
        after
    }

    fn sum_after_receipts(
        &self,
        mut sum: u64,
        known_steps: &mut KnownSteps,
        receipts: Range<u32>,
    ) -> Option<u64> {
        known_steps.shares.clear();
        for at in receipts {
            let Receipt { to, what } = known_steps.receipts[at as usize];
            // The monitors get a place that no slot has.
            let (there, at_first) = match to.map(|to| self.find(to)) {
                None => (usize::MAX, self.monitors_share()),
                Some(Some(Place::Machine(there))) => {
                    (there, self.slots[there].share(self.rules.mailbox))
                }
                Some(_) => return None,
            };
            let earlier = known_steps.shares.iter().rfind(|share| share.0 == there);
            let before = earlier.map_or(at_first, |share| share.1);
            let after = *known_steps.received.get(&before.wrapping_add(what))?;
            sum = sum.wrapping_add(after).wrapping_sub(before);
            known_steps.shares.push((there, after));
        }
        Some(sum)
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

    /// Never inlined: three copies of the code of steps would evict each other from the processor's
    /// cache.
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

    /// The machine whose state decides what a step of this worker does, and the key of its beginning.
    /// `None` where more decides: an unreliable network asks about a message only if the receiver is
    /// up.
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

    /// Whether a message to this machine is a receipt to note. What a machine sends to itself is part
    /// of the change of its own share.
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

    pub(crate) fn note_message(&mut self, slot: usize, (before, what): (u64, u64)) {
        let after = self.slots[slot].share(self.rules.mailbox);
        let to = self.slots[slot].id;
        if let Some(known_steps) = &mut self.known_steps {
            known_steps.receive(Some(to), what, before, after);
        }
    }

    pub(crate) fn note_announcement(&mut self, before: u64, hash: u64) {
        let after = self.monitors_share();
        let mut what = Digest::new(0);
        what.word(hash);
        if let Some(known_steps) = &mut self.known_steps {
            known_steps.receive(None, what.value(), before, after);
        }
    }
}
