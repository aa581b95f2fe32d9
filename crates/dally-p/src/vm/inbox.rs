//! Queues of events.

use dally_core::MessageId;

use super::value::Value;
use crate::program::EventId;

#[derive(Clone)]
pub(crate) struct Envelope {
    /// The id in traces, no part of the state.
    pub(crate) id: MessageId,
    pub(crate) event: EventId,
    pub(crate) payload: Value,
}

impl Envelope {
    pub(crate) fn is_same(&self, other: &Envelope) -> bool {
        self.event == other.event && self.id == other.id && self.payload.is_same(&other.payload)
    }
}

pub(crate) fn encode(inbox: &[Envelope], out: &mut Vec<u8>) {
    out.extend_from_slice(&(inbox.len() as u32).to_le_bytes());
    for envelope in inbox {
        out.extend_from_slice(&envelope.event.0.to_le_bytes());
        envelope.payload.encode(out);
    }
}
