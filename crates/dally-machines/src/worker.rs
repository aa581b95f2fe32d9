//! A machine under control, with all that belongs to it: the unit of copying and hashing.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dally_core::fingerprint::{self, Encoder};
use dally_core::{MessageId, Observe, WorkerId};
use triomphe::Arc;

use crate::cell::{Cell, MachineCell};
use crate::digest::Digest;
use crate::effect::Effect;
use crate::encoding;
use crate::faults::Faults;
use crate::inbox::{Inbox, Mailbox};
use crate::machine::{Machine, Reaction};
use crate::pool::Pool;
use crate::program::Granularity;
use crate::sealing::Sealing;
use crate::slot::known_or;
use crate::system::Rules;
use crate::timer::Timer;

mod turn;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Life {
    /// Created or restarted; the first step enters the start state.
    New,
    Up,
    /// Crashed; may restart.
    Down,
    Halted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ahead {
    /// A scheduling point: other workers may run before the next effect.
    Pause,
    /// All effects are released, and the first message of the inbox, if there is one, can be dequeued.
    Rest,
    /// An effect to release, or a scan of the inbox.
    More,
}

/// A machine, its inbox, its timers and its unreleased effects.
pub(crate) struct Worker {
    pub(crate) id: WorkerId,
    pub(crate) life: Life,
    pub(crate) sent: u32,
    pub(crate) children: u32,
    pub(crate) seals: u32,
    pub(crate) inbox: Inbox,
    /// The position of a message that can be dequeued; valid while no effect is pending.
    pub(crate) ready: Option<u32>,
    /// Whether the state after the last handler has a default handler.
    pub(crate) idles: bool,
    /// The unreleased effects of the last handler, in reverse order.
    pub(crate) effects: Vec<Effect>,
    pub(crate) timers: Vec<Timer>,
    /// A hash of the name of the machine's type.
    pub(crate) kind: u64,
    cell: Box<dyn Cell>,
    /// The digest of the cell; zero if unknown.
    cell_digest: AtomicU64,
    pub(crate) sealing: Sealing,
}

impl Worker {
    pub(crate) fn make<M: Machine>(id: WorkerId, machine: M, pool: &mut Pool) -> Arc<Worker> {
        let kind = fingerprint::of_bytes(M::NAME.as_bytes());
        if let Some(mut shared) = pool.worker(kind)
            && let Some(worker) = Arc::get_mut(&mut shared)
            && let Some(cell) = (worker.cell_mut() as &mut dyn Any).downcast_mut::<MachineCell<M>>()
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
            inbox: Inbox::default(),
            ready: None,
            idles: false,
            effects: Vec::new(),
            timers: Vec::new(),
            kind,
            cell: Box::new(MachineCell::new(machine)),
            cell_digest: AtomicU64::new(0),
            sealing: Sealing::default(),
        })
    }

    #[inline]
    pub(crate) fn cell(&self) -> &dyn Cell {
        &*self.cell
    }

    #[inline]
    pub(crate) fn cell_mut(&mut self) -> &mut dyn Cell {
        self.forget_cell();
        &mut *self.cell
    }

    /// Called before the cell may change.
    #[inline(always)]
    fn forget_cell(&mut self) {
        *self.cell_digest.get_mut() = 0;
        self.sealing.forget();
    }

    /// Empties the worker; its memory and its cell stay.
    pub(crate) fn clear(&mut self, pool: &mut Pool) {
        self.drop_inbox(pool);
        self.drop_effects(pool);
        self.copy_timers(&[], pool);
        self.life = Life::New;
        (self.sent, self.children, self.seals) = (0, 0, 0);
        (self.ready, self.idles) = (None, false);
    }

    pub(crate) fn drop_inbox(&mut self, pool: &mut Pool) {
        while !self.inbox.is_empty() {
            pool.put(self.inbox.open_first());
        }
        self.ready = None;
    }

    fn copy_timers(&mut self, saved: &[Timer], pool: &mut Pool) {
        while self.timers.len() > saved.len()
            && let Some(extra) = self.timers.pop()
        {
            extra.message.into_iter().for_each(|message| pool.put(message));
        }
        for (own, saved) in self.timers.iter_mut().zip(saved) {
            own.copy_from(saved, pool);
        }
        if self.timers.len() < saved.len() {
            self.timers.extend_from_slice(&saved[self.timers.len()..]);
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
                _ => {}
            }
        }
    }

    /// Whether the next step takes the first message of the inbox, and that is no tick.
    #[inline(always)]
    pub(crate) fn dequeues_first(&self, mailbox: Mailbox) -> bool {
        !self.is_busy()
            && self.ready == Some(0)
            && self.life == Life::Up
            && mailbox == Mailbox::Fifo
            && self.inbox.first().is_some_and(|first| first.timer.is_none())
    }

    /// Whether the machine can dequeue nothing from its inbox, and a new message may change that.
    #[inline]
    pub(crate) fn awaits(&self) -> bool {
        self.life == Life::Up && !self.is_busy() && self.ready.is_none()
    }

    #[inline(always)]
    pub(crate) fn looks_ahead(&mut self, rules: Rules, budget: Faults) -> Ahead {
        if let Some(effect) = self.effects.last() {
            let pauses = self.pauses_before(effect, rules, budget);
            return if pauses { Ahead::Pause } else { Ahead::More };
        }
        let next = self.inbox.first().map(|first| first.event);
        if let Some(event) = next
            && (self.life != Life::Up
                || matches!(self.cell.reaction(event), Reaction::Defer | Reaction::Ignore))
        {
            return Ahead::More;
        }
        self.ready = next.map(|_| 0);
        Ahead::Rest
    }

    /// Whether there is a scheduling point before this effect.
    #[inline]
    pub(crate) fn pauses_before(&self, effect: &Effect, rules: Rules, budget: Faults) -> bool {
        // A crash of this machine can come between what it has persisted and what others know. An
        // announcement is made together with the effect before it.
        let mortal = || budget.crash > 0 && self.cell.can_crash();
        match effect {
            // A crash of a receiver can come between two messages, even of an atomic handler.
            Effect::Send { .. } | Effect::Create(_) => {
                rules.granularity == Granularity::PerSend || budget.crash > 0
            }
            Effect::Persist | Effect::Halt => mortal(),
            Effect::Fail { apart, .. } => *apart,
            _ => false,
        }
    }

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

    pub(crate) fn is_there(&self) -> bool {
        matches!(self.life, Life::New | Life::Up)
    }

    pub(crate) fn next_message(&mut self) -> MessageId {
        let number = self.sent;
        self.sent = self.sent.wrapping_add(1);
        MessageId { sender: self.id, number }
    }

    /// A copy; `None` where the machine is not captured.
    pub(crate) fn duplicate(&self) -> Option<Worker> {
        Some(Worker {
            cell: self.cell.duplicate()?,
            cell_digest: AtomicU64::new(self.cell_digest.load(Relaxed)),
            sealing: self.sealing.clone(),
            inbox: self.inbox.clone(),
            effects: self.effects.clone(),
            timers: self.timers.clone(),
            ..*self
        })
    }

    /// Overwrites this worker with a copy of `saved` in the same memory; `false`, and unchanged, where
    /// the cells do not allow that.
    pub(crate) fn copy_from(&mut self, saved: &Worker, pool: &mut Pool) -> bool {
        if !self.cell.copy_from(&*saved.cell) {
            return false;
        }
        *self.cell_digest.get_mut() = saved.cell_digest.load(Relaxed);
        self.sealing.clone_from(&saved.sealing);
        self.inbox.copy_from(&saved.inbox, pool);
        if !self.effects.is_empty() || !saved.effects.is_empty() {
            self.drop_effects(pool);
            self.effects.extend_from_slice(&saved.effects);
        }
        if !self.timers.is_empty() || !saved.timers.is_empty() {
            self.copy_timers(&saved.timers, pool);
        }
        (self.id, self.kind) = (saved.id, saved.kind);
        self.life = saved.life;
        (self.sent, self.children, self.seals) = (saved.sent, saved.children, saved.seals);
        (self.ready, self.idles) = (saved.ready, saved.idles);
        true
    }

    /// Whether `other` is in all respects the same, down to the ids of its messages. Workers with
    /// unreleased effects are never the same: few states have equal ones.
    pub(crate) fn same(&self, other: &Worker) -> bool {
        let counts = |worker: &Worker| (worker.sent, worker.children, worker.seals);
        let next = |worker: &Worker| (worker.life, worker.ready, worker.idles);
        (self.id, self.kind) == (other.id, other.kind)
            && counts(self) == counts(other)
            && next(self) == next(other)
            && !self.is_busy()
            && !other.is_busy()
            && self.inbox.len() == other.inbox.len()
            && self.timers.len() == other.timers.len()
            && self.inbox.iter().zip(&*other.inbox).all(|(own, other)| own.same(other))
            && self.timers.iter().zip(&other.timers).all(|(own, other)| own.same(other))
            && self.cell.same(&*other.cell)
    }

    /// Appends an injective encoding of all that the worker's future depends on. Message numbers are
    /// left out: nothing depends on them.
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
        self.digest_around(self.cell_digest(), mailbox)
    }

    /// [`Worker::digest`] without remembered parts.
    pub(crate) fn digest_from_scratch(&self, mailbox: Mailbox) -> u64 {
        self.digest_around(self.cell.digest(), mailbox)
    }

    #[inline]
    fn digest_around(&self, cell: u64, mailbox: Mailbox) -> u64 {
        if self.life == Life::Halted {
            return 0;
        }
        let mut digest = Digest::new(self.kind);
        let counts = u64::from(self.children) << 32 | u64::from(self.seals);
        let effects = self.effects.len() as u64;
        digest.word(effects << 8 | u64::from(counts != 0) << 4 | self.life as u64);
        if counts != 0 {
            digest.word(counts);
        }
        digest.word(cell);
        for effect in self.effects.iter().rev() {
            effect.digest(&mut digest);
        }
        digest.word(mailbox.digest(&self.inbox));
        for timer in &self.timers {
            timer.digest(&mut digest);
        }
        digest.value()
    }

    /// The worker's share in an observation: its type and the names of the events in its inbox, unless
    /// a machine shows itself without them; then, for control, its stack of states, its life, its next
    /// operation and the timers that can fire, and otherwise what the machine shows, unless it has ended.
    pub(crate) fn observation(&self, how: Observe, mailbox: Mailbox) -> u64 {
        let mut digest = Digest::new(self.kind);
        if how != Observe::Custom || self.cell.shows_inbox() {
            let events = self.inbox.iter().map(|envelope| u64::from(envelope.event) + 1);
            if mailbox == Mailbox::Fifo {
                events.for_each(|event| digest.word(event));
            } else if !self.inbox.is_empty() {
                // The order in which messages came makes no difference.
                let events = events.map(|event| fingerprint::mix(1, event));
                digest.word(events.fold(0, u64::wrapping_add));
            }
        }
        match how {
            Observe::Inboxes => {}
            Observe::Control => {
                let op = match self.effects.last() {
                    Some(Effect::Send { .. }) => 1,
                    Some(Effect::Create(_)) => 2,
                    Some(_) => 3,
                    None => 0,
                };
                digest.word(self.cell.control().wrapping_add(op << 8 | self.life as u64));
                // The order in which the timers were first armed makes no difference.
                let armed = self.timers.iter().filter(|timer| timer.can_fire());
                let armed = armed.map(|timer| fingerprint::mix(1, u64::from(timer.event)));
                digest.word(armed.fold(0, u64::wrapping_add));
            }
            Observe::Custom if self.life == Life::Halted => digest.word(0),
            Observe::Custom => digest.word(self.cell.shown()),
        }
        // Shares are summed, so each must be mixed over all bits.
        fingerprint::mix(digest.value(), 0).max(1)
    }

    /// The digest of the cell, which the arrival of a message does not change.
    #[inline]
    fn cell_digest(&self) -> u64 {
        known_or(&self.cell_digest, || self.cell.digest())
    }
}
