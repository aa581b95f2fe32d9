//! A failure detector, as in the benchmarks of Mukherjee et al., "Learning-Based Controlled
//! Concurrency Testing": it pings two nodes in rounds and reports those that do not answer in time.
//!
//! In a round the detector pings every node and starts a timer. When all have answered it
//! cancels the timer, which may be too late, and the round is over. When the timer fires it pings
//! the silent nodes once more, and when it fires again it reports them as down. A node that is
//! slow but alive must not be flooded: [`NoFlood`] allows at most three pings that it has not
//! yet handled.
//!
//! With the bug [`Bug::PingsPileUp`] the detector forgets that an answer to the first ping leaves
//! the second one in the node's inbox. Two rounds in which the timer fires early leave two pings
//! there, and the two of the third round make four. The correct detector counts the pings on
//! their way to each node and sends no more while there are three.
//!
//! The timer is a machine, not a timer of the engine, as in the original.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use dally::machines::{Addr, Cx, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in an implementation of the failure detector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// The detector pings a node however many pings wait there already.
    PingsPileUp,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "failure-detector",
    summary: "pings two nodes in rounds, and reports those that do not answer in time",
    bugs: &[PlantedBug {
        name: "pings-pile-up",
        summary: "pings of a round that ended early stay in the node's inbox and pile up",
    }],
    max_steps: 200,
    program: |name| {
        let bug = (name == Some("pings-pile-up")).then_some(Bug::PingsPileUp);
        Arc::new(program(bug))
    },
};

/// The protocol with this bug or without any.
pub fn program(bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| {
        deploy(setup, bug);
        setup.monitor(NoFlood::at_most(PENDING_PINGS));
    })
}

/// Creates the manager, which creates the rest.
pub fn deploy(setup: &mut Setup, bug: Option<Bug>) {
    setup.create(Manager { bug });
}

const NODES: usize = 2;
const ATTEMPTS: u32 = 2;
const PENDING_PINGS: u32 = 3;

/// To a node: are you there?
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ping {
    detector: Addr<Detector>,
}

/// To the detector: I am.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pong {
    node: Addr<Node>,
}

/// To a node: fail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Fail;

/// To the detector: tell me who is down.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Register {
    client: Addr<Manager>,
}

/// To a client of the detector: this node does not answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct NodeDown {
    node: Addr<Node>,
}

/// Creates the others, and lets all nodes fail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Manager {
    bug: Option<Bug>,
}

#[machine(states(Running))]
impl Manager {
    #[entry(Running)]
    fn run(&mut self, cx: &mut Cx<Self>) {
        let nodes: BTreeSet<_> = (0..NODES).map(|_| cx.create(Node)).collect();
        let detector = cx.create(Detector::new(nodes.clone(), self.bug));
        cx.send(detector, Register { client: cx.me() });
        for node in nodes {
            cx.send(node, Fail);
        }
    }

    #[on(Running, NodeDown)]
    fn node_down(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Detected);
    }
}

/// Answers pings until it fails.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node;

#[machine(states(Alive))]
impl Node {
    #[on(Alive, Ping)]
    fn ping(&mut self, cx: &mut Cx<Self>, Ping { detector }: Ping) {
        cx.announce(Ponged { node: cx.me() });
        cx.send(detector, Pong { node: cx.me() });
    }

    #[on(Alive, Fail)]
    fn fail(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }
}

/// Pings the nodes in rounds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Detector {
    clients: BTreeSet<Addr<Manager>>,
    timer: Option<Addr<Timer>>,
    /// Who has not been reported as down.
    alive: BTreeSet<Addr<Node>>,
    /// Who has answered in this round.
    answered: BTreeSet<Addr<Node>>,
    /// How often the timer fired in this round.
    attempts: u32,
    /// How many pings each node has not answered yet, in all rounds.
    pending: BTreeMap<Addr<Node>, u32>,
    bug: Option<Bug>,
}

#[machine(states(Starting, Pinging, Waiting, Cancelling, Resting))]
impl Detector {
    fn new(alive: BTreeSet<Addr<Node>>, bug: Option<Bug>) -> Detector {
        Detector {
            clients: BTreeSet::new(),
            timer: None,
            alive,
            answered: BTreeSet::new(),
            attempts: 0,
            pending: BTreeMap::new(),
            bug,
        }
    }

    #[observe]
    fn believes(&self) -> impl Hash {
        (&self.alive, &self.answered)
    }

    #[entry(Starting)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        self.timer = Some(cx.create(Timer { detector: cx.me() }));
        cx.goto(Pinging);
    }

    #[on(_, Register)]
    fn register(&mut self, _: &mut Cx<Self>, Register { client }: Register) {
        self.clients.insert(client);
    }

    #[entry(Pinging)]
    fn ping(&mut self, cx: &mut Cx<Self>) {
        for &node in self.alive.difference(&self.answered) {
            let pending = self.pending.entry(node).or_insert(0);
            if *pending < PENDING_PINGS || self.bug == Some(Bug::PingsPileUp) {
                *pending += 1;
                cx.announce(Pinged { node });
                cx.send(node, Ping { detector: cx.me() });
            }
        }
        self.start_timer(cx);
        cx.goto(Waiting);
    }

    #[on(Waiting, Pong)]
    fn pong(&mut self, cx: &mut Cx<Self>, pong: Pong) {
        self.count(&pong);
        if !self.alive.contains(&pong.node) {
            return;
        }
        self.answered.insert(pong.node);
        if self.answered.len() == self.alive.len()
            && let Some(timer) = self.timer
        {
            cx.send(timer, Cancel);
            cx.goto(Cancelling);
        }
    }

    #[on(Waiting, Timeout)]
    fn timeout(&mut self, cx: &mut Cx<Self>) {
        self.attempts += 1;
        if self.answered.len() < self.alive.len() && self.attempts < ATTEMPTS {
            return cx.goto(Pinging);
        }
        for &node in self.alive.difference(&self.answered) {
            for &client in &self.clients {
                cx.send(client, NodeDown { node });
            }
        }
        self.alive = self.answered.clone();
        cx.goto(Resting);
    }

    #[entry(Resting)]
    fn rest(&mut self, cx: &mut Cx<Self>) {
        self.answered.clear();
        self.attempts = 0;
        self.start_timer(cx);
    }

    #[on(Resting, Pong)]
    fn late_pong(&mut self, _: &mut Cx<Self>, pong: Pong) {
        self.count(&pong);
    }

    fn count(&mut self, pong: &Pong) {
        if let Some(pending) = self.pending.get_mut(&pong.node) {
            *pending -= 1;
        }
    }

    fn start_timer(&self, cx: &mut Cx<Self>) {
        if let Some(timer) = self.timer {
            cx.send(timer, Start);
        }
    }

    #[defer(Cancelling, Timeout, Pong)]
    #[goto(Cancelling, Cancelled => Resting)]
    #[goto(Cancelling, TooLateToCancel => Waiting)]
    #[goto(Resting, Timeout => Pinging)]
    const RULES: () = ();
}

/// To the timer: fire once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Start;

/// To the timer: do not fire.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Cancel;

/// From the timer: it will not fire.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Cancelled;

/// From the timer: it has fired, or is about to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct TooLateToCancel;

/// From the timer: it fires.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Timeout;

/// Fires whenever it gets to run, unless it is cancelled in time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Timer {
    detector: Addr<Detector>,
}

#[machine(states(Idle, Running))]
impl Timer {
    #[default(Running)]
    fn fire(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.detector, Timeout);
        cx.goto(Idle);
    }

    #[on(Running, Cancel)]
    fn cancel(&mut self, cx: &mut Cx<Self>) {
        if cx.flip() {
            cx.send(self.detector, Cancelled);
        } else {
            cx.send(self.detector, TooLateToCancel);
            cx.send(self.detector, Timeout);
        }
        cx.goto(Idle);
    }

    #[on(Idle, Cancel)]
    fn nothing_to_cancel(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.detector, TooLateToCancel);
    }

    #[goto(Idle, Start => Running)]
    #[ignore(Running, Start)]
    const RULES: () = ();
}

/// Announced by the detector when it pings a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pinged {
    node: Addr<Node>,
}

/// Announced by a node when it handles a ping.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ponged {
    node: Addr<Node>,
}

/// Announced by the manager when it hears of a node that is down.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Detected;

/// A node never has more than so many pings to handle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NoFlood {
    limit: u32,
    waiting: BTreeMap<Addr<Node>, u32>,
}

#[monitor(states(Watching))]
impl NoFlood {
    /// With this limit for each node.
    pub fn at_most(limit: u32) -> NoFlood {
        NoFlood { limit, waiting: BTreeMap::new() }
    }

    #[on(Watching, Pinged)]
    fn pinged(&mut self, _: &mut MonitorCx<Self>, Pinged { node }: Pinged) {
        let waiting = self.waiting.entry(node).or_insert(0);
        *waiting += 1;
        assert!(*waiting <= self.limit, "{waiting} pings wait for {node:?}");
    }

    #[on(Watching, Ponged)]
    fn ponged(&mut self, _: &mut MonitorCx<Self>, Ponged { node }: Ponged) {
        if let Some(waiting) = self.waiting.get_mut(&node) {
            *waiting -= 1;
        }
    }
}
