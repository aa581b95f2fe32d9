//! The happens-before fingerprint, which tells executions apart that cannot be captured.
//!
//! Steps that commute may be exchanged, and the program is in the same state afterwards. So the
//! *partial order* of its steps determines the state after a prefix: who stepped, what was chosen,
//! and after whom each came to what it touched. The fingerprint hashes that partial order and not
//! the order of the prefix: a sum over the steps, each hashed with those it depends on.
//!
//! Footprints say what a step touches. That is sound if front ends tell what workers share: a step
//! that sees or changes what another step can change tells an access, or an event that depends on
//! what it saw. What goes around Dally is not in the fingerprint.

use std::hash::{Hash, Hasher};

use dally_core::fingerprint::{mix, part};
use dally_core::{Access, Event, Footprint, Resource, Tag, Text, WorkerId};
use rustc_hash::{FxHashMap, FxHasher};

/// Follows an execution and keeps the fingerprint of its partial order.
#[derive(Clone, Default, Debug)]
pub struct HappensBefore {
    fingerprint: u64,
    places: FxHashMap<Resource, usize>,
    marks: Vec<Marks>,
    /// What the step under way touches, and, in `hash`, what it was given and told.
    footprint: Footprint,
    hash: u64,
    /// The index in `marks` of each resource that it touches, and whether it only reads it.
    touched: Vec<(usize, bool)>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Marks {
    /// The hash of the step that wrote it last.
    writer: u64,
    /// The sum of the hashes of the steps that have read it since.
    readers: u64,
    /// For a worker: whether it was woken since its last step.
    woken: bool,
}

impl HappensBefore {
    /// Starts over in the same memory.
    pub fn clear(&mut self) {
        self.fingerprint = 0;
        self.places.clear();
        self.marks.clear();
    }

    /// Equal for prefixes of the same partial order, and different for others but for a collision
    /// of hashes. Only valid between steps.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// A step of `worker` begins.
    pub fn begin(&mut self, worker: WorkerId) {
        self.footprint.begin(worker);
        self.hash = worker.to_bits();
        let place = self.place(Resource::Worker(worker));
        if std::mem::take(&mut self.marks[place].woken) {
            self.fingerprint = self.fingerprint.wrapping_sub(part(worker.to_bits(), WOKEN));
        }
    }

    /// The step was given the value `index` out of `of`. An event tells which message it was given.
    pub fn value(&mut self, index: u32, of: u32, tag: Tag) {
        self.footprint.value(index, tag);
        self.hash = mix(self.hash, tag as u64);
        self.hash = mix(self.hash, u64::from(index) << 32 | u64::from(of));
    }

    /// The step was given this number from outside.
    pub fn input(&mut self, value: i64) {
        self.hash = mix(mix(self.hash, INPUT), value as u64);
    }

    /// Something happened in the step.
    pub fn event(&mut self, event: &Event<Text<'_>>) {
        self.footprint.event(event);
        match event {
            Event::Enabled { worker } => self.wake(*worker),
            // Waking is no cause: the step that wakes a worker touches what the worker looks at when it
            // steps. Which of several steps wakes it does not matter. That it was woken does.
            Event::Accessed { access, .. } if access.wakes() => {}
            _ => {
                let mut words = FxHasher::default();
                event.map(|_| ()).hash(&mut words);
                self.hash = mix(self.hash, words.finish());
            }
        }
    }

    /// The step is over.
    pub fn end(&mut self) {
        let worker = self.footprint.worker();
        self.depend(Access::read(Resource::Execution));
        self.depend(Access::update(Resource::Worker(worker)));
        self.depend(Access::read(Resource::Life(worker)));
        for at in 0..self.footprint.accesses().len() {
            let access = self.footprint.accesses()[at];
            if !access.wakes() {
                self.depend(access);
            }
        }
        let hash = self.hash;
        self.fingerprint = self.fingerprint.wrapping_add(hash);
        for (place, only_reads) in self.touched.drain(..) {
            let marks = &mut self.marks[place];
            if only_reads {
                marks.readers = marks.readers.wrapping_add(hash);
            } else {
                (marks.writer, marks.readers) = (hash, 0);
            }
        }
    }

    /// Adds what the step depends on: a read on the last write, a write on the reads since as well.
    fn depend(&mut self, access: Access) {
        let place = self.place(access.resource);
        let Marks { writer, readers, .. } = self.marks[place];
        self.touched.push((place, access.only_reads()));
        self.hash = mix(self.hash, writer);
        if !access.only_reads() {
            self.hash = mix(self.hash, readers);
        }
    }

    fn wake(&mut self, worker: WorkerId) {
        let place = self.place(Resource::Worker(worker));
        if !std::mem::replace(&mut self.marks[place].woken, true) {
            self.fingerprint = self.fingerprint.wrapping_add(part(worker.to_bits(), WOKEN));
        }
    }

    fn place(&mut self, resource: Resource) -> usize {
        let next = self.marks.len();
        let place = *self.places.entry(resource).or_insert(next);
        if place == next {
            self.marks.push(Marks::default());
        }
        place
    }
}

/// Marks the hash of a step that was given an input: no [`Tag`] is as large.
const INPUT: u64 = u64::MAX;

/// Marks the fingerprint of a worker that was woken.
const WOKEN: u64 = 0x3b5c_1d2e_77a1_90c5;

#[cfg(test)]
mod tests;
