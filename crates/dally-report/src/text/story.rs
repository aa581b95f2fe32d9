//! The steps of a trace in words.

use std::collections::BTreeMap;

use dally_core::words::count;
use dally_core::{
    Access, Choice, Delays, Discard, Event, Heat, Item, MessageId, Resource, Tag, Trace, TraceStep,
    Transition, WorkerId,
};

use super::causality::{Fate, Messages, Names, States, Touched};
use super::style::Ink;
use super::words::clip;

/// The steps of a trace in words, and the state at their end.
pub(crate) struct Story<'a> {
    pub names: Names<'a>,
    pub messages: Messages<'a>,
    pub steps: Vec<(WorkerId, Vec<Line>)>,
    /// The stack of states of each machine, the top last.
    pub states: BTreeMap<WorkerId, States<'a>>,
    /// What a worker waits for since its last step.
    pub waits: BTreeMap<WorkerId, &'a str>,
    /// The workers that will not step again.
    pub gone: BTreeMap<WorkerId, WorkerEnd>,
    /// What each timer sends.
    pub timers: BTreeMap<WorkerId, &'a str>,
    /// The state and heat of each monitor that has changed its state.
    pub monitors: BTreeMap<&'a str, String>,
    /// What monitors are called in the language of the program.
    pub monitor: &'static str,
    /// The steps in which each worker sends, the latest first.
    sends: BTreeMap<WorkerId, Vec<usize>>,
    /// The step in which the message is sent that monitors are told of.
    sending: Option<usize>,
    touched: BTreeMap<Resource, Touched>,
}

/// What is said of a message after its send if it was not received.
pub(super) const NOT_RECEIVED: &str = " (not received)";

pub(crate) struct Line {
    pub ink: Option<Ink>,
    pub text: String,
}

/// Why a worker does not step any more, and since which step.
#[derive(Clone, Copy)]
pub(crate) enum WorkerEnd {
    Halted(usize),
    Crashed(usize),
}

impl<'a> Story<'a> {
    pub fn of(trace: &'a Trace) -> Story<'a> {
        let mut story = Story {
            names: Names(&trace.names),
            messages: Messages::of(trace),
            steps: Vec::with_capacity(trace.steps.len()),
            states: BTreeMap::new(),
            waits: BTreeMap::new(),
            gone: BTreeMap::new(),
            timers: BTreeMap::new(),
            monitors: BTreeMap::new(),
            monitor: "monitor",
            sends: BTreeMap::new(),
            sending: None,
            touched: BTreeMap::new(),
        };
        for (at, step) in trace.steps.iter().enumerate().rev() {
            for item in &step.items {
                match item {
                    Item::Event(Event::Observed { .. }) => story.monitor = "spec",
                    Item::Event(Event::Sent { .. }) => {
                        story.sends.entry(step.worker).or_default().push(at + 1);
                    }
                    _ => {}
                }
            }
        }
        for (number, step) in (1..).zip(&trace.steps) {
            story.waits.remove(&step.worker);
            let mut lines: Vec<Line> = Vec::new();
            for (at, item) in step.items.iter().enumerate() {
                // The value that the program makes of a choice says more than its number.
                let told =
                    matches!(step.items.get(at + 1), Some(Item::Event(Event::Chosen { .. })));
                if !(told && matches!(item, Item::Choice(_))) {
                    lines.extend(story.line(number, step, item));
                }
            }
            if lines.is_empty() {
                lines.push(plain("runs"));
            }
            story.steps.push((step.worker, lines));
        }
        story
    }

    /// Adds to each delayed step whom the explorer would have run instead.
    pub fn tell_delays(&mut self, delays: &Delays) {
        for at in &delays.at {
            let late = count(at.delays.into(), "delay");
            let text = match at.instead_of {
                Some(worker) => format!("({late}: {} was next)", self.names.of(worker)),
                None => format!("({late}: not the first choice)"),
            };
            if let Some((_, lines)) = self.steps.get_mut(at.step.saturating_sub(1)) {
                // Delays of a worker come before its step, delays of a value after it.
                let place = if at.value { lines.len() } else { 0 };
                lines.insert(place, Line { ink: Some(Ink::Fault), text });
            }
        }
    }

    fn line(&mut self, number: usize, step: &'a TraceStep, item: &'a Item) -> Option<Line> {
        match item {
            Item::Choice(choice) => self.choice(step, choice),
            Item::Input { name, value } => Some(plain(format!("input {name} = {value}"))),
            Item::Event(event) => self.event(number, step, event),
            _ => None,
        }
    }

    fn choice(&self, step: &TraceStep, choice: &Choice) -> Option<Line> {
        let told = |wanted: fn(&Event<String>) -> bool| {
            step.items.iter().any(|item| matches!(item, Item::Event(event) if wanted(event)))
        };
        match *choice {
            Choice::Worker(_) => None,
            Choice::Value { .. } if step.worker == WorkerId::FAULTS && told(is_fault) => None,
            Choice::Value { index, of, tag: Tag::Program } => {
                Some(plain(format!("chooses {index} from 0..{of}")))
            }
            // A choice of no fault is not shown, and the event of a fault says more than its choice.
            Choice::Value { index, of, tag: Tag::Fault } => (index > 0 && !told(is_fault))
                .then(|| fault(format!("chooses {index} from 0..{of}"))),
            Choice::Input(value) => Some(plain(format!("input {value}"))),
            Choice::Delivery(message) => {
                let taken = step.items.iter().any(|item| {
                    matches!(item, Item::Event(Event::Received { message: taken, .. }
                        | Event::Discarded { message: taken, .. }) if *taken == message)
                });
                (!taken).then(|| plain(format!("is handed {message}")))
            }
        }
    }

    fn event(
        &mut self,
        number: usize,
        step: &'a TraceStep,
        event: &'a Event<String>,
    ) -> Option<Line> {
        let me = step.worker;
        let text = match event {
            Event::Created { worker, .. } => format!("creates {}", self.names.of(*worker)),
            Event::Sent { message, to, payload } => {
                let verb = if self.timers.contains_key(&me) { "fires" } else { "sends" };
                let to = self.names.of(*to);
                format!("{verb} {} to {to}{}", clip(payload), self.fate(number, *message))
            }
            Event::Duplicated { message, copy } => {
                let fate = self.fate(number, *copy);
                let name = match is_sent(step, *message) {
                    true => "this message".to_owned(),
                    false => self.message(*message),
                };
                return Some(fault(format!("{name} is duplicated{fate}")));
            }
            Event::Received { message, payload } => {
                format!("receives {}{}", clip(payload), self.origin(*message))
            }
            Event::Discarded { message, why } => return self.discarded(step, *message, *why),
            Event::Raised { payload } => format!("raises {}", clip(payload)),
            Event::Changed { how, to } => self.changed(me, *how, to),
            Event::Enabled { worker } => {
                self.waits.remove(worker);
                if *worker == me || is_implied(step, *worker) {
                    return None;
                }
                format!("wakes {}", self.names.of(*worker))
            }
            Event::Blocked { on } => {
                self.waits.insert(me, on);
                format!("waits to {}", clip(on))
            }
            Event::Halted { worker } => {
                self.gone.insert(*worker, WorkerEnd::Halted(number));
                if *worker == me {
                    "halts".to_owned()
                } else {
                    format!("halts {}", self.names.of(*worker))
                }
            }
            // An access without a text matters only for the order of steps.
            Event::Accessed { what, .. } if what.is_empty() => return None,
            Event::Accessed { access, what } => {
                format!("{}{}", clip(what), self.accessed(number, me, *access))
            }
            Event::TimerSet { timer, payload } => {
                self.timers.insert(*timer, payload);
                format!("sets timer {timer}: {}", clip(payload))
            }
            Event::TimerCancelled { timer } => match self.timers.get(timer) {
                Some(payload) => format!("cancels timer {timer}: {}", clip(payload)),
                None => format!("cancels timer {timer}"),
            },
            Event::Persisted { payload } => format!("persists {}", clip(payload)),
            Event::Crashed { worker } => {
                self.gone.insert(*worker, WorkerEnd::Crashed(number));
                self.waits.remove(worker);
                let name = self.names.of(*worker);
                return Some(fault(format!("{name} crashes{}", self.in_state(*worker))));
            }
            Event::Restarted { worker } => {
                self.gone.remove(worker);
                self.states.remove(worker);
                let name = self.names.of(*worker);
                return Some(fault(format!("{name} restarts from its durable state")));
            }
            Event::Sending { to, payload } => {
                self.sending = self.next_send(number, me);
                if self.sending.is_some() {
                    return None;
                }
                format!("sends {} to {} (not received)", clip(payload), self.names.of(*to))
            }
            Event::Observed { monitor, what, state } => {
                let sent = match self.sending {
                    Some(step) => format!(" (sent in step {step})"),
                    None => String::new(),
                };
                format!("{} {monitor}: {what} in {state}{sent}", self.monitor)
            }
            Event::Handled { what, state } => format!("handles {what} in {state}"),
            Event::Chosen { value } => format!("chooses {}", clip(value)),
            Event::Announced { payload } => {
                self.sending = None;
                format!("announces {}", clip(payload))
            }
            Event::MonitorChanged { monitor, to, heat } => {
                let now = match heat {
                    Heat::Hot => format!("hot {to}"),
                    Heat::Cold => format!("cold {to}"),
                    Heat::Neutral => to.clone(),
                };
                match self.monitors.insert(monitor, now.clone()) {
                    Some(before) => format!("{} {monitor}: {before} -> {now}", self.monitor),
                    None => format!("{} {monitor} -> {now}", self.monitor),
                }
            }
            Event::Hinted { hint } => format!("hints to the explorer: {}", clip(hint)),
            Event::Noted { text } => format!("note: {}", clip(text)),
            Event::Faulted { fault: what } => return Some(fault(clip(what).to_string())),
        };
        Some(plain(text))
    }

    /// The first step after this one in which a worker sends.
    fn next_send(&self, number: usize, worker: WorkerId) -> Option<usize> {
        let sends = self.sends.get(&worker)?;
        let later = sends.partition_point(|&step| step > number);
        later.checked_sub(1).map(|at| sends[at])
    }

    fn changed(&mut self, me: WorkerId, how: Transition, to: &'a str) -> String {
        let states = self.states.entry(me).or_default();
        let before = states.0.last().copied();
        states.change(how, to);
        match (how, before) {
            (Transition::Start, _) => format!("starts in {to}"),
            (Transition::Goto, None) => format!("-> {to}"),
            (Transition::Goto, Some(before)) => format!("{before} -> {to}"),
            (Transition::Push, None) => format!("pushes {to}"),
            (Transition::Push, Some(before)) => format!("pushes {to} on top of {before}"),
            (Transition::Pop, None) => format!("pops back to {to}"),
            (Transition::Pop, Some(before)) => format!("pops {before} back to {to}"),
        }
    }

    /// The step in which a message that is sent in step `number` arrives, or its fate.
    fn fate(&self, number: usize, message: MessageId) -> String {
        match self.messages.fate.get(&message) {
            Some(Fate::Received(step)) => format!(" (-> step {step})"),
            // The event of the loss is the next line.
            Some(Fate::Discarded(step, Discard::Lost)) if *step == number => String::new(),
            Some(Fate::Discarded(step, why)) if *step == number => format!(" ({})", reason(*why)),
            Some(Fate::Discarded(step, why)) => format!(" ({}, step {step})", reason(*why)),
            None => NOT_RECEIVED.to_owned(),
        }
    }

    fn origin(&self, message: MessageId) -> String {
        let (message, double) = match self.messages.doubles.get(&message) {
            Some(original) => (*original, "the double, "),
            None => (message, ""),
        };
        // The events that a program starts with have no send in the trace.
        let Some(sent) = self.messages.sent.get(&message) else { return String::new() };
        match self.timers.contains_key(&message.sender) {
            true => format!(" from its timer {} ({double}step {})", message.sender, sent.step),
            false => {
                format!(" from {} ({double}step {})", self.names.of(message.sender), sent.step)
            }
        }
    }

    fn discarded(&self, step: &TraceStep, message: MessageId, why: Discard) -> Option<Line> {
        let me = step.worker;
        let name = self.message(message);
        let to = self.messages.sent.get(&message).map(|sent| sent.to);
        let receiver = to.map_or_else(|| "its receiver".to_owned(), |to| self.names.of(to));
        Some(match why {
            Discard::Lost if is_sent(step, message) => fault("this message is lost".to_owned()),
            Discard::Lost => fault(format!("{name} to {receiver} is lost")),
            // The line of the send says so.
            _ if is_sent(step, message) => return None,
            Discard::Ignored if to == Some(me) => {
                let origin = self.origin(message);
                plain(format!("ignores {name}{origin}{}", self.in_state(me)))
            }
            Discard::Ignored => plain(format!("{name} is ignored by {receiver}")),
            Discard::Gone => plain(format!("{name} is dropped: {receiver} is gone")),
            Discard::Cancelled => plain(format!("{name} is dropped: its timer was cancelled")),
        })
    }

    fn accessed(&mut self, number: usize, me: WorkerId, access: Access) -> String {
        match self.touched.entry(access.resource).or_default().by(me, number, access) {
            Some((other, step)) => format!(" (after {}, step {step})", self.names.of(other)),
            None => String::new(),
        }
    }

    fn message(&self, message: MessageId) -> String {
        self.messages.payload(message).map_or_else(|| format!("message {message}"), clip)
    }

    fn in_state(&self, worker: WorkerId) -> String {
        let state = self.states.get(&worker).and_then(|states| states.0.last());
        state.map_or_else(String::new, |state| format!(" in {state}"))
    }
}

pub(super) fn plain(text: impl Into<String>) -> Line {
    Line { ink: None, text: text.into() }
}

fn fault(text: String) -> Line {
    Line { ink: Some(Ink::Fault), text: format!("FAULT: {text}") }
}

fn reason(why: Discard) -> &'static str {
    match why {
        Discard::Lost => "lost",
        Discard::Ignored => "ignored",
        Discard::Gone => "dropped: the receiver is gone",
        Discard::Cancelled => "dropped: the timer was cancelled",
    }
}

/// Whether the event is an injected fault.
pub(crate) fn is_fault(event: &Event<String>) -> bool {
    matches!(
        event,
        Event::Duplicated { .. }
            | Event::Crashed { .. }
            | Event::Restarted { .. }
            | Event::Faulted { .. }
            | Event::Discarded { why: Discard::Lost, .. }
    )
}

fn is_sent(step: &TraceStep, message: MessageId) -> bool {
    let sent = |item: &Item| matches!(item, Item::Event(Event::Sent { message: sent, .. }) if *sent == message);
    step.items.iter().any(sent)
}

/// Whether another event of the step implies that this worker was enabled.
fn is_implied(step: &TraceStep, woken: WorkerId) -> bool {
    step.items.iter().any(|item| match item {
        Item::Event(Event::Created { worker, .. } | Event::Restarted { worker }) => {
            *worker == woken
        }
        Item::Event(Event::Sent { to, .. }) => *to == woken,
        Item::Event(Event::TimerSet { timer, .. }) => *timer == woken,
        _ => false,
    })
}
