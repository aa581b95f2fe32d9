//! A pool of nodes whose manager may fail over: the fail-over shows a bug only if it comes late.
//!
//! The manager configures its nodes, one after the other and step by step, and writes down how far
//! it is. When all are ready it opens the pool: tenants ask for a node, get one and give it back.
//! The manager may crash once, at any time, and goes on from what it has written down.
//!
//! A crash while nodes are configured shows nothing. With [`Bug::AssignsFirst`] (version 1) the
//! manager writes down that a node is assigned when the node has confirmed it: if it crashes before
//! that, another tenant can get the same node. With [`Bug::ForgetsReleases`] (version 2) a manager that comes back
//! takes a node that was being released for one that is in use, and assigns it again, to a tenant
//! that has left.
//!
//! A stand-in for the production service PoolManager of "Learning-based controlled concurrency
//! testing" (Mukherjee et al., OOPSLA 2020), whose code is not public.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::Arc;

use dally::machines::{Addr, Cx, Faults, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the manager.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// That a node is assigned is written down when the node has confirmed it, and not before.
    AssignsFirst,
    /// After a crash a node that is being released counts as assigned.
    ForgetsReleases,
}

/// How large the pool is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// The nodes.
    pub nodes: usize,
    /// The steps in which each of them is configured.
    pub phases: usize,
}

impl Size {
    /// Of version 1.
    pub const V1: Size = Size { nodes: 6, phases: 6 };
    /// Of version 2.
    pub const V2: Size = Size { nodes: 16, phases: 2 };
}

/// `pool-manager-v1` of the command line.
pub const V1: Protocol = Protocol {
    name: "pool-manager-v1",
    summary: "a manager of a pool of 6 nodes, which may fail over at any time",
    bugs: &[PlantedBug {
        name: "assigns-first",
        summary: "a node is assigned before that is written down, and after a crash once more",
    }],
    max_steps: 1_000,
    program: |name| {
        let bug = (name == Some("assigns-first")).then_some(Bug::AssignsFirst);
        Arc::new(program(Size::V1, bug))
    },
};

/// `pool-manager-v2` of the command line.
pub const V2: Protocol = Protocol {
    name: "pool-manager-v2",
    summary: "a manager of a pool of 16 nodes, which may fail over at any time",
    bugs: &[PlantedBug {
        name: "forgets-releases",
        summary: "after a crash a node that was being released is assigned again",
    }],
    max_steps: 1_000,
    program: |name| {
        let bug = (name == Some("forgets-releases")).then_some(Bug::ForgetsReleases);
        Arc::new(program(Size::V2, bug))
    },
};

/// A pool of this size, with this bug or without any.
pub fn program(size: Size, bug: Option<Bug>) -> MachineProgram {
    let name = if size == Size::V1 { V1.name } else { V2.name };
    MachineProgram::new(name, move |setup| deploy(setup, size, bug))
        .faults(Faults { crash: 1, ..Faults::NONE })
}

/// Creates the manager, its nodes and tenants, and the monitor.
pub fn deploy(setup: &mut Setup, size: Size, bug: Option<Bug>) {
    let manager = setup.reserve();
    let nodes: Vec<_> = (0..size.nodes).map(|_| setup.create(Node::new(manager))).collect();
    let tenants: Vec<_> =
        (0..TENANTS).map(|number| setup.create(Tenant { number, manager, left: false })).collect();
    let ledger = Ledger { configured: 0, leases: vec![Lease::Free; size.nodes] };
    setup.fill(manager, Manager { nodes, tenants, phases: size.phases, ledger, bug });
    setup.monitor(NobodyReturns::default());
}

const TENANTS: usize = 2;

/// To a node: get ready, one step further.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Configure {
    step: usize,
}

/// From a node: this step is done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Configured {
    step: usize,
}

/// To a tenant: the pool is open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Open;

/// From a tenant: a node, please.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Request {
    tenant: usize,
}

/// To a node: work for this tenant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Assign {
    tenant: usize,
}

/// From a node: it does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Assigned {
    tenant: usize,
}

/// To a tenant: a node works for you.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Granted;

/// From a tenant: it is done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Release {
    tenant: usize,
}

/// To a node: work for nobody.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Vacate;

/// From a node: it does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Vacated {
    node: Addr<Node>,
}

/// Whom a node works for, as the manager has written it down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Lease {
    Free,
    Assigned(usize),
    Releasing(usize),
}

/// What the manager has on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ledger {
    /// How many steps of configuration are done, over all nodes.
    configured: usize,
    leases: Vec<Lease>,
}

/// Configures the nodes, then assigns them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Manager {
    nodes: Vec<Addr<Node>>,
    tenants: Vec<Addr<Tenant>>,
    phases: usize,
    ledger: Ledger,
    bug: Option<Bug>,
}

#[machine(states(Configuring, Serving), durable = Ledger)]
impl Manager {
    fn recover(self, durable: Option<Ledger>) -> Self {
        match durable {
            Some(ledger) => Manager { ledger, ..self },
            None => self,
        }
    }

    #[observe]
    fn written_down(&self) -> impl Hash {
        &self.ledger
    }

    #[entry(Configuring)]
    fn configure(&mut self, cx: &mut Cx<Self>) {
        let step = self.ledger.configured;
        match self.nodes.get(step / self.phases) {
            Some(&node) => cx.send(node, Configure { step }),
            None => cx.goto(Serving),
        }
    }

    #[on(Configuring, Configured)]
    fn configured(&mut self, cx: &mut Cx<Self>, Configured { step }: Configured) {
        // After a crash an answer may come twice.
        if step == self.ledger.configured {
            self.ledger.configured += 1;
            cx.persist(self.ledger.clone());
            cx.goto(Configuring);
        }
    }

    #[entry(Serving)]
    fn open(&mut self, cx: &mut Cx<Self>) {
        for (&node, &lease) in self.nodes.iter().zip(&self.ledger.leases) {
            match lease {
                Lease::Free => {}
                Lease::Releasing(tenant) if self.bug == Some(Bug::ForgetsReleases) => {
                    cx.send(node, Assign { tenant });
                }
                Lease::Assigned(tenant) => cx.send(node, Assign { tenant }),
                Lease::Releasing(_) => cx.send(node, Vacate),
            }
        }
        for &tenant in &self.tenants {
            cx.send(tenant, Open);
        }
    }

    #[on(Serving, Request)]
    fn request(&mut self, cx: &mut Cx<Self>, Request { tenant }: Request) {
        let lease = |wanted: Lease| self.ledger.leases.iter().position(|&lease| lease == wanted);
        if lease(Lease::Assigned(tenant)).is_some() || lease(Lease::Releasing(tenant)).is_some() {
            return;
        }
        let Some(free) = lease(Lease::Free) else { return };
        self.ledger.leases[free] = Lease::Assigned(tenant);
        if self.bug != Some(Bug::AssignsFirst) {
            cx.persist(self.ledger.clone());
        }
        cx.send(self.nodes[free], Assign { tenant });
    }

    #[on(Serving, Assigned)]
    fn assigned(&mut self, cx: &mut Cx<Self>, Assigned { tenant }: Assigned) {
        if self.ledger.leases.contains(&Lease::Assigned(tenant)) {
            if self.bug == Some(Bug::AssignsFirst) {
                cx.persist(self.ledger.clone());
            }
            cx.send(self.tenants[tenant], Granted);
        }
    }

    #[on(Serving, Release)]
    fn release(&mut self, cx: &mut Cx<Self>, Release { tenant }: Release) {
        let leases = &mut self.ledger.leases;
        let held = leases.iter().position(|&lease| lease == Lease::Assigned(tenant));
        let Some(held) = held else { return };
        leases[held] = Lease::Releasing(tenant);
        cx.persist(self.ledger.clone());
        cx.send(self.nodes[held], Vacate);
    }

    #[on(Serving, Vacated)]
    fn vacated(&mut self, cx: &mut Cx<Self>, Vacated { node }: Vacated) {
        let Some(place) = self.nodes.iter().position(|&other| other == node) else { return };
        if let Lease::Releasing(_) = self.ledger.leases[place] {
            self.ledger.leases[place] = Lease::Free;
            cx.persist(self.ledger.clone());
        }
    }

    #[ignore(Configuring, Assigned, Vacated, Request, Release)]
    #[ignore(Serving, Configured)]
    const RULES: () = ();
}

/// Works for at most one tenant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node {
    manager: Addr<Manager>,
    tenant: Option<usize>,
}

#[machine(states(Running))]
impl Node {
    fn new(manager: Addr<Manager>) -> Node {
        Node { manager, tenant: None }
    }

    #[observe]
    fn works_for(&self) -> impl Hash {
        self.tenant
    }

    #[on(Running, Configure)]
    fn configure(&mut self, cx: &mut Cx<Self>, Configure { step }: Configure) {
        cx.send(self.manager, Configured { step });
    }

    #[on(Running, Assign)]
    fn assign(&mut self, cx: &mut Cx<Self>, Assign { tenant }: Assign) {
        if let Some(other) = self.tenant {
            assert_eq!(other, tenant, "a node is assigned to two tenants");
        } else {
            self.tenant = Some(tenant);
            cx.announce(Works { tenant });
        }
        cx.send(self.manager, Assigned { tenant });
    }

    #[on(Running, Vacate)]
    fn vacate(&mut self, cx: &mut Cx<Self>) {
        self.tenant = None;
        cx.send(self.manager, Vacated { node: cx.me() });
    }
}

/// Asks for a node, uses it, gives it back.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tenant {
    number: usize,
    manager: Addr<Manager>,
    left: bool,
}

#[machine(states(Waiting))]
impl Tenant {
    #[on(Waiting, Open)]
    fn ask(&mut self, cx: &mut Cx<Self>) {
        // Whoever has left says so again: a manager that crashed may not have heard it.
        match self.left {
            true => cx.send(self.manager, Release { tenant: self.number }),
            false => cx.send(self.manager, Request { tenant: self.number }),
        }
    }

    #[on(Waiting, Granted)]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        self.left = true;
        cx.announce(Left { tenant: self.number });
        cx.send(self.manager, Release { tenant: self.number });
    }
}

/// Announced by a node when it begins to work for a tenant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Works {
    /// Which one.
    pub tenant: usize,
}

/// Announced by a tenant when it leaves.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Left {
    /// Which one.
    pub tenant: usize,
}

/// No node begins to work for a tenant that has left.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct NobodyReturns {
    left: BTreeSet<usize>,
}

#[monitor(states(Watching))]
impl NobodyReturns {
    #[on(Watching, Left)]
    fn left(&mut self, _: &mut MonitorCx<Self>, Left { tenant }: Left) {
        self.left.insert(tenant);
    }

    #[on(Watching, Works)]
    fn works(&mut self, _: &mut MonitorCx<Self>, Works { tenant }: Works) {
        assert!(!self.left.contains(&tenant), "a node works for tenant {tenant}, which has left");
    }
}
