//! Traces: a schedule with what happened.

use std::collections::BTreeMap;

use crate::choice::{Choice, MessageId};
use crate::clock::VectorClock;
use crate::event::{Access, Event, ObjectId, Text};
use crate::worker::WorkerId;

/// What happened in an execution, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// What each worker is, such as `Participant`.
    pub names: BTreeMap<WorkerId, String>,
    /// The steps in the order in which they were taken.
    pub steps: Vec<TraceStep>,
}

/// One step of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// Who stepped.
    pub worker: WorkerId,
    /// What was chosen and what happened, in order.
    pub items: Vec<Item>,
    /// What the worker knows after the step.
    pub clock: VectorClock,
}

/// A part of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A value or a delivery was chosen.
    Chose(Choice),
    /// Something happened.
    Told(Event<String>),
}

/// Builds a [`Trace`] from the events of an execution and keeps the vector clocks.
#[derive(Default)]
pub struct Tracer {
    trace: Trace,
    clocks: BTreeMap<WorkerId, VectorClock>,
    messages: BTreeMap<MessageId, VectorClock>,
    objects: BTreeMap<ObjectId, ObjectClock>,
}

#[derive(Default)]
struct ObjectClock {
    reads: VectorClock,
    writes: VectorClock,
}

impl Tracer {
    /// A new step of `worker` begins.
    pub fn step(&mut self, worker: WorkerId, name: impl FnOnce() -> String) {
        self.trace.names.entry(worker).or_insert_with(name);
        let clock = self.clocks.entry(worker).or_default();
        clock.tick(worker);
        let clock = clock.clone();
        self.trace.steps.push(TraceStep { worker, items: Vec::new(), clock });
    }

    /// A value or a delivery was chosen inside the step.
    pub fn choice(&mut self, choice: Choice) {
        if let Some(step) = self.trace.steps.last_mut() {
            step.items.push(Item::Chose(choice));
        }
    }

    /// Something happened inside the step.
    pub fn event(&mut self, event: Event<Text<'_>>) {
        let Some(step) = self.trace.steps.last_mut() else { return };
        let clock = self.clocks.entry(step.worker).or_default();
        let mut passed_to = None;
        match event {
            Event::Created { worker, .. } | Event::TimerSet { timer: worker, .. } => {
                passed_to = Some(worker);
            }
            Event::Enabled { worker }
            | Event::Crashed { worker }
            | Event::Restarted { worker }
            | Event::Halted { worker } => passed_to = Some(worker),
            Event::Sent { message, .. } => {
                self.messages.insert(message, clock.clone());
            }
            Event::Duplicated { copy, .. } => {
                self.messages.insert(copy, clock.clone());
            }
            Event::Received { message, .. } => {
                if let Some(sent) = self.messages.get(&message) {
                    clock.join(sent);
                }
            }
            Event::Accessed { object, access, .. } => {
                let known = self.objects.entry(object).or_default();
                clock.join(&known.writes);
                match access {
                    Access::Read => known.reads.join(clock),
                    Access::Write => {
                        clock.join(&known.reads);
                        known.writes.join(clock);
                    }
                }
            }
            _ => {}
        }
        step.clock = clock.clone();
        if let Some(other) = passed_to.filter(|&other| other != step.worker) {
            let clock = step.clock.clone();
            self.clocks.entry(other).or_default().join(&clock);
        }
        if let Event::Created { worker, name } = event {
            self.trace.names.entry(worker).or_insert_with(|| name.to_string());
        }
        step.items.push(Item::Told(event.map(|text| text.to_string())));
    }

    /// Names the workers that did nothing and are mentioned all the same, as receivers are.
    pub fn name_mentioned(&mut self, name: impl Fn(WorkerId) -> String) {
        let Trace { names, steps } = &mut self.trace;
        for item in steps.iter().flat_map(|step| &step.items) {
            if let Item::Told(
                Event::Sent { to: worker, .. }
                | Event::Enabled { worker }
                | Event::TimerSet { timer: worker, .. }
                | Event::TimerCancelled { timer: worker }
                | Event::Crashed { worker }
                | Event::Restarted { worker }
                | Event::Halted { worker },
            ) = item
            {
                names.entry(*worker).or_insert_with(|| name(*worker));
            }
        }
    }

    /// The trace so far, complete.
    pub fn finish(self) -> Trace {
        self.trace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receive_happens_after_its_send_and_not_after_later_steps_of_the_sender() {
        let (a, b) = (WorkerId::root(0), WorkerId::root(1));
        let message = MessageId { sender: a, number: 0 };
        let mut tracer = Tracer::default();
        tracer.step(a, || "A".into());
        tracer.event(Event::Sent { message, to: b, payload: Text::Str("ping") });
        tracer.step(a, || "A".into());
        tracer.step(b, || "B".into());
        tracer.event(Event::Received { message, payload: Text::Str("ping") });
        let steps = tracer.finish().steps;
        assert!(steps[0].clock.before(&steps[2].clock));
        assert!(!steps[1].clock.before(&steps[2].clock));
    }

    #[test]
    fn two_reads_of_an_object_are_not_ordered_and_a_write_is_ordered_with_both() {
        let workers = [0, 1, 2].map(WorkerId::root);
        let object = ObjectId { creator: workers[0], number: 0 };
        let mut tracer = Tracer::default();
        for (worker, access) in workers.into_iter().zip([Access::Read, Access::Read, Access::Write])
        {
            tracer.step(worker, || "W".into());
            tracer.event(Event::Accessed { object, access, what: Text::Str("cell") });
        }
        let steps = tracer.finish().steps;
        assert!(!steps[0].clock.before(&steps[1].clock));
        assert!(steps[0].clock.before(&steps[2].clock) && steps[1].clock.before(&steps[2].clock));
    }
}
