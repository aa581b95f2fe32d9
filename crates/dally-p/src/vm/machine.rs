//! A machine under control: the unit of copying and hashing. Specs are machines, too.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dally_core::{MessageId, WorkerId, fingerprint};

use super::digest::Digest;
use super::inbox::Inbox;
use super::value::Value;
use crate::lower::code::{Code, NONE};
use crate::lower::inst::Dst;
use crate::program::EventId;

/// A machine with its variables, what it is in the middle of, and its queue.
pub(crate) struct Machine {
    pub(crate) id: WorkerId,
    /// Its declaration, and the interface it was created by.
    pub(crate) kind: u16,
    pub(crate) interface: u16,
    pub(crate) state: u32,
    pub(crate) phase: Phase,
    /// What follows when the outermost function returns.
    pub(crate) then: Then,
    /// The event that is about to be sent.
    pub(crate) event: EventId,
    /// How many machines it has created.
    pub(crate) children: u32,
    /// How many events it has sent: names of messages, no part of the state.
    pub(crate) sent: u32,
    /// What the entry function of the next state gets.
    pub(crate) payload: Value,
    /// What is about to be sent, or given to a new machine.
    pub(crate) parcel: Value,
    /// To whom.
    pub(crate) to: WorkerId,
    /// Its variables, then the registers of its frames, then some that were of calls before.
    pub(crate) regs: Vec<Value>,
    /// How many of them are in use while it waits; what is above is left over and means nothing.
    pub(crate) live: u32,
    pub(crate) frames: Vec<Frame>,
    pub(crate) inbox: Inbox,
    /// A hash of its variables and frames, and its share in the fingerprint; zero while they are
    /// not known.
    body: AtomicU64,
    share: AtomicU64,
}

/// What a machine does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Enters its start state.
    New,
    /// Runs; never seen between steps.
    Running,
    /// Nothing, until an event comes that it can take.
    Idle,
    /// Takes the event at this place of its queue.
    Ready(u32),
    /// Looks whether there is an event that it can take, in a state with a null handler.
    Looking,
    /// Handles null: there was none.
    Quiet,
    /// Puts an event into the queue of another.
    Sending,
    /// Creates a machine by this interface; the value goes there.
    Creating(u16, Dst),
    /// Waits in this `receive`, or takes the event at this place.
    Waiting(u16),
    Receiving(u16, u32),
    /// Nothing, for ever.
    Halted,
}

/// What follows a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    /// The handler is over.
    Finish,
    /// The old state has been left: then the function, then this state.
    Left(u32, u16),
    /// The function has run: then this state.
    Enter(u16),
    /// The state has been left because it cannot handle this event, which may have been raised:
    /// that is an error.
    Fail(EventId, bool),
    /// The state has been left by `halt`.
    Halt,
}

/// A call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// The next instruction; of the innermost call only while the machine waits.
    pub(crate) pc: u32,
    pub(crate) base: u32,
    pub(crate) fun: u16,
    /// Where the caller wants the result.
    pub(crate) dst: Dst,
}

impl Machine {
    pub(crate) fn blank() -> Machine {
        Machine {
            id: WorkerId::root(0),
            kind: 0,
            interface: 0,
            state: 0,
            phase: Phase::New,
            then: Then::Finish,
            event: EventId::NULL,
            children: 0,
            sent: 0,
            payload: Value::Null,
            parcel: Value::Null,
            to: WorkerId::root(0),
            regs: Vec::new(),
            live: 0,
            frames: Vec::new(),
            inbox: Inbox::default(),
            body: AtomicU64::new(0),
            share: AtomicU64::new(0),
        }
    }

    /// Becomes a new machine, in the same memory.
    pub(crate) fn renew(&mut self, code: &Code, id: WorkerId, kind: u16, interface: u16) {
        let machine = &code.machines[usize::from(kind)];
        (self.id, self.kind, self.interface) = (id, kind, interface);
        self.state = machine.start;
        (self.phase, self.then, self.event) = (Phase::New, Then::Finish, EventId::NULL);
        (self.children, self.sent) = (0, 0);
        self.payload.put(Value::Null);
        self.parcel.put(Value::Null);
        self.to = id;
        self.set_values(&machine.fields);
        self.frames.clear();
        self.inbox.clear();
        self.changes();
    }

    /// Becomes a copy, in the same memory.
    pub(crate) fn copy_from(&mut self, other: &Machine) {
        (self.id, self.kind, self.interface) = (other.id, other.kind, other.interface);
        (self.state, self.phase, self.then) = (other.state, other.phase, other.then);
        (self.event, self.children, self.sent) = (other.event, other.children, other.sent);
        self.payload.put(other.payload.clone());
        self.parcel.put(other.parcel.clone());
        self.to = other.to;
        self.set_values(other.values());
        self.frames.clone_from(&other.frames);
        self.inbox.copy_from(&other.inbox);
        *self.body.get_mut() = other.body.load(Relaxed);
        *self.share.get_mut() = other.share.load(Relaxed);
    }

    /// It is about to change.
    #[inline]
    pub(crate) fn changes(&mut self) {
        *self.body.get_mut() = 0;
        *self.share.get_mut() = 0;
    }

    /// Its queue and what follows from that is about to change, and nothing else.
    #[inline]
    pub(crate) fn gets_mail(&mut self) {
        *self.share.get_mut() = 0;
    }

    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        !matches!(self.phase, Phase::Idle | Phase::Waiting(_) | Phase::Halted)
    }

    /// The identity of its next message.
    #[inline]
    pub(crate) fn next_message(&mut self) -> MessageId {
        let number = self.sent;
        self.sent = self.sent.wrapping_add(1);
        MessageId { sender: self.id, number }
    }

    /// The values that mean something.
    #[inline]
    pub(crate) fn values(&self) -> &[Value] {
        &self.regs[..self.live as usize]
    }

    /// Has these values, and empty registers where it had more.
    fn set_values(&mut self, values: &[Value]) {
        let known = values.len().min(self.regs.len());
        let (old, left) = self.regs.split_at_mut(known);
        old.iter_mut().zip(values).for_each(|(old, new)| old.put(new.clone()));
        left.iter_mut().for_each(|left| left.put(Value::Null));
        self.regs.extend_from_slice(&values[known..]);
        self.live = values.len() as u32;
    }

    /// Calls a function as the outermost one; there are no calls yet.
    #[inline]
    pub(crate) fn begin(&mut self, code: &Code, fun: u32, payload: Value) {
        let callee = &code.funs[fun as usize];
        let base = code.machines[usize::from(self.kind)].fields.len();
        self.make_room(base + usize::from(callee.size));
        let (params, locals) = self.regs[base..].split_at_mut(usize::from(callee.params));
        // The checker allows one parameter; more would be of no use, but must not shift locals.
        if let [param, others @ ..] = params {
            param.put(payload);
            others.iter_mut().for_each(|other| other.put(Value::Null));
        }
        locals.iter_mut().zip(&callee.defaults).for_each(|(local, at)| local.put(at.clone()));
        self.frames.clear();
        self.frames.push(Frame {
            pc: callee.entry,
            base: base as u32,
            fun: fun as u16,
            dst: Dst::register(0),
        });
    }

    /// Has at least so many registers.
    #[inline]
    pub(crate) fn make_room(&mut self, size: usize) {
        if self.regs.len() < size {
            self.regs.resize(size, Value::Null);
        }
    }

    /// Where the registers of all calls end: the window of a caller may be the larger one.
    #[inline]
    fn end(&self, code: &Code) -> usize {
        let ends = self
            .frames
            .iter()
            .map(|frame| frame.base as usize + usize::from(code.funs[usize::from(frame.fun)].size));
        ends.max().unwrap_or(0)
    }

    /// Makes room for the registers of all calls, if it was lost in a copy. Answers where those of
    /// the innermost begin.
    #[inline]
    pub(crate) fn widen(&mut self, code: &Code) -> usize {
        self.make_room(self.end(code));
        self.frames.last().map_or(0, |frame| frame.base as usize)
    }

    /// Forgets all calls, and what they held: it must not seem shared when it is changed elsewhere.
    #[inline]
    pub(crate) fn unwind(&mut self, code: &Code) {
        let fields = code.machines[usize::from(self.kind)].fields.len();
        self.live = fields as u32;
        if !self.frames.is_empty() {
            let end = self.end(code).min(self.regs.len());
            self.frames.clear();
            self.empty(fields..end);
        }
    }

    /// Empties the registers of a frame that are of no use any more.
    #[inline]
    pub(crate) fn forget(&mut self, base: usize, dead: &[u16]) {
        let frame = &mut self.regs[base..];
        dead.iter().for_each(|&dead| frame[usize::from(dead)].put(Value::Null));
    }

    /// Empties registers.
    #[inline(always)]
    pub(crate) fn empty(&mut self, registers: Range<usize>) {
        self.regs[registers].iter_mut().for_each(|old| old.put(Value::Null));
    }

    /// Its share in the fingerprint, computed once after a change.
    #[inline]
    pub(crate) fn share(&self) -> u64 {
        match self.share.load(Relaxed) {
            0 => self.renew_share(),
            known => known,
        }
    }

    #[inline(never)]
    fn renew_share(&self) -> u64 {
        let body = match self.body.load(Relaxed) {
            0 => self.body_from_scratch(),
            known => known,
        };
        self.body.store(body, Relaxed);
        let share = self.share_with(body);
        self.share.store(share, Relaxed);
        share
    }

    fn share_with(&self, body: u64) -> u64 {
        fingerprint::part(self.id.to_bits(), self.digest(body)).max(1)
    }

    /// A hash of its variables and frames.
    fn body_from_scratch(&self) -> u64 {
        let mut digest = Digest::new(self.frames.len() as u64);
        if !self.frames.is_empty() {
            digest.pair(self.then_word(), self.payload.identity());
            for frame in &self.frames {
                digest.word(u64::from(frame.pc) << 32 | u64::from(frame.base));
            }
        }
        digest.all(self.values(), Value::identity);
        digest.value().max(1)
    }

    /// What [`Machine::share`] must always equal.
    pub(crate) fn share_from_scratch(&self) -> u64 {
        self.share_with(self.body_from_scratch())
    }

    /// A hash of all that its future depends on, given that of its variables and frames.
    fn digest(&self, body: u64) -> u64 {
        if self.phase == Phase::Halted {
            return 0;
        }
        let mut digest = Digest::new(u64::from(self.kind) << 16 | u64::from(self.interface));
        let (phase, detail) = self.phase_words();
        digest.pair(u64::from(self.state) << 32 | u64::from(self.children), phase << 56 | detail);
        digest.word(body);
        if self.holds_parcel() {
            let to = if self.phase == Phase::Sending { self.to.to_bits() } else { 0 };
            digest.pair(to, self.parcel.identity());
        }
        for envelope in self.inbox.iter() {
            digest.pair(envelope.event.0.into(), envelope.payload.identity());
        }
        digest.word(self.inbox.len() as u64);
        digest.value()
    }

    /// Whether `to`, `event` and `parcel` mean something.
    fn holds_parcel(&self) -> bool {
        matches!(self.phase, Phase::Sending | Phase::Creating(..) | Phase::New)
    }

    /// The phase and its details; where in the queue the next event is follows from the queue.
    fn phase_words(&self) -> (u64, u64) {
        match self.phase {
            Phase::New => (1, 0),
            Phase::Running => (2, 0),
            Phase::Idle => (3, 0),
            Phase::Ready(_) => (4, 0),
            Phase::Looking => (5, 0),
            Phase::Quiet => (6, 0),
            Phase::Sending => (7, u64::from(self.event.0)),
            Phase::Creating(interface, dst) => {
                (8, u64::from(interface) << 16 | dst.place(1 << 20) as u64)
            }
            Phase::Waiting(receive) => (9, u64::from(receive)),
            Phase::Receiving(receive, _) => (10, u64::from(receive)),
            Phase::Halted => (11, 0),
        }
    }

    fn then_word(&self) -> u64 {
        match self.then {
            Then::Finish => 0,
            Then::Left(fun, to) => 1 | u64::from(fun) << 8 | u64::from(to) << 40,
            Then::Enter(to) => 2 | u64::from(to) << 40,
            Then::Fail(event, raised) => 3 | u64::from(event.0) << 8 | u64::from(raised) << 40,
            Then::Halt => 4,
        }
    }

    /// Whether the two have the same future; their identities included.
    pub(crate) fn is_same(&self, other: &Machine) -> bool {
        self.share() == other.share()
            && self.id == other.id
            && self.kind == other.kind
            && self.interface == other.interface
            && self.state == other.state
            && self.phase == other.phase
            && self.then == other.then
            && self.children == other.children
            && self.sent == other.sent
            && (self.event == other.event || self.phase != Phase::Sending)
            && (self.to == other.to || self.phase != Phase::Sending)
            && self.frames == other.frames
            && self.payload.is_same(&other.payload)
            && self.parcel.is_same(&other.parcel)
            && self.values().len() == other.values().len()
            && self.values().iter().zip(other.values()).all(|(a, b)| a.is_same(b))
            && self.inbox.is_same(&other.inbox)
    }

    /// Appends an injective encoding of all that its future depends on.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let word = |out: &mut Vec<u8>, word: u64| out.extend_from_slice(&word.to_le_bytes());
        word(out, self.id.to_bits());
        if self.phase == Phase::Halted {
            return word(out, u64::MAX);
        }
        word(out, u64::from(self.kind) << 16 | u64::from(self.interface));
        word(out, u64::from(self.state) << 32 | u64::from(self.children));
        let (phase, detail) = self.phase_words();
        word(out, phase << 56 | detail);
        word(out, (self.frames.len() as u64) << 32 | self.values().len() as u64);
        if !self.frames.is_empty() {
            word(out, self.then_word());
            self.payload.encode(out);
            for frame in &self.frames {
                word(out, u64::from(frame.pc) << 32 | u64::from(frame.base));
            }
        }
        self.values().iter().for_each(|value| value.encode(out));
        if self.holds_parcel() {
            word(out, if self.phase == Phase::Sending { self.to.to_bits() } else { 0 });
            self.parcel.encode(out);
        }
        self.inbox.encode(out);
    }
}

/// A function that may be missing.
#[inline]
pub(crate) fn exists(fun: u32) -> Option<u32> {
    (fun != NONE).then_some(fun)
}

/// A spec's place among the workers of a fingerprint, which no worker has.
pub(crate) fn spec_id(index: usize) -> WorkerId {
    WorkerId::from_bits(!(index as u64))
}
