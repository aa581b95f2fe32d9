//! An observed-remove set, replicated by its operations: clients work at replicas of their own.
//!
//! Who adds an element puts a new tag on it; an element is in the set as long as it has a tag.
//! Who removes it removes the tags that it has at this replica, so an add that the replica has
//! not heard of survives. The replica applies an operation to its own set, tells the others, and
//! answers the client. Operations of one replica arrive in order, those of different replicas in
//! any: so the removal of a tag can come before the tag, and has to be remembered.
//!
//! [`Convergence`] checks that replicas with the same operations have the same elements,
//! [`ReadYourAdds`] that a client sees what it has added unless somebody has removed it. The
//! planted bugs are in [`Bug`].
//!
//! See Shapiro, Preguiça, Baquero and Zawirski, "A comprehensive study of Convergent and
//! Commutative Replicated Data Types" (2011), specification 15.

mod client;
mod properties;
mod replica;

use std::collections::BTreeSet;
use std::sync::Arc;

use dally::machines::{Granularity, MachineProgram, Mailbox, Setup};

use crate::registry::{PlantedBug, Protocol};
use client::Client;
pub use properties::{Answered, Applied, Convergence, ReadYourAdds};
use replica::Replica;

/// A mistake in an implementation of the set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A replica answers an add at once and puts the tag on the element later. A read that comes
    /// in between does not see it.
    AddRead,
    /// The removal of an element removes all tags that it has, wherever it arrives, and not only
    /// those that it had where it was removed.
    RemoveWins,
    /// Replicas number their tags without adding their own name, so two of them make the same.
    TagReuse,
    /// A removal that arrives before the add that it removes is forgotten.
    ForgetsEarlyRemoval,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 4] =
        [Bug::AddRead, Bug::RemoveWins, Bug::TagReuse, Bug::ForgetsEarlyRemoval];

    fn named(name: &str) -> Option<Bug> {
        Bug::ALL.into_iter().find(|bug| bug.planted().name == name)
    }

    const fn planted(self) -> PlantedBug {
        let (name, summary) = match self {
            Bug::AddRead => ("add-read", "a read can come between an add and its tag"),
            Bug::RemoveWins => ("remove-wins", "a removal removes adds that it has not seen"),
            Bug::TagReuse => ("tag-reuse", "two replicas make the same tag"),
            Bug::ForgetsEarlyRemoval => {
                ("forgets-early-removal", "a removal that arrives before its add is forgotten")
            }
        };
        PlantedBug { name, summary }
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "orset",
    summary: "three replicas of a set, in which an add and a concurrent removal leave the element",
    bugs: &[
        Bug::AddRead.planted(),
        Bug::RemoveWins.planted(),
        Bug::TagReuse.planted(),
        Bug::ForgetsEarlyRemoval.planted(),
    ],
    max_steps: 300,
    program: |bug| Arc::new(program(REPLICAS, bug.and_then(Bug::named))),
};

const REPLICAS: usize = 3;
/// At most so many replicas have clients: an add, another add and a removal are all it takes.
const CLIENTS: usize = 3;

/// The set with so many replicas, with this bug or without any. Handlers are atomic, since only the
/// order matters in which each replica receives its messages.
pub fn program(replicas: usize, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, replicas, bug))
        .granularity(Granularity::Atomic)
        .mailbox(Mailbox::PerSender)
}

/// Creates the replicas, their clients and the monitors.
pub fn deploy(setup: &mut Setup, replicas: usize, bug: Option<Bug>) {
    let all: Vec<_> =
        (0..replicas).map(|name| setup.create(Replica::new(name, replicas, bug))).collect();
    for &replica in &all {
        let others = all.iter().copied().filter(|&other| other != replica).collect();
        setup.send(replica, replica::Others(others));
    }
    for &replica in all.iter().take(CLIENTS) {
        setup.create(Client { replica });
    }
    setup.monitor(Convergence::among(replicas));
    setup.monitor(ReadYourAdds::among(replicas));
}

/// What is in the set.
pub type Element = &'static str;

/// The element that all clients add and remove.
pub const ELEMENT: Element = "milk";

/// The position of a replica among all.
pub type Name = usize;

/// How many operations of each replica another one has applied. Since they arrive in order,
/// this says which.
pub type Clock = Vec<u8>;

/// What distinguishes one add from all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Tag {
    replica: Name,
    number: u8,
}

/// A change of the set, as replicas tell each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Operation {
    Add { element: Element, tag: Tag },
    Remove { element: Element, tags: BTreeSet<Tag> },
}
