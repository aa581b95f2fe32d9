//! Messages in flight: events of any type behind one shared pointer, recycled.

use std::any::{Any, TypeId};
use std::fmt::{Debug, Write as _};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dally_core::fingerprint::Encoder;
use triomphe::Arc;

use crate::digest::Digest;
use crate::machine::Handles;

/// A message: an event whose type only sender and receiver know. Shared between forks of a
/// system, so it never changes while it is shared.
pub type Message = Arc<dyn Content>;

/// What the runtime can do with an event whose type it does not know.
pub trait Content: Any + Send + Sync {
    /// For the trace.
    fn payload(&self) -> &dyn Debug;

    /// Appends an injective encoding; nothing for an opaque event.
    fn encode(&self, out: &mut Vec<u8>);

    /// A hash of the encoding's content, computed once.
    fn hash(&self) -> u64;

    /// Whether a shared message can still be taken, by a copy of its event.
    fn can_copy(&self) -> bool;

    /// Whether this holds an equal event: what makes two timers the same.
    fn same(&self, other: &dyn Content) -> bool;

    /// Drops the event, so that the slot can wait for the next one of its type, which this
    /// answers.
    fn clear(&mut self) -> TypeId;

    /// The event itself, for monitors; `None` in an emptied slot.
    fn event(&self) -> Option<&dyn Any>;
}

/// How an event of type `E` is stored in a message.
pub trait Slot<E>: Content {
    /// A slot that holds the event.
    fn new(event: E) -> Self;

    /// Takes the event out of a message, by a copy where the message is shared. `None` if the
    /// message holds no such event.
    fn take(message: &mut Message) -> Option<E>;

    /// A slot that is [`Content::same`] as one that holds this event.
    fn like(event: &E) -> Self;

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
        match &self.event {
            Some(event) => event,
            None => &Empty,
        }
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
    fn new(event: E) -> Self {
        Shared { event: Some(event), hash: AtomicU64::new(0) }
    }

    fn take(message: &mut Message) -> Option<E> {
        match Arc::get_mut(message) {
            Some(content) => (content as &mut dyn Any).downcast_mut::<Self>()?.event.take(),
            None => (&**message as &dyn Any).downcast_ref::<Self>()?.event.clone(),
        }
    }

    fn like(event: &E) -> Self {
        Self::new(event.clone())
    }

    fn copied_by(self, _: fn(&E) -> E) -> Self {
        self
    }
}

/// An event of a machine that is not captured: it needs to be printable, and no more.
pub struct Opaque<E> {
    event: Option<E>,
    copy: Option<fn(&E) -> E>,
    /// What stands for the event where there is none to keep.
    text: Option<String>,
}

impl<E: Debug + Send + Sync + 'static> Opaque<E> {
    fn text(&self) -> String {
        let mut text = self.text.clone().unwrap_or_default();
        if let Some(event) = &self.event {
            // Writing to a string fails only where the event's own `Debug` does; then the text
            // so far stands for it.
            let _ = write!(text, "{event:?}");
        }
        text
    }
}

impl<E: Debug + Send + Sync + 'static> Content for Opaque<E> {
    fn payload(&self) -> &dyn Debug {
        match &self.event {
            Some(event) => event,
            None => &Empty,
        }
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
    fn new(event: E) -> Self {
        Opaque { event: Some(event), copy: None, text: None }
    }

    fn take(message: &mut Message) -> Option<E> {
        match Arc::get_mut(message) {
            Some(content) => (content as &mut dyn Any).downcast_mut::<Self>()?.event.take(),
            None => {
                let slot = (&**message as &dyn Any).downcast_ref::<Self>()?;
                slot.copy.and_then(|copy| slot.event.as_ref().map(copy))
            }
        }
    }

    fn like(event: &E) -> Self {
        Opaque { event: None, copy: None, text: Some(format!("{event:?}")) }
    }

    fn copied_by(mut self, copy: fn(&E) -> E) -> Self {
        self.copy = Some(copy);
        self
    }
}

/// What an emptied slot prints.
#[derive(Debug)]
struct Empty;
