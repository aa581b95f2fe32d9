//! Traces: a schedule with what happened.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::choice::{Choice, MessageId};
use crate::clock::VectorClock;
use crate::event::{Access, Event, ObjectId, Text};
use crate::worker::WorkerId;

/// What happened in an execution, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trace {
    /// What each worker is, such as `Participant`.
    #[serde(rename = "workers")]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, String>"))]
    pub names: BTreeMap<WorkerId, String>,
    /// The steps in the order in which they were taken.
    pub steps: Vec<TraceStep>,
}

/// One step of one worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceStep {
    /// Who stepped.
    pub worker: WorkerId,
    /// What was chosen and what happened, in order.
    pub items: Vec<Item>,
    /// What the worker knows after the step.
    pub clock: VectorClock,
}

/// A part of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
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
    without_clocks: bool,
}

#[derive(Default)]
struct ObjectClock {
    reads: VectorClock,
    writes: VectorClock,
}

impl Tracer {
    /// A tracer for executions that are only compared: clocks of many workers are large.
    pub fn without_clocks() -> Tracer {
        Tracer { without_clocks: true, ..Tracer::default() }
    }

    /// A new step of `worker` begins.
    pub fn step(&mut self, worker: WorkerId, name: impl FnOnce() -> String) {
        self.trace.names.entry(worker).or_insert_with(name);
        self.finish_step();
        if !self.without_clocks {
            self.clocks.entry(worker).or_default().tick(worker);
        }
        let clock = VectorClock::default();
        self.trace.steps.push(TraceStep { worker, items: Vec::new(), clock });
    }

    /// The clock of a step is what its worker knows at its end.
    fn finish_step(&mut self) {
        if let Some(step) = self.trace.steps.last_mut()
            && let Some(clock) = self.clocks.get(&step.worker)
        {
            step.clock = clock.clone();
        }
    }

    /// A value or a delivery was chosen inside the step.
    pub fn choice(&mut self, choice: Choice) {
        if let Some(step) = self.trace.steps.last_mut() {
            step.items.push(Item::Chose(choice));
        }
    }

    /// Something happened inside the step.
    pub fn event(&mut self, event: Event<Text<'_>>) {
        let Some(me) = self.trace.steps.last().map(|step| step.worker) else { return };
        if !self.without_clocks {
            self.pass_on(me, &event);
        }
        if let Event::Created { worker, name } = event {
            self.trace.names.entry(worker).or_insert_with(|| name.to_string());
        }
        if let Some(step) = self.trace.steps.last_mut() {
            step.items.push(Item::Told(event.map(|text| text.to_string())));
        }
    }

    /// What `me` learns by an event, and what others learn of it.
    fn pass_on(&mut self, me: WorkerId, event: &Event<Text<'_>>) {
        let clock = self.clocks.entry(me).or_default();
        match *event {
            Event::Created { worker, .. }
            | Event::TimerSet { timer: worker, .. }
            | Event::Enabled { worker }
            | Event::Crashed { worker }
            | Event::Restarted { worker }
            | Event::Halted { worker }
                if worker != me =>
            {
                let clock = clock.clone();
                self.clocks.entry(worker).or_default().join(&clock);
            }
            Event::Sent { message, .. } | Event::Duplicated { copy: message, .. } => {
                self.messages.insert(message, clock.clone());
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
    pub fn finish(mut self) -> Trace {
        self.finish_step();
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
