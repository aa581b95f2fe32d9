//! Le Lann's election in a ring: candidates send their ids once around, and the smallest wins.
//!
//! A process may become a candidate as long as no id has reached it. A candidate sends its own id
//! to its neighbour; everybody passes on the ids that come. Since a candidate sends its own before
//! it passes any on, and ids cannot overtake each other, a candidate whose own id is back has seen
//! those of all candidates, and knows the smallest. If it is its own, it tells those who are not
//! candidates. [`OneLeader`] checks that all processes arrive at the same leader,
//! [`EverybodyKnows`] that each of them does.
//!
//! With [`Bug::LateCandidate`] a process that has passed on an id may still become a candidate.
//! Then others decide without it, although its id may be the smallest. With [`Bug::AsksAgain`] a
//! candidate that has lost waits for the word of the leader, and sends its id around until it
//! comes. But candidates pass this word on unread, so the id goes around for ever.
//!
//! See Le Lann, "Distributed Systems: Towards a Formal Approach" (1977), and Tel, "Introduction
//! to Distributed Algorithms" (2000), algorithm 7.2.

use std::sync::Arc;

use dally::machines::{Addr, Cx, Handles, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in an implementation of the election.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A process becomes a candidate after it has passed on the id of another one.
    LateCandidate,
    /// A candidate that is not the leader sends its id around again until it knows the leader.
    AsksAgain,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "lann",
    summary: "candidates in a ring of four send their ids around, and elect the smallest",
    bugs: &[
        PlantedBug {
            name: "late-candidate",
            summary: "a process becomes a candidate after it has passed on the id of another one",
        },
        PlantedBug {
            name: "asks-again",
            summary: "a candidate that has lost sends its id around for ever",
        },
    ],
    max_steps: 200,
    program: |name| {
        let bug = match name {
            Some("late-candidate") => Some(Bug::LateCandidate),
            Some("asks-again") => Some(Bug::AsksAgain),
            _ => None,
        };
        Arc::new(program(PROCESSES, bug))
    },
};

const PROCESSES: usize = 4;

/// The election among so many processes, with this bug or without any.
pub fn program(processes: usize, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, processes, bug))
}

/// Creates the ring and the monitors.
pub fn deploy(setup: &mut Setup, processes: usize, bug: Option<Bug>) {
    let make = |id| Process { id, next: None, smallest: id, bug };
    let ring: Vec<_> = (0..processes).map(|id| setup.create(make(id))).collect();
    for (&process, &next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        setup.send(process, Neighbour { next });
    }
    setup.monitor(OneLeader::default());
    setup.monitor(EverybodyKnows { ignorant: processes });
}

/// The id of a process.
pub type Id = usize;

/// To a process: send to this one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Neighbour {
    next: Addr<Process>,
}

/// The id of a candidate on its way around.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Candidate {
    id: Id,
}

/// The id of the leader on its way around.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Leader {
    id: Id,
}

/// One of the ring.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Process {
    id: Id,
    next: Option<Addr<Process>>,
    /// The smallest of its own id and those of the candidates that it has seen.
    smallest: Id,
    bug: Option<Bug>,
}

#[machine(states(Starting, Open, Running, Passive, Finished))]
impl Process {
    #[on(Starting, Neighbour)]
    fn start(&mut self, cx: &mut Cx<Self>, Neighbour { next }: Neighbour) {
        self.next = Some(next);
        cx.goto(Open);
    }

    #[default(Open)]
    fn run(&mut self, cx: &mut Cx<Self>) {
        self.tell(cx, Candidate { id: self.id });
        cx.goto(Running);
    }

    #[on(Open | Passive, Candidate)]
    fn pass(&mut self, cx: &mut Cx<Self>, candidate: Candidate) {
        self.take_note(cx, candidate);
        if self.bug != Some(Bug::LateCandidate) {
            cx.goto(Passive);
        }
    }

    #[on(Running | Finished, Candidate)]
    fn take_note(&mut self, cx: &mut Cx<Self>, candidate: Candidate) {
        if candidate.id != self.id {
            self.smallest = self.smallest.min(candidate.id);
            return self.tell(cx, candidate);
        }
        if self.bug == Some(Bug::AsksAgain) && self.smallest != self.id {
            return self.tell(cx, candidate);
        }
        cx.announce(Elected { leader: self.smallest });
        if self.smallest == self.id {
            self.tell(cx, Leader { id: self.id });
        }
        cx.goto(Finished);
    }

    #[on(Open | Passive, Leader)]
    fn learn(&mut self, cx: &mut Cx<Self>, leader: Leader) {
        cx.announce(Elected { leader: leader.id });
        self.tell(cx, leader);
        cx.goto(Finished);
    }

    #[on(Running | Finished, Leader)]
    fn pass_leader(&mut self, cx: &mut Cx<Self>, leader: Leader) {
        if leader.id != self.id {
            self.tell(cx, leader);
        }
    }

    fn tell<E>(&self, cx: &mut Cx<Self>, event: E)
    where
        Process: Handles<E>,
    {
        if let Some(next) = self.next {
            cx.send(next, event);
        }
    }

    #[defer(Starting, Candidate, Leader)]
    const RULES: () = ();
}

/// Announced by each process when it knows the leader.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Elected {
    /// Who it is.
    pub leader: Id,
}

/// Safety: all processes know the same leader.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct OneLeader {
    leader: Option<Id>,
}

#[monitor(states(Watching))]
impl OneLeader {
    #[on(Watching, Elected)]
    fn elected(&mut self, _: &mut MonitorCx<Self>, Elected { leader }: Elected) {
        let first = *self.leader.get_or_insert(leader);
        assert_eq!(first, leader, "two leaders are elected");
    }
}

/// Liveness: every process knows the leader in the end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EverybodyKnows {
    /// How many do not know it yet.
    ignorant: usize,
}

#[monitor(states(hot Electing, cold Over))]
impl EverybodyKnows {
    #[on(Electing, Elected)]
    fn elected(&mut self, cx: &mut MonitorCx<Self>, _: Elected) {
        self.ignorant -= 1;
        if self.ignorant == 0 {
            cx.goto(Over);
        }
    }
}
