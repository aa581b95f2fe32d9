//! A machine under control, with all that belongs to it: the unit of copying and hashing.

use std::any::Any;
use std::collections::VecDeque;

use dally_core::fingerprint::{self, Encoder};
use dally_core::{Env, MessageId, WorkerId};
use triomphe::Arc;

use crate::body::{Input, Ran};
use crate::cell::{Cell, MachineCell};
use crate::cx::Turn;
use crate::digest::Digest;
use crate::effect::Effect;
use crate::encoding;
use crate::faults::Faults;
use crate::inbox::{Envelope, Mailbox};
use crate::machine::Machine;
use crate::pool::Pool;
use crate::program::Granularity;
use crate::system::Rules;
use crate::timer::Timer;

/// Where a machine is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Life {
    /// Created or restarted: its first step enters the start state.
    New,
    /// Handling events.
    Up,
    /// Crashed; may come back.
    Down,
    /// Over.
    Halted,
}

/// A machine, its inbox, its timers and its unreleased effects.
pub(crate) struct Worker {
    pub(crate) id: WorkerId,
    pub(crate) life: Life,
    /// How many messages it has sent.
    pub(crate) sent: u32,
    /// How many machines it has created.
    pub(crate) children: u32,
    /// How many seals it holds.
    pub(crate) seals: u32,
    pub(crate) inbox: VecDeque<Envelope>,
    /// Where in the inbox something is that can be dequeued; known while no effect is pending.
    pub(crate) ready: Option<u32>,
    /// Whether the state has a default handler, since its last handler ran.
    pub(crate) idles: bool,
    /// What its last handler did and others have not seen yet, the first of it last.
    pub(crate) effects: Vec<Effect>,
    pub(crate) timers: Vec<Timer>,
    /// A hash of the name of the machine's type.
    pub(crate) kind: u64,
    pub(crate) cell: Box<dyn Cell>,
}

impl Worker {
    /// A worker for a machine, in memory from the pool if there is some.
    pub(crate) fn make<M: Machine>(id: WorkerId, machine: M, pool: &mut Pool) -> Arc<Worker> {
        let kind = fingerprint::of_bytes(M::NAME.as_bytes());
        if let Some(mut shared) = pool.worker(kind)
            && let Some(worker) = Arc::get_mut(&mut shared)
            && let Some(cell) = (&mut *worker.cell as &mut dyn Any).downcast_mut::<MachineCell<M>>()
        {
            cell.reset(machine);
            worker.clear(pool);
            worker.id = id;
            return shared;
        }
        Arc::new(Worker {
            id,
            life: Life::New,
            sent: 0,
            children: 0,
            seals: 0,
            inbox: VecDeque::new(),
            ready: None,
            idles: false,
            effects: Vec::new(),
            timers: Vec::new(),
            kind,
            cell: Box::new(MachineCell::new(machine)),
        })
    }

    /// Forgets everything but the memory and the machine itself.
    pub(crate) fn clear(&mut self, pool: &mut Pool) {
        self.drop_inbox(pool);
        self.drop_effects(pool);
        self.drop_timers(pool);
        self.life = Life::New;
        (self.sent, self.children, self.seals) = (0, 0, 0);
        (self.ready, self.idles) = (None, false);
    }

    pub(crate) fn drop_inbox(&mut self, pool: &mut Pool) {
        while let Some(envelope) = self.inbox.pop_front() {
            pool.put(envelope.message);
        }
        self.ready = None;
    }

    fn drop_timers(&mut self, pool: &mut Pool) {
        while let Some(timer) = self.timers.pop() {
            if let Some(message) = timer.message {
                pool.put(message);
            }
        }
    }

    pub(crate) fn drop_effects(&mut self, pool: &mut Pool) {
        while let Some(effect) = self.effects.pop() {
            match effect {
                Effect::Send { message, .. }
                | Effect::Announce(message)
                | Effect::Arm { message, .. }
                | Effect::Cancel { message, .. } => pool.put(message),
                Effect::Create(worker) => pool.put_worker(worker),
                Effect::Persist
                | Effect::Halt
                | Effect::Seal
                | Effect::Unseal
                | Effect::Fail { .. } => {}
            }
        }
    }

    /// Runs the handler for an input.
    #[inline]
    pub(crate) fn run(
        &mut self,
        input: Input<'_>,
        twice: bool,
        pool: &mut Pool,
        env: &mut dyn Env,
    ) -> Ran {
        let Worker { id, children, seals, effects, cell, .. } = self;
        let (me, seals) = (*id, *seals);
        let turn = Turn { me, children, seals, effects, pool, env, excess: None, twice };
        let ran = cell.run(input, turn);
        if effects.len() > 1 {
            effects.reverse();
        }
        ran
    }

    /// Whether its next step takes the first message of its inbox, and that is no tick.
    #[inline]
    pub(crate) fn dequeues_first(&self, mailbox: Mailbox) -> bool {
        !self.is_busy()
            && self.ready == Some(0)
            && self.life == Life::Up
            && mailbox == Mailbox::Fifo
            && self.inbox.front().is_some_and(|first| first.timer.is_none())
    }

    /// Whether others may run before this effect.
    #[inline]
    pub(crate) fn pauses_before(&self, effect: &Effect, rules: Rules, budget: Faults) -> bool {
        // A crash of this machine can come between what is on disk and what others know. An
        // announcement is made together with the effect before it.
        let mortal = || budget.crash > 0 && self.cell.can_crash();
        match effect {
            // A crash of a receiver can come between two messages, also of an atomic handler.
            Effect::Send { .. } | Effect::Create(_) => {
                rules.granularity == Granularity::PerSend || budget.crash > 0
            }
            Effect::Persist | Effect::Halt => mortal(),
            Effect::Fail { apart, .. } => *apart,
            _ => false,
        }
    }

    /// Whether effects wait to be released.
    pub(crate) fn is_busy(&self) -> bool {
        !self.effects.is_empty()
    }

    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        match self.life {
            Life::New => true,
            Life::Up => self.is_busy() || self.ready.is_some() || self.idles,
            Life::Down | Life::Halted => false,
        }
    }

    /// Whether messages can reach it.
    pub(crate) fn is_there(&self) -> bool {
        matches!(self.life, Life::New | Life::Up)
    }

    /// The identity of its next message.
    pub(crate) fn next_message(&mut self) -> MessageId {
        let number = self.sent;
        self.sent = self.sent.wrapping_add(1);
        MessageId { sender: self.id, number }
    }

    /// A copy; `None` where the machine is not captured.
    pub(crate) fn duplicate(&self) -> Option<Worker> {
        Some(Worker {
            cell: self.cell.duplicate()?,
            inbox: self.inbox.clone(),
            effects: self.effects.clone(),
            timers: self.timers.clone(),
            ..*self
        })
    }

    /// Becomes a copy of `saved` in the same memory; `false`, and unchanged, where that cannot be.
    pub(crate) fn copy_from(&mut self, saved: &Worker, pool: &mut Pool) -> bool {
        if !self.cell.copy_from(&*saved.cell) {
            return false;
        }
        while self.inbox.len() > saved.inbox.len()
            && let Some(extra) = self.inbox.pop_back()
        {
            pool.put(extra.message);
        }
        for (at, saved) in saved.inbox.iter().enumerate() {
            match self.inbox.get_mut(at) {
                Some(own) => {
                    (own.id, own.event, own.timer) = (saved.id, saved.event, saved.timer);
                    // Most of what a spare worker still holds is what it is to hold.
                    if !Arc::ptr_eq(&own.message, &saved.message) {
                        pool.put(std::mem::replace(&mut own.message, saved.message.clone()));
                    }
                }
                None => self.inbox.push_back(saved.clone()),
            }
        }
        if !self.effects.is_empty() || !saved.effects.is_empty() {
            self.drop_effects(pool);
            self.effects.extend_from_slice(&saved.effects);
        }
        if !self.timers.is_empty() || !saved.timers.is_empty() {
            self.drop_timers(pool);
            self.timers.extend_from_slice(&saved.timers);
        }
        (self.id, self.kind) = (saved.id, saved.kind);
        self.life = saved.life;
        (self.sent, self.children, self.seals) = (saved.sent, saved.children, saved.seals);
        (self.ready, self.idles) = (saved.ready, saved.idles);
        true
    }

    /// Appends an injective encoding of all that its future depends on. Message numbers are left
    /// out: they only name what happens.
    pub(crate) fn encode(&self, mailbox: Mailbox, out: &mut Vec<u8>) {
        out.push(self.life as u8);
        if self.life == Life::Halted {
            return;
        }
        Encoder::encode(&self.children, out);
        Encoder::encode(&self.seals, out);
        encoding::framed(out, |out| Encoder::encode(self.cell.name(), out));
        encoding::framed(out, |out| self.cell.encode(out));
        out.extend_from_slice(&(self.effects.len() as u32).to_le_bytes());
        for effect in self.effects.iter().rev() {
            effect.encode(out);
        }
        encoding::framed(out, |out| mailbox.encode(&self.inbox, out));
        for timer in &self.timers {
            timer.encode(out);
        }
    }

    /// Hashes what [`Worker::encode`] writes.
    pub(crate) fn digest(&self, mailbox: Mailbox) -> u64 {
        if self.life == Life::Halted {
            return 0;
        }
        let mut digest = Digest::new(self.kind);
        digest.word((self.effects.len() as u64) << 8 | self.life as u64);
        digest.word(u64::from(self.children) << 32 | u64::from(self.seals));
        digest.word(self.cell.digest());
        for effect in self.effects.iter().rev() {
            effect.digest(&mut digest);
        }
        digest.word(mailbox.digest(&self.inbox));
        for timer in &self.timers {
            timer.digest(&mut digest);
        }
        digest.value()
    }
}
