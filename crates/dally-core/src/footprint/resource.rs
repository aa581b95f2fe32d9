//! What steps touch, and how.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use crate::choice::{MessageId, ObjectId};
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
    /// it, which is not listed; a step that wakes it writes it.
    Worker(WorkerId),
    /// Whether a worker exists: written by steps that create, crash, restart or end it, or that arm
    /// or disarm it as a timer. Its own steps read it, unlisted; steps that send to it list that.
    Life(WorkerId),
    /// In which order messages came into the inbox of this worker, and whether there are any.
    Inbox(WorkerId),
    /// A message on its way from the step that sends it to the step that takes it.
    Message(MessageId),
    /// A lock, a channel, a shared value.
    Object(ObjectId),
    /// The receiving end of a channel, where that is told from its sending end, which is the object.
    Receiver(ObjectId),
    /// The value of this number in a queue: written by who puts it there and by who takes it when it has come,
    /// read or changed by who looks whether it is there.
    Entry(ObjectId, u32),
    /// The monitors: all of them hear what is announced.
    Monitors,
}

impl Resource {
    /// A hash that tells resources apart.
    pub fn digest(self) -> u64 {
        let [kind, whose, number] = self.words();
        match self {
            Resource::Entry(..) => mix(mix(kind, number), whose),
            _ => mix(number << 8 | kind, whose),
        }
    }

    /// One of 64 bits, that of a weaker hash. Samplers ask for it in every step.
    #[inline]
    pub(super) fn element(self) -> u64 {
        let [kind, whose, number] = self.words();
        // The beginnings of workers' ids, which tell most of them apart, come to the low bits.
        let all = whose.rotate_left(16).wrapping_add(number << 5).wrapping_add(kind);
        1 << (all.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
    }

    #[inline]
    fn words(self) -> [u64; 3] {
        let of = |kind, id: ObjectId| [kind, id.creator.to_bits(), u64::from(id.number)];
        match self {
            Resource::Execution => [1, 0, 0],
            Resource::Monitors => [2, 0, 0],
            Resource::Worker(worker) => [3, worker.to_bits(), 0],
            Resource::Life(worker) => [4, worker.to_bits(), 0],
            Resource::Inbox(worker) => [5, worker.to_bits(), 0],
            Resource::Message(message) => [6, message.sender.to_bits(), message.number.into()],
            Resource::Object(object) => of(7, object),
            Resource::Receiver(object) => of(8, object),
            Resource::Entry(object, entry) => {
                let [kind, creator, number] = of(9, object);
                [kind, creator, number << 32 | u64::from(entry)]
            }
        }
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
            Resource::Receiver(object) => write!(f, "receiver of {object}"),
            Resource::Entry(object, entry) => write!(f, "value {entry} of {object}"),
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
        let receiver =
            || Some(Resource::Receiver(text.strip_prefix("receiver of ")?.parse().ok()?));
        let entry = || {
            let (entry, object) = text.strip_prefix("value ")?.split_once(" of ")?;
            Some(Resource::Entry(object.parse().ok()?, entry.parse().ok()?))
        };
        match text {
            "execution" => Some(Resource::Execution),
            "monitors" => Some(Resource::Monitors),
            _ => of("worker ", Resource::Worker)
                .or_else(|| of("life of ", Resource::Life))
                .or_else(|| of("inbox of ", Resource::Inbox))
                .or_else(message)
                .or_else(receiver)
                .or_else(entry)
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
    #[inline]
    pub fn new(resource: Resource, mode: Mode) -> Access {
        Access { resource, mode, ordering: None }
    }

    /// A read.
    #[inline]
    pub fn read(resource: Resource) -> Access {
        Access::new(resource, Mode::Read)
    }

    /// A write.
    #[inline]
    pub fn write(resource: Resource) -> Access {
        Access::new(resource, Mode::Write)
    }

    /// A change that depends on what was there.
    #[inline]
    pub fn update(resource: Resource) -> Access {
        Access::new(resource, Mode::ReadModifyWrite)
    }

    /// Whether it leaves the resource as it is.
    #[inline]
    pub fn only_reads(self) -> bool {
        self.mode == Mode::Read
    }

    /// Whether it does nothing but let a worker step again.
    #[inline]
    pub fn wakes(self) -> bool {
        matches!(self, Access { resource: Resource::Worker(_), mode: Mode::Write, .. })
    }

    /// Whether one of two steps takes what the other has sent or put in a queue, and does not look whether it
    /// is there: it cannot step before.
    pub(super) fn passes_to(self, other: Access) -> bool {
        match self.resource {
            Resource::Message(_) => true,
            Resource::Entry(..) => self.mode == Mode::Write && other.mode == Mode::Write,
            _ => false,
        }
    }

    pub(super) fn conflicts(self, other: Access) -> bool {
        self.resource == other.resource && !(self.only_reads() && other.only_reads())
    }

    /// Whether this conflicts with an access of every step of `worker` that footprints do not list.
    pub(super) fn conflicts_with_steps_of(self, worker: WorkerId) -> bool {
        match self.resource {
            Resource::Execution | Resource::Life(_) if self.only_reads() => false,
            Resource::Execution => true,
            Resource::Worker(touched) | Resource::Life(touched) => touched == worker,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Resource::Object(ObjectId { creator: worker, number: 4 }),
            Resource::Receiver(ObjectId { creator: worker, number: 4 }),
            Resource::Entry(ObjectId { creator: worker, number: 4 }, 5),
            Resource::Monitors,
        ];
        for resource in resources {
            assert_eq!(resource.to_string().parse(), Ok(resource));
        }
        assert_eq!("inbox".parse::<Resource>(), Err(NotAResource));
    }
}
