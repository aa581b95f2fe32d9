//! The steps of machines: dequeue and run a handler, or release its effects.

use dally_core::{Bug, BugKind, Discard, Env, Event, MessageId, Stop, Tag, Text, WorkerId};
use triomphe::Arc;

use crate::body::{Input, Trouble};
use crate::effect::Effect;
use crate::inbox::{Envelope, Mailbox};
use crate::machine::Reaction;
use crate::message::Message;
use crate::system::{MachineSystem, Stamp};
use crate::tell::Teller;
use crate::worker::{Ahead, Life};

impl MachineSystem {
    /// One step of a machine.
    #[inline(always)]
    pub(crate) fn run(&mut self, slot: usize, env: &mut Teller<'_>) -> Result<(), Stop> {
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

    /// One step, whatever it is and whoever has a share in the workers: releases the first effect,
    /// or runs a handler.
    #[inline(never)]
    fn release_first(&mut self, slot: usize, env: &mut Teller<'_>) -> Result<(), Stop> {
        match self.slots[slot].unshared(&mut self.pool)?.effects.pop() {
            Some(effect) => self.perform(slot, effect, env)?,
            None => self.take_turn(slot, env)?,
        }
        self.release(slot, env)
    }

    /// The most frequent step, with the worker in hand from its beginning to its end: takes the
    /// first message of the inbox, unless that is a tick.
    #[inline(always)]
    fn receive_first(&mut self, slot: usize, env: &mut Teller<'_>) -> Result<(), Stop> {
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
            Ahead::Pause => Ok(()),
            Ahead::Rest => {
                let enabled = worker.is_enabled();
                here.list_as(enabled, &mut self.enabled);
                Ok(())
            }
            Ahead::More => self.release(slot, env),
        }
    }

    /// The other frequent step, with both workers in hand: the message goes from the effects of
    /// the one straight into the inbox of the other. Where nobody hears or notes it and nothing is lost.
    #[inline(always)]
    fn hand_over(
        &mut self,
        slot: usize,
        there: usize,
        event: u16,
        env: &mut Teller<'_>,
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
        env.pass_over(1)?;
        let at = receiver.inbox.len() as u32;
        let id = sender.next_message();
        if let Some(Effect::Send { message, .. }) = sender.effects.last_mut() {
            receiver.inbox.push(id, event, None, message.take());
        }
        // What is left of the effect is empty: to look for something to drop would take a call.
        std::mem::forget(sender.effects.pop());
        if readies {
            // It is up, and now there is something that it can dequeue.
            receiver.ready = Some(at);
            other.list_as(true, &mut self.enabled);
        }
        match sender.looks_ahead(self.rules, self.budget) {
            Ahead::Pause => Ok(()),
            Ahead::Rest => {
                let enabled = sender.is_enabled();
                here.list_as(enabled, &mut self.enabled);
                Ok(())
            }
            Ahead::More => self.release(slot, env),
        }
    }

    /// Runs the next handler of a machine that has none of its effects left to release, and
    /// leaves what it does unreleased.
    pub(crate) fn take_turn(&mut self, slot: usize, env: &mut Teller<'_>) -> Result<(), Stop> {
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
            (_, None) => Input::Default,
        };
        let mut nothing = Message::empty();
        match worker.run(input, &mut nothing, self.rules.twice, &mut self.pool, env) {
            Ok(()) => Ok(()),
            Err(trouble) => self.conclude(slot, *trouble, None),
        }
    }

    /// Runs the handler for a message.
    pub(crate) fn receive(
        &mut self,
        slot: usize,
        id: MessageId,
        event: u16,
        timer: Option<u32>,
        mut message: Message,
        env: &mut Teller<'_>,
    ) -> Result<(), Stop> {
        self.tick_left(slot, timer)?;
        let worker = self.slots[slot].unshared(&mut self.pool)?;
        if self.rules.mailbox != Mailbox::Fifo && worker.cell().reaction(event) == Reaction::Ignore
        {
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

    /// Which of the messages in the inbox is next, given the position of one that can be.
    fn choose_delivery(&mut self, slot: usize, at: u32, env: &mut Teller<'_>) -> Result<u32, Stop> {
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

    /// Lists the messages that can be next.
    pub(crate) fn list_candidates(&mut self, slot: usize) {
        let worker = &self.slots[slot].worker;
        self.rules.mailbox.candidates(&worker.inbox, worker.cell(), &mut self.candidates);
        self.candidate_ids.clear();
        self.candidate_ids.extend(self.candidates.iter().map(|candidate| candidate.0));
    }

    /// Takes note of how a handler ended that did not end as it should.
    #[cold]
    fn conclude(
        &mut self,
        slot: usize,
        trouble: Trouble,
        sender: Option<WorkerId>,
    ) -> Result<(), Stop> {
        match trouble {
            Trouble::Stopped(stop) => Err(stop),
            Trouble::Failed(bug) => self.fail(slot, bug),
            Trouble::Unhandled { event, raised } => {
                let bug = self.unhandled(slot, event, raised, sender);
                self.fail(slot, bug)
            }
        }
    }

    /// Makes a bug the last effect of a handler.
    #[cold]
    fn fail(&mut self, slot: usize, bug: Bug) -> Result<(), Stop> {
        let effects = &mut self.slots[slot].unshared(&mut self.pool)?.effects;
        let apart = effects.iter().any(|e| matches!(e, Effect::Send { .. } | Effect::Create(_)));
        effects.insert(0, Effect::Fail { bug: Arc::new(bug), apart });
        Ok(())
    }

    #[cold]
    fn unhandled(&self, slot: usize, event: u16, raised: bool, sender: Option<WorkerId>) -> Bug {
        let worker = &self.slots[slot].worker;
        let (state, event) = (worker.cell().state_name(), worker.cell().event_name(event));
        let from = match sender {
            _ if raised => ", which it raised itself".to_owned(),
            Some(sender) if sender == worker.id => ", which it sent itself".to_owned(),
            Some(sender) => format!(" from {}", self.describe(sender)),
            None => String::new(),
        };
        let message = format!(
            "{} in state `{state}` has no handler for event `{event}`{from}\n\
             handle it with `#[on({state}, {event})]`, keep it for later with \
             `#[defer({state}, {event})]`, or drop it with `#[ignore({state}, {event})]`",
            self.describe(worker.id)
        );
        Bug::new(BugKind::UnhandledEvent, message).by(worker.cell().name())
    }

    /// Releases effects in order up to the next scheduling point, or looks what the machine can
    /// do after the last.
    #[inline]
    pub(crate) fn release(&mut self, slot: usize, env: &mut Teller<'_>) -> Result<(), Stop> {
        loop {
            let here = &mut self.slots[slot];
            let worker = here.unshared(&mut self.pool)?;
            match worker.looks_ahead(self.rules, self.budget) {
                // It stepped, so it is listed; and it has something left to release.
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

    pub(crate) fn perform(
        &mut self,
        slot: usize,
        effect: Effect,
        env: &mut Teller<'_>,
    ) -> Result<(), Stop> {
        match effect {
            Effect::Send { to, event, message } => {
                let id = self.slots[slot].unshared(&mut self.pool)?.next_message();
                self.send(slot, id, to, event, message, env)
            }
            Effect::Create(worker) => {
                let name = || Text::Str(worker.cell().name());
                env.tell(|| Event::Created { worker: worker.id, name: name() })?;
                self.add(worker);
                Ok(())
            }
            Effect::Announce(message) => {
                if let Some(event) = message.event() {
                    let before = if self.noting { self.monitors_share() } else { 0 };
                    self.monitors_stamp = Stamp::new();
                    *self.monitors_share.get_mut() = 0;
                    self.monitors.announce_any(event, message.payload(), env)?;
                    if self.noting {
                        self.note_announcement(before, message.hash());
                    }
                }
                self.pool.put(message);
                Ok(())
            }
            Effect::Arm { event, message, periodic, .. } => {
                self.arm(slot, event, message, periodic, env)
            }
            Effect::Cancel { event, message } => {
                let found = self.slots[slot].worker.find_timer(event, &message);
                if let Some(timer) = found {
                    self.disarm(slot, timer, true, env)?;
                }
                self.pool.put(message);
                Ok(())
            }
            Effect::Persist => {
                let worker = self.slots[slot].unshared(&mut self.pool)?;
                if let Some(durable) = worker.cell_mut().persist() {
                    env.tell(|| Event::Persisted { payload: Text::Debug(durable) })?;
                }
                Ok(())
            }
            Effect::Halt => self.halt(slot, env),
            Effect::Seal => {
                self.slots[slot].unshared(&mut self.pool)?.seals += 1;
                self.seals += 1;
                Ok(())
            }
            Effect::Unseal => {
                // That there is one was checked when it was asked for.
                self.slots[slot].unshared(&mut self.pool)?.seals -= 1;
                self.seals -= 1;
                Ok(())
            }
            Effect::Fail { bug, .. } => Err(Stop::Bug(Box::new(Bug::clone(&bug)))),
        }
    }

    #[inline(always)]
    fn send(
        &mut self,
        slot: usize,
        id: MessageId,
        to: WorkerId,
        event: u16,
        message: Message,
        env: &mut Teller<'_>,
    ) -> Result<(), Stop> {
        let payload = || Text::Debug(message.payload());
        env.tell(|| Event::Sent { message: id, to, payload: payload() })?;
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

    /// [`MachineSystem::put_in`], noted.
    #[inline(never)]
    fn put_in_noted(
        &mut self,
        there: usize,
        id: MessageId,
        event: u16,
        message: Message,
        env: &mut Teller<'_>,
    ) -> Result<(), Stop> {
        let before = self.before_message(there, id, event, &message);
        self.put_in(there, id, event, None, message, env)?;
        self.note_message(there, before);
        Ok(())
    }

    /// A message has come to a machine that is no longer there, or to none.
    #[cold]
    fn note_gone(&mut self, gone: Option<usize>, id: MessageId, event: u16, message: &Message) {
        match gone {
            Some(there) if self.notes_message_to(there) => {
                let before = self.before_message(there, id, event, message);
                self.note_message(there, before);
            }
            Some(_) => {}
            // There may be one another time.
            None => self.noting = false,
        }
    }

    fn send_over_bad_network(
        &mut self,
        slot: usize,
        there: usize,
        envelope: Envelope,
        env: &mut Teller<'_>,
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
        env: &mut Teller<'_>,
    ) -> Result<(), Stop> {
        env.tell(|| Event::Discarded { message: id, why })?;
        self.pool.put(message);
        Ok(())
    }

    /// Puts a message into the inbox of a machine that is there.
    pub(crate) fn deliver(
        &mut self,
        slot: usize,
        envelope: Envelope,
        env: &mut Teller<'_>,
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
        env: &mut Teller<'_>,
    ) -> Result<(), Stop> {
        let fifo = self.rules.mailbox == Mailbox::Fifo;
        let here = &mut self.slots[slot];
        let worker = here.unshared(&mut self.pool)?;
        let mut ready = None;
        if worker.awaits() {
            // Everything in the inbox is deferred: only the new message can be dequeued.
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

    /// Finds out what a machine without effects to release can do next.
    pub(crate) fn settle(&mut self, slot: usize, env: &mut Teller<'_>) -> Result<(), Stop> {
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

    pub(crate) fn halt(&mut self, slot: usize, env: &mut Teller<'_>) -> Result<(), Stop> {
        let id = self.slots[slot].worker.id;
        env.tell(|| Event::Halted { worker: id })?;
        self.disarm_all(slot, env)?;
        let mortal = self.slots[slot].worker.cell().can_crash();
        let MachineSystem { slots, pool, .. } = self;
        let worker = slots[slot].unshared(pool)?;
        for lost in worker.inbox.iter() {
            env.tell(|| Event::Discarded { message: lost.id, why: Discard::Gone })?;
        }
        worker.drop_inbox(pool);
        worker.drop_effects(pool);
        worker.life = Life::Halted;
        self.seals -= std::mem::take(&mut worker.seals);
        if mortal {
            self.mortals -= 1;
        }
        self.relist_faults();
        Ok(())
    }
}
