//! German's cache coherence protocol: a home that holds a line of memory, and clients with caches.
//!
//! A client asks the home for a shared copy of the line, to read it, or for an exclusive one, to
//! write it. The home serves one request at a time. If it clashes with copies that others hold,
//! the home invalidates these, waits until all of them are acknowledged (with the acknowledgement
//! comes the data, which an exclusive holder may have changed) and then grants the request. A
//! client that holds a shared copy asks for an upgrade and keeps the copy meanwhile; another
//! writer may be served first, and then the copy is invalidated while its owner waits.
//!
//! [`Exclusion`] checks that an exclusive copy is the only one, [`LastWrite`] that every access
//! sees what was written last. The planted bugs are in [`Bug`].
//!
//! The protocol was posed by Steven German as a challenge for verification in 2000. In the
//! original the home invalidates the copy of the client that asks as well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dally::machines::{Addr, Cx, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};
use Access::{Exclusive as Write, Shared as Read};

/// A mistake in an implementation of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// The home invalidates shared copies and grants the exclusive one at once, since nobody
    /// could have changed them. But they can still be read.
    GrantWithoutAck,
    /// The home has room for two holders, and drops one to make room for a third.
    ForgetsSharer,
    /// A client trusts its own copy when an upgrade is granted, though another client may have
    /// written in the meantime.
    StaleData,
    /// A client that asks for an upgrade does not expect that its copy is invalidated.
    UnexpectedInvalidation,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 4] =
        [Bug::GrantWithoutAck, Bug::ForgetsSharer, Bug::StaleData, Bug::UnexpectedInvalidation];

    fn named(name: &str) -> Option<Bug> {
        Bug::ALL.into_iter().find(|bug| bug.planted().name == name)
    }

    const fn planted(self) -> PlantedBug {
        let (name, summary) = match self {
            Bug::GrantWithoutAck => {
                ("grant-without-ack", "an exclusive copy is granted before others are given up")
            }
            Bug::ForgetsSharer => ("forgets-sharer", "the home remembers only two holders"),
            Bug::StaleData => {
                ("stale-data", "a client whose upgrade was overtaken by a writer trusts its copy")
            }
            Bug::UnexpectedInvalidation => (
                "unexpected-invalidation",
                "a client that waits for an upgrade does not expect to lose its copy",
            ),
        };
        PlantedBug { name, summary }
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "german",
    summary: "a home grants its line of memory to three caches, shared or exclusively",
    bugs: &[
        Bug::GrantWithoutAck.planted(),
        Bug::ForgetsSharer.planted(),
        Bug::StaleData.planted(),
        Bug::UnexpectedInvalidation.planted(),
    ],
    max_steps: 300,
    program: |bug| Arc::new(program(CLIENTS, bug.and_then(Bug::named))),
};

const CLIENTS: usize = 3;
const ACCESSES: u32 = 2;

/// The protocol with so many clients, each of which accesses the line twice.
pub fn program(clients: usize, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, clients, Some(ACCESSES), bug))
}

/// The protocol with clients that never stop. Its executions have no end, yet it has finitely many
/// states.
pub fn endless(clients: usize, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, clients, None, bug))
}

/// Creates the machines and the monitors. A client accesses the line so many times, or without
/// end.
pub fn deploy(setup: &mut Setup, clients: usize, accesses: Option<u32>, bug: Option<Bug>) {
    let home = setup.create(Home::new(bug));
    for _ in 0..clients {
        setup.create(Client { home, copy: None, left: accesses, bug });
    }
    setup.monitor(Exclusion::default());
    setup.monitor(LastWrite::default());
}

/// What is in the line. Two values are enough to tell what was written last from what was there
/// before.
pub type Data = u8;
const VALUES: Data = 2;

/// What a client wants to do with the line, and with which kind of copy it can.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Reads it.
    Shared,
    /// Reads and writes it.
    Exclusive,
}

/// To the home: I want a copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ask {
    client: Addr<Client>,
    access: Access,
}

/// To a client: give up your copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Invalidate;

/// To the home: I gave up my copy, which held this.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Acknowledge {
    client: Addr<Client>,
    data: Data,
}

/// To a client: here is the copy you asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Grant {
    access: Access,
    data: Data,
}

/// From a client to itself: the program that it runs wants to access the line.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Next;

/// Holds the line and knows who has copies.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Home {
    memory: Data,
    holders: BTreeSet<Addr<Client>>,
    /// Whether the one holder has an exclusive copy.
    exclusive: bool,
    /// The request that waits for acknowledgements.
    asked: Option<Ask>,
    /// Whose acknowledgements are missing.
    pending: BTreeSet<Addr<Client>>,
    bug: Option<Bug>,
}

#[machine(states(Idle, Collecting))]
impl Home {
    fn new(bug: Option<Bug>) -> Home {
        Home {
            memory: 0,
            holders: BTreeSet::new(),
            exclusive: false,
            asked: None,
            pending: BTreeSet::new(),
            bug,
        }
    }

    #[on(Idle, Ask)]
    fn ask(&mut self, cx: &mut Cx<Self>, ask: Ask) {
        if self.exclusive || ask.access == Write {
            self.pending = self.holders.clone();
            self.pending.remove(&ask.client);
        }
        if self.pending.is_empty() {
            return self.grant(cx, ask);
        }
        for &holder in &self.pending {
            cx.send(holder, Invalidate);
        }
        if self.bug == Some(Bug::GrantWithoutAck) && !self.exclusive {
            self.grant(cx, ask);
        } else {
            self.asked = Some(ask);
        }
        cx.goto(Collecting);
    }

    #[on(Collecting, Acknowledge)]
    fn acknowledged(&mut self, cx: &mut Cx<Self>, Acknowledge { client, data }: Acknowledge) {
        self.memory = data;
        self.holders.remove(&client);
        self.pending.remove(&client);
        if self.pending.is_empty() {
            if let Some(ask) = self.asked.take() {
                self.grant(cx, ask);
            }
            cx.goto(Idle);
        }
    }

    fn grant(&mut self, cx: &mut Cx<Self>, Ask { client, access }: Ask) {
        self.exclusive = access == Write;
        self.holders.insert(client);
        if self.bug == Some(Bug::ForgetsSharer) && self.holders.len() > 2 {
            self.holders.pop_first();
        }
        cx.send(client, Grant { access, data: self.memory });
    }

    #[defer(Collecting, Ask)]
    const RULES: () = ();
}

/// Has a cache with room for the line.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    home: Addr<Home>,
    copy: Option<Data>,
    /// How many accesses are left, if they are counted.
    left: Option<u32>,
    bug: Option<Bug>,
}

#[machine(states(Starting, Invalid, Asking, Shared, Upgrading, Exclusive))]
impl Client {
    #[entry(Starting)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        self.next(cx);
        cx.goto(Invalid);
    }

    fn next(&mut self, cx: &mut Cx<Self>) {
        if self.left != Some(0) {
            self.left = self.left.map(|left| left - 1);
            cx.send(cx.me(), Next);
        }
    }

    #[on(Invalid, Next)]
    fn miss(&mut self, cx: &mut Cx<Self>) {
        let access = *cx.pick(&[Read, Write]);
        cx.send(self.home, Ask { client: cx.me(), access });
        cx.goto(Asking);
    }

    #[on(Shared, Next)]
    fn read_or_upgrade(&mut self, cx: &mut Cx<Self>) {
        match cx.pick(&[Read, Write]) {
            Read => self.access(cx, Read),
            Write => {
                cx.send(self.home, Ask { client: cx.me(), access: Write });
                let careless = self.bug == Some(Bug::UnexpectedInvalidation);
                cx.goto(if careless { Asking } else { Upgrading });
            }
        }
    }

    #[on(Exclusive, Next)]
    fn write(&mut self, cx: &mut Cx<Self>) {
        self.access(cx, Write);
    }

    #[on(Asking | Upgrading, Grant)]
    fn granted(&mut self, cx: &mut Cx<Self>, Grant { access, data }: Grant) {
        if self.copy.is_none() || self.bug != Some(Bug::StaleData) {
            self.copy = Some(data);
        }
        cx.announce(Acquired { client: cx.me(), access });
        self.access(cx, access);
        cx.goto(match access {
            Read => Shared,
            Write => Exclusive,
        });
    }

    fn access(&mut self, cx: &mut Cx<Self>, access: Access) {
        let Some(data) = &mut self.copy else { return };
        cx.announce(Saw { data: *data });
        if access == Write {
            *data = (*data + 1) % VALUES;
            cx.announce(Wrote { data: *data });
        }
        self.next(cx);
    }

    #[on(Shared | Exclusive, Invalidate)]
    fn invalidate(&mut self, cx: &mut Cx<Self>) {
        self.give_up(cx);
        cx.goto(Invalid);
    }

    #[on(Upgrading, Invalidate)]
    fn overtaken(&mut self, cx: &mut Cx<Self>) {
        let copy = self.copy;
        self.give_up(cx);
        if self.bug == Some(Bug::StaleData) {
            self.copy = copy;
        }
        cx.goto(Asking);
    }

    fn give_up(&mut self, cx: &mut Cx<Self>) {
        let Some(data) = self.copy.take() else { return };
        cx.announce(GaveUp { client: cx.me() });
        cx.send(self.home, Acknowledge { client: cx.me(), data });
    }
}

/// Announced by a client that has got a copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Acquired {
    client: Addr<Client>,
    access: Access,
}

/// Announced by a client that gives up its copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct GaveUp {
    client: Addr<Client>,
}

/// Announced by a client that reads its copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Saw {
    /// What it read.
    pub data: Data,
}

/// Announced by a client that writes its copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Wrote {
    /// What it wrote.
    pub data: Data,
}

/// Safety: who holds an exclusive copy is the only holder.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Exclusion {
    copies: BTreeMap<Addr<Client>, Access>,
}

#[monitor(states(Watching))]
impl Exclusion {
    #[on(Watching, Acquired)]
    fn acquired(&mut self, _: &mut MonitorCx<Self>, Acquired { client, access }: Acquired) {
        self.copies.insert(client, access);
        let shared = self.copies.values().all(|&access| access == Read);
        assert!(shared || self.copies.len() == 1, "an exclusive copy and others: {self:?}");
    }

    #[on(Watching, GaveUp)]
    fn gave_up(&mut self, _: &mut MonitorCx<Self>, GaveUp { client }: GaveUp) {
        self.copies.remove(&client);
    }
}

/// Safety: what a client sees is what was written last.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct LastWrite {
    data: Data,
}

#[monitor(states(Watching))]
impl LastWrite {
    #[on(Watching, Saw)]
    fn saw(&mut self, _: &mut MonitorCx<Self>, Saw { data }: Saw) {
        assert_eq!(data, self.data, "a client sees data that was overwritten");
    }

    #[on(Watching, Wrote)]
    fn wrote(&mut self, _: &mut MonitorCx<Self>, Wrote { data }: Wrote) {
        self.data = data;
    }
}
