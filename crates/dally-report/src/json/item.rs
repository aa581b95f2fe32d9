//! Choices and events as JSON objects.

use std::fmt::Display;

use dally_core::{Access, Choice, Discard, Event, Heat, Item, Tag, Transition};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// An object whose fields keep their order, which [`Value`] would sort.
pub(super) struct Fields<K = &'static str>(pub Vec<(K, Value)>);

impl<K: Serialize> Serialize for Fields<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

pub(super) fn item(item: &Item) -> Fields {
    match item {
        Item::Chose(made) => choice(made),
        Item::Told(told) => event(told),
    }
}

pub(super) fn choice(choice: &Choice) -> Fields {
    Fields(match choice {
        Choice::Worker(worker) => vec![("worker", worker.to_string().into())],
        Choice::Value { index, of, tag: Tag::Program } => {
            vec![("value", (*index).into()), ("of", (*of).into())]
        }
        Choice::Value { index, of, tag: Tag::Fault } => {
            vec![("fault", (*index).into()), ("of", (*of).into())]
        }
        Choice::Delivery(message) => vec![("deliver", message.to_string().into())],
    })
}

fn event(event: &Event<String>) -> Fields {
    match event {
        Event::Created { worker, name } => told("created", [("worker", worker), ("name", name)]),
        Event::Sent { message, to, payload } => {
            told("sent", [("message", message), ("to", to), ("payload", payload)])
        }
        Event::Duplicated { message, copy } => {
            told("duplicated", [("message", message), ("copy", copy)])
        }
        Event::Received { message, payload } => {
            told("received", [("message", message), ("payload", payload)])
        }
        Event::Discarded { message, why } => {
            told("discarded", [("message", message), ("why", &discard(*why))])
        }
        Event::Raised { payload } => told("raised", [("payload", payload)]),
        Event::Changed { how, to } => told("changed", [("how", &transition(*how)), ("to", to)]),
        Event::Enabled { worker } => told("enabled", [("worker", worker)]),
        Event::Blocked { on } => told("blocked", [("on", on)]),
        Event::Halted { worker } => told("halted", [("worker", worker)]),
        Event::Accessed { object, access, what } => {
            let object = format!("{}#{}", object.creator, object.number);
            let access = match access {
                Access::Read => "read",
                Access::Write => "write",
            };
            told("accessed", [("object", &object), ("access", &access), ("what", what)])
        }
        Event::TimerSet { timer, payload } => {
            told("timer-set", [("timer", timer), ("payload", payload)])
        }
        Event::TimerCancelled { timer } => told("timer-cancelled", [("timer", timer)]),
        Event::Persisted { payload } => told("persisted", [("payload", payload)]),
        Event::Crashed { worker } => told("crashed", [("worker", worker)]),
        Event::Restarted { worker } => told("restarted", [("worker", worker)]),
        Event::Announced { payload } => told("announced", [("payload", payload)]),
        Event::MonitorChanged { monitor, to, heat } => {
            let heat = match heat {
                Heat::Hot => "hot",
                Heat::Cold => "cold",
                Heat::Neutral => "neutral",
            };
            told("monitor-changed", [("monitor", monitor), ("to", to), ("heat", &heat)])
        }
        Event::Hinted { hint } => told("hinted", [("hint", hint)]),
        Event::Noted { text } => told("noted", [("text", text)]),
    }
}

fn discard(why: Discard) -> &'static str {
    match why {
        Discard::Lost => "lost",
        Discard::Ignored => "ignored",
        Discard::Gone => "gone",
        Discard::Cancelled => "cancelled",
    }
}

fn transition(how: Transition) -> &'static str {
    match how {
        Transition::Start => "start",
        Transition::Goto => "goto",
        Transition::Push => "push",
        Transition::Pop => "pop",
    }
}

fn told<const N: usize>(name: &str, list: [(&'static str, &dyn Display); N]) -> Fields {
    let rest = list.into_iter().map(|(name, value)| (name, value.to_string().into()));
    Fields(std::iter::once(("event", name.into())).chain(rest).collect())
}
