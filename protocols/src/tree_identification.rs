//! Tree identification, as when devices on an IEEE 1394 bus are reset: the nodes of a tree, who
//! know only their neighbours, agree on a root and on who is whose parent.
//!
//! A node that is the parent of all its neighbours but one may ask this one to be its parent; a
//! leaf may ask at once. A node that all neighbours have asked before it asked anybody is the
//! root. Two neighbours may ask each other: then both have to withdraw, and each tosses a coin
//! whether to ask again at once or to wait a while. If they contend once more, the one that was
//! created first waits until it is asked. (On a real bus they toss coins until the coins differ,
//! which happens with probability one, but which no scheduler owes them.) [`OneRoot`] checks that
//! a single node becomes the root, and that some node does.
//!
//! With [`Bug::GivesUpCoins`] a node that is asked back twice declares itself the root. So may the
//! other. With [`Bug::SameDelay`] two nodes that contend wait equally long before they ask again,
//! and can do so for ever. Random scheduling gets out of step with probability one, soon: only a
//! search for cycles finds this bug with certainty. With [`Bug::TurnsAwayEarly`] the nodes are
//! reset one after the other, from the leaves to the top of the tree, and one that is asked before
//! its turn turns the other away, then and whenever it asks again.
//!
//! See Devillers, Griffioen, Romijn and Vaandrager, "Verification of a Leader Election Protocol:
//! Formal Methods Applied to IEEE 1394" (2000).

use std::sync::Arc;

use dally::machines::{Addr, Cx, MachineProgram, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in an implementation of tree identification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// The second time a node is asked by the one it has asked, it becomes the root.
    GivesUpCoins,
    /// A node that is asked by the one it has asked waits a while and asks again, and so does the
    /// other.
    SameDelay,
    /// A node that is asked before it was reset turns the other away, and does so for ever.
    TurnsAwayEarly,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "tree-identification",
    summary: "the nodes of a tree agree on a root, each knowing only its neighbours",
    bugs: &[
        PlantedBug {
            name: "gives-up-coins",
            summary: "a node that contends for the second time declares itself the root",
        },
        PlantedBug {
            name: "same-delay",
            summary: "two nodes that contend ask each other again at the same time, for ever",
        },
        PlantedBug {
            name: "turns-away-early",
            summary: "a node turns away for ever who asks it before it was reset",
        },
    ],
    max_steps: 500,
    program: |name| {
        let bug = match name {
            Some("gives-up-coins") => Some(Bug::GivesUpCoins),
            Some("same-delay") => Some(Bug::SameDelay),
            Some("turns-away-early") => Some(Bug::TurnsAwayEarly),
            _ => None,
        };
        Arc::new(program(NODES, bug))
    },
};

const NODES: usize = 4;

/// Tree identification among so many nodes, with this bug or without any.
pub fn program(nodes: usize, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, nodes, bug))
}

/// Creates a binary tree and the monitor.
pub fn deploy(setup: &mut Setup, nodes: usize, bug: Option<Bug>) {
    let early = bug == Some(Bug::TurnsAwayEarly);
    let bus = early.then(|| setup.create(Bus));
    let node = Node { strangers: Vec::new(), turned_away: Vec::new(), contended: false, bug };
    let nodes: Vec<_> = (0..nodes).map(|_| setup.create(node.clone())).collect();
    let resets = nodes.iter().enumerate().map(|(i, &node)| {
        let above = i.checked_sub(1).map(|below| below / 2);
        let neighbours = above.into_iter().chain([2 * i + 1, 2 * i + 2]);
        (node, Reset { neighbours: neighbours.filter_map(|i| nodes.get(i).copied()).collect() })
    });
    match bus {
        Some(bus) => setup.send(bus, PowerOn { resets: resets.rev().collect() }),
        None => resets.for_each(|(node, reset)| setup.send(node, reset)),
    }
    setup.monitor(OneRoot);
}

/// To the bus: reset these.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct PowerOn {
    resets: Vec<(Addr<Node>, Reset)>,
}

/// Resets the nodes one after the other, for [`Bug::TurnsAwayEarly`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Bus;

#[machine(states(On))]
impl Bus {
    #[on(On, PowerOn)]
    fn reset_all(&mut self, cx: &mut Cx<Self>, PowerOn { resets }: PowerOn) {
        for (node, reset) in resets {
            cx.send(node, reset);
        }
    }
}

/// To a node: you are connected with these.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Reset {
    neighbours: Vec<Addr<Node>>,
}

/// To a neighbour: be my parent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct BeMyParent {
    child: Addr<Node>,
}

/// To a neighbour that asked: I am.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct IAmYourParent;

/// To a neighbour that asked: ask again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct NotNow;

/// One of the tree.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node {
    /// The neighbours that are not its children.
    strangers: Vec<Addr<Node>>,
    /// The neighbours that asked too early for [`Bug::TurnsAwayEarly`].
    turned_away: Vec<Addr<Node>>,
    /// Whether it was asked by the one it had asked.
    contended: bool,
    bug: Option<Bug>,
}

#[machine(states(Starting, Unprepared, Gathering, Ready, Asking, Yielding, Child, Root))]
impl Node {
    #[entry(Starting)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        if self.bug == Some(Bug::TurnsAwayEarly) {
            cx.goto(Unprepared);
        }
    }

    #[on(Unprepared, BeMyParent)]
    fn turn_away(&mut self, cx: &mut Cx<Self>, BeMyParent { child }: BeMyParent) {
        if !self.turned_away.contains(&child) {
            self.turned_away.push(child);
        }
        cx.send(child, NotNow);
    }

    #[on(Starting | Unprepared, Reset)]
    fn reset(&mut self, cx: &mut Cx<Self>, Reset { neighbours }: Reset) {
        self.strangers = neighbours;
        self.look_around(cx);
    }

    #[on(Gathering | Ready | Yielding, BeMyParent)]
    fn adopt(&mut self, cx: &mut Cx<Self>, BeMyParent { child }: BeMyParent) {
        if self.turned_away.contains(&child) {
            return cx.send(child, NotNow);
        }
        self.strangers.retain(|&stranger| stranger != child);
        cx.send(child, IAmYourParent);
        self.look_around(cx);
    }

    fn look_around(&self, cx: &mut Cx<Self>) {
        match self.strangers.len() {
            0 => cx.goto(Root),
            1 => cx.goto(Ready),
            _ => cx.goto(Gathering),
        }
    }

    #[default(Ready)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        for &stranger in &self.strangers {
            cx.send(stranger, BeMyParent { child: cx.me() });
        }
        cx.goto(Asking);
    }

    #[on(Asking, BeMyParent)]
    fn contend(&mut self, cx: &mut Cx<Self>, ask: BeMyParent) {
        let again = std::mem::replace(&mut self.contended, self.bug != Some(Bug::SameDelay));
        match self.bug {
            Some(Bug::GivesUpCoins) if again => self.adopt(cx, ask),
            Some(Bug::SameDelay) => cx.goto(Ready),
            _ if !again && cx.flip() => cx.goto(Ready),
            _ if again && cx.me() < ask.child => cx.goto(Yielding),
            _ => self.ask(cx),
        }
    }

    /// What is over makes no difference any more, so that there is one end for each root.
    #[entry(Child)]
    fn settle(&mut self) {
        self.contended = false;
    }

    #[entry(Root)]
    fn rule(&mut self, cx: &mut Cx<Self>) {
        self.settle();
        cx.announce(BecameRoot);
    }

    #[defer(Starting, BeMyParent)]
    #[goto(Asking, IAmYourParent => Child)]
    #[goto(Asking, NotNow => Ready)]
    #[ignore(Gathering | Ready | Yielding | Child | Root, NotNow)]
    const RULES: () = ();
}

/// Announced by a node that becomes the root.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BecameRoot;

/// There is at most one root, and in the end there is one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OneRoot;

#[monitor(states(hot Rootless, cold Rooted))]
impl OneRoot {
    #[goto(Rootless, BecameRoot => Rooted)]
    const RULES: () = ();

    #[on(Rooted, BecameRoot)]
    fn second(&mut self) {
        panic!("a second root");
    }
}
