//! Machines behind a trait that hides their types.

use std::any::Any;
use std::hash::Hash;

use dally_core::fingerprint::Encoder;
use dally_core::report::{MachineCensus, StateCensus};
use dally_core::{Stop, panics};
use triomphe::Arc;

use crate::body::{Body, Input, Ran};
use crate::cx::Turn;
use crate::digest::Digest;
use crate::encoding;
use crate::machine::{Machine, Reaction};
use crate::message::Message;

/// A machine with its stack of states and its durable state; only the cell knows the machine's type.
pub(crate) trait Cell: Any + Send + Sync {
    #[cfg(feature = "host")]
    fn machine(&self) -> std::any::TypeId;

    fn name(&self) -> &'static str;

    fn event_name(&self, event: u16) -> &'static str;

    fn state_name(&self) -> &'static str;

    /// What the machine does with an event now, by the rules of the whole stack.
    fn reaction(&self, event: u16) -> Reaction;

    fn can_crash(&self) -> bool;

    fn is_captured(&self) -> bool;

    /// Its states and what they handle, with counts of 0.
    fn anatomy(&self) -> MachineCensus;

    /// The machine itself, for a reader.
    fn fields(&self) -> &dyn std::fmt::Debug;

    /// Runs the handler for this input, whose event is in `message`, and the transitions that follow.
    fn run<'a>(&'a mut self, input: Input, message: &mut Message, turn: &'a mut Turn<'a>) -> Ran;

    /// Stores the next unsaved durable state and returns it for the trace.
    fn persist(&mut self) -> Option<&dyn std::fmt::Debug>;

    /// Takes the machine back to its creation; only what was persisted remains.
    fn crash(&mut self);

    fn restart(&mut self) -> Result<(), Stop>;

    /// A copy; `None` where the machine is not captured.
    fn duplicate(&self) -> Option<Box<dyn Cell>>;

    /// Overwrites this cell with a copy of `other`, if both are captured and of one type.
    fn copy_from(&mut self, other: &dyn Cell) -> bool;

    /// Whether `other` is an equal machine of the same type; `false` where machines are not captured.
    fn same(&self, other: &dyn Cell) -> bool;

    fn encode(&self, out: &mut Vec<u8>);

    /// A hash of the encoding's content.
    fn digest(&self) -> u64;

    fn control(&self) -> u64;

    /// A hash of the answer of the machine's `#[observe]` function.
    fn shown(&self) -> u64;

    /// Whether the inbox is observed along with that answer.
    fn shows_inbox(&self) -> bool;
}

pub(crate) struct MachineCell<M: Machine> {
    pub(crate) body: Body<M>,
    /// The machine as it was created, to which a crash takes it back.
    origin: Option<Arc<M>>,
    durable: Option<M::Durable>,
    /// What `persist` was called with and no released effect has stored yet, in order.
    unsaved: Vec<M::Durable>,
}

impl<M: Machine> MachineCell<M> {
    pub(crate) fn new(machine: M) -> MachineCell<M> {
        let origin = origin(&machine);
        MachineCell { body: Body::new(machine), origin, durable: None, unsaved: Vec::new() }
    }

    /// Overwrites this cell with another machine, in the same memory.
    pub(crate) fn reset(&mut self, machine: M) {
        self.origin = origin(&machine);
        self.body.machine = machine;
        self.back_to_start();
        self.durable = None;
        self.unsaved.clear();
    }

    /// What [`Cell::persist`] will store next.
    #[cfg(feature = "host")]
    pub(crate) fn next_unsaved(&self) -> Option<&M::Durable> {
        self.unsaved.first()
    }

    /// Sets the durable state that [`Cell::restart`] recovers from.
    #[cfg(feature = "host")]
    pub(crate) fn set_durable(&mut self, durable: M::Durable) {
        self.durable = Some(durable);
    }

    fn back_to_start(&mut self) {
        self.body.top = M::START;
        self.body.below.clear();
    }
}

impl<M: Machine> Cell for MachineCell<M> {
    #[cfg(feature = "host")]
    fn machine(&self) -> std::any::TypeId {
        std::any::TypeId::of::<M>()
    }

    fn name(&self) -> &'static str {
        M::NAME
    }

    fn event_name(&self, event: u16) -> &'static str {
        M::EVENTS.get(usize::from(event)).copied().unwrap_or("?")
    }

    fn state_name(&self) -> &'static str {
        M::state_name(self.body.top)
    }

    fn reaction(&self, event: u16) -> Reaction {
        self.body.rule(event).1
    }

    fn can_crash(&self) -> bool {
        self.origin.is_some()
    }

    fn anatomy(&self) -> MachineCensus {
        let mut anatomy = MachineCensus::default();
        for &state in M::STATES {
            let handles = |(event, _): &(u16, _)| M::reaction(state, *event) == Reaction::Handle;
            let handled = (0..).zip(M::EVENTS).filter(handles);
            let handled = handled.map(|(_, name)| ((*name).to_owned(), 0)).collect();
            let census = StateCensus { handled, ..StateCensus::default() };
            anatomy.states.insert(M::state_name(state).to_owned(), census);
        }
        anatomy
    }

    fn fields(&self) -> &dyn std::fmt::Debug {
        &self.body.machine
    }

    fn is_captured(&self) -> bool {
        M::capture().is_some()
    }

    fn run<'a>(&'a mut self, input: Input, message: &mut Message, turn: &'a mut Turn<'a>) -> Ran {
        if turn.twice
            && let Some(copy) = self.copy()
        {
            return crate::twice::run(self, copy, input, message, turn);
        }
        self.once(input, message, turn)
    }

    fn persist(&mut self) -> Option<&dyn std::fmt::Debug> {
        if self.unsaved.is_empty() {
            return None;
        }
        self.durable = Some(self.unsaved.remove(0));
        self.durable.as_ref().map(|durable| durable as &dyn std::fmt::Debug)
    }

    fn crash(&mut self) {
        self.unsaved.clear();
        self.back_to_start();
        // A crashed machine's data is lost, so states that differ only in it must be equal.
        if let (Some(capture), Some(origin)) = (M::capture(), &self.origin) {
            (capture.clone_from)(&mut self.body.machine, origin);
        }
    }

    fn restart(&mut self) -> Result<(), Stop> {
        let (Some(capture), Some(origin)) = (M::capture(), &self.origin) else { return Ok(()) };
        let durable = &self.durable;
        let machine = panics::catch(|| (capture.clone)(origin).recover(durable.clone()));
        self.body.machine = machine.map_err(|stop| match stop {
            Stop::Bug(bug) => bug.by(M::NAME).into(),
            Stop::Cut => Stop::Cut,
        })?;
        Ok(())
    }

    fn duplicate(&self) -> Option<Box<dyn Cell>> {
        self.copy().map(|copy| Box::new(copy) as Box<dyn Cell>)
    }

    fn copy_from(&mut self, other: &dyn Cell) -> bool {
        let Some(other) = (other as &dyn Any).downcast_ref::<Self>() else { return false };
        let Some(capture) = M::capture() else { return false };
        (capture.clone_from)(&mut self.body.machine, &other.body.machine);
        self.body.top = other.body.top;
        if !self.body.below.is_empty() || !other.body.below.is_empty() {
            self.body.below.clone_from(&other.body.below);
        }
        if M::IS_DURABLE {
            self.origin.clone_from(&other.origin);
            self.durable.clone_from(&other.durable);
            self.unsaved.clone_from(&other.unsaved);
        }
        true
    }

    fn same(&self, other: &dyn Cell) -> bool {
        let Some(other) = (other as &dyn Any).downcast_ref::<Self>() else { return false };
        let Some(capture) = M::capture() else { return false };
        let origins = match (&self.origin, &other.origin) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other) || (capture.eq)(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        let (own, others) = (&self.body, &other.body);
        origins
            && (own.top, &own.below) == (others.top, &others.below)
            && (capture.eq)(&own.machine, &others.machine)
            && (&self.durable, &self.unsaved) == (&other.durable, &other.unsaved)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        encoding::framed(out, |out| {
            Encoder::encode(&self.body.top, out);
            Encoder::encode(&self.body.below, out);
        });
        if let Some(capture) = M::capture() {
            encoding::framed(out, |out| (capture.encode)(&self.body.machine, out));
            // A crash takes the machine back to `origin`, so equal machines with different origins
            // differ.
            if let Some(origin) = &self.origin {
                encoding::framed(out, |out| (capture.encode)(origin, out));
                encoding::framed(out, |out| Encoder::encode(&self.durable, out));
                encoding::framed(out, |out| Encoder::encode(&self.unsaved, out));
            }
        }
    }

    #[inline]
    fn digest(&self) -> u64 {
        let mut digest = Digest::new(0);
        self.body.top.hash(&mut digest);
        digest.word(self.body.below.len() as u64);
        for state in &self.body.below {
            state.hash(&mut digest);
        }
        if let Some(capture) = M::capture() {
            digest.word((capture.digest)(&self.body.machine));
            if let Some(origin) = &self.origin {
                digest.word((capture.digest)(origin));
                digest.word(Digest::of(&self.durable));
                digest.word(Digest::of(&self.unsaved));
            }
        }
        digest.value()
    }

    fn control(&self) -> u64 {
        Digest::of(&(&self.body.below, self.body.top))
    }

    fn shown(&self) -> u64 {
        self.body.machine.show()
    }

    fn shows_inbox(&self) -> bool {
        M::SHOWS_INBOX
    }
}

impl<M: Machine> MachineCell<M> {
    pub(crate) fn copy(&self) -> Option<MachineCell<M>> {
        let capture = M::capture()?;
        Some(MachineCell {
            body: Body {
                machine: (capture.clone)(&self.body.machine),
                top: self.body.top,
                below: self.body.below.clone(),
            },
            origin: self.origin.clone(),
            durable: self.durable.clone(),
            unsaved: self.unsaved.clone(),
        })
    }

    /// Runs the handler for this input, without the check of [`crate::twice`].
    pub(crate) fn once<'a>(
        &'a mut self,
        input: Input,
        message: &mut Message,
        turn: &'a mut Turn<'a>,
    ) -> Ran {
        self.body.run(input, message, &mut self.unsaved, turn)
    }
}

fn origin<M: Machine>(machine: &M) -> Option<Arc<M>> {
    let capture = M::capture().filter(|_| M::IS_DURABLE)?;
    Some(Arc::new((capture.clone)(machine)))
}
