//! Leader election in a ring: the process with the greatest id becomes the leader.
//!
//! Process i of n has the id n - i and sends to process i + 1, the last to the first. Each starts
//! once, at any time, by sending its id. An id travels on past processes with smaller ids and is
//! dropped by greater ones, so the greatest comes back to its process, which is then the leader
//! and sends 0 around: the election is over. A process passes messages on before it has started
//! too. With ids in descending order every id but the greatest travels to the end of the ring,
//! which is the worst case.
//!
//! [`OneLeader`] checks that there is at most one leader, [`Outcome`] that whoever took part
//! knows in the end that it is over. See Le Lann (1977), and Chang and Roberts, "An improved
//! algorithm for decentralized extrema-finding in circular configurations of processes" (1979).
//! The planted bugs are in [`Bug`].
//!
//! Handlers are atomic and messages are ordered for each pair of processes. [`ring`] is the bare
//! election, whose states and transitions can be compared with those that other tools count: what
//! its monitor remembers follows from the states of the processes.

use std::collections::BTreeSet;
use std::sync::Arc;

use dally::machines::{Addr, Cx, Granularity, MachineProgram, Mailbox, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in an implementation of the election.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A process that has not started passes on smaller ids too, since it does not take part yet.
    ForwardsSmaller,
    /// A process that has not started has no id but 0, and takes the word that the election is
    /// over for its own id.
    ZeroIsAnId,
    /// A process that starts forgets that the election is over, and waits for ever.
    ForgetsDone,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 3] = [Bug::ForwardsSmaller, Bug::ZeroIsAnId, Bug::ForgetsDone];

    fn named(name: &str) -> Option<Bug> {
        Bug::ALL.into_iter().find(|bug| bug.planted().name == name)
    }

    const fn planted(self) -> PlantedBug {
        let (name, summary) = match self {
            Bug::ForwardsSmaller => {
                ("forwards-smaller", "a process that has not started passes on smaller ids")
            }
            Bug::ZeroIsAnId => {
                ("zero-is-an-id", "a process that has not started takes 0 for its own id")
            }
            Bug::ForgetsDone => {
                ("forgets-done", "a process that starts forgets that the election is over")
            }
        };
        PlantedBug { name, summary }
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "lcr",
    summary: "five processes in a ring elect the one with the greatest id",
    bugs: &[Bug::ForwardsSmaller.planted(), Bug::ZeroIsAnId.planted(), Bug::ForgetsDone.planted()],
    max_steps: 200,
    program: |bug| Arc::new(program(5, bug.and_then(Bug::named))),
};

/// A ring of n processes, with this bug or without any.
pub fn program(n: u32, bug: Option<Bug>) -> MachineProgram {
    with(move |setup| {
        deploy(setup, n, bug);
        setup.monitor(OneLeader::default());
        setup.monitor(Outcome::default());
    })
}

/// A ring of n processes with [`OneLeader`] as its only monitor.
pub fn ring(n: u32) -> MachineProgram {
    with(move |setup| {
        deploy(setup, n, None);
        setup.monitor(OneLeader::default());
    })
}

fn with(setup: impl Fn(&mut Setup) + Send + Sync + 'static) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, setup)
        .granularity(Granularity::Atomic)
        .mailbox(Mailbox::PerSender)
}

/// Creates the processes, in the order of the ring. All are there and none has started.
pub fn deploy(setup: &mut Setup, n: u32, bug: Option<Bug>) {
    let ring: Vec<_> = (0..n).map(|_| setup.reserve()).collect();
    for (i, &process) in (0..n).zip(&ring) {
        let next = ring[(i as usize + 1) % ring.len()];
        setup.fill(process, Process { id: n - i, next, started: false, done: false, bug });
        setup.send(process, Start);
    }
    setup.begin();
}

/// To a process: take part.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Start;

/// To the next process: an id, or 0 when the election is over.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Token(u32);

const OVER: Token = Token(0);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Process {
    id: u32,
    next: Addr<Process>,
    started: bool,
    /// Whether it knows that the election is over.
    done: bool,
    bug: Option<Bug>,
}

#[machine(states(Running))]
impl Process {
    #[on(Running, Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        self.started = true;
        if self.bug == Some(Bug::ForgetsDone) {
            self.done = false;
        }
        if !self.done {
            cx.announce(TakesPart { id: self.id });
        }
        self.pass_on(cx, Token(self.id));
    }

    #[on(Running, Token)]
    fn token(&mut self, cx: &mut Cx<Self>, token: Token) {
        let id = if self.started || self.bug != Some(Bug::ZeroIsAnId) { self.id } else { 0 };
        let relays = !self.started && self.bug == Some(Bug::ForwardsSmaller);
        if token.0 > id || (relays && token != OVER) {
            self.pass_on(cx, token);
        } else if token.0 == id {
            cx.announce(Elected { id: self.id });
            self.finish(cx);
        } else if token == OVER && !self.done {
            self.finish(cx);
        }
    }

    fn finish(&mut self, cx: &mut Cx<Self>) {
        self.done = true;
        cx.announce(Finished { id: self.id });
        self.pass_on(cx, OVER);
    }

    fn pass_on(&self, cx: &mut Cx<Self>, token: Token) {
        cx.send(self.next, token);
    }
}

/// Announced by a process that starts while the election is not over.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TakesPart {
    /// Who.
    pub id: u32,
}

/// Announced by a process that becomes the leader.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Elected {
    /// Who.
    pub id: u32,
}

/// Announced by a process that learns that the election is over.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Finished {
    /// Who.
    pub id: u32,
}

/// Safety: there is at most one leader.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct OneLeader {
    leader: Option<u32>,
}

#[monitor(states(Watching))]
impl OneLeader {
    #[on(Watching, Elected)]
    fn elected(&mut self, _: &mut MonitorCx<Self>, Elected { id }: Elected) {
        if let Some(leader) = self.leader.replace(id) {
            panic!("{leader} is the leader, and now {id} is a leader too");
        }
    }
}

/// Liveness: who takes part knows in the end that the election is over.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Outcome {
    waiting: BTreeSet<u32>,
}

#[monitor(states(Known, hot Open))]
impl Outcome {
    #[on(Known | Open, TakesPart)]
    fn takes_part(&mut self, cx: &mut MonitorCx<Self>, TakesPart { id }: TakesPart) {
        self.waiting.insert(id);
        cx.goto(Open);
    }

    #[on(Known | Open, Finished)]
    fn finished(&mut self, cx: &mut MonitorCx<Self>, Finished { id }: Finished) {
        self.waiting.remove(&id);
        cx.goto(if self.waiting.is_empty() { Known } else { Open });
    }
}
