//! Queues: what has been sent to a machine and not yet taken.

use std::ops::Deref;

use dally_core::MessageId;

use super::value::Value;
use crate::program::EventId;

/// An event in a queue.
#[derive(Clone)]
pub(crate) struct Envelope {
    /// Its name in traces, no part of the state.
    pub(crate) id: MessageId,
    pub(crate) event: EventId,
    pub(crate) payload: Value,
}

/// The events of a machine in the order in which they came.
#[derive(Clone, Default)]
pub(crate) struct Inbox {
    events: Vec<Envelope>,
}

impl Deref for Inbox {
    type Target = [Envelope];

    #[inline]
    fn deref(&self) -> &[Envelope] {
        &self.events
    }
}

impl Inbox {
    #[inline]
    pub(crate) fn push(&mut self, id: MessageId, event: EventId, payload: Value) {
        self.events.push(Envelope { id, event, payload });
    }

    /// Takes out the event at this place, which exists. Queues are short.
    #[inline]
    pub(crate) fn take(&mut self, at: usize) -> Envelope {
        let envelope = &mut self.events[at];
        let (id, event) = (envelope.id, envelope.event);
        let payload = std::mem::take(&mut envelope.payload);
        self.events.remove(at);
        Envelope { id, event, payload }
    }

    pub(crate) fn clear(&mut self) {
        self.events.clear();
    }

    pub(crate) fn copy_from(&mut self, other: &Inbox) {
        self.events.clone_from(&other.events);
    }

    pub(crate) fn is_same(&self, other: &Inbox) -> bool {
        let same = |(a, b): (&Envelope, &Envelope)| {
            a.event == b.event && a.id == b.id && a.payload.is_same(&b.payload)
        };
        self.len() == other.len() && self.iter().zip(other.iter()).all(same)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.len() as u32).to_le_bytes());
        for envelope in &self.events {
            out.extend_from_slice(&envelope.event.0.to_le_bytes());
            envelope.payload.encode(out);
        }
    }
}
