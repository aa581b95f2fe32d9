//! What the next step of a worker will touch.

use dally_core::{Access, Footprint, MessageId, Resource, WorkerId};

use crate::effect::Effect;
use crate::inbox::Mailbox;
use crate::machine::Reaction;
use crate::place::Place;
use crate::system::MachineSystem;
use crate::worker::{Life, Worker};

impl MachineSystem {
    /// Adds what the next step touches: exact for effects, open for handlers.
    pub(crate) fn foresee_touched(&self, worker: WorkerId, out: &mut Footprint) {
        out.begin(worker);
        match self.find(worker) {
            Some(Place::Machine(slot)) => {
                let worker = &self.slots[slot].worker;
                if worker.is_busy() { self.effects(worker, out) } else { self.handler(worker, out) }
            }
            Some(Place::Timer(slot, timer)) => {
                let owner = &self.slots[slot].worker;
                let number = owner.timers.get(timer).map_or(0, |timer| timer.ticks);
                self.sends(MessageId { sender: worker, number }, owner.id, out);
                if self.can_handle_at_once() {
                    out.add(Access::update(Resource::Worker(owner.id)));
                }
                // A tick that the machine ignores on arrival leaves the timer as it was before.
                out.leave_open();
            }
            None if worker == WorkerId::FAULTS => {}
            None => out.leave_open(),
        }
    }

    fn sends(&self, message: MessageId, to: WorkerId, out: &mut Footprint) {
        if self.rules.mailbox != Mailbox::Fifo {
            out.add(Access::read(Resource::Inbox(to)));
        }
        out.sends(message, to);
    }

    fn handler(&self, worker: &Worker, out: &mut Footprint) {
        let first = worker.ready.and_then(|at| worker.inbox.get(at as usize));
        match first {
            _ if worker.life == Life::New => out.add(Access::read(Resource::Life(worker.id))),
            Some(first) => {
                let chooses = self.rules.mailbox != Mailbox::Fifo;
                // Which of several is chosen is not known, and which came first is no part of the state.
                if !chooses || worker.inbox.len() == 1 {
                    out.takes(first.id);
                }
                if chooses {
                    // The choice among the messages reads the inbox.
                    out.add(Access::read(Resource::Inbox(worker.id)));
                }
            }
            None => out.add(Access::update(Resource::Inbox(worker.id))),
        }
        out.leave_open();
    }

    /// The effects up to the next pause, and after the last of them the dequeuing of ignored events.
    fn effects(&self, worker: &Worker, out: &mut Footprint) {
        let mut number = worker.sent;
        for (at, effect) in worker.effects.iter().rev().enumerate() {
            if at > 0 && worker.pauses_before(effect, self.rules, self.budget) {
                return;
            }
            match effect {
                Effect::Send { to, .. } => {
                    self.sends(MessageId { sender: worker.id, number }, *to, out);
                    number = number.wrapping_add(1);
                    // The network may drop it, or the machine itself may ignore it at once.
                    if *to == worker.id || self.budget.lose | self.budget.duplicate != 0 {
                        out.leave_open();
                    }
                }
                Effect::Create(created) => out.add(Access::write(Resource::Life(created.id))),
                Effect::Announce(_) => out.add(Access::update(Resource::Monitors)),
                Effect::Arm { .. } | Effect::Cancel { .. } => out.leave_open(),
                Effect::Halt => {
                    out.add(Access::write(Resource::Life(worker.id)));
                    return out.leave_open();
                }
                Effect::Fail { .. } => return out.add(Access::write(Resource::Execution)),
                Effect::Persist | Effect::Seal | Effect::Unseal | Effect::Rare => {}
            }
        }
        if self.rules.mailbox == Mailbox::Fifo {
            for envelope in worker.inbox.iter() {
                match worker.cell().reaction(envelope.event) {
                    Reaction::Defer => {}
                    Reaction::Ignore => {
                        out.takes(envelope.id);
                    }
                    _ => break,
                }
            }
        }
    }
}
