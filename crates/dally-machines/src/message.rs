//! Messages in flight: events of any type, small ones in place, others behind a shared pointer.

use std::any::{Any, TypeId};
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dally_core::fingerprint::Encoder;
use triomphe::Arc;

use crate::digest::Digest;
use crate::machine::Handles;
use crate::plain::Plain;
use crate::pool::Pool;

/// A message: an event whose type only sender and receiver know.
#[derive(Clone)]
pub struct Message(Payload);

#[derive(Clone)]
enum Payload {
    Plain(Plain),
    /// Shared between forks of a system, and immutable while shared. Emptied ones are recycled.
    Shared(Arc<dyn Content>),
}

impl Message {
    pub(crate) const fn empty() -> Message {
        Message(Payload::Plain(Plain::empty()))
    }

    #[inline]
    pub(crate) fn shared(content: Arc<dyn Content>) -> Message {
        Message(Payload::Shared(content))
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Message {
        std::mem::replace(self, Message::empty())
    }

    #[inline]
    pub(crate) fn into_shared(self) -> Option<Arc<dyn Content>> {
        match self.0 {
            Payload::Plain(_) => None,
            Payload::Shared(content) => Some(content),
        }
    }

    /// Overwrites this message with a copy of `other`; a replaced allocation goes into the pool.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Message, pool: &mut Pool) {
        match (&mut self.0, &other.0) {
            (Payload::Plain(own), Payload::Plain(other)) => own.clone_from(other),
            (Payload::Shared(own), Payload::Shared(other)) if Arc::ptr_eq(own, other) => {}
            _ => pool.put(std::mem::replace(self, other.clone())),
        }
    }

    pub(crate) fn payload(&self) -> &dyn Debug {
        match &self.0 {
            Payload::Plain(event) => event.payload(),
            Payload::Shared(content) => content.payload(),
        }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Payload::Plain(event) => event.encode(out),
            Payload::Shared(content) => content.encode(out),
        }
    }

    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        match &self.0 {
            Payload::Plain(event) => event.hash(),
            Payload::Shared(content) => content.hash(),
        }
    }

    pub(crate) fn can_copy(&self) -> bool {
        match &self.0 {
            Payload::Plain(_) => true,
            Payload::Shared(content) => content.can_copy(),
        }
    }

    /// Whether both hold equal events. Timers with equal events are one timer.
    pub(crate) fn same(&self, other: &Message) -> bool {
        match (&self.0, &other.0) {
            (Payload::Plain(own), Payload::Plain(other)) => own.same(other),
            (Payload::Shared(own), Payload::Shared(other)) => own.same(&**other),
            _ => false,
        }
    }

    /// The event itself, for monitors; `None` in an emptied message.
    pub(crate) fn event(&self) -> Option<&dyn Any> {
        match &self.0 {
            Payload::Plain(event) => event.event(),
            Payload::Shared(content) => content.event(),
        }
    }
}

/// What the runtime can do with an event whose type it does not know.
pub trait Content: Any + Send + Sync {
    /// The event as the trace shows it.
    fn payload(&self) -> &dyn Debug;

    /// Appends an injective encoding; nothing for an opaque event.
    fn encode(&self, out: &mut Vec<u8>);

    /// A hash of the encoding's content, computed once.
    fn hash(&self) -> u64;

    /// Whether a shared message can still be taken, by a copy of its event.
    fn can_copy(&self) -> bool;

    /// Whether this holds an equal event.
    fn same(&self, other: &dyn Content) -> bool;

    /// Drops the event, so that the slot can be used again for events of the type that this answers.
    fn clear(&mut self) -> TypeId;

    /// The event itself; `None` in an emptied slot.
    fn event(&self) -> Option<&dyn Any>;
}

/// How an event of type `E` is stored in a message.
pub trait Slot<E>: Content {
    /// A message with the event in place, or else the event.
    fn in_place(event: E) -> Result<Message, E>;

    /// A slot that holds the event.
    fn new(event: E) -> Self;

    /// Takes the event out of a message, by a copy where the message is shared. `None` if the
    /// message holds no such event.
    fn take(message: &mut Message) -> Option<E>;

    /// A message that is the same as one with this event, or else the slot of such a message.
    fn like(event: &E) -> Result<Message, Self>
    where
        Self: Sized;

    /// The same slot, whose event can be copied.
    #[must_use]
    fn copied_by(self, copy: fn(&E) -> E) -> Self;
}

/// Takes the event `E` out of a message to the machine `M`: how generated code opens a message
/// whose number is `<M as Handles<E>>::EVENT`.
///
/// # Panics
/// If the message holds another event, which generated code does not let happen.
pub fn take<M: Handles<E>, E>(message: &mut Message) -> E {
    match <M::Slot as Slot<E>>::take(message) {
        Some(event) => event,
        None => unreachable!("a message to `{}` was opened as another event", M::NAME),
    }
}

/// An event of a captured machine.
pub struct Shared<E> {
    event: Option<E>,
    /// Zero until it is asked for.
    hash: AtomicU64,
}

impl<E: Clone + Eq + Hash + Debug + Send + Sync + 'static> Content for Shared<E> {
    fn payload(&self) -> &dyn Debug {
        self.event.as_ref().map_or(&Empty, |event| event as &dyn Debug)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        Encoder::encode(&self.event, out);
    }

    fn hash(&self) -> u64 {
        match self.hash.load(Relaxed) {
            0 => {
                let hash = Digest::of(&self.event).max(1);
                self.hash.store(hash, Relaxed);
                hash
            }
            known => known,
        }
    }

    fn can_copy(&self) -> bool {
        true
    }

    fn same(&self, other: &dyn Content) -> bool {
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| self.event == other.event)
    }

    fn clear(&mut self) -> TypeId {
        self.event = None;
        TypeId::of::<Self>()
    }

    fn event(&self) -> Option<&dyn Any> {
        self.event.as_ref().map(|event| event as &dyn Any)
    }
}

impl<E: Clone + Eq + Hash + Debug + Send + Sync + 'static> Slot<E> for Shared<E> {
    #[inline]
    fn in_place(event: E) -> Result<Message, E> {
        if Plain::fits::<E>() { Ok(Message(Payload::Plain(Plain::new(event)))) } else { Err(event) }
    }

    fn new(event: E) -> Self {
        Shared { event: Some(event), hash: AtomicU64::new(0) }
    }

    #[inline]
    fn take(message: &mut Message) -> Option<E> {
        match &mut message.0 {
            Payload::Plain(event) => event.take(),
            Payload::Shared(shared) => match Arc::get_mut(shared) {
                Some(content) => (content as &mut dyn Any).downcast_mut::<Self>()?.event.take(),
                None => (&**shared as &dyn Any).downcast_ref::<Self>()?.event.clone(),
            },
        }
    }

    fn like(event: &E) -> Result<Message, Self> {
        Self::in_place(event.clone()).map_err(Self::new)
    }

    fn copied_by(self, _: fn(&E) -> E) -> Self {
        self
    }
}

/// An event of a machine that is not captured: it needs to be printable, and no more.
pub struct Opaque<E> {
    event: Option<E>,
    copy: Option<fn(&E) -> E>,
    /// The printed event, in a slot that stands for it without holding it.
    text: String,
}

impl<E: Debug + Send + Sync + 'static> Opaque<E> {
    fn text(&self) -> String {
        self.event.as_ref().map_or_else(|| self.text.clone(), |event| format!("{event:?}"))
    }
}

impl<E: Debug + Send + Sync + 'static> Content for Opaque<E> {
    fn payload(&self) -> &dyn Debug {
        self.event.as_ref().map_or(&Empty, |event| event as &dyn Debug)
    }

    fn encode(&self, _: &mut Vec<u8>) {}

    fn hash(&self) -> u64 {
        0
    }

    fn can_copy(&self) -> bool {
        self.copy.is_some()
    }

    fn same(&self, other: &dyn Content) -> bool {
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| self.text() == other.text())
    }

    fn clear(&mut self) -> TypeId {
        self.event = None;
        TypeId::of::<Self>()
    }

    fn event(&self) -> Option<&dyn Any> {
        self.event.as_ref().map(|event| event as &dyn Any)
    }
}

impl<E: Debug + Send + Sync + 'static> Slot<E> for Opaque<E> {
    /// An event that can be neither copied nor compared is never in place.
    fn in_place(event: E) -> Result<Message, E> {
        Err(event)
    }

    fn new(event: E) -> Self {
        Opaque { event: Some(event), copy: None, text: String::new() }
    }

    fn take(message: &mut Message) -> Option<E> {
        let Payload::Shared(shared) = &mut message.0 else { return None };
        match Arc::get_mut(shared) {
            Some(content) => (content as &mut dyn Any).downcast_mut::<Self>()?.event.take(),
            None => {
                let slot = (&**shared as &dyn Any).downcast_ref::<Self>()?;
                slot.copy.and_then(|copy| slot.event.as_ref().map(copy))
            }
        }
    }

    fn like(event: &E) -> Result<Message, Self> {
        Err(Opaque { event: None, copy: None, text: format!("{event:?}") })
    }

    fn copied_by(mut self, copy: fn(&E) -> E) -> Self {
        self.copy = Some(copy);
        self
    }
}

#[derive(Debug)]
struct Empty;
