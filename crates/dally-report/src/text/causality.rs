//! What a trace tells of messages and names.

use std::collections::BTreeMap;

use dally_core::{Discard, Event, Item, MessageId, Trace, WorkerId};

/// The sends and the fates of all messages of a trace. Steps count from 1.
#[derive(Default)]
pub(super) struct Messages<'a> {
    pub sent: BTreeMap<MessageId, Sent<'a>>,
    pub fate: BTreeMap<MessageId, Fate>,
    /// Duplicates, with the messages that they repeat.
    pub doubles: BTreeMap<MessageId, MessageId>,
}

#[derive(Clone, Copy)]
pub(super) struct Sent<'a> {
    pub step: usize,
    pub to: WorkerId,
    pub payload: &'a str,
}

#[derive(Clone, Copy)]
pub(super) enum Fate {
    Received(usize),
    Discarded(usize, Discard),
}

impl<'a> Messages<'a> {
    pub fn of(trace: &'a Trace) -> Messages<'a> {
        let mut messages = Messages::default();
        for (step, taken) in (1..).zip(&trace.steps) {
            for item in &taken.items {
                let Item::Event(event) = item else { continue };
                match *event {
                    Event::Sent { message, to, ref payload } => {
                        messages.sent.insert(message, Sent { step, to, payload });
                    }
                    Event::Duplicated { message, copy } => {
                        if let Some(&sent) = messages.sent.get(&message) {
                            messages.sent.insert(copy, Sent { step, ..sent });
                        }
                        messages.doubles.insert(copy, message);
                    }
                    Event::Received { message, .. } => {
                        messages.fate.insert(message, Fate::Received(step));
                    }
                    Event::Discarded { message, why } => {
                        messages.fate.insert(message, Fate::Discarded(step, why));
                    }
                    _ => {}
                }
            }
        }
        messages
    }

    /// The payload of a message, if the trace has its send.
    pub fn payload(&self, message: MessageId) -> Option<&'a str> {
        self.sent.get(&message).map(|sent| sent.payload)
    }
}

pub(super) struct Names<'a>(pub &'a BTreeMap<WorkerId, String>);

impl Names<'_> {
    /// The name and id of a worker, such as `Participant 0.2`.
    pub fn of(&self, worker: WorkerId) -> String {
        let id = worker.to_string();
        match self.0.get(&worker).map(String::as_str) {
            _ if worker == WorkerId::FAULTS => id,
            None | Some("") if worker.is_environment() => format!("timer {id}"),
            None | Some("") => id,
            Some(name) if *name == id => id,
            Some(name) => format!("{name} {id}"),
        }
    }
}
