//! Coverage: lines, machines, states, handlers, events and scenarios.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use dally_core::Heat;
use dally_core::report::{Census, MachineCensus, ON_ENTRY, StateCensus};

use crate::lower::code::{Code, MachineCode, Reaction, StateCode};
use crate::program::{EventId, MachineKind};

/// Bits that all executions of a program share. Each is a byte, so that setting one, which every
/// branch of the code does, is a load and a test.
#[derive(Debug, Default)]
pub(crate) struct Coverage(Box<[AtomicBool]>);

impl Coverage {
    pub(crate) fn new(bits: u32) -> Coverage {
        Coverage((0..bits).map(|_| AtomicBool::new(false)).collect())
    }

    /// Sets a bit, after a test: soon all bits are set, and threads that only read do not contend.
    #[inline(always)]
    pub(crate) fn reach(&self, bit: u32) {
        if let Some(reached) = self.0.get(bit as usize)
            && !reached.load(Relaxed)
        {
            reached.store(true, Relaxed);
        }
    }

    fn has(&self, bit: u32) -> bool {
        self.0.get(bit as usize).is_some_and(|reached| reached.load(Relaxed))
    }
}

/// Something that coverage counts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    /// A machine, state, event, handler or scenario.
    Named(String),
    /// A line of a file.
    Line(String, u32),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Named(name) => f.write_str(name),
            Target::Line(file, line) => write!(f, "{file}:{line}"),
        }
    }
}

/// The coverage of one kind of thing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    /// What was reached.
    pub hit: BTreeSet<Target>,
    /// What was not.
    pub missing: BTreeSet<Target>,
}

impl Reached {
    /// The number of things, reached or not.
    pub fn of(&self) -> usize {
        self.hit.len() + self.missing.len()
    }

    fn count(&mut self, reached: bool, target: Target) {
        if reached { &mut self.hit } else { &mut self.missing }.insert(target);
    }
}

/// The coverage of one test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CoverageReport {
    /// Machines that were created.
    pub machines: Reached,
    /// States that were entered, as `Machine.State`; those of specs too.
    pub states: Reached,
    /// Events that were sent, raised or announced.
    pub events: Reached,
    /// Handlers that ran, as `Machine.State on event`.
    pub handlers: Reached,
    /// Lines with statements that were executed.
    pub lines: Reached,
    /// Scenarios that were covered: a cold state was reached.
    pub scenarios: Reached,
}

/// The coverage of one machine or spec, state by state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineCoverage {
    /// Its name.
    pub name: String,
    /// Whether it is a spec or scenario.
    pub spec: bool,
    /// Its states in the order of the source.
    pub states: Vec<StateCoverage>,
}

/// The coverage of one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateCoverage {
    /// Its name.
    pub name: String,
    /// Whether the machine begins in it.
    pub start: bool,
    /// Whether it is hot or cold.
    pub heat: Heat,
    /// Whether it was entered.
    pub reached: bool,
    /// The events that it handles, and whether it did; `null` too.
    pub handles: Vec<(String, bool)>,
    /// The events that it defers.
    pub defers: Vec<String>,
    /// The events that it ignores.
    pub ignores: Vec<String>,
    /// The events that were sent or announced in it.
    pub sent: Vec<String>,
    /// The states that it may be left for.
    pub exits: Vec<ExitCoverage>,
}

/// The coverage of the way from one state to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExitCoverage {
    /// The index of the state that it leads to.
    pub to: usize,
    /// The events that it is taken on; `entry` for the entry function of the state that it leaves.
    pub on: Vec<String>,
    /// Whether it was taken.
    pub reached: bool,
}

pub(crate) fn machines(code: &Code, coverage: &Coverage) -> Vec<MachineCoverage> {
    let used = code.machines.iter().filter(|machine| machine.used);
    let machine = |machine: &MachineCode| MachineCoverage {
        name: machine.name.to_string(),
        spec: machine.kind != MachineKind::Machine,
        states: (0..)
            .zip(&machine.states)
            .map(|(index, one)| state(code, coverage, one, index == machine.start))
            .collect(),
    };
    used.map(machine).collect()
}

fn state(code: &Code, coverage: &Coverage, state: &StateCode, start: bool) -> StateCoverage {
    let events = code.events.len() as u32;
    let name = |event: u32| code.events[event as usize].to_string();
    let of = |wanted: fn(&Reaction) -> bool| {
        (0..).zip(&state.reactions).filter(move |(_, one)| wanted(one)).map(|(event, _)| event)
    };
    let handled = |event| (name(event), coverage.has(state.cover + 1 + event));
    let exits = (0..).zip(&state.exits).map(|(index, exit)| ExitCoverage {
        to: usize::from(exit.to),
        on: (exit.on_entry.then(|| "entry".to_owned()).into_iter())
            .chain(exit.on.iter().map(|event| name(event.0)))
            .collect(),
        reached: coverage.has(state.cover + 1 + 2 * events + index),
    });
    StateCoverage {
        name: state.name.to_string(),
        start,
        heat: state.heat,
        reached: coverage.has(state.cover),
        handles: of(|one| matches!(one, Reaction::Do(_) | Reaction::Goto(..)))
            .map(handled)
            .collect(),
        defers: of(|one| *one == Reaction::Defer).map(name).collect(),
        ignores: of(|one| *one == Reaction::Ignore).map(name).collect(),
        sent: (0..events)
            .filter(|event| coverage.has(state.cover + 1 + events + event))
            .map(name)
            .collect(),
        exits: exits.collect(),
    }
}

/// What the test has, with counts of 0.
pub(crate) fn anatomy(code: &Code) -> Census {
    let mut anatomy = Census::default();
    for machine in code.machines.iter().filter(|machine| machine.used) {
        let monitor = machine.kind != MachineKind::Machine;
        let mut census = MachineCensus { monitor, ..MachineCensus::default() };
        for state in &machine.states {
            let mut of_state = StateCensus { heat: state.heat, ..StateCensus::default() };
            for (at, reaction) in state.reactions.iter().enumerate() {
                if matches!(reaction, Reaction::Do(_) | Reaction::Goto(..)) {
                    let event = &code.events[at];
                    of_state.handled.insert(event.to_string(), 0);
                    if !census.monitor && at != EventId::NULL.index() {
                        anatomy.events.insert(event.to_string(), 0);
                    }
                }
            }
            for exit in &state.exits {
                let to = machine.states[usize::from(exit.to)].name.to_string();
                let ways = of_state.ways.entry(to).or_default();
                ways.extend(exit.on_entry.then(|| (ON_ENTRY.to_owned(), 0)));
                ways.extend(
                    exit.on.iter().map(|event| (code.events[event.index()].to_string(), 0)),
                );
            }
            census.states.insert(state.name.to_string(), of_state);
        }
        anatomy.machines.insert(machine.name.to_string(), census);
    }
    anatomy
}

pub(crate) fn report(code: &Code, coverage: &Coverage) -> CoverageReport {
    let mut report = CoverageReport::default();
    let mut relevant = BTreeSet::new();
    for machine in code.machines.iter().filter(|machine| machine.used) {
        let name = &machine.name;
        if machine.kind == MachineKind::Machine {
            report.machines.count(coverage.has(machine.cover), Target::Named(name.to_string()));
        }
        for state in &machine.states {
            let in_state = format!("{name}.{}", state.name);
            report.states.count(coverage.has(state.cover), Target::Named(in_state.clone()));
            for (event, reaction) in state.reactions.iter().enumerate() {
                if matches!(reaction, Reaction::Do(_) | Reaction::Goto(..)) {
                    let handled = coverage.has(state.cover + 1 + event as u32);
                    let handler = format!("{in_state} on {}", code.events[event]);
                    report.handlers.count(handled, Target::Named(handler));
                    relevant.insert(event);
                }
            }
        }
    }
    relevant.remove(&EventId::NULL.index());
    for event in relevant {
        let offset = 1 + code.events.len() as u32 + event as u32;
        let mut states = code.machines.iter().flat_map(|machine| &machine.states);
        let sent = coverage.has(code.cover_events + event as u32)
            || states.any(|state| coverage.has(state.cover + offset));
        report.events.count(sent, Target::Named(code.events[event].to_string()));
    }
    for (index, spec) in code.specs.iter().enumerate() {
        let machine = &code.machines[usize::from(spec.machine)];
        if machine.kind == MachineKind::Scenario {
            let covered = coverage.has(code.cover_specs + index as u32);
            report.scenarios.count(covered, Target::Named(machine.name.to_string()));
        }
    }
    // A line is reached if a statement that begins on it is.
    for (bit, spans) in code.blocks.iter().enumerate() {
        for span in spans {
            let place = code.sources.location(*span);
            report.lines.count(coverage.has(bit as u32), Target::Line(place.file, place.line));
        }
    }
    report.lines.missing.retain(|line| !report.lines.hit.contains(line));
    report
}
