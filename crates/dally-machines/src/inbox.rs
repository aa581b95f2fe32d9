//! Inboxes: what has been sent and not yet handled, and in which order it comes out.

use std::collections::VecDeque;

use dally_core::fingerprint::Encoder;
use dally_core::{MessageId, WorkerId};

use crate::cell::Cell;
use crate::encoding::{self, Form};
use crate::machine::Reaction;
use crate::message::Message;

/// The order in which messages reach a machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mailbox {
    /// One queue per machine, in the order of sending, as in P.
    #[default]
    Fifo,
    /// One queue per sender; which sender's is next is explored. A message in the inbox is still
    /// under way, so one that the state ignores is dropped by a step of its own.
    PerSender,
    /// No order: every message can be next. An ignored message takes a step as with
    /// [`Mailbox::PerSender`].
    Unordered,
}

/// A message in an inbox.
#[derive(Clone)]
pub(crate) struct Envelope {
    pub(crate) id: MessageId,
    /// Which event of the receiver it is.
    pub(crate) event: u16,
    /// The receiver's own timer that sent it.
    pub(crate) timer: Option<u32>,
    pub(crate) message: Message,
}

impl Mailbox {
    /// All that can be dequeued, as (message, position), sorted by message.
    pub(crate) fn candidates(
        self,
        inbox: &VecDeque<Envelope>,
        cell: &dyn Cell,
        found: &mut Vec<(MessageId, u32)>,
    ) {
        found.clear();
        for (at, envelope) in inbox.iter().enumerate() {
            let later = self == Mailbox::PerSender
                && found.iter().any(|(first, _)| first.sender == envelope.id.sender);
            if !later && cell.reaction(envelope.event) != Reaction::Defer {
                found.push((envelope.id, at as u32));
            }
        }
        found.sort_unstable();
    }

    /// Appends an encoding that tells apart inboxes with different futures, and no others.
    pub(crate) fn encode(self, inbox: &VecDeque<Envelope>, form: Form, out: &mut Vec<u8>) {
        let one = |envelope: &Envelope, out: &mut Vec<u8>| {
            Encoder::encode(&envelope.timer, out);
            encoding::event(envelope.event, &envelope.message, form, out);
        };
        match self {
            Mailbox::Fifo => inbox.iter().for_each(|envelope| one(envelope, out)),
            Mailbox::PerSender => {
                let mut senders: Vec<WorkerId> = inbox.iter().map(|e| e.id.sender).collect();
                senders.sort_unstable();
                senders.dedup();
                for sender in senders {
                    Encoder::encode(&sender, out);
                    encoding::framed(out, |out| {
                        inbox.iter().filter(|e| e.id.sender == sender).for_each(|e| one(e, out));
                    });
                }
            }
            Mailbox::Unordered => {
                let mut all: Vec<Vec<u8>> = Vec::with_capacity(inbox.len());
                for envelope in inbox {
                    let mut bytes = Vec::new();
                    one(envelope, &mut bytes);
                    all.push(bytes);
                }
                all.sort_unstable();
                all.iter().for_each(|bytes| out.extend_from_slice(bytes));
            }
        }
    }
}
