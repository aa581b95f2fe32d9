//! What a step touches, and when two steps commute: the one place that decides it.
//!
//! A [`Footprint`] lists what a step reads and changes that other workers can read and change too.
//! For a step that was taken it is made from the step's values and events ([`Footprint::value`],
//! [`Footprint::event`]); for a step to come, [`System::pending`] foresees it as far as the front
//! end can. Clocks, the happens-before fingerprint and the samplers all use it.
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

mod resource;

pub use self::resource::{Access, Mode, NotAResource, Resource};
use crate::choice::{MessageId, Tag};
use crate::event::{Discard, Event};
use crate::worker::WorkerId;

/// What one step of a worker touches. One footprint serves many steps, to save allocations.
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
            // What the injector of faults can do depends on the state of every worker.
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
        // Only the last few are searched: an access that is listed twice does no harm.
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
    ///
    /// Messages to one inbox are in order, unless the step has listed before that it only reads the
    /// inbox: so a mailbox tells that does not remember in which order messages came.
    pub fn sends(&mut self, message: MessageId, to: WorkerId) {
        let ordered = Access::update(Resource::Inbox(to));
        if self.accesses.is_empty() {
            // Most steps send first, and then nothing can be listed twice.
            let (life, sent) = (Resource::Life(to), Resource::Message(message));
            self.accesses.extend([Access::read(life), ordered, Access::write(sent)]);
            return;
        }
        self.add(Access::read(Resource::Life(to)));
        if !self.accesses.contains(&Access::read(Resource::Inbox(to))) {
            self.add(ordered);
        }
        self.add(Access::write(Resource::Message(message)));
    }

    /// The step takes this message out of an inbox. A timer whose tick is taken can fire again.
    pub fn takes(&mut self, message: MessageId) {
        self.add(Access::update(Resource::Message(message)));
        if message.sender.is_environment() {
            self.add(Access::update(Resource::Worker(message.sender)));
        }
    }

    /// Something happened in the step.
    ///
    /// A receipt touches the message and not the inbox: it commutes with the sending of other
    /// messages, in queues as well as in unordered mailboxes. A front end whose steps depend on
    /// what else is in the inbox tells an access to the inbox.
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
            Event::Received { message, .. } => self.takes(message),
            // A queue drops what its machine ignores as soon as both are there, in whichever step
            // that is: in a step of the sender or of the machine. So it makes no order.
            Event::Discarded { message, why: Discard::Ignored } => {
                if message.sender.is_environment() {
                    self.takes(message);
                }
            }
            Event::Discarded { message, why } => {
                self.takes(message);
                if why == Discard::Lost {
                    self.add(Access::update(Resource::Execution));
                }
            }
            Event::Announced { .. } | Event::MonitorChanged { .. } => {
                self.add(Access::update(Resource::Monitors));
            }
            Event::Faulted { .. } => self.add(Access::update(Resource::Execution)),
            // These concern the stepping worker alone, or are texts for readers.
            Event::Raised { .. }
            | Event::Changed { .. }
            | Event::Blocked { .. }
            | Event::Persisted { .. }
            | Event::Sending { .. }
            | Event::Observed { .. }
            | Event::Handled { .. }
            | Event::Chosen { .. }
            | Event::Hinted { .. }
            | Event::Noted { .. } => {}
        }
    }

    /// The worker that steps.
    pub fn worker(&self) -> WorkerId {
        self.worker
    }

    /// What the step touches, as far as it is known, in the order in which it does.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// Whether the step touches nothing but what is listed.
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

    /// Whether two steps of different workers, both possible in one state, lead to the same state
    /// in either order, and neither disables the other; `false` where not all is known.
    pub fn commutes(&self, other: &Footprint) -> bool {
        self.complete && other.complete && !self.conflicts(other)
    }

    /// Whether the order of the two steps, both of one execution, is part of what happened in it: one
    /// of them happens before the other. Where not all is known, the answer is yes. Partial-order
    /// reduction goes by this.
    pub fn orders(&self, other: &Footprint) -> bool {
        !self.complete || !other.complete || self.conflicts(other)
    }

    /// Whether all that orders the two steps, which [are ordered](Footprint::orders), is what one of them
    /// has sent or put in a queue and the other has waited for and taken: the one that takes it cannot come
    /// first.
    pub fn only_passes_message(&self, other: &Footprint) -> bool {
        self.complete
            && other.complete
            && !self.conflicts_but(other, |one, other| one.passes_to(other))
    }

    /// Whether one of the two steps has waited, without looking, for a value that the other has put in a
    /// queue, whatever else orders them: without the value its worker can take no step at all. A worker
    /// that has waited for a message can: it may have taken another, or another event.
    pub fn waits_for_value(&self, other: &Footprint) -> bool {
        let waits = |one: Access, other: Access| {
            matches!(one.resource, Resource::Entry(..))
                && one.conflicts(other)
                && one.passes_to(other)
        };
        let others = &other.accesses;
        self.accesses.iter().any(|&one| others.iter().any(|&other| waits(one, other)))
    }

    /// Whether what is known of the two steps says that their order may matter; an unknown step
    /// races with every step that is not local. Samplers, which need no certainty, ask this: where
    /// all is known, steps race exactly if they do not commute.
    pub fn races(&self, other: &Footprint) -> bool {
        self.conflicts(other)
            || self.is_unknown() && !other.is_local()
            || other.is_unknown() && !self.is_local()
    }

    /// A set of 64 elements that has one in common with that of every step that this one [races](Footprint::races)
    /// with: where two sets have none in common, nothing needs to be compared.
    pub fn sieve(&self) -> u64 {
        // Stands for what every step of a worker touches and does not list.
        let steps_of = |worker: WorkerId| Resource::Worker(worker).element();
        if self.is_unknown() {
            return u64::MAX;
        }
        self.accesses.iter().fold(steps_of(self.worker), |sieve, access| {
            let unlisted = match access.resource {
                Resource::Worker(worker) | Resource::Life(worker)
                    if access.conflicts_with_steps_of(worker) =>
                {
                    steps_of(worker)
                }
                _ if access.conflicts_with_steps_of(self.worker) => u64::MAX,
                _ => 0,
            };
            sieve | unlisted | access.resource.element()
        })
    }

    /// Whether `taken` touched nothing that is not listed here.
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
        self.conflicts_but(other, |_, _| false)
    }

    /// Whether the steps conflict otherwise than by accesses to one resource that are `spared`.
    #[inline]
    fn conflicts_but(&self, other: &Footprint, spared: impl Fn(Access, Access) -> bool) -> bool {
        let (own, others) = (&self.accesses, &other.accesses);
        let conflict = |one: Access, other: Access| one.conflicts(other) && !spared(one, other);
        self.worker == other.worker
            || own.iter().any(|access| access.conflicts_with_steps_of(other.worker))
            || others.iter().any(|access| access.conflicts_with_steps_of(self.worker))
            || own.iter().any(|&one| others.iter().any(|&other| conflict(one, other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ObjectId;

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
    fn steps_that_race_have_something_in_common_and_few_others_do() {
        let [a, b] = [0, 1].map(WorkerId::root);
        let message = |sender, number| MessageId { sender, number };
        let resources = |worker: WorkerId| {
            let message = Resource::Message(message(worker, 3));
            let [life, inbox] = [Resource::Life(worker), Resource::Inbox(worker)];
            [Resource::Execution, Resource::Worker(worker), life, inbox, message, object(1)]
        };
        let modes = [Mode::Read, Mode::Write, Mode::ReadModifyWrite];
        let mut steps = vec![Footprint::default()];
        for worker in [0, 1, 2] {
            steps.push(step(worker, &[]));
            let resources = [a, b].into_iter().flat_map(resources);
            let accesses = resources.flat_map(|it| modes.map(|mode| Access::new(it, mode)));
            let accesses: Vec<Access> = accesses.collect();
            for (&one, &other) in accesses.iter().zip(accesses.iter().cycle().skip(7)) {
                steps.push(step(worker, &[one]));
                steps.push(step(worker, &[one, other]));
                let mut open = step(worker, &[one]);
                open.leave_open();
                steps.push(open);
            }
            let mut unknown = Footprint::default();
            unknown.begin_unknown(WorkerId::root(worker));
            steps.push(unknown);
        }
        for one in &steps {
            for other in &steps {
                let common = one.sieve() & other.sieve() != 0;
                assert!(common || !one.races(other), "{one:?} and {other:?}");
            }
        }
        let sends = |from: u32, number, to| {
            let mut step = step(from, &[]);
            step.sends(message(WorkerId::root(from), number), WorkerId::root(to));
            step.sieve()
        };
        let apart = |&to: &u32| sends(0, to, to) & sends(1, to, to + 1) == 0;
        assert!((2..1_002).filter(apart).count() > 700);
    }

    #[test]
    fn a_footprint_covers_steps_that_touch_no_more() {
        let foreseen = step(0, &[Access::read(object(0)), Access::update(object(1))]);
        assert!(foreseen.covers(&step(0, &[Access::write(object(1))])));
        assert!(!foreseen.covers(&step(0, &[Access::write(object(0))])));
        assert!(!foreseen.covers(&step(0, &[Access::read(object(2))])));
    }

    #[test]
    fn who_waits_for_a_value_and_takes_it_comes_after_who_puts_it_there() {
        let channel = ObjectId { creator: WorkerId::root(0), number: 0 };
        let entry = |number| Resource::Entry(channel, number);
        let puts = step(0, &[Access::update(object(0)), Access::write(entry(3))]);
        let waits = step(1, &[Access::write(entry(3))]);
        assert!(puts.orders(&waits) && puts.only_passes_message(&waits));
        // Who looks whether it is there can come first, and finds nothing.
        let looks = step(1, &[Access::update(entry(3))]);
        assert!(puts.orders(&looks) && !puts.only_passes_message(&looks));
        assert!(!puts.orders(&step(1, &[Access::write(entry(2))])));
        let also = step(1, &[Access::write(entry(3)), Access::read(object(0))]);
        assert!(!puts.only_passes_message(&also));
    }

    #[test]
    fn to_read_and_to_write_one_thing_is_to_update_it() {
        let both = step(0, &[Access::read(object(0)), Access::write(object(0))]);
        assert_eq!(both.accesses(), [Access::update(object(0))]);
    }
}
