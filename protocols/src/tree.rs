//! Tree identification, as when devices on an IEEE 1394 bus are reset: the nodes of a tree, who
//! know only their neighbours, agree on a root and on who is whose parent.
//!
//! A node that is the parent of all its neighbours but one may ask this one to be its parent; a
//! leaf may ask at once. A node that all neighbours have asked before it asked anybody is the
//! root. Two neighbours may ask each other: then both have to withdraw, and each tosses a coin
//! whether to ask again at once or to wait a while. [`OneRoot`] checks that a single node becomes
//! the root.
//!
//! With [`Bug::GivesUpCoins`] a node that is asked back twice declares itself the root. So may the
//! other.
//!
//! See Devillers, Griffioen, Romijn and Vaandrager, "Verification of a Leader Election Protocol:
//! Formal Methods Applied to IEEE 1394" (2000).

use dally::machines::{Addr, Cx, MachineProgram, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol, Subject};

/// A mistake in an implementation of tree identification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// The second time a node is asked by the one it has asked, it becomes the root.
    GivesUpCoins,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "tree",
    summary: "the nodes of a tree agree on a root, each knowing only its neighbours",
    bugs: &[PlantedBug {
        name: "gives-up-coins",
        summary: "a node that contends for the second time declares itself the root",
    }],
    max_steps: 500,
    program: |name| {
        let bug = (name == Some("gives-up-coins")).then_some(Bug::GivesUpCoins);
        Subject::Machines(program(NODES, bug))
    },
};

const NODES: usize = 4;

/// Tree identification among so many nodes, with this bug or without any.
pub fn program(nodes: usize, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, nodes, bug))
}

/// Creates a binary tree and the monitor.
pub fn deploy(setup: &mut Setup, nodes: usize, bug: Option<Bug>) {
    let nodes: Vec<_> = (0..nodes)
        .map(|_| setup.create(Node { strangers: Vec::new(), contended: false, bug }))
        .collect();
    for (i, &node) in nodes.iter().enumerate() {
        let above = i.checked_sub(1).map(|below| below / 2);
        let neighbours = above.into_iter().chain([2 * i + 1, 2 * i + 2]);
        let neighbours = neighbours.filter_map(|i| nodes.get(i).copied()).collect();
        setup.send(node, Reset { neighbours });
    }
    setup.monitor(OneRoot);
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

/// One of the tree.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node {
    /// The neighbours that are not its children.
    strangers: Vec<Addr<Node>>,
    /// Whether it was asked by the one it had asked.
    contended: bool,
    bug: Option<Bug>,
}

#[machine(states(Starting, Gathering, Ready, Asking, Child, Root))]
impl Node {
    #[on(Starting, Reset)]
    fn reset(&mut self, cx: &mut Cx<Self>, Reset { neighbours }: Reset) {
        self.strangers = neighbours;
        self.look_around(cx);
    }

    #[on(Gathering | Ready, BeMyParent)]
    fn adopt(&mut self, cx: &mut Cx<Self>, BeMyParent { child }: BeMyParent) {
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
        if self.bug == Some(Bug::GivesUpCoins) {
            if self.contended {
                return self.adopt(cx, ask);
            }
            self.contended = true;
        }
        if cx.flip() {
            cx.goto(Ready);
        } else {
            self.ask(cx);
        }
    }

    #[entry(Root)]
    fn rule(&mut self, cx: &mut Cx<Self>) {
        cx.announce(BecameRoot);
    }

    #[defer(Starting, BeMyParent)]
    #[goto(Asking, IAmYourParent => Child)]
    const RULES: () = ();
}

/// Announced by a node that becomes the root.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BecameRoot;

/// Safety: there is one root.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OneRoot;

#[monitor(states(Rootless, Rooted))]
impl OneRoot {
    #[goto(Rootless, BecameRoot => Rooted)]
    const RULES: () = ();

    #[on(Rooted, BecameRoot)]
    fn second(&mut self) {
        panic!("a second root");
    }
}
