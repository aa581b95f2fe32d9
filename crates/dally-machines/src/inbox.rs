//! Inboxes: messages that were sent and not yet handled, and the order in which they are dequeued.

use std::ops::Deref;

use dally_core::fingerprint::Encoder;
use dally_core::{MessageId, WorkerId};

use crate::cell::Cell;
use crate::digest::Digest;
use crate::encoding;
use crate::machine::Reaction;
use crate::message::Message;
use crate::pool::Pool;

/// The order in which messages reach a machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
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

#[derive(Clone)]
pub(crate) struct Envelope {
    pub(crate) id: MessageId,
    /// Which event of the receiver it is.
    pub(crate) event: u16,
    /// The receiver's own timer that sent it.
    pub(crate) timer: Option<u32>,
    pub(crate) message: Message,
}

impl Envelope {
    pub(crate) fn same(&self, other: &Envelope) -> bool {
        (self.id, self.event, self.timer) == (other.id, other.event, other.timer)
            && self.message.same(&other.message)
    }

    const fn empty() -> Envelope {
        let id = MessageId { sender: WorkerId::FAULTS, number: 0 };
        Envelope { id, event: 0, timer: None, message: Message::empty() }
    }
}

impl Mailbox {
    /// The messages that can be dequeued, as (message, position). Equal states list them in the same
    /// order: a search that goes round a loop again names a message by its index here.
    pub(crate) fn candidates(
        self,
        inbox: &[Envelope],
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
        match self {
            Mailbox::Fifo | Mailbox::PerSender => found.sort_unstable(),
            // The time of sending is no part of the state, so ids come last.
            Mailbox::Unordered => found.sort_unstable_by_key(|&(id, at)| {
                let Envelope { event, timer, ref message, .. } = inbox[at as usize];
                (id.sender, event, timer, message.hash(), id)
            }),
        }
    }

    /// Appends an encoding that is equal exactly for inboxes with equal futures. Mailboxes that choose
    /// among senders encode the senders, because strong fairness is owed to each of them.
    pub(crate) fn encode(self, inbox: &[Envelope], out: &mut Vec<u8>) {
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
                    Encoder::encode(&envelope.id.sender, &mut bytes);
                    one(envelope, &mut bytes);
                    all.push(bytes);
                }
                all.sort_unstable();
                all.iter().for_each(|bytes| out.extend_from_slice(bytes));
            }
        }
    }

    /// Hashes what [`Mailbox::encode`] writes: a commutative sum over the messages, each hashed with
    /// its queue and its place in it.
    #[inline]
    pub(crate) fn digest(self, inbox: &[Envelope]) -> u64 {
        let mut sum = 0u64;
        for (at, envelope) in inbox.iter().enumerate() {
            let sender = envelope.id.sender;
            let (queue, place) = match self {
                Mailbox::Fifo => (0, at),
                Mailbox::PerSender if at == 0 => (sender.to_bits(), 0),
                Mailbox::PerSender => {
                    let before = inbox[..at].iter();
                    (sender.to_bits(), before.filter(|earlier| earlier.id.sender == sender).count())
                }
                Mailbox::Unordered => (sender.to_bits(), 0),
            };
            let timer = envelope.timer.map_or(0, |timer| u64::from(timer) + 1);
            let mut digest = Digest::at(queue, place);
            let number = timer << 16 | u64::from(envelope.event);
            digest.word(envelope.message.hash().wrapping_add(number));
            sum = sum.wrapping_add(digest.value());
        }
        sum
    }
}

/// The messages of a machine in the order of arrival, contiguous, unlike in a ring buffer: steps
/// iterate over inboxes far more often than inboxes grow.
#[derive(Clone, Default)]
pub(crate) struct Inbox {
    /// Envelopes before `first` and from `end` on are empty.
    envelopes: Vec<Envelope>,
    first: usize,
    end: usize,
}

impl Deref for Inbox {
    type Target = [Envelope];

    #[inline(always)]
    fn deref(&self) -> &[Envelope] {
        &self.envelopes[self.first..self.end]
    }
}

impl Inbox {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.end
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.end - self.first
    }

    #[inline(always)]
    pub(crate) fn first(&self) -> Option<&Envelope> {
        if self.is_empty() { None } else { self.envelopes.get(self.first) }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, id: MessageId, event: u16, timer: Option<u32>, message: Message) {
        if self.end >= self.envelopes.len() {
            self.make_room();
        }
        let last = &mut self.envelopes[self.end];
        (last.id, last.event, last.timer, last.message) = (id, event, timer, message);
        self.end += 1;
    }

    /// Moves everything to the front, and allocates unless most of the memory was unused.
    #[cold]
    fn make_room(&mut self) {
        self.envelopes.rotate_left(self.first);
        self.end -= self.first;
        self.first = 0;
        let more = if self.end > self.envelopes.len() / 2 { self.end } else { 0 };
        self.envelopes.resize(self.envelopes.len().max(1) + more, Envelope::empty());
    }

    /// Removes the first envelope and returns its message. Panics on an empty inbox.
    #[inline(always)]
    pub(crate) fn open_first(&mut self) -> Message {
        self.open_in_place().message.take()
    }

    /// As [`Inbox::open_first`], with the message left where it is. The caller takes it out before it
    /// calls any other method of the inbox.
    #[inline(always)]
    pub(crate) fn open_in_place(&mut self) -> &mut Envelope {
        let at = self.first;
        // Branchless: whether there are more messages is unpredictable.
        let more = usize::from(self.first + 1 != self.end);
        (self.first, self.end) = ((self.first + 1) * more, self.end * more);
        &mut self.envelopes[at]
    }

    pub(crate) fn open(&mut self, at: usize) -> Message {
        if at == 0 {
            return self.open_first();
        }
        let message = self.envelopes[self.first + at].message.take();
        self.envelopes[self.first + at..self.end].rotate_left(1);
        self.end -= 1;
        message
    }

    pub(crate) fn copy_from(&mut self, saved: &Inbox, pool: &mut Pool) {
        let saved = &**saved;
        let surplus = self.first.max(saved.len())..self.end;
        for envelope in self.envelopes.get_mut(surplus).into_iter().flatten() {
            pool.put(envelope.message.take());
        }
        if saved.len() > self.envelopes.len() {
            self.envelopes.resize(saved.len(), Envelope::empty());
        }
        for (own, saved) in self.envelopes.iter_mut().zip(saved) {
            (own.id, own.event, own.timer) = (saved.id, saved.event, saved.timer);
            own.message.copy_from(&saved.message, pool);
        }
        (self.first, self.end) = (0, saved.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox(numbers: std::ops::Range<u32>) -> Inbox {
        let mut inbox = Inbox::default();
        for number in numbers {
            push(&mut inbox, number);
        }
        inbox
    }

    fn push(inbox: &mut Inbox, number: u32) {
        let id = MessageId { sender: WorkerId::root(0), number };
        inbox.push(id, 0, None, Message::empty());
    }

    fn numbers(inbox: &Inbox) -> Vec<u32> {
        inbox.iter().map(|envelope| envelope.id.number).collect()
    }

    #[test]
    fn messages_come_out_in_the_order_in_which_they_went_in() {
        let mut inbox = inbox(0..5);
        inbox.open(2);
        assert_eq!(numbers(&inbox), [0, 1, 3, 4]);
        inbox.open_first();
        inbox.open(2);
        assert_eq!(numbers(&inbox), [1, 3]);
        push(&mut inbox, 9);
        assert_eq!(numbers(&inbox), [1, 3, 9]);
    }

    #[test]
    fn an_inbox_that_never_runs_empty_takes_no_more_memory_for_that() {
        let mut inbox = inbox(0..3);
        for number in 3..1000 {
            push(&mut inbox, number);
            inbox.open_first();
        }
        assert_eq!(numbers(&inbox), [997, 998, 999]);
        assert!(inbox.envelopes.len() <= 16, "{}", inbox.envelopes.len());
    }

    #[test]
    fn a_copy_holds_what_its_original_holds_whatever_it_held_before() {
        for before in 0..6 {
            for opened in 0..=before {
                let (mut copy, mut saved) = (inbox(0..before), inbox(10..13));
                (0..opened).for_each(|_| drop(copy.open_first()));
                saved.open_first();
                copy.copy_from(&saved, &mut Pool::default());
                assert_eq!(numbers(&copy), [11, 12]);
                push(&mut copy, 5);
                assert_eq!(numbers(&copy), [11, 12, 5]);
            }
        }
    }
}
