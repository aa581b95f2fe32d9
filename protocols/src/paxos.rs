//! Single-decree Paxos, as in the benchmarks of Mukherjee et al., "Learning-Based Controlled
//! Concurrency Testing": three proposers, each with a value of its own, five acceptors, of which up
//! to two fail, and a learner.
//!
//! A proposer first asks the acceptors for a promise to take no smaller proposal; with the
//! promise comes the proposal that the acceptor accepted last. On a majority of promises it must
//! take over the value of the *greatest* of these, since that one may already be chosen. With the
//! bug [`Bug::SmallestProposal`] it takes over the smallest. Then the learner can see majorities
//! for two values, if one proposer gets a single acceptance, a second one wins, and a third one
//! hears of both.
//!
//! See Lamport, "Paxos Made Simple", section 2.2.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use dally::machine;
use dally::machines::{Addr, Cx, MachineProgram, Setup};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in an implementation of Paxos.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A proposer takes over the value of the smallest accepted proposal that it hears of.
    SmallestProposal,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "paxos",
    summary: "three proposers agree on a value through five acceptors, of which two may fail",
    bugs: &[PlantedBug {
        name: "smallest-proposal",
        summary: "a proposer takes over the smallest accepted proposal, not the greatest",
    }],
    max_steps: 1000,
    program: |name| {
        let bug = (name == Some("smallest-proposal")).then_some(Bug::SmallestProposal);
        Arc::new(program(bug))
    },
};

/// The protocol with this bug or without any.
pub fn program(bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, bug))
}

/// Creates the manager, which creates the rest.
pub fn deploy(setup: &mut Setup, bug: Option<Bug>) {
    setup.create(Manager { bug });
}

const PROPOSERS: [(&str, Value); 3] = [("p1", "v1"), ("p2", "v2"), ("p3", "v3")];
const ACCEPTORS: usize = 5;
const MAJORITY: usize = 3;
const FAILURES: usize = 2;

/// What is to be agreed on.
pub type Value = &'static str;

/// A proposal, greater than another by its id, and between proposers by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Proposal {
    id: u32,
    name: &'static str,
}

/// To an acceptor: promise to take no smaller proposal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Prepare {
    proposal: Proposal,
    proposer: Addr<Proposer>,
}

/// To a proposer: promised, and this is what I accepted last.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Promise {
    acceptor: Addr<Acceptor>,
    accepted: Option<(Proposal, Value)>,
}

/// To an acceptor: accept this value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Accept {
    proposal: Proposal,
    value: Value,
}

/// To the learner: an acceptor accepted this value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Accepted {
    acceptor: Addr<Acceptor>,
    proposal: Proposal,
    value: Value,
}

/// To an acceptor: fail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Fail;

/// Announced by the learner when a value is chosen.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Chosen {
    /// The value.
    pub value: Value,
}

/// Creates the others and lets some of the acceptors fail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Manager {
    bug: Option<Bug>,
}

#[machine(states(Running))]
impl Manager {
    #[entry(Running)]
    fn run(&mut self, cx: &mut Cx<Self>) {
        let learner = cx.create(Learner { accepted: BTreeMap::new(), chosen: None });
        let acceptors: Vec<_> = (0..ACCEPTORS)
            .map(|_| cx.create(Acceptor { learner, promised: None, accepted: None }))
            .collect();
        for (name, value) in PROPOSERS {
            cx.create(Proposer {
                acceptors: acceptors.clone(),
                proposal: Proposal { id: 1, name },
                value,
                promises: Vec::new(),
                bug: self.bug,
            });
        }
        let mut failures = 0;
        for acceptor in acceptors {
            if failures < FAILURES && cx.flip() {
                cx.send(acceptor, Fail);
                failures += 1;
            }
        }
    }
}

/// Wants a value of its own to be chosen. It tries only once, and nobody tells it of a refusal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Proposer {
    acceptors: Vec<Addr<Acceptor>>,
    proposal: Proposal,
    value: Value,
    promises: Vec<Promise>,
    bug: Option<Bug>,
}

#[machine(states(Preparing, Accepting))]
impl Proposer {
    #[observe]
    fn proposed(&self) -> impl Hash {
        (self.proposal, self.value, self.promises.len())
    }

    #[entry(Preparing)]
    fn prepare(&mut self, cx: &mut Cx<Self>) {
        for &acceptor in &self.acceptors {
            cx.send(acceptor, Prepare { proposal: self.proposal, proposer: cx.me() });
        }
    }

    #[on(Preparing, Promise)]
    fn promised(&mut self, cx: &mut Cx<Self>, promise: Promise) {
        self.promises.push(promise);
        if self.promises.len() == MAJORITY {
            cx.goto(Accepting);
        }
    }

    #[entry(Accepting)]
    fn propose(&mut self, cx: &mut Cx<Self>) {
        let accepted = self.promises.iter().filter_map(|promise| promise.accepted);
        let binding = match self.bug {
            None => accepted.max(),
            Some(Bug::SmallestProposal) => accepted.min(),
        };
        if let Some((_, value)) = binding {
            self.value = value;
        }
        for promise in &self.promises {
            self.ask(cx, promise.acceptor);
        }
    }

    #[on(Accepting, Promise)]
    fn promised_late(&mut self, cx: &mut Cx<Self>, promise: Promise) {
        self.ask(cx, promise.acceptor);
    }

    fn ask(&self, cx: &mut Cx<Self>, acceptor: Addr<Acceptor>) {
        cx.send(acceptor, Accept { proposal: self.proposal, value: self.value });
    }
}

/// Keeps its promises.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Acceptor {
    learner: Addr<Learner>,
    promised: Option<Proposal>,
    accepted: Option<(Proposal, Value)>,
}

#[machine(states(Working))]
impl Acceptor {
    #[observe]
    fn holds(&self) -> impl Hash {
        (self.promised, self.accepted)
    }

    #[on(Working, Prepare)]
    fn prepare(&mut self, cx: &mut Cx<Self>, Prepare { proposal, proposer }: Prepare) {
        if self.promised < Some(proposal) {
            self.promised = Some(proposal);
            cx.send(proposer, Promise { acceptor: cx.me(), accepted: self.accepted });
        }
    }

    #[on(Working, Accept)]
    fn accept(&mut self, cx: &mut Cx<Self>, Accept { proposal, value }: Accept) {
        if self.promised == Some(proposal) {
            self.accepted = Some((proposal, value));
            cx.send(self.learner, Accepted { acceptor: cx.me(), proposal, value });
        }
    }

    #[on(Working, Fail)]
    fn fail(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }
}

/// Learns which value is chosen: the one that a majority accepted in one proposal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Learner {
    accepted: BTreeMap<Proposal, BTreeSet<Addr<Acceptor>>>,
    chosen: Option<Value>,
}

#[machine(states(Learning))]
impl Learner {
    #[observe]
    fn learned(&self) -> impl Hash {
        let votes = self.accepted.iter().map(|(proposal, acceptors)| (*proposal, acceptors.len()));
        votes.collect::<Vec<_>>()
    }

    #[on(Learning, Accepted)]
    fn accepted(&mut self, cx: &mut Cx<Self>, event: Accepted) {
        let Accepted { acceptor, proposal, value } = event;
        let acceptors = self.accepted.entry(proposal).or_default();
        acceptors.insert(acceptor);
        if acceptors.len() >= MAJORITY {
            let first = *self.chosen.get_or_insert(value);
            assert!(first == value, "{first} was chosen, and now {value} is chosen too");
            cx.announce(Chosen { value });
        }
    }
}
