//! What a handler does to the world: queued when it runs, released in order afterwards.

use std::any::{Any, TypeId};
use std::fmt::Debug;
use std::hash::Hash;
use std::time::Duration;

use dally_core::fingerprint::Encoder;
use dally_core::{Bug, WorkerId};
use triomphe::Arc;

use crate::digest::Digest;
use crate::encoding;
use crate::inbox::Mailbox;
use crate::message::{Content, Message};
use crate::worker::Worker;

/// How many effects one run of a handler may queue before it counts as endless.
pub(crate) const MAX_EFFECTS: usize = 10_000;

/// An action of a handler that others can see.
#[derive(Clone)]
pub(crate) enum Effect {
    Send {
        to: WorkerId,
        event: u16,
        message: Message,
    },
    Create(Arc<Worker>),
    Announce(Message),
    /// Arms a timer, replacing one with the same event.
    Arm {
        event: u16,
        message: Message,
        #[cfg_attr(not(feature = "host"), expect(dead_code, reason = "tests do not wait"))]
        after: Duration,
        periodic: bool,
    },
    /// Disarms the timer with the same event and removes its tick from the inbox.
    Cancel {
        event: u16,
        message: Message,
    },
    /// Stores the next of the cell's unsaved durable states.
    Persist,
    Halt,
    Seal,
    Unseal,
    /// Marks the step in which it is released.
    Rare,
    /// Ends the execution with a bug. `apart`: in a step of its own, because the step before it sent
    /// or created something whose consequences the failure must not hide.
    Fail {
        bug: Arc<Bug>,
        apart: bool,
    },
}

impl Effect {
    pub(crate) fn words(&self) -> String {
        match self {
            Effect::Send { to, message, .. } => format!("sent {:?} to {to}", message.payload()),
            Effect::Create(worker) => format!("created `{}`", worker.cell().name()),
            Effect::Announce(message) => format!("announced {:?}", message.payload()),
            Effect::Arm { message, .. } => format!("armed a timer for {:?}", message.payload()),
            Effect::Cancel { message, .. } => format!("cancelled {:?}", message.payload()),
            Effect::Persist => "persisted".to_owned(),
            Effect::Halt => "halted".to_owned(),
            Effect::Seal => "sealed".to_owned(),
            Effect::Unseal => "unsealed".to_owned(),
            Effect::Rare => "called that rare".to_owned(),
            Effect::Fail { bug, .. } => format!("failed: {bug}"),
        }
    }

    /// Appends an injective encoding. Durations are left out: under test a timer may fire at any
    /// time.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Effect::Send { to, event, message } => {
                out.push(0);
                Encoder::encode(to, out);
                encoding::event(*event, message, out);
            }
            Effect::Create(worker) => {
                out.push(1);
                Encoder::encode(&worker.id, out);
                // A worker not yet alive has an empty inbox, which every mailbox encodes alike.
                encoding::framed(out, |out| worker.encode(Mailbox::Fifo, out));
            }
            Effect::Announce(message) => {
                out.push(2);
                encoding::event(0, message, out);
            }
            Effect::Arm { event, message, periodic, .. } => {
                out.extend_from_slice(&[3, u8::from(*periodic)]);
                encoding::event(*event, message, out);
            }
            Effect::Cancel { event, message } => {
                out.push(4);
                encoding::event(*event, message, out);
            }
            Effect::Persist => out.push(5),
            Effect::Halt => out.push(6),
            Effect::Fail { bug, .. } => {
                out.push(7);
                Encoder::encode(&**bug, out);
            }
            Effect::Seal => out.push(8),
            Effect::Unseal => out.push(9),
            Effect::Rare => out.push(10),
        }
    }

    /// Hashes what [`Effect::encode`] writes.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        let mut words = |words: [u64; 3]| words.into_iter().for_each(|word| digest.word(word));
        let number = |event: u16| u64::from(event) << 8;
        match self {
            Effect::Send { to, event, message } => {
                words([number(*event), to.to_bits(), message.hash()]);
            }
            Effect::Create(worker) => {
                words([1, worker.id.to_bits(), worker.digest(Mailbox::Fifo)]);
            }
            Effect::Announce(message) => words([2, 0, message.hash()]),
            Effect::Arm { event, message, periodic, .. } => {
                words([number(*event) | 3, u64::from(*periodic), message.hash()]);
            }
            Effect::Cancel { event, message } => words([number(*event) | 4, 0, message.hash()]),
            Effect::Persist => digest.word(5),
            Effect::Halt => digest.word(6),
            Effect::Fail { bug, .. } => {
                words([7, bug.cause().0, Digest::of(&**bug)]);
            }
            Effect::Seal => digest.word(8),
            Effect::Unseal => digest.word(9),
            Effect::Rare => digest.word(10),
        }
    }
}

/// The slot of an announced event. Monitors borrow the event, and no receiver takes it.
pub(crate) struct Announced<E>(pub(crate) Option<E>);

impl<E: Hash + Debug + Send + Sync + 'static> Content for Announced<E> {
    fn payload(&self) -> &dyn Debug {
        self.0.as_ref().map_or(&self.0, |event| event as &dyn Debug)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        Encoder::encode(std::any::type_name::<E>(), out);
        Encoder::encode(&self.0, out);
    }

    fn hash(&self) -> u64 {
        Digest::of(&(std::any::type_name::<E>(), &self.0))
    }

    fn can_copy(&self) -> bool {
        false
    }

    fn same(&self, _: &dyn Content) -> bool {
        false
    }

    fn clear(&mut self) -> TypeId {
        self.0 = None;
        TypeId::of::<Self>()
    }

    fn event(&self) -> Option<&dyn Any> {
        self.0.as_ref().map(|event| event as &dyn Any)
    }
}
