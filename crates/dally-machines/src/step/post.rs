//! Messages on their way from a sender into an inbox.

use dally_core::{
    Access, Discard, Env, Event, EventSink, MessageId, Resource, Stop, Tag, Text, WorkerId,
};

use crate::inbox::{Envelope, Mailbox};
use crate::machine::Reaction;
use crate::message::Message;
use crate::system::MachineSystem;

impl MachineSystem {
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        slot: usize,
        id: MessageId,
        to: WorkerId,
        event: u16,
        message: Message,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        self.tell_sent(id, to, &message, env)?;
        let there = match self.machine(to) {
            Some(there) if self.slots[there].worker.is_there() => there,
            gone => {
                self.note_gone(gone, id, event, &message);
                return self.discard(id, message, Discard::Gone, env);
            }
        };
        if self.budget.lose | self.budget.duplicate != 0 && slot != there {
            let envelope = Envelope { id, event, timer: None, message };
            return self.send_over_bad_network(slot, there, envelope, env);
        }
        if self.notes_message_to(there) {
            return self.put_in_noted(there, id, event, message, env);
        }
        self.put_in(there, id, event, None, message, env)
    }

    /// Tells that a message is sent, and before that if the inbox does not remember its place among
    /// those of other senders.
    #[inline(always)]
    pub(crate) fn tell_sent(
        &self,
        message: MessageId,
        to: WorkerId,
        content: &Message,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        if self.rules.mailbox != Mailbox::Fifo {
            let access = Access::read(Resource::Inbox(to));
            env.tell(|| Event::Accessed { access, what: Text::Str("") })?;
        }
        env.tell(|| Event::Sent { message, to, payload: Text::Debug(content.payload()) })?;
        Ok(())
    }

    /// Puts a message into the inbox of a machine that is up or new.
    pub(crate) fn deliver(
        &mut self,
        slot: usize,
        envelope: Envelope,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let Envelope { id, event, timer, message } = envelope;
        if self.notes_message_to(slot) {
            return self.put_in_noted(slot, id, event, message, env);
        }
        self.put_in(slot, id, event, timer, message, env)
    }

    /// [`MachineSystem::deliver`] as part of the step that sends.
    #[inline(always)]
    fn put_in(
        &mut self,
        slot: usize,
        id: MessageId,
        event: u16,
        timer: Option<u32>,
        message: Message,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let fifo = self.rules.mailbox == Mailbox::Fifo;
        let here = &mut self.slots[slot];
        let worker = here.unshared(&mut self.pool)?;
        let mut ready = None;
        if worker.awaits() {
            // All other messages in the inbox are deferred: only the new one can be dequeued.
            match worker.cell().reaction(event) {
                Reaction::Ignore if fifo => {
                    self.tick_left(slot, timer)?;
                    return self.discard(id, message, Discard::Ignored, env);
                }
                Reaction::Defer => {}
                _ => ready = Some(worker.inbox.len() as u32),
            }
        }
        worker.inbox.push(id, event, timer, message);
        if ready.is_some() {
            worker.ready = ready;
            here.relist(&mut self.enabled);
        }
        Ok(())
    }

    fn send_over_bad_network(
        &mut self,
        slot: usize,
        there: usize,
        envelope: Envelope,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let Envelope { id, event, .. } = envelope;
        if self.budget.lose > 0 && env.value(2, Tag::Fault)? == 1 {
            self.budget.lose -= 1;
            return self.discard(id, envelope.message, Discard::Lost, env);
        }
        let message = &envelope.message;
        let mut copy = None;
        if self.budget.duplicate > 0 && message.can_copy() && env.value(2, Tag::Fault)? == 1 {
            self.budget.duplicate -= 1;
            let double = self.slots[slot].unshared(&mut self.pool)?.next_message();
            env.tell(|| Event::Duplicated { message: id, copy: double })?;
            copy = Some(Envelope { id: double, event, timer: None, message: message.clone() });
        }
        self.deliver(there, envelope, env)?;
        copy.map_or(Ok(()), |copy| self.deliver(there, copy, env))
    }

    pub(crate) fn discard(
        &mut self,
        id: MessageId,
        message: Message,
        why: Discard,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        env.tell(|| Event::Discarded { message: id, why })?;
        self.pool.put(message);
        Ok(())
    }

    /// Tells of the messages of an inbox that nobody will take: in the order of their ids where the mailbox
    /// does not remember in which order they came.
    #[inline]
    pub(crate) fn tell_lost(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        // Most machines that end have handled all that they were sent.
        if self.slots[slot].worker.inbox.is_empty() { Ok(()) } else { self.tell_each(slot, env) }
    }

    #[inline(never)]
    fn tell_each(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let mut lost = std::mem::take(&mut self.candidate_ids);
        lost.clear();
        lost.extend(self.slots[slot].worker.inbox.iter().map(|envelope| envelope.id));
        if self.rules.mailbox != Mailbox::Fifo {
            lost.sort_unstable();
        }
        let told = lost
            .iter()
            .try_for_each(|&message| env.tell(|| Event::Discarded { message, why: Discard::Gone }));
        self.candidate_ids = lost;
        told?;
        Ok(())
    }

    /// [`MachineSystem::put_in`] with a note for the transition cache.
    #[inline(never)]
    fn put_in_noted(
        &mut self,
        there: usize,
        id: MessageId,
        event: u16,
        message: Message,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let before = self.before_message(there, id, event, &message);
        self.put_in(there, id, event, None, message, env)?;
        self.note_message(there, before);
        Ok(())
    }

    /// Notes that a message has come to a machine that has ended, or to none.
    #[cold]
    fn note_gone(&mut self, gone: Option<usize>, id: MessageId, event: u16, message: &Message) {
        match gone {
            Some(there) if self.notes_message_to(there) => {
                let before = self.before_message(there, id, event, message);
                self.note_message(there, before);
            }
            Some(_) => {}
            // A machine with this id may exist the next time, so the step is not noted.
            None => self.noting = false,
        }
    }
}
