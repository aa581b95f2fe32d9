//! Chord, a distributed hash table, as in the benchmarks of Mukherjee et al., "Learning-Based
//! Controlled Concurrency Testing": the nodes 0, 1, 3, 5 and 7 on a ring of 32 ids hold 36 keys,
//! and a client looks one up.
//!
//! A key lives at its successor, the first node at or after it on the ring. A node that does not
//! have a key asks the finger whose interval covers it. The client also knows a 37th key, 17,
//! that nobody stores. It goes through the keys in order and tosses a coin for each, so it looks
//! up the last one only after 36 times tails and once heads: a needle in a haystack of values,
//! not of schedules. The successor of 17 is node 0, which the client asks: its own finger leads
//! back to itself. With the bug [`Bug::MissingKey`] the node takes that for an impossible ring;
//! the correct node knows that it is the successor itself.
//!
//! See Stoica et al., "Chord: A Scalable Peer-to-peer Lookup Protocol for Internet Applications".

use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::Arc;

use dally::machines::{Addr, Cx, MachineProgram, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in an implementation of Chord.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A node cannot answer for a key that belongs to it and that it does not store.
    MissingKey,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "chord",
    summary: "five nodes of a distributed hash table, and a client that looks up one of 37 keys",
    bugs: &[PlantedBug {
        name: "missing-key",
        summary: "a node cannot answer for a key of its own that nobody stores",
    }],
    max_steps: 1000,
    program: |name| {
        let bug = (name == Some("missing-key")).then_some(Bug::MissingKey);
        Arc::new(program(bug))
    },
};

/// The protocol with this bug or without any.
pub fn program(bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, bug))
}

/// Creates the manager, which creates the rest, and the monitor.
pub fn deploy(setup: &mut Setup, bug: Option<Bug>) {
    setup.create(Manager { bug });
    setup.monitor(LookupIsAnswered);
}

/// The ring has 2 to the power of `FINGERS` ids, and a node that many fingers.
const FINGERS: u32 = 5;
const IDS: Id = 1 << FINGERS;
const NODES: [Id; 5] = [0, 1, 3, 5, 7];
const KEYS: [Id; 36] = [
    1, 2, 4, 6, 9, 11, 13, 22, 27, 29, 33, 38, 45, 53, 67, 72, 81, 95, 101, 102, 104, 106, 109,
    111, 113, 122, 127, 129, 133, 138, 145, 153, 167, 172, 181, 195,
];
const MISSING: Id = 17;

/// A place on the ring, of a node or of a key.
type Id = u32;

/// A node and its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Member {
    id: Id,
    node: Addr<Node>,
}

/// The first member at or after this place, where the ring closes at the first one.
fn successor(members: &[Member], id: Id) -> Member {
    *members.iter().find(|member| member.id >= id).unwrap_or(&members[0])
}

/// To a node: these are the members of the ring, and these keys are yours.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Configure {
    members: Vec<Member>,
    keys: BTreeSet<Id>,
}

/// To a node: who holds this key?
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct FindSuccessor {
    key: Id,
    client: Addr<Client>,
}

/// To the client: this node holds it, if there is such a key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Successor {
    node: Addr<Node>,
}

/// Builds the ring and sends the client to node 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Manager {
    bug: Option<Bug>,
}

#[machine(states(Building))]
impl Manager {
    #[entry(Building)]
    fn build(&mut self, cx: &mut Cx<Self>) {
        let members: Vec<Member> =
            NODES.map(|id| Member { id, node: cx.create(Node::new(id, self.bug)) }).into();
        for member in &members {
            let belongs = |&key: &Id| successor(&members, key) == *member;
            let keys = KEYS.into_iter().filter(belongs).collect();
            cx.send(member.node, Configure { members: members.clone(), keys });
        }
        cx.create(Client { node: members[0].node });
    }
}

/// A way to the nodes at and after `start`, and before `end`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Finger {
    start: Id,
    end: Id,
    node: Addr<Node>,
}

impl Finger {
    fn covers(&self, key: Id) -> bool {
        if self.start < self.end {
            (self.start..self.end).contains(&key)
        } else {
            key >= self.start || key < self.end
        }
    }
}

/// A node of the ring.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node {
    id: Id,
    keys: BTreeSet<Id>,
    fingers: Vec<Finger>,
    bug: Option<Bug>,
}

#[machine(states(Joining, Joined))]
impl Node {
    fn new(id: Id, bug: Option<Bug>) -> Node {
        Node { id, keys: BTreeSet::new(), fingers: Vec::new(), bug }
    }

    #[observe]
    fn stored(&self) -> impl Hash {
        &self.keys
    }

    #[on(Joining, Configure)]
    fn join(&mut self, cx: &mut Cx<Self>, Configure { members, keys }: Configure) {
        self.keys = keys;
        self.fingers = (0..FINGERS)
            .map(|k| {
                let start = (self.id + (1 << k)) % IDS;
                let end = (self.id + (2 << k)) % IDS;
                Finger { start, end, node: successor(&members, start).node }
            })
            .collect();
        cx.goto(Joined);
    }

    #[on(Joined, FindSuccessor)]
    fn find_successor(&mut self, cx: &mut Cx<Self>, request: FindSuccessor) {
        let FindSuccessor { key, client } = request;
        let me = cx.me();
        if self.keys.contains(&key) {
            return cx.send(client, Successor { node: me });
        }
        match self.fingers.iter().find(|finger| finger.covers(key)) {
            Some(finger) if finger.start == key => {
                cx.send(client, Successor { node: finger.node });
            }
            Some(finger) if finger.node != me => cx.send(finger.node, request),
            _ => {
                assert!(self.bug != Some(Bug::MissingKey), "cannot locate the successor of {key}");
                cx.send(client, Successor { node: me });
            }
        }
    }

    #[defer(Joining, FindSuccessor)]
    const RULES: () = ();
}

/// Looks up the first key for which a coin says so.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    node: Addr<Node>,
}

#[machine(states(Asking))]
impl Client {
    #[entry(Asking)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        for key in KEYS.into_iter().chain([MISSING]) {
            if cx.flip() {
                cx.announce(LookedUp { key });
                return cx.send(self.node, FindSuccessor { key, client: cx.me() });
            }
        }
    }

    #[on(Asking, Successor)]
    fn answered(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Answered);
        cx.halt();
    }
}

/// Announced by the client when it asks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct LookedUp {
    key: Id,
}

/// Announced by the client when it has its answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Answered;

/// A lookup gets its answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct LookupIsAnswered;

#[monitor(states(Idle, hot Waiting, cold Done))]
impl LookupIsAnswered {
    #[goto(Idle, LookedUp => Waiting)]
    #[goto(Waiting, Answered => Done)]
    const RULES: () = ();
}
