//! Raft, as in the benchmarks of Mukherjee et al., "Learning-Based Controlled Concurrency Testing":
//! five servers elect a leader, and the leader replicates the one request of a client.
//!
//! A candidate asks the others for their votes, and asks again, in the same term, whenever its
//! periodic timer fires: answers may be slow. A server that gave its vote gives it again to the
//! same candidate. With the bug [`Bug::DuplicateVotes`] the candidate counts answers instead of
//! voters, so one server that votes twice makes a majority of three out of two, and two
//! candidates can both become leader in one term. This is a bug of the real world: [Akka
//! Raft](https://github.com/ktoso/akka-raft/issues/45) had it.
//!
//! The timers are machines that toss coins, not timers of the engine, as in the original: how
//! hard the bug is to find depends on it. An election timer must tick its *depth* times before
//! it fires, and [`Version`] sets the depth.

mod cluster;
mod log;
mod messages;
mod server;
mod timers;

use std::sync::Arc;

use dally::machines::{MachineProgram, MonitorCx, Setup};
use dally::monitor;

use crate::registry::{PlantedBug, Protocol};
use cluster::Manager;

/// How deep the rare event is buried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// Election timers fire after 4 counted ticks.
    V1,
    /// Election timers fire after 6 counted ticks, so candidates are rarer.
    V2,
}

/// What can be wrong with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A candidate counts the answers it gets, not the servers that gave them.
    DuplicateVotes,
}

/// Raft with the given bug, or the correct version.
pub fn program(version: Version, bug: Option<Bug>) -> MachineProgram {
    let name = match version {
        Version::V1 => V1.name,
        Version::V2 => V2.name,
    };
    MachineProgram::new(name, move |setup| deploy(setup, version, bug))
}

/// Creates the manager, which creates the rest, and the monitor.
pub fn deploy(setup: &mut Setup, version: Version, bug: Option<Bug>) {
    let depth = match version {
        Version::V1 => 4,
        Version::V2 => 6,
    };
    setup.create(Manager::new(depth, bug));
    setup.monitor(OneLeaderPerTerm::default());
}

/// `raft-v1` of the command line.
pub const V1: Protocol = Protocol {
    name: "raft-v1",
    summary: "Raft with five servers and one client; elections are frequent",
    bugs: BUGS,
    max_steps: 1000,
    program: |name| Arc::new(program(Version::V1, Bug::named(name))),
};

/// `raft-v2` of the command line.
pub const V2: Protocol = Protocol {
    name: "raft-v2",
    summary: "Raft with five servers and one client; elections are rare",
    bugs: BUGS,
    max_steps: 1000,
    program: |name| Arc::new(program(Version::V2, Bug::named(name))),
};

const BUGS: &[PlantedBug] = &[PlantedBug {
    name: "duplicate-votes",
    summary: "a candidate counts votes, not voters: two leaders in one term",
}];

impl Bug {
    fn named(name: Option<&str>) -> Option<Bug> {
        (name == Some("duplicate-votes")).then_some(Bug::DuplicateVotes)
    }
}

/// Announced by a server that becomes leader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Elected {
    /// The term that it leads.
    pub term: u32,
}

/// Announced by the client when its request is answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Answered;

/// Election safety: at most one leader can be elected in a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct OneLeaderPerTerm {
    led: Vec<u32>,
}

#[monitor(states(Watching))]
impl OneLeaderPerTerm {
    #[on(Watching, Elected)]
    fn elected(&mut self, _: &mut MonitorCx<Self>, Elected { term }: Elected) {
        assert!(!self.led.contains(&term), "two leaders in term {term}");
        self.led.push(term);
    }
}
