//! The files that P's own checker writes, for the tools that read them: the trace of an execution as
//! `.trace.json`, which the Peasy extension shows, and the coverage text.

mod again;

use std::collections::{BTreeMap, BTreeSet};

use dally_core::{Bug, Discard, Event, Heat, MessageId, Trace, Transition, WorkerId};
use serde_json::{Map, Value, json};

use self::again::{Again, Told};
use crate::vm::{MachineCoverage, PProgram};

/// The program does not do what a trace says: it was recorded with another version of it.
#[derive(Debug, thiserror::Error)]
#[error(
    "the project does something else at step {step} than was recorded: it has changed since, or is another one"
)]
pub struct OtherProgram {
    /// The step, from 1; 0 is the start.
    pub step: usize,
}

/// An execution of a test in the format of `.trace.json`: an array of entries with a type and its details.
/// `bug` is what it ended in, with its text. Its steps are taken again, since a trace has only the texts of what
/// messages carry, and this format has the values.
///
/// # Errors
/// If the test does something else than the trace says.
pub fn trace(
    program: &PProgram,
    trace: &Trace,
    bug: Option<(&Bug, &str)>,
) -> Result<String, OtherProgram> {
    let machines = program.coverage_of_machines();
    let mut log = Log::new(trace);
    for spec in machines.iter().filter(|machine| machine.spec) {
        let name = &spec.name;
        log.monitor(name, "CreateMonitor", format!("{name} was created."), json!({}));
        if let Some(start) = spec.states.iter().find(|state| state.start) {
            log.monitor_enters(name, &start.name, start.heat);
        }
    }
    let mut again = Again::begin(program)?;
    for (at, step) in trace.steps.iter().enumerate() {
        let events = again.step(at, step, at + 1 == trace.steps.len())?;
        for (at, event) in events.iter().enumerate() {
            log.event(step.worker, event, &events[at + 1..]);
        }
    }
    if let Some((bug, text)) = bug {
        let place = bug.location.as_ref().map_or(String::new(), |at| format!(" {at}"));
        let text = format!("Assertion Failed:{place} {text}");
        log.entries.push(json!({
            "type": "AssertionFailure",
            "details": { "log": text, "error": text },
        }));
    }
    Ok(format!("{:#}\n", Value::Array(log.entries)))
}

type Clock = BTreeMap<String, u64>;

struct Log<'t> {
    trace: &'t Trace,
    entries: Vec<Value>,
    /// Of each machine and spec: how many entries of whom came before its last one.
    clocks: BTreeMap<String, Clock>,
    /// The clock of the sender when it sent a message.
    sent: BTreeMap<MessageId, Clock>,
    states: BTreeMap<String, String>,
    /// What the event carries that specs are told of.
    told: Option<Value>,
    /// The machines that wait to receive.
    waiting: BTreeSet<WorkerId>,
}

impl<'t> Log<'t> {
    fn new(trace: &'t Trace) -> Log<'t> {
        Log {
            trace,
            entries: Vec::new(),
            clocks: BTreeMap::new(),
            sent: BTreeMap::new(),
            states: BTreeMap::new(),
            told: None,
            waiting: BTreeSet::new(),
        }
    }

    fn name(&self, worker: WorkerId) -> String {
        format!("{}({worker})", self.trace.names.get(&worker).map_or("?", String::as_str))
    }

    fn state(&self, name: &str) -> String {
        self.states.get(name).cloned().unwrap_or_default()
    }

    /// Adds an entry of a machine or spec, which comes after what `after` knows.
    fn add(&mut self, who: &str, kind: &str, log: String, details: Value, after: Option<&Clock>) {
        let clock = self.clocks.entry(who.to_owned()).or_default();
        *clock.entry(who.to_owned()).or_default() += 1;
        for (other, count) in after.into_iter().flatten() {
            let known = clock.entry(other.clone()).or_default();
            *known = (*known).max(*count);
        }
        let mut all = Map::from_iter([("log".to_owned(), Value::from(log))]);
        if let Value::Object(details) = details {
            all.extend(details);
        }
        all.insert("clock".to_owned(), json!(clock));
        self.entries.push(json!({ "type": kind, "details": all }));
    }

    fn of(&mut self, worker: WorkerId, kind: &str, log: String, mut details: Value) {
        let who = self.name(worker);
        details["id"] = who.as_str().into();
        self.add(&who, kind, log, details, None);
    }

    fn monitor(&mut self, spec: &str, kind: &str, log: String, mut details: Value) {
        details["monitor"] = spec.into();
        self.add(spec, kind, log, details, None);
    }

    fn monitor_enters(&mut self, spec: &str, state: &str, heat: Heat) {
        if let Some(left) = self.states.insert(spec.to_owned(), state.to_owned()) {
            let log = format!("{spec} exits state '{left}'.");
            let details = json!({ "state": left, "isEntry": false });
            self.monitor(spec, "MonitorStateTransition", log, details);
        }
        let mut details = json!({ "state": state, "isEntry": true });
        let temperature = match heat {
            Heat::Hot => "hot ",
            Heat::Cold => "cold ",
            Heat::Neutral => "",
        };
        if heat != Heat::Neutral {
            details["isInHotState"] = (heat == Heat::Hot).into();
        }
        let log = format!("{spec} enters {temperature}state '{state}'.");
        self.monitor(spec, "MonitorStateTransition", log, details);
    }

    fn enters(&mut self, worker: WorkerId, how: Transition, to: &str) {
        let me = self.name(worker);
        if how != Transition::Start {
            let from = self.state(&me);
            let log = format!("{me} is transitioning from state '{from}' to state '{to}'.");
            self.of(worker, "GotoState", log, json!({ "startState": from, "endState": to }));
            let log = format!("{me} exits state '{from}'.");
            let details = json!({ "state": from, "isEntry": false });
            self.of(worker, "StateTransition", log, details);
        }
        self.states.insert(me.clone(), to.to_owned());
        let log = format!("{me} enters state '{to}'.");
        self.of(worker, "StateTransition", log, json!({ "state": to, "isEntry": true }));
    }

    fn event(&mut self, worker: WorkerId, event: &Event<Told>, rest: &[Event<Told>]) {
        let me = self.name(worker);
        let state = self.state(&me);
        match event {
            Event::Created { worker: created, .. } => {
                let log = format!("{} was created by {me}.", self.name(*created));
                let kind = self.trace.names.get(&worker);
                let details = json!({ "creatorName": me, "creatorType": kind });
                self.of(*created, "CreateStateMachine", log, details);
            }
            Event::Sent { message, to, payload } => {
                let (event, text) = (payload.event(), &payload.text);
                let target = self.name(*to);
                let gone = rest.iter().any(|event| {
                    matches!(event, Event::Discarded { message: lost, why: Discard::Gone } if lost == message)
                });
                let halted = if gone { " which has halted" } else { "" };
                let log =
                    format!("'{me}' in state '{state}' sent event '{text}' to '{target}'{halted}.");
                let mut details = json!({
                    "event": event, "state": state, "sender": me, "target": target,
                    "isTargetHalted": gone,
                });
                carry(&mut details, payload.payload());
                self.add(&me, "SendEvent", log, details, None);
                let clock = self.clocks.get(&me).cloned().unwrap_or_default();
                self.sent.insert(*message, clock);
            }
            Event::Received { message, payload } => {
                let (event, text) = (payload.event(), &payload.text);
                let blocked = self.waiting.remove(&worker);
                let (kind, unblocked) = match blocked {
                    true => ("ReceiveEvent", " and unblocked"),
                    false => ("DequeueEvent", ""),
                };
                let log = format!("'{me}' dequeued event '{text}'{unblocked} in state '{state}'.");
                let mut details = json!({ "id": me, "event": event, "state": state });
                if blocked {
                    details["wasBlocked"] = true.into();
                }
                carry(&mut details, payload.payload());
                let after = self.sent.remove(message);
                self.add(&me, kind, log, details, after.as_ref());
            }
            Event::Raised { payload } => {
                let (event, text) = (payload.event(), &payload.text);
                let log = format!("'{me}' raised event '{text}' in state '{state}'.");
                let mut details = json!({ "event": event, "state": state });
                carry(&mut details, payload.payload());
                self.of(worker, "RaiseEvent", log, details);
            }
            Event::Changed { how, to } => self.enters(worker, *how, &to.text),
            Event::Blocked { .. } => {
                self.waiting.insert(worker);
                let log = format!("{me} is waiting to dequeue an event in state '{state}'.");
                let details = json!({ "eventTypes": [], "state": state });
                self.of(worker, "WaitMultipleEvents", log, details);
            }
            Event::Halted { worker } => {
                let is_lost = |event: &&Event<Told>| {
                    matches!(event, Event::Discarded { why: Discard::Gone, .. })
                };
                let lost = rest.iter().filter(is_lost).count();
                let me = self.name(*worker);
                let log = format!("{me} halted with {lost} events in its inbox.");
                self.of(*worker, "Halt", log, json!({ "haltInboxSize": lost }));
            }
            Event::Handled { state, .. } => {
                let state = &state.text;
                let log = format!("{me} is executing the default handler in state '{state}'.");
                self.of(worker, "DefaultEventHandler", log, json!({ "state": state }));
            }
            Event::Announced { payload } => {
                let (event, text) = (payload.event(), &payload.text);
                let log = format!("'{me}' announced event '{text}'.");
                let mut details = json!({ "event": event });
                self.told = payload.payload().cloned();
                carry(&mut details, payload.payload());
                self.of(worker, "Announce", log, details);
            }
            Event::Sending { payload, .. } => self.told = payload.payload().cloned(),
            Event::Observed { monitor, what, state } => {
                let [monitor, what, state] = [monitor, what, state].map(|told| &*told.text);
                let log = format!("{monitor} is processing event '{what}' in state '{state}'.");
                let mut details = json!({
                    "monitor": monitor, "state": state, "sender": me, "event": what,
                });
                carry(&mut details, self.told.as_ref());
                let after = self.clocks.get(&me).cloned();
                self.add(monitor, "MonitorProcessEvent", log, details, after.as_ref());
            }
            Event::MonitorChanged { monitor, to, heat } => {
                self.monitor_enters(&monitor.text, &to.text, *heat);
            }
            Event::Noted { text } => {
                self.entries.push(json!({ "type": "Print", "details": { "log": text.text } }));
            }
            _ => {}
        }
    }
}

fn carry(details: &mut Value, payload: Option<&Value>) {
    if let Some(payload) = payload {
        details["payload"] = payload.clone();
    }
}

/// The coverage of machines in the words of P's coverage file.
pub fn coverage(machines: &[MachineCoverage]) -> String {
    let mut sorted: Vec<&MachineCoverage> = machines.iter().collect();
    sorted.sort_by_key(|machine| (machine.spec, &machine.name));
    let mut out = String::new();
    heading(&mut out, format!("Total event coverage: {}%", percent(sorted.iter().copied())));
    for machine in sorted {
        let kind = if machine.spec { "Monitor" } else { "StateMachine" };
        heading(&mut out, format!("{kind}: {}", machine.name));
        out += &format!("Event coverage: {}%\n", percent([machine]));
        for (index, state) in machine.states.iter().enumerate() {
            let (hit, missed): (Vec<_>, Vec<_>) =
                state.handles.iter().filter(|one| one.0 != "null").partition(|one| one.1);
            let of = hit.len() + missed.len();
            let uncovered = of > 0 && hit.is_empty();
            let is_uncovered = if uncovered { " is uncovered" } else { "" };
            out += &format!("\n\tState: {}{is_uncovered}\n", state.name);
            if of == 0 {
                out += "\t\tState has no expected events, so coverage is 100%\n";
            } else if !uncovered {
                out += &format!("\t\tState event coverage: {}%\n", share(hit.len(), of));
            }
            let names = |events: &[&(String, bool)]| {
                events.iter().map(|event| event.0.clone()).collect::<BTreeSet<_>>()
            };
            let reached = |exits: &mut dyn Iterator<Item = String>| exits.collect::<BTreeSet<_>>();
            let before = &mut machine.states.iter().filter_map(|other| {
                let into = |exit: &&crate::vm::ExitCoverage| exit.reached && exit.to == index;
                other.exits.iter().find(into).map(|_| other.name.clone())
            });
            let next = &mut (state.exits.iter().filter(|exit| exit.reached))
                .map(|exit| machine.states[exit.to].name.clone());
            for (what, names) in [
                ("Events received", names(&hit)),
                ("Events sent", state.sent.iter().cloned().collect()),
                ("Events not covered", names(&missed)),
                ("Previous states", reached(before)),
                ("Next states", reached(next)),
            ] {
                if !names.is_empty() {
                    let names: Vec<String> = names.into_iter().collect();
                    out += &format!("\t\t{what}: {}\n", names.join(", "));
                }
            }
        }
        out.push('\n');
    }
    out
}

fn heading(out: &mut String, text: String) {
    *out += &format!("{text}\n{}\n", "=".repeat(text.chars().count()));
}

fn percent<'m>(machines: impl IntoIterator<Item = &'m MachineCoverage>) -> String {
    let states = machines.into_iter().flat_map(|machine| &machine.states);
    let handles: Vec<bool> = states
        .flat_map(|state| &state.handles)
        .filter(|one| one.0 != "null")
        .map(|one| one.1)
        .collect();
    share(handles.iter().filter(|hit| **hit).count(), handles.len())
}

fn share(hit: usize, of: usize) -> String {
    let share = if of == 0 { 100.0 } else { hit as f64 * 100.0 / of as f64 };
    format!("{share:.1}")
}
