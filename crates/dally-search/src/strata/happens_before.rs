//! The happens-before fingerprint: what tells executions apart that cannot be captured.
//!
//! Steps that touch nothing in common may be exchanged, and the program is in the same state
//! afterwards. So the state after a prefix is given by the *partial order* of its steps: who
//! stepped, what was chosen, and after whom each came to what it touched. The fingerprint is a
//! hash of that partial order, made such that the order of the prefix itself does not matter: a
//! sum over the steps, each hashed with the hashes of the steps that it depends on.
//!
//! That is sound if front ends tell what workers share. A step that sees or changes what another
//! step can change tells an access, or its worker does something else when it sees something
//! else (and that is told). What goes around Dally is not in the fingerprint.

use dally_core::fingerprint::{mix, part};
use dally_core::{Access, Discard, Event, MessageId, ObjectId, Tag, Text, WorkerId};
use rustc_hash::FxHashMap;

/// Follows an execution and keeps the fingerprint of its partial order.
#[derive(Clone, Default)]
pub(crate) struct HappensBefore {
    fingerprint: u64,
    places: FxHashMap<Thing, usize>,
    things: Vec<Marks>,
    /// Who steps, the hash of the step so far, and its number from 1.
    worker: Option<WorkerId>,
    hash: u64,
    step: u64,
    /// What the step has touched.
    touched: Vec<usize>,
}

/// What steps depend on each other by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Thing {
    /// The place of a worker in its own code: its steps follow each other.
    Steps(WorkerId),
    /// Whether a worker is there: written by those who create, crash or end it, read by its steps
    /// and by those who send to it.
    Life(WorkerId),
    Inbox(WorkerId),
    Object(ObjectId),
    Monitors,
    /// The faults that may still happen.
    Budget,
}

/// What has been done to a thing.
#[derive(Clone, Copy, Default)]
struct Marks {
    /// The hash of the step that wrote it last.
    writer: u64,
    /// The sum of the hashes of those that have read it since.
    readers: u64,
    /// The step that touched it last, and whether that one writes.
    step: u64,
    writes: bool,
    /// Of a life: the worker was woken since its last step.
    woken: bool,
}

impl HappensBefore {
    /// Forgets the execution and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.fingerprint = 0;
        self.places.clear();
        self.things.clear();
        self.touched.clear();
        (self.worker, self.step) = (None, 0);
    }

    /// Equal for prefixes of the same partial order, and different for others but for a collision
    /// of hashes. To be asked between steps.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// A step of `worker` begins.
    pub(crate) fn begin(&mut self, worker: WorkerId) {
        self.touched.clear();
        self.step += 1;
        self.worker = Some(worker);
        self.hash = worker.to_bits();
        self.touch(Thing::Steps(worker), Access::Write);
        let life = self.touch(Thing::Life(worker), Access::Read);
        if std::mem::take(&mut self.things[life].woken) {
            self.fingerprint = self.fingerprint.wrapping_sub(part(worker.to_bits(), WOKEN));
        }
        if worker == WorkerId::FAULTS {
            self.touch(Thing::Budget, Access::Write);
        }
    }

    /// The step was given the value `index` out of `of`.
    pub(crate) fn value(&mut self, index: u32, of: u32, tag: Tag) {
        self.add(Kind::Value as u64 | (tag as u64) << 8);
        self.add(u64::from(index) << 32 | u64::from(of));
        if tag == Tag::Fault {
            // Index 0 is "no fault": it looks at what is left of the budget and leaves it.
            let access = if index == 0 { Access::Read } else { Access::Write };
            self.touch(Thing::Budget, access);
        }
    }

    /// The step was given this message out of its inbox.
    pub(crate) fn delivery(&mut self, message: MessageId) {
        self.message(Kind::Delivery, message);
        self.own_inbox();
    }

    /// Something happened in the step.
    pub(crate) fn event(&mut self, event: &Event<Text<'_>>) {
        match *event {
            Event::Created { worker, .. } => self.life(Kind::Created, worker),
            Event::Sent { message, to, .. } => {
                self.message(Kind::Sent, message);
                self.add(to.to_bits());
                self.touch(Thing::Life(to), Access::Read);
                self.touch(Thing::Inbox(to), Access::Write);
            }
            Event::Duplicated { copy, .. } => {
                self.message(Kind::Duplicated, copy);
                self.touch(Thing::Budget, Access::Write);
            }
            Event::Received { message, .. } => {
                self.message(Kind::Received, message);
                self.own_inbox();
            }
            Event::Discarded { message, why } => {
                self.message(Kind::Discarded, message);
                self.add(why as u64);
                self.own_inbox();
                if why == Discard::Lost {
                    self.touch(Thing::Budget, Access::Write);
                }
            }
            // Waking is no cause: whoever wakes a worker touches what the worker looks at when it
            // steps. Of several that would wake it the first does, and it does not matter which
            // that was; that the worker was woken does, since it can step.
            Event::Enabled { worker } => self.wake(worker),
            Event::Blocked { .. } => self.add(Kind::Blocked as u64),
            Event::Halted { worker } => self.life(Kind::Halted, worker),
            Event::Accessed { object, access, .. } => {
                self.add(Kind::Accessed as u64 | (access as u64) << 8);
                self.add(mix(object.creator.to_bits(), u64::from(object.number)));
                self.touch(Thing::Object(object), access);
            }
            Event::TimerSet { timer, .. } => self.life(Kind::TimerSet, timer),
            Event::TimerCancelled { timer } => self.life(Kind::TimerCancelled, timer),
            Event::Crashed { worker } => self.fault(Kind::Crashed, worker),
            Event::Restarted { worker } => self.fault(Kind::Restarted, worker),
            Event::Announced { .. } | Event::MonitorChanged { .. } => {
                self.add(Kind::Monitors as u64);
                self.touch(Thing::Monitors, Access::Write);
            }
            // What a worker does with itself follows from what it saw; words are for others.
            Event::Raised { .. }
            | Event::Changed { .. }
            | Event::Persisted { .. }
            | Event::Hinted { .. }
            | Event::Noted { .. } => {}
        }
    }

    /// The step is over.
    pub(crate) fn end(&mut self) {
        self.worker = None;
        let hash = mix(self.hash, Kind::End as u64);
        self.fingerprint = self.fingerprint.wrapping_add(hash);
        for place in self.touched.drain(..) {
            let marks = &mut self.things[place];
            if marks.writes {
                (marks.writer, marks.readers) = (hash, 0);
            } else {
                marks.readers = marks.readers.wrapping_add(hash);
            }
        }
    }

    fn add(&mut self, word: u64) {
        self.hash = mix(self.hash, word);
    }

    fn message(&mut self, kind: Kind, message: MessageId) {
        self.add(kind as u64 | u64::from(message.number) << 32);
        self.add(message.sender.to_bits());
    }

    fn life(&mut self, kind: Kind, worker: WorkerId) {
        self.add(kind as u64);
        self.add(worker.to_bits());
        self.touch(Thing::Life(worker), Access::Write);
    }

    fn fault(&mut self, kind: Kind, worker: WorkerId) {
        self.life(kind, worker);
        self.touch(Thing::Inbox(worker), Access::Write);
        self.touch(Thing::Budget, Access::Write);
    }

    fn own_inbox(&mut self) {
        if let Some(worker) = self.worker {
            self.touch(Thing::Inbox(worker), Access::Write);
        }
    }

    fn wake(&mut self, worker: WorkerId) {
        let life = self.place(Thing::Life(worker));
        if !std::mem::replace(&mut self.things[life].woken, true) {
            self.fingerprint = self.fingerprint.wrapping_add(part(worker.to_bits(), WOKEN));
        }
    }

    /// The step depends on those that touched this before it: a read on the last write, a write
    /// on the reads since as well.
    fn touch(&mut self, thing: Thing, access: Access) -> usize {
        let place = self.place(thing);
        let step = self.step;
        let marks = &mut self.things[place];
        let writes = access == Access::Write;
        if marks.step == step {
            marks.writes |= writes;
        } else {
            (marks.step, marks.writes) = (step, writes);
            self.touched.push(place);
        }
        let Marks { writer, readers, .. } = *marks;
        self.add(writer);
        if writes {
            self.add(readers);
        }
        place
    }

    fn place(&mut self, thing: Thing) -> usize {
        let next = self.things.len();
        let place = *self.places.entry(thing).or_insert(next);
        if place == next {
            self.things.push(Marks::default());
        }
        place
    }
}

/// What the fingerprint of a worker that was woken is marked with.
const WOKEN: u64 = 0x3b5c_1d2e_77a1_90c5;

/// What a part of a step's hash is about.
#[derive(Clone, Copy)]
enum Kind {
    Value,
    Delivery,
    Created,
    Sent,
    Duplicated,
    Received,
    Discarded,
    Blocked,
    Halted,
    Accessed,
    TimerSet,
    TimerCancelled,
    Crashed,
    Restarted,
    Monitors,
    End,
}

#[cfg(test)]
mod tests;
