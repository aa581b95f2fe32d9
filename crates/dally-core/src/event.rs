//! What a step tells: one stream of events feeds traces, clocks and explorers.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use crate::choice::MessageId;
use crate::footprint::Access;
use crate::monitor::Heat;
use crate::panics;
use crate::system::Stop;
use crate::worker::WorkerId;

/// Why a message did not arrive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Discard {
    /// The network lost it: an injected fault.
    Lost,
    /// The receiver ignores such events in its state.
    Ignored,
    /// The receiver has halted or is down.
    Gone,
    /// The timer that sent it was cancelled.
    Cancelled,
}

/// How a machine changed its state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Transition {
    /// The first state of a machine.
    Start,
    /// Left one state for another.
    Goto,
    /// Entered a state on top of the present one.
    Push,
    /// Went back to the state below.
    Pop,
}

/// A text that is only written down if somebody wants it.
#[derive(Clone, Copy)]
pub enum Text<'a> {
    /// Plain words.
    Str(&'a str),
    /// A value in its `Debug` form.
    Debug(&'a dyn fmt::Debug),
    /// A value in its `Display` form.
    Display(&'a dyn fmt::Display),
    /// The same of a value that can be had as data, too.
    Data(&'a dyn Data),
}

/// What can be written for people, and told as data to whoever writes files for other tools: nobody needs to read
/// it back from its text.
pub trait Data: fmt::Display {
    /// The value as JSON has it.
    fn data(&self) -> serde_json::Value;
}

impl Text<'_> {
    /// The text written down. What the program's own code makes of its values may panic: then
    /// the panic stands in place of the text, and the execution goes on as it did when nobody
    /// wanted the text.
    pub fn written(&self) -> String {
        match panics::catch(|| self.to_string()) {
            Ok(text) => text,
            Err(Stop::Bug(bug)) => format!("(to write it down panics: {bug})"),
            Err(Stop::Cut) => "(to write it down has no end)".to_owned(),
        }
    }

    /// The first so many characters of the text and, if there are more, `…`. No more of the value is written than
    /// that takes.
    pub fn beginning(&self, longest: usize) -> String {
        let mut beginning = Beginning { text: String::new(), left: longest, is_cut: false };
        let written = panics::catch(|| write!(beginning, "{self}"));
        match written {
            _ if beginning.is_cut => beginning.text + "…",
            Ok(_) => beginning.text,
            Err(_) => self.written(),
        }
    }

    /// What is written, as data; the text itself if it is nothing more.
    pub fn data(&self) -> serde_json::Value {
        match self {
            Text::Data(value) => value.data(),
            text => text.written().into(),
        }
    }
}

/// Refuses what follows on the first characters of a text.
struct Beginning {
    text: String,
    left: usize,
    is_cut: bool,
}

impl fmt::Write for Beginning {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let (fits, count) = match piece.char_indices().nth(self.left) {
            Some((at, _)) => (&piece[..at], self.left),
            None => (piece, piece.chars().count()),
        };
        self.text.push_str(fits);
        self.left -= count;
        self.is_cut |= fits.len() < piece.len();
        if self.is_cut { Err(fmt::Error) } else { Ok(()) }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Text::Str(text) => f.write_str(text),
            Text::Debug(value) => fmt::Debug::fmt(value, f),
            Text::Display(value) => fmt::Display::fmt(value, f),
            Text::Data(value) => fmt::Display::fmt(value, f),
        }
    }
}

/// Something that happened in a step. The stepping worker is the subject unless a field names
/// another.
///
/// A step tells `Event<Text>`, whose texts cost nothing until they are written; a trace keeps
/// `Event<String>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<T> {
    /// A worker came to be.
    Created {
        /// The new worker.
        worker: WorkerId,
        /// What it is: a machine type, a task's name.
        name: T,
    },
    /// A message left for another worker's inbox.
    Sent {
        /// The message.
        message: MessageId,
        /// Its receiver.
        to: WorkerId,
        /// What it carries.
        payload: T,
    },
    /// The network doubled a message: an injected fault.
    Duplicated {
        /// The message that was sent.
        message: MessageId,
        /// Its double.
        copy: MessageId,
    },
    /// A message was taken from the inbox and is being handled.
    Received {
        /// The message.
        message: MessageId,
        /// What it carries.
        payload: T,
    },
    /// A message will not be handled.
    Discarded {
        /// The message.
        message: MessageId,
        /// Why.
        why: Discard,
    },
    /// A machine raised an event to itself.
    Raised {
        /// What it carries.
        payload: T,
    },
    /// A machine changed its state.
    Changed {
        /// How.
        how: Transition,
        /// The state it is in now.
        to: T,
    },
    /// A worker can step again.
    Enabled {
        /// Who.
        worker: WorkerId,
    },
    /// The stepping worker waits.
    Blocked {
        /// To do what, such as ``lock `cache` ``.
        on: T,
    },
    /// A worker will not step again.
    Halted {
        /// Who.
        worker: WorkerId,
    },
    /// Something was touched that others can touch too, which no other event says.
    Accessed {
        /// What, and how.
        #[serde(flatten)]
        access: Access,
        /// The operation in words, such as ``lock `cache` ``; empty if it is nothing for readers.
        what: T,
    },
    /// A timer was armed.
    TimerSet {
        /// The timer, a worker of its own.
        timer: WorkerId,
        /// What it will send.
        payload: T,
    },
    /// A timer was disarmed.
    TimerCancelled {
        /// The timer.
        timer: WorkerId,
    },
    /// A machine stored its durable state.
    Persisted {
        /// The state stored.
        payload: T,
    },
    /// A machine lost its volatile state and its unreleased effects: an injected fault.
    Crashed {
        /// Who.
        worker: WorkerId,
    },
    /// A crashed machine came back from its durable state.
    Restarted {
        /// Who.
        worker: WorkerId,
    },
    /// An event was announced to the monitors.
    Announced {
        /// The event.
        payload: T,
    },
    /// A worker is about to send a message of which monitors are told first.
    Sending {
        /// Its receiver.
        to: WorkerId,
        /// What it carries.
        payload: T,
    },
    /// A monitor handles an event. Languages tell this whose monitors are called specs.
    Observed {
        /// The monitor.
        monitor: T,
        /// The event by its name.
        what: T,
        /// The state that the monitor is in.
        state: T,
    },
    /// A machine handles an event that nobody sent: it has nothing else to do.
    Handled {
        /// The event by its name.
        what: T,
        /// The state that the machine is in.
        state: T,
    },
    /// The value that the program makes of the last choice of the step.
    Chosen {
        /// The value in the program's own notation.
        value: T,
    },
    /// A monitor changed its state.
    MonitorChanged {
        /// The monitor.
        monitor: T,
        /// The state it is in now.
        to: T,
        /// Whether that state is hot or cold.
        heat: Heat,
    },
    /// The program told the explorer something, such as that its set-up is over.
    Hinted {
        /// The words.
        hint: T,
    },
    /// The program wrote a line for the reader of the trace.
    Noted {
        /// The line.
        text: T,
    },
    /// A fault of what the program runs on was injected: of the network, a disk or a host.
    Faulted {
        /// Which one.
        fault: T,
    },
}

impl<T> Event<T> {
    /// The same event with its texts in another form.
    pub fn map<U>(self, mut text: impl FnMut(T) -> U) -> Event<U> {
        match self {
            Event::Created { worker, name } => Event::Created { worker, name: text(name) },
            Event::Sent { message, to, payload } => {
                Event::Sent { message, to, payload: text(payload) }
            }
            Event::Duplicated { message, copy } => Event::Duplicated { message, copy },
            Event::Received { message, payload } => {
                Event::Received { message, payload: text(payload) }
            }
            Event::Discarded { message, why } => Event::Discarded { message, why },
            Event::Raised { payload } => Event::Raised { payload: text(payload) },
            Event::Changed { how, to } => Event::Changed { how, to: text(to) },
            Event::Enabled { worker } => Event::Enabled { worker },
            Event::Blocked { on } => Event::Blocked { on: text(on) },
            Event::Halted { worker } => Event::Halted { worker },
            Event::Accessed { access, what } => Event::Accessed { access, what: text(what) },
            Event::TimerSet { timer, payload } => Event::TimerSet { timer, payload: text(payload) },
            Event::TimerCancelled { timer } => Event::TimerCancelled { timer },
            Event::Persisted { payload } => Event::Persisted { payload: text(payload) },
            Event::Crashed { worker } => Event::Crashed { worker },
            Event::Restarted { worker } => Event::Restarted { worker },
            Event::Announced { payload } => Event::Announced { payload: text(payload) },
            Event::Sending { to, payload } => Event::Sending { to, payload: text(payload) },
            Event::Observed { monitor, what, state } => {
                Event::Observed { monitor: text(monitor), what: text(what), state: text(state) }
            }
            Event::Handled { what, state } => {
                Event::Handled { what: text(what), state: text(state) }
            }
            Event::Chosen { value } => Event::Chosen { value: text(value) },
            Event::MonitorChanged { monitor, to, heat } => {
                Event::MonitorChanged { monitor: text(monitor), to: text(to), heat }
            }
            Event::Hinted { hint } => Event::Hinted { hint: text(hint) },
            Event::Noted { text: line } => Event::Noted { text: text(line) },
            Event::Faulted { fault } => Event::Faulted { fault: text(fault) },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A list without an end, which counts what is written of it.
    struct Endless(Cell<usize>);

    impl fmt::Display for Endless {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            loop {
                self.0.set(self.0.get() + 1);
                f.write_str("é, ")?;
            }
        }
    }

    #[test]
    fn of_a_long_text_no_more_is_written_than_is_wanted() {
        let endless = Endless(Cell::new(0));
        assert_eq!(Text::Display(&endless).beginning(7), "é, é, é…");
        assert_eq!(endless.0.get(), 3);
        let beginnings = |text| [0, 3, 4].map(|longest| Text::Str(text).beginning(longest));
        assert_eq!(beginnings("four"), ["…", "fou…", "four"]);
        assert_eq!(beginnings(""), ["", "", ""]);
    }

    #[test]
    fn a_value_that_panics_while_it_is_written_is_told() {
        struct Panics;
        impl fmt::Display for Panics {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                panic!("no words")
            }
        }
        let told = Text::Display(&Panics).beginning(100);
        assert!(told.contains("no words"), "{told}");
    }
}
