//! What machines did in the executions that were recorded for it: the states that they entered, what they handled
//! there, and how they went from one to another. What is declared and never happened is there with a count of 0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{Event, Transition};
use crate::monitor::Heat;
use crate::trace::{Item, Trace};
use crate::worker::WorkerId;

/// What machines did in some executions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Census {
    /// How many executions were recorded.
    pub executions: u64,
    /// The types of machines, and monitors, by their names.
    pub machines: BTreeMap<String, MachineCensus>,
    /// How often each event was sent, raised or announced.
    pub events: BTreeMap<String, u64>,
}

/// What the machines of one type did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineCensus {
    /// Whether it is a monitor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub monitor: bool,
    /// Its states by their names.
    pub states: BTreeMap<String, StateCensus>,
}

/// What machines of one type did in one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateCensus {
    /// How often they began in it.
    pub begun: u64,
    /// How often they entered it, where they began included.
    pub entered: u64,
    /// Whether it is hot or cold.
    #[serde(default)]
    pub heat: Heat,
    /// How often they handled each event there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub handled: BTreeMap<String, u64>,
    /// How often they left it for another state, or entered it again: by that state, then by the event that it
    /// was on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ways: BTreeMap<String, BTreeMap<String, u64>>,
}

/// What a way is on that no event has led to.
pub const ON_ENTRY: &str = "entry";

impl Census {
    /// Adds what happened in other executions.
    pub fn add(&mut self, other: &Census) {
        self.executions += other.executions;
        for (name, more) in &other.machines {
            let machine = self.machines.entry(name.clone()).or_default();
            machine.monitor |= more.monitor;
            for (name, more) in &more.states {
                let state = machine.states.entry(name.clone()).or_default();
                state.begun += more.begun;
                state.entered += more.entered;
                if more.heat != Heat::Neutral {
                    state.heat = more.heat;
                }
                add(&mut state.handled, &more.handled);
                for (to, on) in &more.ways {
                    add(state.ways.entry(to.clone()).or_default(), on);
                }
            }
        }
        add(&mut self.events, &other.events);
    }

    /// What happened in this execution.
    pub fn of(trace: &Trace) -> Census {
        let mut counting = Counting { census: Census::default(), trace, machines: BTreeMap::new() };
        counting.census.executions = 1;
        let mut monitors = BTreeMap::new();
        for step in &trace.steps {
            let mut on = None;
            for item in &step.items {
                if let Item::Event(event) = item {
                    counting.event(step.worker, event, &mut on, &mut monitors);
                }
            }
        }
        counting.census
    }

    fn state(&mut self, machine: &str, state: &str) -> &mut StateCensus {
        let machine = self.machines.entry(machine.to_owned()).or_default();
        machine.states.entry(state.to_owned()).or_default()
    }

    fn goes(&mut self, machine: &str, from: &str, to: &str, on: Option<&str>) {
        let ways = &mut self.state(machine, from).ways;
        let on = on.unwrap_or(ON_ENTRY).to_owned();
        *ways.entry(to.to_owned()).or_default().entry(on).or_default() += 1;
    }
}

fn add(counts: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (name, count) in more {
        *counts.entry(name.clone()).or_default() += count;
    }
}

struct Counting<'a> {
    census: Census,
    trace: &'a Trace,
    /// The states of each machine, the present one last.
    machines: BTreeMap<WorkerId, Vec<&'a str>>,
}

impl<'a> Counting<'a> {
    /// `on` is the event that the step handles, and `monitors` has the present state of each.
    fn event(
        &mut self,
        worker: WorkerId,
        event: &'a Event<String>,
        on: &mut Option<&'a str>,
        monitors: &mut BTreeMap<&'a str, &'a str>,
    ) {
        let machine = self.trace.names.get(&worker).map_or("", String::as_str);
        match event {
            Event::Received { payload, .. } => self.handles(worker, machine, name_of(payload), on),
            Event::Raised { payload } => {
                self.happens(name_of(payload));
                self.handles(worker, machine, name_of(payload), on);
            }
            Event::Handled { what, .. } => self.handles(worker, machine, what, on),
            Event::Sent { payload, .. } => self.happens(name_of(payload)),
            Event::Announced { payload } => {
                self.happens(name_of(payload));
                on.get_or_insert(name_of(payload));
            }
            Event::Changed { how, to } => self.changes(worker, machine, *how, to, *on),
            Event::Observed { monitor, what, state } => {
                let state = self.monitor(monitor, state);
                *state.handled.entry(what.clone()).or_default() += 1;
            }
            Event::MonitorChanged { monitor, to, heat } => {
                let state = self.monitor(monitor, to);
                (state.entered, state.heat) = (state.entered + 1, *heat);
                match monitors.insert(monitor, to) {
                    Some(from) => self.census.goes(monitor, from, to, *on),
                    None => self.monitor(monitor, to).begun += 1,
                }
            }
            _ => {}
        }
    }

    fn happens(&mut self, event: &str) {
        *self.census.events.entry(event.to_owned()).or_default() += 1;
    }

    fn handles(
        &mut self,
        worker: WorkerId,
        machine: &str,
        event: &'a str,
        on: &mut Option<&'a str>,
    ) {
        *on = Some(event);
        if let Some(state) = self.machines.get(&worker).and_then(|states| states.last()) {
            let handled = &mut self.census.state(machine, state).handled;
            *handled.entry(event.to_owned()).or_default() += 1;
        }
    }

    fn changes(
        &mut self,
        worker: WorkerId,
        machine: &str,
        how: Transition,
        to: &'a str,
        on: Option<&str>,
    ) {
        let states = self.machines.entry(worker).or_default();
        let from = states.last().copied();
        match how {
            Transition::Start => states.clear(),
            Transition::Goto | Transition::Pop => drop(states.pop()),
            Transition::Push => {}
        }
        // Below what was popped it still is in the state that it goes back to.
        if how != Transition::Pop || states.last() != Some(&to) {
            states.push(to);
        }
        let state = self.census.state(machine, to);
        state.entered += u64::from(how != Transition::Pop);
        match (how, from) {
            (Transition::Start, _) => state.begun += 1,
            (_, Some(from)) => self.census.goes(machine, from, to, on),
            (_, None) => {}
        }
    }

    fn monitor(&mut self, monitor: &str, state: &str) -> &mut StateCensus {
        self.census.machines.entry(monitor.to_owned()).or_default().monitor = true;
        self.census.state(monitor, state)
    }
}

/// The name of an event, with which its written form begins.
fn name_of(payload: &str) -> &str {
    let end = payload.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    &payload[..end.unwrap_or(payload.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Text;
    use crate::trace::Tracer;
    use crate::{MessageId, WorkerId};

    /// A server that answers two requests, one of them in a state of its own.
    fn trace() -> Trace {
        let server = WorkerId::root(0);
        let text = Text::Str;
        let received = |number, payload| Event::Received {
            message: MessageId { sender: WorkerId::root(1), number },
            payload: text(payload),
        };
        let changed = |how, to| Event::Changed { how, to: text(to) };
        let mut tracer = Tracer::default();
        let monitor =
            |to, heat| Event::MonitorChanged { monitor: text("Answers"), to: text(to), heat };
        let steps = [
            vec![changed(Transition::Start, "Idle"), monitor("Calm", Heat::Cold)],
            vec![
                received(0, "Request { from: 1 }"),
                changed(Transition::Goto, "Busy"),
                monitor("Waiting", Heat::Hot),
            ],
            vec![received(1, "Request { from: 2 }"), changed(Transition::Push, "Asking")],
            vec![received(2, "Yes"), changed(Transition::Pop, "Busy")],
        ];
        for step in steps {
            tracer.step(server, || "Server".into());
            step.into_iter().for_each(|event| tracer.event(event));
        }
        tracer.finish()
    }

    #[test]
    fn states_handlers_and_ways_are_counted_and_what_is_declared_stays_with_none() {
        let mut declared = Census::default();
        declared.state("Server", "Lost").handled.insert("Yes".into(), 0);
        declared.events.insert("No".into(), 0);
        let mut census = declared.clone();
        census.add(&Census::of(&trace()));
        census.add(&Census::of(&trace()));
        assert_eq!(census.executions, 2);
        let server = &census.machines["Server"].states;
        let entered = server.iter().map(|(name, state)| (name.as_str(), state.entered));
        assert_eq!(
            entered.collect::<Vec<_>>(),
            [("Asking", 2), ("Busy", 2), ("Idle", 2), ("Lost", 0)]
        );
        assert_eq!((server["Idle"].begun, server["Busy"].begun), (2, 0));
        assert_eq!(server["Idle"].ways["Busy"]["Request"], 2);
        assert_eq!(server["Busy"].ways["Asking"]["Request"], 2);
        assert_eq!(server["Asking"].ways["Busy"]["Yes"], 2);
        assert_eq!((server["Asking"].handled["Yes"], server["Lost"].handled["Yes"]), (2, 0));
        let monitor = &census.machines["Answers"];
        assert!(monitor.monitor && monitor.states["Waiting"].heat == Heat::Hot);
        assert_eq!(monitor.states["Calm"].ways["Waiting"]["Request"], 2);
        assert_eq!(census.events["No"], 0);
    }
}
