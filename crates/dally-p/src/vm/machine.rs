//! A machine under control: the unit of copying and hashing. Specs are machines, too.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::LocalKey;

use dally_core::{MessageId, WorkerId};

use super::inbox::Envelope;
use super::pool::{Pool, Pooled};
use super::value::Value;
use crate::lower::code::{Code, NONE};
use crate::lower::inst::Dst;
use crate::program::EventId;

pub(crate) struct Machine {
    pub(crate) id: WorkerId,
    /// The indices of its declaration and of the interface that it was created by.
    pub(crate) kind: u16,
    pub(crate) interface: u16,
    pub(crate) state: u32,
    pub(crate) phase: Phase,
    pub(crate) then: Then,
    pub(crate) event: EventId,
    pub(crate) children: u32,
    pub(crate) seals: u16,
    /// A hash of what it last showed to strategies that learn, and whether its queue is observed too;
    /// no part of the state.
    pub(crate) shown: u64,
    pub(crate) shows_queue: bool,
    /// How many events it has sent, for the ids of messages; no part of the state.
    pub(crate) sent: u32,
    /// The payload of the next state's entry function.
    pub(crate) payload: Value,
    /// The payload to be sent, or given to a new machine.
    pub(crate) parcel: Value,
    /// The receiver of the event to be sent.
    pub(crate) to: WorkerId,
    /// The variables, then the registers of the frames, then registers of former calls.
    pub(crate) regs: Vec<Value>,
    /// How many registers are in use while the machine waits; those above are meaningless.
    pub(crate) live: u32,
    pub(crate) frames: Vec<Frame>,
    pub(crate) inbox: Vec<Envelope>,
    /// A hash of the variables and frames, and the share in the fingerprint; zero if unknown.
    pub(super) body: AtomicU64,
    pub(super) share: AtomicU64,
    /// What of it is observed as control; zero if unknown.
    pub(super) control: AtomicU64,
}

/// What a machine does in its next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    New,
    /// Runs; not seen between steps.
    Running,
    /// Nothing, until an event comes that it can dequeue.
    Idle,
    /// Dequeues the event at this position.
    Ready(u32),
    /// Looks for an event that it can dequeue, in a state with a null handler.
    Looking,
    /// Handles null, because there was no such event.
    Quiet,
    /// Puts an event into the queue of another.
    Sending,
    /// Creates a machine by this interface; the reference to it goes to this register.
    Creating(u16, Dst),
    Waiting(u16),
    Receiving(u16, u32),
    Halted,
}

/// What follows after a function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    Finish,
    /// After the exit function: this transition function, then this state.
    Left(u32, u16),
    /// After the transition function: this state.
    Enter(u16),
    /// After the exit function of a state that has no handler for this event: an error. The flag says
    /// whether the event was raised.
    Fail(EventId, bool),
    /// After the exit function: `halt`.
    Halt,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// The next instruction; in the innermost frame valid only while the machine waits.
    pub(crate) pc: u32,
    pub(crate) base: u32,
    pub(crate) fun: u16,
    /// The caller's register for the result.
    pub(crate) dst: Dst,
}

impl Machine {
    /// Overwrites this machine with a new one, in the same memory.
    pub(crate) fn renew(&mut self, code: &Code, id: WorkerId, kind: u16, interface: u16) {
        let machine = &code.machines[usize::from(kind)];
        (self.id, self.kind, self.interface) = (id, kind, interface);
        self.state = machine.start;
        (self.phase, self.then, self.event) = (Phase::New, Then::Finish, EventId::NULL);
        (self.children, self.seals, self.sent) = (0, 0, 0);
        (self.shown, self.shows_queue) = (0, true);
        self.payload.put(Value::Null);
        self.parcel.put(Value::Null);
        self.to = id;
        self.set_values(&machine.fields);
        self.frames.clear();
        self.inbox.clear();
        self.changes();
    }

    /// Called before the machine changes.
    #[inline]
    pub(crate) fn changes(&mut self) {
        *self.body.get_mut() = 0;
        self.gets_mail();
    }

    /// Called before the queue and what follows from it change, and nothing else.
    #[inline]
    pub(crate) fn gets_mail(&mut self) {
        *self.share.get_mut() = 0;
        *self.control.get_mut() = 0;
    }

    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        !matches!(self.phase, Phase::Idle | Phase::Waiting(_) | Phase::Halted)
    }

    #[inline]
    pub(crate) fn next_message(&mut self) -> MessageId {
        let number = self.sent;
        self.sent = self.sent.wrapping_add(1);
        MessageId { sender: self.id, number }
    }

    /// The registers in use.
    #[inline]
    pub(crate) fn values(&self) -> &[Value] {
        &self.regs[..self.live as usize]
    }

    /// Sets the registers to these values and empties those above.
    fn set_values(&mut self, values: &[Value]) {
        let known = values.len().min(self.regs.len());
        let (old, left) = self.regs.split_at_mut(known);
        old.iter_mut().zip(values).for_each(|(old, new)| old.put(new.clone()));
        left.iter_mut().for_each(|left| left.put(Value::Null));
        self.regs.extend_from_slice(&values[known..]);
        self.live = values.len() as u32;
    }

    /// Calls a function as the outermost one.
    #[inline]
    pub(crate) fn begin(&mut self, code: &Code, fun: u32, payload: Value) {
        let callee = &code.funs[fun as usize];
        let base = code.machines[usize::from(self.kind)].fields.len();
        self.make_room(base + usize::from(callee.size));
        let (params, locals) = self.regs[base..].split_at_mut(usize::from(callee.params));
        // The checker allows one parameter; more are emptied, so that they do not shift the locals.
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

    #[inline]
    pub(crate) fn make_room(&mut self, size: usize) {
        if self.regs.len() < size {
            self.regs.resize(size, Value::Null);
        }
    }

    /// The end of the registers of all calls; the window of a caller may be the largest.
    #[inline]
    fn end(&self, code: &Code) -> usize {
        let ends = self
            .frames
            .iter()
            .map(|frame| frame.base as usize + usize::from(code.funs[usize::from(frame.fun)].size));
        ends.max().unwrap_or(0)
    }

    /// Grows to the registers of all calls, since a copy has only those in use. Answers where those of
    /// the innermost call begin.
    #[inline]
    pub(crate) fn widen(&mut self, code: &Code) -> usize {
        self.make_room(self.end(code));
        self.frames.last().map_or(0, |frame| frame.base as usize)
    }

    /// Drops all calls and empties their registers, whose references would make values seem shared.
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

    #[inline]
    pub(crate) fn forget(&mut self, base: usize, dead: &[u16]) {
        let frame = &mut self.regs[base..];
        dead.iter().for_each(|&dead| frame[usize::from(dead)].put(Value::Null));
    }

    #[inline(always)]
    pub(crate) fn empty(&mut self, registers: Range<usize>) {
        self.regs[registers].iter_mut().for_each(|old| old.put(Value::Null));
    }
}

impl Pooled for Machine {
    const PLACES: usize = 1 << 15;

    fn blank() -> Machine {
        Machine {
            id: WorkerId::root(0),
            kind: 0,
            interface: 0,
            state: 0,
            phase: Phase::New,
            then: Then::Finish,
            event: EventId::NULL,
            children: 0,
            seals: 0,
            shown: 0,
            shows_queue: true,
            sent: 0,
            payload: Value::Null,
            parcel: Value::Null,
            to: WorkerId::root(0),
            regs: Vec::new(),
            live: 0,
            frames: Vec::new(),
            inbox: Vec::new(),
            body: AtomicU64::new(0),
            share: AtomicU64::new(0),
            control: AtomicU64::new(0),
        }
    }

    fn copy_from(&mut self, other: &Machine) {
        (self.id, self.kind, self.interface) = (other.id, other.kind, other.interface);
        (self.state, self.phase, self.then) = (other.state, other.phase, other.then);
        (self.event, self.children, self.sent) = (other.event, other.children, other.sent);
        self.seals = other.seals;
        (self.shown, self.shows_queue) = (other.shown, other.shows_queue);
        self.payload.put(other.payload.clone());
        self.parcel.put(other.parcel.clone());
        self.to = other.to;
        self.set_values(other.values());
        self.frames.clone_from(&other.frames);
        self.inbox.clone_from(&other.inbox);
        *self.body.get_mut() = other.body.load(Relaxed);
        *self.share.get_mut() = other.share.load(Relaxed);
        *self.control.get_mut() = other.control.load(Relaxed);
    }

    fn hash(&self) -> u64 {
        self.share()
    }

    fn is_same(&self, other: &Machine) -> bool {
        self.has_same_future(other)
    }

    fn pool() -> &'static LocalKey<RefCell<Pool<Machine>>> {
        thread_local! {
            static MACHINES: RefCell<Pool<Machine>> = const { Pool::new() };
        }
        &MACHINES
    }
}

/// The function, unless it is [`NONE`].
#[inline]
pub(crate) fn exists(fun: u32) -> Option<u32> {
    (fun != NONE).then_some(fun)
}

/// The id of a spec in fingerprints, which no worker has.
pub(crate) fn spec_id(index: usize) -> WorkerId {
    WorkerId::from_bits(!(index as u64))
}
