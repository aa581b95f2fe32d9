//! The steps of machines: dequeue and run a handler, or release its effects.

use dally_core::{Access, Discard, Env, Event, EventSink, MessageId, Resource, Stop, Text};

use crate::body::Input;
use crate::effect::Effect;
use crate::inbox::{Envelope, Mailbox};
use crate::machine::Reaction;
use crate::message::Message;
use crate::system::MachineSystem;
use crate::worker::{Ahead, Life};

mod effects;
mod post;
mod trouble;

impl MachineSystem {
    #[inline(always)]
    pub(crate) fn run(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        match self.slots[slot].worker.effects.last() {
            None => self.receive_first(slot, env),
            Some(&Effect::Send { to, event, .. })
                if self.budget.lose | self.budget.duplicate == 0
                    && !env.is_heard()
                    && !self.noting =>
            {
                self.hand_over(slot, self.slot_of(to), event, env)
            }
            _ => self.release_first(slot, env),
        }
    }

    /// The general step: releases the first effect or runs a handler, also where workers are shared.
    #[inline(never)]
    fn release_first(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        match self.slots[slot].unshared(&mut self.pool)?.effects.pop() {
            Some(effect) => self.perform(slot, effect, env)?,
            None => self.take_turn(slot, env)?,
        }
        self.release(slot, env)
    }

    /// The most frequent step, in which the worker is looked up once: takes the first message of the
    /// inbox. Other cases, ticks among them, go to the general step.
    #[inline(always)]
    fn receive_first(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let (rules, here) = (self.rules, &mut self.slots[slot]);
        let Some(worker) = here.own() else { return self.release_first(slot, env) };
        if !worker.dequeues_first(rules.mailbox) {
            return self.release_first(slot, env);
        }
        let (id, ran) = worker.run_first(rules.twice, &mut self.pool, env);
        if let Err(trouble) = ran {
            self.conclude(slot, *trouble, Some(id.sender))?;
            return self.release(slot, env);
        }
        match worker.looks_ahead(rules, self.budget) {
            Ahead::Pause => {}
            Ahead::Rest => here.relist(&mut self.enabled),
            Ahead::More => return self.release(slot, env),
        }
        Ok(())
    }

    /// The other frequent step, for two unshared workers: moves a message from the sender's effects
    /// into the receiver's inbox. The caller makes sure that the send is neither told nor noted and
    /// that the network is reliable.
    #[inline(always)]
    fn hand_over(
        &mut self,
        slot: usize,
        there: usize,
        event: u16,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let Ok([here, other]) = self.slots.get_disjoint_mut([slot, there]) else {
            return self.release_first(slot, env);
        };
        let Some(receiver) = other.own() else { return self.release_first(slot, env) };
        let Some(sender) = here.own() else { return self.release_first(slot, env) };
        if !receiver.is_there() {
            return self.release_first(slot, env);
        }
        let mut readies = false;
        if receiver.awaits() {
            match receiver.cell().reaction(event) {
                Reaction::Ignore => return self.release_first(slot, env),
                Reaction::Defer => {}
                _ => readies = true,
            }
        }
        // A mailbox that is no queue is an event of its own.
        env.count(1 + u32::from(self.rules.mailbox != Mailbox::Fifo))?;
        let at = receiver.inbox.len() as u32;
        let id = sender.next_message();
        if let Some(Effect::Send { message, .. }) = sender.effects.last_mut() {
            receiver.inbox.push(id, event, None, message.take());
        }
        // The effect is empty by now, and dropping it would cost a call.
        std::mem::forget(sender.effects.pop());
        if readies {
            // The receiver is up, and this message is the first that it can dequeue.
            receiver.ready = Some(at);
            other.list_as(true, &mut self.enabled);
        }
        match sender.looks_ahead(self.rules, self.budget) {
            Ahead::Pause => {}
            Ahead::Rest => here.relist(&mut self.enabled),
            Ahead::More => return self.release(slot, env),
        }
        Ok(())
    }

    /// Runs the next handler of a machine without unreleased effects, and releases nothing.
    pub(crate) fn take_turn(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let worker = self.slots[slot].unshared(&mut self.pool)?;
        let input = match (worker.life, worker.ready) {
            (Life::New, _) => {
                worker.life = Life::Up;
                Input::Start
            }
            (_, Some(at)) => {
                let chosen = self.choose_delivery(slot, at, env)?;
                let inbox = &mut self.slots[slot].unshared(&mut self.pool)?.inbox;
                let Some(&Envelope { id, event, timer, .. }) = inbox.get(chosen as usize) else {
                    return Ok(());
                };
                let message = inbox.open(chosen as usize);
                return self.receive(slot, id, event, timer, message, env);
            }
            (_, None) => {
                // A default handler runs because nothing in the inbox can be dequeued, so it comes
                // before or after each send to it.
                let access = Access::update(Resource::Inbox(worker.id));
                env.tell(|| Event::Accessed { access, what: Text::Str("") })?;
                Input::Default
            }
        };
        let mut nothing = Message::empty();
        match worker.run(input, &mut nothing, self.rules.twice, &mut self.pool, env) {
            Ok(()) => Ok(()),
            Err(trouble) => self.conclude(slot, *trouble, None),
        }
    }

    pub(crate) fn receive(
        &mut self,
        slot: usize,
        id: MessageId,
        event: u16,
        timer: Option<u32>,
        mut message: Message,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        self.tick_left(slot, timer)?;
        let worker = self.slots[slot].unshared(&mut self.pool)?;
        if self.rules.mailbox != Mailbox::Fifo && worker.cell().reaction(event) == Reaction::Ignore
        {
            // It is a step of its own, after the one that sent the message.
            let access = Access::update(Resource::Message(id));
            env.tell(|| Event::Accessed { access, what: Text::Str("") })?;
            return self.discard(id, message, Discard::Ignored, env);
        }
        env.tell(|| Event::Received { message: id, payload: Text::Debug(message.payload()) })?;
        let input = Input::Event(event);
        let ran = worker.run(input, &mut message, self.rules.twice, &mut self.pool, env);
        self.pool.put(message);
        match ran {
            Ok(()) => Ok(()),
            Err(trouble) => self.conclude(slot, *trouble, Some(id.sender)),
        }
    }

    /// Which message of the inbox is next, given the position of one that can be.
    fn choose_delivery(
        &mut self,
        slot: usize,
        at: u32,
        env: &mut EventSink<'_>,
    ) -> Result<u32, Stop> {
        let worker = &self.slots[slot].worker;
        if self.rules.mailbox == Mailbox::Fifo || worker.inbox.len() < 2 {
            return Ok(at);
        }
        self.list_candidates(slot);
        if self.candidates.len() < 2 {
            return Ok(at);
        }
        let chosen = env.delivery(&self.candidate_ids)?;
        Ok(self.candidates.get(chosen).map_or(at, |candidate| candidate.1))
    }

    pub(crate) fn list_candidates(&mut self, slot: usize) {
        let worker = &self.slots[slot].worker;
        self.rules.mailbox.candidates(&worker.inbox, worker.cell(), &mut self.candidates);
        self.candidate_ids.clear();
        self.candidate_ids.extend(self.candidates.iter().map(|candidate| candidate.0));
    }

    /// Releases effects in order up to the next scheduling point; after the last one
    /// [`MachineSystem::settle`] follows.
    #[inline]
    pub(crate) fn release(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        loop {
            let here = &mut self.slots[slot];
            let worker = here.unshared(&mut self.pool)?;
            match worker.looks_ahead(self.rules, self.budget) {
                // The worker has effects left, and it stepped, so it is in the list already.
                Ahead::Pause => return Ok(()),
                Ahead::Rest => {
                    here.relist(&mut self.enabled);
                    return Ok(());
                }
                Ahead::More if !worker.is_busy() => return self.settle(slot, env),
                Ahead::More => {}
            }
            if let Some(Effect::Send { to, event, message }) = worker.effects.last_mut() {
                let (to, event) = (*to, *event);
                let message = message.take();
                worker.effects.truncate(worker.effects.len() - 1);
                let id = worker.next_message();
                self.send(slot, id, to, event, message, env)?;
            } else if let Some(effect) = worker.effects.pop() {
                self.perform(slot, effect, env)?;
            }
        }
    }

    /// Drops ignored events and finds what a machine without unreleased effects can do next.
    pub(crate) fn settle(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let fifo = self.rules.mailbox == Mailbox::Fifo;
        let mut at = 0;
        loop {
            let worker = self.slots[slot].unshared(&mut self.pool)?;
            if worker.life != Life::Up {
                break;
            }
            let reaction = worker.inbox.get(at).map(|next| worker.cell().reaction(next.event));
            match reaction {
                Some(Reaction::Defer) => at += 1,
                Some(Reaction::Ignore) if fifo => {
                    let Envelope { id, timer, .. } = worker.inbox[at];
                    let ignored = worker.inbox.open(at);
                    self.tick_left(slot, timer)?;
                    self.discard(id, ignored, Discard::Ignored, env)?;
                }
                _ => {
                    worker.ready = reaction.map(|_| at as u32);
                    break;
                }
            }
        }
        self.relist(slot);
        Ok(())
    }
}
