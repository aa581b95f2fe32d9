//! Traces: a schedule with what happened.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::choice::Choice;
use crate::clock::VectorClock;
use crate::event::{Event, Text};
use crate::footprint::{Footprint, Resource};
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
#[non_exhaustive]
pub enum Item {
    /// A value or a delivery was chosen.
    Choice(Choice),
    /// A number from outside was given.
    Input {
        /// What the program calls it.
        name: String,
        /// The number.
        #[serde(rename = "input")]
        value: i64,
    },
    /// Something happened.
    Event(Event<String>),
}

/// Builds a [`Trace`] from the events of an execution and keeps the vector clocks.
#[derive(Default)]
pub struct Tracer {
    trace: Trace,
    footprint: Footprint,
    /// The clock of each worker after its last step.
    workers: BTreeMap<WorkerId, VectorClock>,
    resources: BTreeMap<Resource, Clocks>,
    without_clocks: bool,
}

/// The joined clocks of the steps that read and of those that wrote a resource.
#[derive(Default)]
struct Clocks {
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
        self.footprint.begin(worker);
        let clock = VectorClock::default();
        self.trace.steps.push(TraceStep { worker, items: Vec::new(), clock });
    }

    /// Joins the clock of the present step with those of all steps that it does not commute with.
    fn finish_step(&mut self) {
        let Some(step) = self.trace.steps.last_mut().filter(|_| !self.without_clocks) else {
            return;
        };
        let me = step.worker;
        let mut clock = self.workers.remove(&me).unwrap_or_default();
        clock.tick(me);
        // Every step touches these, though no footprint lists them: see `Resource`.
        let implied = [Resource::Execution, Resource::Life(me), Resource::Worker(me)];
        for resource in implied {
            clock.join(&self.resources.entry(resource).or_default().writes);
        }
        for access in self.footprint.accesses() {
            let known = self.resources.entry(access.resource).or_default();
            clock.join(&known.writes);
            if !access.only_reads() {
                clock.join(&known.reads);
                if let Resource::Worker(other) | Resource::Life(other) = access.resource
                    && let Some(steps) = self.workers.get(&other)
                {
                    clock.join(steps);
                }
            }
        }
        for access in self.footprint.accesses() {
            let known = self.resources.entry(access.resource).or_default();
            if access.only_reads() { &mut known.reads } else { &mut known.writes }.join(&clock);
        }
        self.resources.entry(Resource::Execution).or_default().reads.join(&clock);
        step.clock.clone_from(&clock);
        self.workers.insert(me, clock);
    }

    /// A value or a delivery was chosen inside the step.
    pub fn choice(&mut self, choice: Choice) {
        if let Choice::Value { index, tag, .. } = choice {
            self.footprint.value(index, tag);
        }
        if let Some(step) = self.trace.steps.last_mut() {
            step.items.push(Item::Choice(choice));
        }
    }

    /// A number from outside was given inside the step.
    pub fn input(&mut self, name: &str, value: i64) {
        if let Some(step) = self.trace.steps.last_mut() {
            step.items.push(Item::Input { name: name.to_owned(), value });
        }
    }

    /// Something happened inside the step.
    pub fn event(&mut self, event: Event<Text<'_>>) {
        if !self.without_clocks {
            self.footprint.event(&event);
        }
        if let Event::Created { worker, name } = event {
            self.trace.names.entry(worker).or_insert_with(|| name.to_string());
        }
        if let Some(step) = self.trace.steps.last_mut() {
            step.items.push(Item::Event(event.map(|text| text.written())));
        }
    }

    /// Names the workers that took no step but are mentioned, such as receivers.
    pub fn name_mentioned(&mut self, name: impl Fn(WorkerId) -> String) {
        let Trace { names, steps } = &mut self.trace;
        for item in steps.iter().flat_map(|step| &step.items) {
            if let Item::Event(
                Event::Sent { to: worker, .. }
                | Event::Sending { to: worker, .. }
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

    /// Ends the last step and gives the trace.
    pub fn finish(mut self) -> Trace {
        self.finish_step();
        self.trace
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, MessageId, Mode, ObjectId, Tag};

    const NOTED: Event<Text<'_>> = Event::Noted { text: Text::Str("") };

    #[test]
    fn a_receive_happens_after_its_send_and_not_after_later_steps_of_the_sender() {
        let [a, b] = [0, 1].map(WorkerId::root);
        let (message, payload) = (MessageId { sender: a, number: 0 }, Text::Str("ping"));
        let sent = Event::Sent { message, to: b, payload };
        let clocks = clocks(&[(0, sent), (0, NOTED), (1, Event::Received { message, payload })]);
        assert!(clocks[0].before(&clocks[2]) && !clocks[1].before(&clocks[2]));
    }

    #[test]
    fn two_reads_of_an_object_are_not_ordered_and_a_write_is_ordered_with_both() {
        let object = Resource::Object(ObjectId { creator: WorkerId::root(0), number: 0 });
        let accessed = |mode| {
            let access = Access::new(object, mode);
            Event::Accessed { access, what: Text::Str("cell") }
        };
        let (read, write) = (accessed(Mode::Read), accessed(Mode::Write));
        let clocks = clocks(&[(0, read), (1, read), (2, write)]);
        assert!(!clocks[0].before(&clocks[1]));
        assert!(clocks[0].before(&clocks[2]) && clocks[1].before(&clocks[2]));
    }

    fn clocks(steps: &[(u32, Event<Text<'_>>)]) -> Vec<VectorClock> {
        let mut tracer = Tracer::default();
        for &(worker, event) in steps {
            tracer.step(WorkerId::root(worker), || "W".into());
            tracer.event(event);
        }
        tracer.finish().steps.into_iter().map(|step| step.clock).collect()
    }

    #[test]
    fn who_is_woken_comes_after_who_woke_it() {
        let [b, c] = [1, 2].map(WorkerId::root);
        let clocks = clocks(&[(0, Event::Enabled { worker: b }), (1, NOTED), (2, NOTED)]);
        assert!(clocks[0].before(&clocks[1]));
        assert_eq!((clocks[2].get(c), clocks[2].iter().count()), (1, 1));
    }

    #[test]
    fn a_fault_comes_after_every_step_before_it_and_before_every_step_after_it() {
        let mut tracer = Tracer::default();
        for worker in 0..3 {
            tracer.step(WorkerId::root(worker), || "W".into());
            let (of, tag) = (2, Tag::Fault);
            tracer.choice(Choice::Value { index: u32::from(worker == 1), of, tag });
        }
        let steps = tracer.finish().steps;
        assert!(steps[0].clock.before(&steps[1].clock) && steps[1].clock.before(&steps[2].clock));
    }
}
