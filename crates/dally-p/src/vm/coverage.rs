//! What a run has reached: lines, machines, states, handlers, events and scenarios.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::lower::code::{Code, Reaction};
use crate::program::{EventId, MachineKind};

/// A set of bits that all executions of a program share. Each has a byte to itself: that is a load
/// and a test, and it is made at every turn of the code.
#[derive(Debug, Default)]
pub(crate) struct Coverage(Box<[AtomicBool]>);

impl Coverage {
    pub(crate) fn new(bits: u32) -> Coverage {
        Coverage((0..bits).map(|_| AtomicBool::new(false)).collect())
    }

    /// Sets a bit. It is looked at first: after a while all that can be reached is, and threads
    /// that only read do not disturb each other.
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

/// One kind of thing that can be reached: how many were, of how many, and which were not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    /// How many were reached.
    pub reached: usize,
    /// How many there are.
    pub of: usize,
    /// Their names, sorted; lines in the order of files.
    pub hit: Vec<String>,
    /// The names of the others, in the same order.
    pub missing: Vec<String>,
}

impl Reached {
    fn count(&mut self, reached: bool, name: impl FnOnce() -> String) {
        self.of += 1;
        if reached {
            self.reached += 1;
            self.hit.push(name());
        } else {
            self.missing.push(name());
        }
    }

    /// The share that was reached, from 0 to 1; 1 if there is nothing to reach.
    pub fn share(&self) -> f64 {
        if self.of == 0 { 1.0 } else { self.reached as f64 / self.of as f64 }
    }
}

/// What a run of one test has reached of what belongs to the test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CoverageReport {
    /// Machines that came to be.
    pub machines: Reached,
    /// States that were entered, as `Machine.State`; those of specs too.
    pub states: Reached,
    /// Events that were sent, raised or announced.
    pub events: Reached,
    /// Handlers that ran, as `Machine.State on event`.
    pub handlers: Reached,
    /// Lines with statements that were executed, as `file:line`.
    pub lines: Reached,
    /// Scenarios that were covered: a cold state was reached.
    pub scenarios: Reached,
}

/// What has been reached.
pub(crate) fn report(code: &Code, coverage: &Coverage) -> CoverageReport {
    let mut report = CoverageReport::default();
    let mut relevant = BTreeSet::new();
    for machine in code.machines.iter().filter(|machine| machine.used) {
        let name = &machine.name;
        if machine.kind == MachineKind::Machine {
            report.machines.count(coverage.has(machine.cover), || name.to_string());
        }
        for state in &machine.states {
            let in_state = || format!("{name}.{}", state.name);
            report.states.count(coverage.has(state.cover), in_state);
            for (event, reaction) in state.reactions.iter().enumerate() {
                if matches!(reaction, Reaction::Do(_) | Reaction::Goto(..)) {
                    let handled = coverage.has(state.cover + 1 + event as u32);
                    let event_name = &code.events[event];
                    report.handlers.count(handled, || format!("{} on {event_name}", in_state()));
                    relevant.insert(event);
                }
            }
        }
    }
    relevant.remove(&EventId::NULL.index());
    for event in relevant {
        let sent = coverage.has(code.cover_events + event as u32);
        report.events.count(sent, || code.events[event].to_string());
    }
    for (index, spec) in code.specs.iter().enumerate() {
        let machine = &code.machines[usize::from(spec.machine)];
        if machine.kind == MachineKind::Scenario {
            let covered = coverage.has(code.cover_specs + index as u32);
            report.scenarios.count(covered, || machine.name.to_string());
        }
    }
    lines(code, coverage, &mut report.lines);
    let kinds = [
        &mut report.machines,
        &mut report.states,
        &mut report.events,
        &mut report.handlers,
        &mut report.scenarios,
    ];
    for kind in kinds {
        kind.hit.sort();
        kind.missing.sort();
    }
    report
}

/// A line is reached if one of the statements that begin on it is.
fn lines(code: &Code, coverage: &Coverage, lines: &mut Reached) {
    let mut all = std::collections::BTreeMap::new();
    for (bit, spans) in code.blocks.iter().enumerate() {
        let reached = coverage.has(bit as u32);
        for span in spans {
            let line = code.sources.location(*span).line;
            *all.entry((span.file, line)).or_insert(false) |= reached;
        }
    }
    for ((file, line), reached) in all {
        lines.count(reached, || format!("{}:{line}", code.sources.file(file).path));
    }
}
