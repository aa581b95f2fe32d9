//! Timers: workers whose step is to fire.

use dally_core::{Access, Discard, Event, EventSink, MessageId, Resource, Stop, Text, WorkerId};

use crate::digest::Digest;
use crate::encoding;
use crate::inbox::{Envelope, Mailbox};
use crate::machine::Reaction;
use crate::message::Message;
use crate::place::Place;
use crate::pool::Pool;
use crate::program::Granularity;
use crate::slot::list;
use crate::system::MachineSystem;
use crate::worker::{Life, Worker};

/// A timer of a machine, identified by its event. Its place among the machine's timers is its id, so
/// a place is kept for ever and reused only for the same type of event.
#[derive(Clone)]
pub(crate) struct Timer {
    pub(crate) id: WorkerId,
    pub(crate) event: u16,
    pub(crate) mode: Mode,
    /// The event to send while the timer is armed; once it has fired, its tick is in the inbox.
    pub(crate) message: Option<Message>,
    /// Whether a tick of the timer is in the inbox.
    pub(crate) queued: bool,
    pub(crate) ticks: u32,
    pub(crate) listed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Free,
    Once,
    Every,
    /// The timer will not fire, but its tick is in the inbox and can be cancelled.
    Fired,
}

impl Timer {
    pub(crate) fn free(id: WorkerId, event: u16) -> Timer {
        let (mode, message) = (Mode::Free, None);
        Timer { id, event, mode, message, queued: false, ticks: 0, listed: false }
    }

    #[inline]
    pub(crate) fn copy_from(&mut self, saved: &Timer, pool: &mut Pool) {
        match (&mut self.message, &saved.message) {
            (Some(own), Some(saved)) => own.copy_from(saved, pool),
            (None, None) => {}
            (own, saved) => {
                let old = std::mem::replace(own, saved.clone());
                old.into_iter().for_each(|message| pool.put(message));
            }
        }
        (self.id, self.event, self.mode) = (saved.id, saved.event, saved.mode);
        (self.queued, self.ticks, self.listed) = (saved.queued, saved.ticks, saved.listed);
    }

    pub(crate) fn same(&self, other: &Timer) -> bool {
        let rest = |timer: &Timer| (timer.queued, timer.ticks, timer.listed);
        let messages = match (&self.message, &other.message) {
            (Some(own), Some(other)) => own.same(other),
            (own, other) => own.is_none() && other.is_none(),
        };
        (self.id, self.event, self.mode) == (other.id, other.event, other.mode)
            && rest(self) == rest(other)
            && messages
    }

    #[inline]
    fn relist(&mut self, enabled: &mut Vec<WorkerId>) {
        let now = self.can_fire();
        if now != self.listed {
            self.listed = now;
            list(enabled, self.id, now);
        }
    }

    pub(crate) fn can_fire(&self) -> bool {
        match self.mode {
            Mode::Once => true,
            Mode::Every => !self.queued,
            Mode::Free | Mode::Fired => false,
        }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.mode as u8, u8::from(self.queued)]);
        out.extend_from_slice(&self.event.to_le_bytes());
        if let Some(message) = &self.message {
            encoding::event(self.event, message, out);
        }
    }

    /// Hashes what [`Timer::encode`] writes.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        let (event, mode) = (u64::from(self.event), self.mode as u64);
        digest.word(event << 16 | mode << 8 | u64::from(self.queued));
        if let Some(message) = &self.message {
            digest.word(message.hash());
        }
    }
}

impl Worker {
    /// The place for a timer with this event: that of [`Worker::find_timer`], or a free one for the
    /// same type of event.
    pub(crate) fn place_for_timer(&self, event: u16, content: &Message) -> Option<usize> {
        let free = |timer: &Timer| timer.event == event && timer.mode == Mode::Free;
        self.find_timer(event, content).or_else(|| self.timers.iter().position(free))
    }

    /// The place of the timer with this event, if it is armed or its tick is queued.
    pub(crate) fn find_timer(&self, event: u16, content: &Message) -> Option<usize> {
        let same = |message: &Message| message.same(content);
        let armed =
            |timer: &Timer| timer.event == event && timer.message.as_ref().is_some_and(same);
        self.timers.iter().position(armed).or_else(|| {
            let mut ticks = self.inbox.iter().filter(|envelope| envelope.event == event);
            let tick = ticks.find(|tick| tick.timer.is_some() && same(&tick.message));
            tick.and_then(|tick| tick.timer).map(|timer| timer as usize)
        })
    }
}

impl MachineSystem {
    pub(crate) fn fire(
        &mut self,
        slot: usize,
        timer: usize,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let worker = self.slots[slot].unshared(&mut self.pool)?;
        let to = worker.id;
        let fired = &mut worker.timers[timer];
        let message = match fired.mode {
            Mode::Once => {
                fired.mode = Mode::Fired;
                fired.message.take()
            }
            _ => fired.message.clone(),
        };
        let Some(message) = message else { return Ok(()) };
        let (event, number) = (fired.event, fired.ticks);
        fired.queued = true;
        fired.ticks = number.wrapping_add(1);
        fired.relist(&mut self.enabled);
        let message_id = MessageId { sender: fired.id, number };
        self.tell_sent(message_id, to, &message, env)?;
        let timer = Some(timer as u32);
        if self.can_handle_at_once() || self.drops_at_once(slot, event) {
            let access = Access::update(Resource::Worker(to));
            env.tell(|| Event::Accessed { access, what: Text::Str("") })?;
        }
        if self.handles_at_once(slot, event) {
            self.receive(slot, message_id, event, timer, message, env)?;
            self.release(slot, env)?;
            // The machine may have been idle, and a failure after what it sent is a step of its own.
            self.relist(slot);
            return Ok(());
        }
        self.deliver(slot, Envelope { id: message_id, event, timer, message }, env)
    }

    /// Whether a queue drops the tick on arrival, since its machine is idle and ignores it: then the
    /// timer can fire again at once.
    fn drops_at_once(&self, slot: usize, event: u16) -> bool {
        let worker = &self.slots[slot].worker;
        self.rules.mailbox == Mailbox::Fifo
            && worker.awaits()
            && worker.cell().reaction(event) == Reaction::Ignore
    }

    /// Whether firing and handling are one step: where handlers are atomic and a tick need not wait
    /// for other messages, no step of others in between could lead to anything new.
    fn handles_at_once(&self, slot: usize, event: u16) -> bool {
        let worker = &self.slots[slot].worker;
        self.can_handle_at_once()
            && self.budget.crash == 0
            && worker.life == Life::Up
            && !worker.is_busy()
            && worker.cell().reaction(event) != Reaction::Defer
    }

    /// Whether a timer may [handle at once](MachineSystem::handles_at_once), so that its step depends
    /// on the state of its machine.
    pub(crate) fn can_handle_at_once(&self) -> bool {
        self.rules.granularity == Granularity::Atomic && self.rules.mailbox != Mailbox::Fifo
    }

    pub(crate) fn arm(
        &mut self,
        slot: usize,
        event: u16,
        message: Message,
        periodic: bool,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let at = match self.slots[slot].worker.place_for_timer(event, &message) {
            Some(at) => at,
            None => {
                let worker = self.slots[slot].unshared(&mut self.pool)?;
                let at = worker.timers.len();
                let id = worker.id.timer(at as u32);
                worker.timers.push(Timer::free(id, event));
                self.register(id, Place::Timer(slot, at));
                at
            }
        };
        self.disarm(slot, at, false, env)?;
        let worker = self.slots[slot].unshared(&mut self.pool)?;
        let armed = &mut worker.timers[at];
        let timer = armed.id;
        env.tell(|| Event::TimerSet { timer, payload: Text::Debug(message.payload()) })?;
        armed.mode = if periodic { Mode::Every } else { Mode::Once };
        armed.message = Some(message);
        armed.relist(&mut self.enabled);
        Ok(())
    }

    /// Frees a timer and removes its tick from the inbox.
    pub(crate) fn disarm(
        &mut self,
        slot: usize,
        timer: usize,
        tell: bool,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let worker = self.slots[slot].unshared(&mut self.pool)?;
        let armed = &mut worker.timers[timer];
        if armed.mode == Mode::Free {
            return Ok(());
        }
        armed.mode = Mode::Free;
        armed.queued = false;
        let message = armed.message.take();
        let id = armed.id;
        armed.relist(&mut self.enabled);
        let mine = Some(timer as u32);
        let tick = worker.inbox.iter().position(|envelope| envelope.timer == mine);
        let tick = tick.map(|at| (worker.inbox[at].id, worker.inbox.open(at)));
        if tell {
            env.tell(|| Event::TimerCancelled { timer: id })?;
        }
        if let Some((tick, message)) = tick {
            self.discard(tick, message, Discard::Cancelled, env)?;
        }
        if let Some(message) = message {
            self.pool.put(message);
        }
        Ok(())
    }

    pub(crate) fn disarm_all(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        for timer in 0..self.slots[slot].worker.timers.len() {
            self.disarm(slot, timer, false, env)?;
        }
        Ok(())
    }

    /// Updates the timer whose tick has left the inbox, if the message was a tick.
    #[inline]
    pub(crate) fn tick_left(&mut self, slot: usize, timer: Option<u32>) -> Result<(), Stop> {
        timer.map_or(Ok(()), |timer| self.ticked(slot, timer))
    }

    fn ticked(&mut self, slot: usize, timer: u32) -> Result<(), Stop> {
        let worker = self.slots[slot].unshared(&mut self.pool)?;
        if let Some(ticked) = worker.timers.get_mut(timer as usize) {
            ticked.queued = false;
            if ticked.mode == Mode::Fired {
                ticked.mode = Mode::Free;
            }
            ticked.relist(&mut self.enabled);
        }
        Ok(())
    }
}
