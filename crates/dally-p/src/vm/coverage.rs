//! Coverage: lines, machines, states, handlers, events and scenarios.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::lower::code::{Code, Reaction};
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
        let sent = coverage.has(code.cover_events + event as u32);
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
