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
    /// The steps of other workers that it comes after at once, counted from 1, at most one of each
    /// worker. A step happened before another if a chain of these and of the own steps of workers
    /// leads from the one to the other.
    pub after: Vec<u32>,
    /// How many steps of each worker happened before it, itself included: only where that was asked
    /// for, since all clocks together grow with steps times workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<VectorClock>,
    /// What its worker holds after it, in its `Debug` form, if the program can tell and it has changed
    /// since the worker's step before. Long ones are cut off, and sooner where there are many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<String>,
}

impl Trace {
    /// The vector clock of each step.
    pub fn clocks(&self) -> Vec<VectorClock> {
        let mut clocks: Vec<VectorClock> = Vec::with_capacity(self.steps.len());
        let mut last: BTreeMap<WorkerId, usize> = BTreeMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            let own = last.insert(step.worker, at);
            let mut clock = own.map_or_else(VectorClock::default, |own| clocks[own].clone());
            for &before in &step.after {
                if let Some(known) = clocks.get((before as usize).wrapping_sub(1)) {
                    clock.join(known);
                }
            }
            clock.tick(step.worker);
            clocks.push(clock);
        }
        clocks
    }

    /// Gives every step its clock.
    pub fn write_clocks(&mut self) {
        let clocks = self.clocks();
        for (step, clock) in self.steps.iter_mut().zip(clocks) {
            step.clock = Some(clock);
        }
    }
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

/// Builds a [`Trace`] from the events of an execution and notes which steps come after which.
#[derive(Default)]
pub struct Tracer {
    trace: Trace,
    footprint: Footprint,
    /// The last step of each worker, from 1.
    workers: BTreeMap<WorkerId, u32>,
    resources: BTreeMap<Resource, Uses>,
    /// The last step that everything else is ordered with, from 1; 0 if there was none.
    fault: u32,
    without_order: bool,
    without_texts: bool,
    /// What each worker held after its last step.
    fields: BTreeMap<WorkerId, String>,
    /// The bytes of all that is told of what workers hold.
    told_of_fields: usize,
}

/// The most characters that are told of what a worker holds.
pub const LONGEST_FIELDS: usize = 4_000;

/// The most bytes that are told in a trace of what workers hold: in one of a hundred thousand steps no more than in
/// one of a few hundred.
const ALL_FIELDS: usize = 1 << 20;

/// The last step that wrote a resource, from 1, and the steps that have read it since, one of each
/// worker. All earlier ones happened before that write.
#[derive(Default)]
struct Uses {
    write: u32,
    reads: BTreeMap<WorkerId, u32>,
}

impl Tracer {
    /// A tracer for executions that are only compared.
    pub fn without_order() -> Tracer {
        Tracer { without_order: true, ..Tracer::default() }
    }

    /// A tracer for executions of which only the order of steps is wanted: all texts are empty.
    pub fn without_texts() -> Tracer {
        Tracer { without_texts: true, ..Tracer::default() }
    }

    /// A new step of `worker` begins.
    pub fn step(&mut self, worker: WorkerId, name: impl FnOnce() -> String) {
        self.trace.names.entry(worker).or_insert_with(name);
        self.finish_step();
        self.footprint.begin(worker);
        self.trace.steps.push(TraceStep {
            worker,
            items: Vec::new(),
            after: Vec::new(),
            clock: None,
            fields: None,
        });
    }

    /// What the worker of the step that has just been taken holds.
    pub fn fields(&mut self, mut fields: String) {
        let Some(step) = self.trace.steps.last_mut().filter(|_| !self.without_texts) else {
            return;
        };
        let left = ALL_FIELDS.saturating_sub(self.told_of_fields);
        let longest = LONGEST_FIELDS.min(left / 128);
        if let Some((at, _)) = fields.char_indices().nth(longest)
            && fields[at..] != *"…"
        {
            fields.truncate(at);
            fields.push('…');
        }
        if self.fields.get(&step.worker) != Some(&fields) {
            self.told_of_fields += fields.len();
            self.fields.insert(step.worker, fields.clone());
            step.fields = Some(fields);
        }
    }

    /// Finds the last steps that the present one does not commute with.
    fn finish_step(&mut self) {
        let now = self.trace.steps.len() as u32;
        let Some(step) = self.trace.steps.last_mut().filter(|_| !self.without_order) else {
            return;
        };
        let me = step.worker;
        let mine = self.workers.insert(me, now).unwrap_or(0);
        let after = &mut step.after;
        // Every step touches these, though no footprint lists them: see `Resource`. What was written
        // before the worker's step before is known to it from that.
        let written = |resource| self.resources.get(&resource).map_or(0, |uses: &Uses| uses.write);
        let implied = [self.fault, written(Resource::Life(me)), written(Resource::Worker(me))];
        after.extend(implied.into_iter().filter(|&write| write > mine));
        for access in self.footprint.accesses() {
            if access.resource == Resource::Execution {
                if !access.only_reads() {
                    // Every step reads it. What came before the last fault is known from that.
                    after.extend(self.workers.values().filter(|&&step| step > self.fault));
                }
                continue;
            }
            let uses = self.resources.entry(access.resource).or_default();
            after.push(uses.write);
            if !access.only_reads() {
                after.extend(uses.reads.values());
                if let Resource::Worker(other) | Resource::Life(other) = access.resource {
                    after.extend(self.workers.get(&other));
                }
            }
        }
        for access in self.footprint.accesses() {
            if access.resource == Resource::Execution {
                self.fault = if access.only_reads() { self.fault } else { now };
                continue;
            }
            let uses = self.resources.entry(access.resource).or_default();
            if access.only_reads() {
                uses.reads.insert(me, now);
            } else {
                uses.write = now;
                uses.reads.clear();
            }
        }
        let mut after = std::mem::take(&mut step.after);
        let by = |step: &u32| self.trace.steps[*step as usize - 1].worker;
        after.retain(|step| *step > 0 && *step < now && by(step) != me);
        // Of each worker the last one, which comes after the others.
        after.sort_unstable_by_key(|step| (by(step), std::cmp::Reverse(*step)));
        after.dedup_by_key(|step| by(step));
        after.sort_unstable();
        if let Some(step) = self.trace.steps.last_mut() {
            step.after = after;
        }
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
        if !self.without_order {
            self.footprint.event(&event);
        }
        if let Event::Created { worker, name } = event {
            self.trace.names.entry(worker).or_insert_with(|| name.to_string());
        }
        if let Some(step) = self.trace.steps.last_mut() {
            let written = |text: Text<'_>| match self.without_texts {
                true => String::new(),
                false => text.written(),
            };
            step.items.push(Item::Event(event.map(written)));
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
    fn what_workers_hold_is_told_whole_at_first_and_takes_no_more_in_a_longer_trace() {
        let told = |steps: u32| {
            let mut tracer = Tracer::without_order();
            for step in 0..steps {
                tracer.step(WorkerId::root(step % 10), || "W".into());
                tracer.fields(format!("W {{ n: {step}, all: {} }}", "x, ".repeat(500)));
            }
            let trace = tracer.finish();
            let fields: Vec<_> = trace.steps.into_iter().filter_map(|step| step.fields).collect();
            assert!(fields[100].ends_with("x,  }"));
            (fields.iter().map(String::len).sum::<usize>(), fields.last().cloned())
        };
        let (all, last) = told(100_000);
        assert!(all <= ALL_FIELDS + 10 * "…".len(), "{all}");
        // It is cut where it is the same after each step.
        assert_eq!(last.as_deref(), Some("W { n: …"));
        assert_eq!(told(200_000).0, all);
    }

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
        tracer.finish().clocks()
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
        let clocks = tracer.finish().clocks();
        assert!(clocks[0].before(&clocks[1]) && clocks[1].before(&clocks[2]));
    }

    /// The clocks by their definition: each step joins those of all steps before it that it does not
    /// commute with.
    fn joined(steps: &[(WorkerId, Footprint)]) -> Vec<VectorClock> {
        let mut clocks: Vec<VectorClock> = Vec::new();
        for (at, (worker, footprint)) in steps.iter().enumerate() {
            let mut clock = VectorClock::default();
            for (before, known) in steps[..at].iter().zip(&clocks) {
                if before.0 == *worker || !footprint.commutes(&before.1) {
                    clock.join(known);
                }
            }
            // Its own steps before it are counted by the last of them.
            clock.tick(*worker);
            clocks.push(clock);
        }
        clocks
    }

    /// An event of a random execution of four workers that share two objects.
    fn any_event(rng: &mut fastrand::Rng, me: WorkerId) -> Event<Text<'static>> {
        let worker = WorkerId::root(rng.u32(0..4));
        let message = MessageId { sender: worker, number: rng.u32(0..3) };
        let number = rng.u32(0..2);
        let object = ObjectId { creator: WorkerId::root(0), number };
        let payload = Text::Str("");
        match rng.u32(0..7) {
            0 => Event::Sent { message: MessageId { sender: me, ..message }, to: worker, payload },
            1 => Event::Received { message, payload },
            2 => Event::Enabled { worker },
            3 => Event::Halted { worker },
            4 => NOTED,
            _ => {
                let mode = if rng.bool() { Mode::Read } else { Mode::Write };
                let access = Access::new(Resource::Object(object), mode);
                Event::Accessed { access, what: Text::Str("") }
            }
        }
    }

    #[test]
    fn clocks_are_those_of_all_steps_that_do_not_commute() {
        let mut edges = 0;
        for seed in 0..4_000 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut tracer, mut steps) = (Tracer::default(), Vec::new());
            for _ in 0..rng.usize(1..14) {
                let worker = WorkerId::root(rng.u32(0..4));
                let mut footprint = Footprint::default();
                footprint.begin(worker);
                tracer.step(worker, || "W".into());
                for _ in 0..rng.usize(0..3) {
                    let event = any_event(&mut rng, worker);
                    footprint.event(&event);
                    tracer.event(event);
                }
                if rng.u32(0..12) == 0 {
                    footprint.value(1, Tag::Fault);
                    tracer.choice(Choice::Value { index: 1, of: 2, tag: Tag::Fault });
                }
                steps.push((worker, footprint));
            }
            let trace = tracer.finish();
            edges += trace.steps.iter().map(|step| step.after.len()).sum::<usize>();
            assert_eq!(trace.clocks(), joined(&steps), "seed {seed}");
        }
        assert!(edges > 10_000, "{edges} edges");
    }

    #[test]
    fn what_is_kept_of_the_order_grows_with_the_steps_and_not_with_the_workers_too() {
        let edges = |workers: u32| {
            let mut tracer = Tracer::default();
            for step in 0..4_000 {
                let sender = WorkerId::root(step % workers);
                let (message, payload) = (MessageId { sender, number: step }, Text::Str(""));
                tracer.step(sender, || "W".into());
                tracer.event(Event::Sent { message, to: WorkerId::root(0), payload });
            }
            tracer.finish().steps.iter().map(|step| step.after.len()).sum::<usize>()
        };
        assert_eq!((edges(10), edges(1_000)), (3_999, 3_999));
    }
}
