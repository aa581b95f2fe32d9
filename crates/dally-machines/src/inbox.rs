//! Inboxes: what has been sent and not yet handled, and in which order it comes out.

use std::collections::VecDeque;

use dally_core::fingerprint::Encoder;
use dally_core::{MessageId, WorkerId};

use crate::cell::Cell;
use crate::digest::Digest;
use crate::encoding;
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
    pub(crate) fn encode(self, inbox: &VecDeque<Envelope>, out: &mut Vec<u8>) {
        let one = |envelope: &Envelope, out: &mut Vec<u8>| {
            Encoder::encode(&envelope.timer, out);
            encoding::event(envelope.event, &envelope.message, out);
        };
        match self {
            Mailbox::Fifo => inbox.iter().for_each(|envelope| one(envelope, out)),
            Mailbox::PerSender => {
                let after = |last: Option<WorkerId>| {
                    let senders = inbox.iter().map(|envelope| envelope.id.sender);
                    senders.filter(|&sender| last.is_none_or(|last| sender > last)).min()
                };
                let mut next = after(None);
                while let Some(sender) = next {
                    next = after(Some(sender));
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

    /// Hashes what [`Mailbox::encode`] writes: the sum, which knows no order, over all messages
    /// with their places in the order that there is.
    #[inline]
    pub(crate) fn digest(self, inbox: &VecDeque<Envelope>) -> u64 {
        // Hardly ever in two pieces, and one is faster walked through.
        match inbox.as_slices() {
            (all, []) => self.sum(all.iter()),
            _ => self.sum(inbox.iter()),
        }
    }

    #[inline]
    fn sum<'e>(self, inbox: impl Iterator<Item = &'e Envelope> + Clone) -> u64 {
        let mut sum = 0u64;
        for (at, envelope) in inbox.clone().enumerate() {
            let sender = envelope.id.sender;
            let (queue, place) = match self {
                Mailbox::Fifo => (0, at),
                Mailbox::PerSender => {
                    let before = inbox.clone().take(at);
                    (sender.to_bits(), before.filter(|earlier| earlier.id.sender == sender).count())
                }
                Mailbox::Unordered => (0, 0),
            };
            let timer = envelope.timer.map_or(0, |timer| u64::from(timer) + 1);
            let mut digest = Digest::at(queue, place);
            digest.word(timer << 16 | u64::from(envelope.event));
            digest.word(envelope.message.hash());
            sum = sum.wrapping_add(digest.value());
        }
        sum
    }
}
