//! What a trace tells of messages, names and states.

use std::collections::BTreeMap;

use dally_core::{Access, Discard, Event, Item, MessageId, Trace, Transition, WorkerId};

/// The sends and the fates of all messages of a trace. Steps count from 1.
#[derive(Default)]
pub(crate) struct Messages<'a> {
    pub sent: BTreeMap<MessageId, Sent<'a>>,
    pub fate: BTreeMap<MessageId, Fate>,
    /// Duplicates, with the messages that they repeat.
    pub doubles: BTreeMap<MessageId, MessageId>,
}

#[derive(Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub step: usize,
    pub to: WorkerId,
    pub payload: &'a str,
}

#[derive(Clone, Copy)]
pub(crate) enum Fate {
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

/// The last write and the last access of an object: worker and step.
#[derive(Clone, Copy, Default)]
pub(crate) struct Touched {
    written: Option<(WorkerId, usize)>,
    accessed: Option<(WorkerId, usize)>,
}

impl Touched {
    /// A worker accesses it in this step. Answers the access of another one that this comes after.
    pub fn by(
        &mut self,
        worker: WorkerId,
        step: usize,
        access: Access,
    ) -> Option<(WorkerId, usize)> {
        let before = if access.only_reads() { self.written } else { self.accessed };
        self.accessed = Some((worker, step));
        if !access.only_reads() {
            self.written = Some((worker, step));
        }
        before.filter(|(other, _)| *other != worker)
    }
}

pub(crate) struct Names<'a>(pub &'a BTreeMap<WorkerId, String>);

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

/// The stack of states of a machine, the top last.
#[derive(Clone, Default)]
pub(crate) struct States<'a>(pub Vec<&'a str>);

impl<'a> States<'a> {
    pub fn change(&mut self, how: Transition, to: &'a str) {
        match how {
            Transition::Start => self.0.clear(),
            Transition::Goto => drop(self.0.pop()),
            Transition::Push => {}
            Transition::Pop => {
                self.0.pop();
                // The trace may lack the states below; the state after the pop is certain.
                if self.0.pop() != Some(to) {
                    self.0.clear();
                }
            }
        }
        self.0.push(to);
    }
}
