//! What a step touches, and when two steps commute: the one place that decides it.
//!
//! A [`Footprint`] lists what a step reads and changes of what others can read and change. That of
//! a step that was taken follows from what it was given and told ([`Footprint::value`],
//! [`Footprint::event`]); that of a step to come is what [`System::pending`] foresees, as far as a
//! front end can. Clocks, the happens-before fingerprint and the samplers all go by it.
//!
//! ```
//! use dally_core::{Event, Footprint, MessageId, Text, WorkerId};
//!
//! let [a, b, c] = [0, 1, 2].map(WorkerId::root);
//! let sends = |from, to| {
//!     let message = MessageId { sender: from, number: 0 };
//!     let mut step = Footprint::default();
//!     step.begin(from);
//!     step.event(&Event::Sent { message, to, payload: Text::Str("ping") });
//!     step
//! };
//! assert!(sends(a, b).commutes(&sends(b, c)));
//! // In which order messages come into an inbox may matter.
//! assert!(!sends(a, c).commutes(&sends(b, c)));
//!
//! let mut receives = Footprint::default();
//! receives.begin(c);
//! let message = MessageId { sender: b, number: 0 };
//! receives.event(&Event::Received { message, payload: Text::Str("ping") });
//! // To take a message is to come after its sending, and not after that of another.
//! assert!(!receives.commutes(&sends(b, c)));
//! assert!(receives.commutes(&sends(a, c)));
//! ```
//!
//! [`System::pending`]: crate::System::pending

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use crate::choice::{MessageId, Tag};
use crate::event::{Discard, Event, ObjectId};
use crate::fingerprint::mix;
use crate::worker::WorkerId;
use crate::written::written_as_text;

/// Something that steps of several workers can touch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Resource {
    /// That the execution goes on, and which faults may still happen to it. Every step reads it,
    /// so only changes are listed: a fault, and what ends the execution.
    Execution,
    /// Where a worker stands in its code and whether it is enabled. Each of its own steps changes
    /// it, which is not listed; whoever wakes it writes it.
    Worker(WorkerId),
    /// Whether a worker is there: written by those who create, crash, restart or end it, who arm
    /// or disarm a timer. Its own steps read it, which is not listed, and so does who sends to it.
    Life(WorkerId),
    /// In which order messages came into the inbox of this worker, and whether there are any.
    Inbox(WorkerId),
    /// A message on its way from the step that sends it to the step that takes it.
    Message(MessageId),
    /// A lock, a channel, a shared value.
    Object(ObjectId),
    /// The monitors: all of them hear what is announced.
    Monitors,
}

impl Resource {
    /// One word that tells resources apart, but for a collision of hashes.
    pub fn digest(self) -> u64 {
        let (kind, whose, number) = match self {
            Resource::Execution => (1, 0, 0),
            Resource::Monitors => (2, 0, 0),
            Resource::Worker(worker) => (3, worker.to_bits(), 0),
            Resource::Life(worker) => (4, worker.to_bits(), 0),
            Resource::Inbox(worker) => (5, worker.to_bits(), 0),
            Resource::Message(message) => (6, message.sender.to_bits(), message.number),
            Resource::Object(object) => (7, object.creator.to_bits(), object.number),
        };
        mix(u64::from(number) << 8 | kind, whose)
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Execution => f.write_str("execution"),
            Resource::Worker(worker) => write!(f, "worker {worker}"),
            Resource::Life(worker) => write!(f, "life of {worker}"),
            Resource::Inbox(worker) => write!(f, "inbox of {worker}"),
            Resource::Message(message) => write!(f, "message {message}"),
            Resource::Object(object) => write!(f, "{object}"),
            Resource::Monitors => f.write_str("monitors"),
        }
    }
}

/// The text is not the name of a resource.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a resource is written as an object, such as `0.2#3`, or like `inbox of 0.2` or `monitors`"
)]
pub struct NotAResource;

impl FromStr for Resource {
    type Err = NotAResource;

    fn from_str(text: &str) -> Result<Resource, NotAResource> {
        let of = |name: &str, make: fn(WorkerId) -> Resource| {
            text.strip_prefix(name)?.parse().ok().map(make)
        };
        let message = || Some(Resource::Message(text.strip_prefix("message ")?.parse().ok()?));
        match text {
            "execution" => Some(Resource::Execution),
            "monitors" => Some(Resource::Monitors),
            _ => of("worker ", Resource::Worker)
                .or_else(|| of("life of ", Resource::Life))
                .or_else(|| of("inbox of ", Resource::Inbox))
                .or_else(message)
                .or_else(|| text.parse().ok().map(Resource::Object)),
        }
        .ok_or(NotAResource)
    }
}

written_as_text!(Resource);

/// How a resource is touched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Two reads commute; nothing else does.
    Read,
    /// Sets it, whatever it was.
    Write,
    /// Changes it depending on what it was.
    ReadModifyWrite,
}

/// One resource that a step touches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Access {
    /// What is touched.
    #[serde(rename = "object")]
    pub resource: Resource,
    /// How.
    #[serde(rename = "access")]
    pub mode: Mode,
    /// The memory ordering of an atomic operation; `None` for everything else, which is
    /// sequentially consistent. Whether steps commute does not depend on it.
    #[serde(skip)]
    pub ordering: Option<Ordering>,
}

impl Access {
    /// A sequentially consistent access.
    pub fn new(resource: Resource, mode: Mode) -> Access {
        Access { resource, mode, ordering: None }
    }

    /// A read.
    pub fn read(resource: Resource) -> Access {
        Access::new(resource, Mode::Read)
    }

    /// A write.
    pub fn write(resource: Resource) -> Access {
        Access::new(resource, Mode::Write)
    }

    /// A change that depends on what was there.
    pub fn update(resource: Resource) -> Access {
        Access::new(resource, Mode::ReadModifyWrite)
    }

    /// Whether it leaves the resource as it is.
    pub fn only_reads(self) -> bool {
        self.mode == Mode::Read
    }

    /// Whether the order of two accesses may matter.
    fn conflicts(self, other: Access) -> bool {
        self.resource == other.resource && !(self.only_reads() && other.only_reads())
    }

    /// Whether the order of this access and of any step of `worker` may matter: see what is not
    /// listed in [`Resource`].
    fn conflicts_with_steps_of(self, worker: WorkerId) -> bool {
        match self.resource {
            Resource::Execution | Resource::Life(_) if self.only_reads() => false,
            Resource::Execution => true,
            Resource::Worker(touched) | Resource::Life(touched) => touched == worker,
            _ => false,
        }
    }
}

/// What one step of a worker touches. Its memory is used again for one step after another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Footprint {
    worker: WorkerId,
    accesses: Vec<Access>,
    complete: bool,
}

impl Default for Footprint {
    fn default() -> Footprint {
        Footprint { worker: WorkerId::FAULTS, accesses: Vec::new(), complete: false }
    }
}

impl Footprint {
    /// Starts over: a step of `worker` that has touched nothing yet.
    pub fn begin(&mut self, worker: WorkerId) {
        self.accesses.clear();
        (self.worker, self.complete) = (worker, true);
        if worker == WorkerId::FAULTS {
            // What it can do, and whether it must, depends on where everybody else stands.
            self.add(Access::update(Resource::Execution));
        }
    }

    /// Starts over: a step of `worker` of which nothing is known.
    pub fn begin_unknown(&mut self, worker: WorkerId) {
        self.begin(worker);
        self.leave_open();
    }

    /// The step may touch more than is listed.
    pub fn leave_open(&mut self) {
        self.complete = false;
    }

    /// The step touches this.
    pub fn add(&mut self, access: Access) {
        // Most steps touch few things, again and again. Twice in the list would do no harm.
        const BACK: usize = 8;
        let from = self.accesses.len().saturating_sub(BACK);
        let known = |known: &&mut Access| {
            (known.resource, known.ordering) == (access.resource, access.ordering)
        };
        match self.accesses[from..].iter_mut().find(known) {
            None => self.accesses.push(access),
            Some(known) if known.mode != access.mode => known.mode = Mode::ReadModifyWrite,
            Some(_) => {}
        }
    }

    /// The step was given this value. "No fault" is index 0 and only reads what every step reads.
    pub fn value(&mut self, index: u32, tag: Tag) {
        if tag == Tag::Fault && index != 0 {
            self.add(Access::update(Resource::Execution));
        }
    }

    /// The step sends this message to this worker.
    pub fn sends(&mut self, message: MessageId, to: WorkerId) {
        self.add(Access::read(Resource::Life(to)));
        self.add(Access::update(Resource::Inbox(to)));
        self.add(Access::write(Resource::Message(message)));
    }

    /// Something happened in the step.
    ///
    /// A receipt touches the message and not the inbox: that others are sent meanwhile leaves it
    /// possible, and comes to the same, in queues as well as in mailboxes without an order. A front
    /// end where a step depends on what else is in the inbox tells an access to that.
    pub fn event<T>(&mut self, event: &Event<T>) {
        match *event {
            Event::Accessed { access, .. } => self.add(access),
            Event::Created { worker, .. }
            | Event::Halted { worker }
            | Event::TimerSet { timer: worker, .. }
            | Event::TimerCancelled { timer: worker } => {
                self.add(Access::write(Resource::Life(worker)));
            }
            Event::Crashed { worker } | Event::Restarted { worker } => {
                self.add(Access::write(Resource::Life(worker)));
                self.add(Access::update(Resource::Execution));
            }
            Event::Enabled { worker } => self.add(Access::write(Resource::Worker(worker))),
            Event::Sent { message, to, .. } => self.sends(message, to),
            Event::Duplicated { copy, .. } => {
                self.add(Access::write(Resource::Message(copy)));
                self.add(Access::update(Resource::Execution));
            }
            Event::Received { message, .. } => {
                self.add(Access::update(Resource::Message(message)));
            }
            Event::Discarded { message, why } => {
                self.add(Access::update(Resource::Message(message)));
                if why == Discard::Lost {
                    self.add(Access::update(Resource::Execution));
                }
            }
            Event::Announced { .. } | Event::MonitorChanged { .. } => {
                self.add(Access::update(Resource::Monitors));
            }
            // What a worker does with itself is its own; words are for others.
            Event::Raised { .. }
            | Event::Changed { .. }
            | Event::Blocked { .. }
            | Event::Persisted { .. }
            | Event::Hinted { .. }
            | Event::Noted { .. } => {}
        }
    }

    /// Whose step it is.
    pub fn worker(&self) -> WorkerId {
        self.worker
    }

    /// What the step touches, as far as it is known, in the order in which it does.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// Whether all is listed.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether nothing at all is known of the step.
    pub fn is_unknown(&self) -> bool {
        !self.complete && self.accesses.is_empty()
    }

    /// Whether the step touches nothing that others can touch.
    pub fn is_local(&self) -> bool {
        self.complete && self.accesses.is_empty()
    }

    /// Whether the step takes a message that somebody sent.
    pub fn receives(&self) -> bool {
        let takes = |access: &Access| {
            matches!(access.resource, Resource::Message(_)) && access.mode == Mode::ReadModifyWrite
        };
        self.accesses.iter().any(takes)
    }

    /// Whether the two steps, of different workers and both possible in one state, lead to the
    /// same state in either order, and neither makes the other impossible. Where not all is known
    /// the answer is no.
    pub fn commutes(&self, other: &Footprint) -> bool {
        self.complete && other.complete && !self.conflicts(other)
    }

    /// Whether what is known of the two steps says that their order may matter; a step of which
    /// nothing is known races with all that are not local. This is what samplers ask, which need
    /// no certainty: where all is known, steps race exactly if they do not commute.
    pub fn races(&self, other: &Footprint) -> bool {
        self.conflicts(other)
            || self.is_unknown() && !other.is_local()
            || other.is_unknown() && !self.is_local()
    }

    /// Whether the step was foreseen: it touched nothing that is not listed here.
    pub fn covers(&self, taken: &Footprint) -> bool {
        let changes_all = |access: &Access| access.resource == Resource::Execution;
        let covers = |access: &Access| {
            self.accesses.iter().any(|known| {
                known.resource == access.resource && (access.only_reads() || !known.only_reads())
            })
        };
        !self.complete || self.accesses.iter().any(changes_all) || taken.accesses.iter().all(covers)
    }

    fn conflicts(&self, other: &Footprint) -> bool {
        let (own, others) = (&self.accesses, &other.accesses);
        self.worker == other.worker
            || own.iter().any(|access| access.conflicts_with_steps_of(other.worker))
            || others.iter().any(|access| access.conflicts_with_steps_of(self.worker))
            || own.iter().any(|&one| others.iter().any(|&other| one.conflicts(other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(worker: u32, accesses: &[Access]) -> Footprint {
        let mut step = Footprint::default();
        step.begin(WorkerId::root(worker));
        accesses.iter().for_each(|&access| step.add(access));
        step
    }

    fn object(number: u32) -> Resource {
        Resource::Object(ObjectId { creator: WorkerId::root(0), number })
    }

    #[test]
    fn steps_commute_unless_they_touch_the_same_and_one_changes_it() {
        let reads = |worker| step(worker, &[Access::read(object(0))]);
        let writes = |worker, number| step(worker, &[Access::write(object(number))]);
        assert!(reads(0).commutes(&reads(1)));
        assert!(writes(0, 0).commutes(&writes(1, 1)));
        assert!(!reads(0).commutes(&writes(1, 0)) && !writes(1, 0).commutes(&reads(0)));
        assert!(!writes(0, 0).commutes(&step(1, &[Access::update(object(0))])));
        assert!(!reads(0).commutes(&reads(0)), "a worker's own steps have their order");
    }

    #[test]
    fn steps_of_a_worker_do_not_commute_with_what_wakes_creates_or_ends_it() {
        let [this, that] = [0, 1].map(WorkerId::root);
        let local = step(0, &[]);
        for resource in [Resource::Worker, Resource::Life] {
            assert!(!local.commutes(&step(1, &[Access::write(resource(this))])));
            assert!(local.commutes(&step(1, &[Access::write(resource(that))])));
        }
        assert!(local.commutes(&step(1, &[Access::read(Resource::Life(this))])));
    }

    #[test]
    fn a_fault_commutes_with_nothing_and_to_be_spared_one_with_everything() {
        let local = step(0, &[]);
        let mut asked = step(1, &[]);
        asked.value(0, Tag::Fault);
        assert!(asked.is_local() && asked.commutes(&local));
        asked.value(1, Tag::Program);
        assert!(asked.is_local());
        asked.value(1, Tag::Fault);
        assert!(!asked.commutes(&local) && asked.races(&local));
        asked.begin(WorkerId::FAULTS);
        assert!(!asked.commutes(&local) && asked.races(&local));
    }

    #[test]
    fn what_is_not_known_commutes_with_nothing_and_races_by_what_is_known() {
        let (local, mut open) = (step(0, &[]), step(1, &[Access::write(object(0))]));
        open.leave_open();
        assert!(!open.commutes(&local) && !open.races(&local));
        assert!(open.races(&step(0, &[Access::read(object(0))])));
        assert!(!open.races(&step(0, &[Access::read(object(1))])));
        let mut unknown = Footprint::default();
        unknown.begin_unknown(WorkerId::root(1));
        assert!(!unknown.commutes(&local) && !unknown.races(&local));
        assert!(unknown.races(&step(0, &[Access::read(object(1))])));
    }

    #[test]
    fn a_footprint_covers_steps_that_touch_no_more() {
        let foreseen = step(0, &[Access::read(object(0)), Access::update(object(1))]);
        assert!(foreseen.covers(&step(0, &[Access::write(object(1))])));
        assert!(!foreseen.covers(&step(0, &[Access::write(object(0))])));
        assert!(!foreseen.covers(&step(0, &[Access::read(object(2))])));
    }

    #[test]
    fn a_resource_can_be_written_down_and_read() {
        let worker = WorkerId::root(0).child(2);
        let message = MessageId { sender: worker, number: 3 };
        let resources = [
            Resource::Execution,
            Resource::Worker(worker),
            Resource::Life(worker),
            Resource::Inbox(worker),
            Resource::Message(message),
            object(4),
            Resource::Monitors,
        ];
        for resource in resources {
            assert_eq!(resource.to_string().parse(), Ok(resource));
        }
        assert_eq!("inbox".parse::<Resource>(), Err(NotAResource));
    }

    #[test]
    fn to_read_and_to_write_one_thing_is_to_update_it() {
        let both = step(0, &[Access::read(object(0)), Access::write(object(0))]);
        assert_eq!(both.accesses(), [Access::update(object(0))]);
    }
}
