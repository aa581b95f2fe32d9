//! The extent manager of a storage service, as in the first case study of Deligiannis et al.,
//! "Uncovering Distributed System Bugs during Testing (not Production!)": it keeps three replicas
//! of an extent on the nodes of a cluster.
//!
//! Nodes report from time to time whether they have the extent, and the manager notes who has it.
//! One of the nodes fails. The manager, told that it has expired, forgets it and sets up another
//! one. When its repair loop finds fewer than three replicas, it has one of the nodes without copy
//! the extent from one that has it. [`Repair`] checks that after the failure there are three
//! replicas again, on nodes that live.
//!
//! With [`Bug::LateSyncReport`] the manager notes whatever is reported, even by a node that it has
//! forgotten. The last report of the node that failed may still be under way: then the manager
//! counts three replicas for ever, although there are two.
//!
//! A node sends its next report after the last one was acknowledged, so that there are finitely
//! many states although the loops never end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dally::machines::{Addr, Cx, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the manager.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// The manager notes reports of nodes that have expired.
    LateSyncReport,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "extent-manager",
    summary: "a manager keeps three replicas of an extent, although a node fails",
    bugs: &[PlantedBug {
        name: "late-sync-report",
        summary: "the last report of a failed node counts as a replica for ever",
    }],
    max_steps: 2_000,
    program: |name| {
        let bug = (name == Some("late-sync-report")).then_some(Bug::LateSyncReport);
        Arc::new(program(REPLICAS, bug))
    },
};

const REPLICAS: usize = 3;
const SYNC: Duration = Duration::from_secs(5);
const REPAIR: Duration = Duration::from_secs(60);

/// A manager that keeps so many replicas, with this bug or without any.
pub fn program(replicas: usize, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, replicas, bug))
}

/// Creates the manager, the nodes, the environment in which one of them fails, and the monitor.
pub fn deploy(setup: &mut Setup, replicas: usize, bug: Option<Bug>) {
    let manager = setup.reserve();
    let make = || Node { manager, replica: true };
    let nodes: Vec<_> = (0..replicas).map(|_| setup.create(make())).collect();
    let known: BTreeSet<_> = nodes.iter().copied().collect();
    let holders = known.clone();
    setup.fill(manager, Manager { replicas, known, holders, repairing: None, bug });
    setup.create(Environment { manager, nodes });
    setup.begin();
    setup.monitor(Repair { wanted: replicas, there: replicas });
}

/// To a node: fail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Fail;

/// To the manager: this node has failed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Expired {
    node: Addr<Node>,
}

/// From a node's timer: report.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sync;

/// To the manager: whether this node has the extent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct SyncReport {
    node: Addr<Node>,
    replica: bool,
}

/// To a node: I have your report.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Noted;

/// From the manager's timer: look for what has to be repaired.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct RepairLoop;

/// To a node: copy the extent from this one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Replicate {
    source: Addr<Node>,
}

/// To a node: send me the extent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Copy {
    to: Addr<Node>,
}

/// To a node: here it is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Extent;

/// Knows the nodes, and those among them that have the extent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Manager {
    /// How many there are to be.
    replicas: usize,
    known: BTreeSet<Addr<Node>>,
    holders: BTreeSet<Addr<Node>>,
    /// Who was told to copy the extent and has not reported that it has it.
    repairing: Option<Addr<Node>>,
    bug: Option<Bug>,
}

#[machine(states(Managing))]
impl Manager {
    #[entry(Managing)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.every(REPAIR, RepairLoop);
    }

    #[on(Managing, SyncReport)]
    fn note(&mut self, cx: &mut Cx<Self>, SyncReport { node, replica }: SyncReport) {
        if !self.known.contains(&node) && self.bug != Some(Bug::LateSyncReport) {
            return;
        }
        cx.send(node, Noted);
        if replica {
            self.holders.insert(node);
            self.repairing = self.repairing.filter(|&repairing| repairing != node);
        }
    }

    #[on(Managing, Expired)]
    fn expired(&mut self, cx: &mut Cx<Self>, Expired { node }: Expired) {
        self.known.remove(&node);
        self.holders.remove(&node);
        let replacement = cx.create(Node { manager: cx.me(), replica: false });
        self.known.insert(replacement);
    }

    #[on(Managing, RepairLoop)]
    fn repair(&mut self, cx: &mut Cx<Self>) {
        if self.holders.len() >= self.replicas || self.repairing.is_some() {
            return;
        }
        let target = self.known.difference(&self.holders).next();
        if let (Some(&target), Some(&source)) = (target, self.holders.first()) {
            cx.send(target, Replicate { source });
            self.repairing = Some(target);
        }
    }
}

/// Has a replica of the extent or not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node {
    manager: Addr<Manager>,
    replica: bool,
}

#[machine(states(Serving))]
impl Node {
    #[entry(Serving)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.after(SYNC, Sync);
    }

    #[on(Serving, Sync)]
    fn report(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.manager, SyncReport { node: cx.me(), replica: self.replica });
    }

    #[on(Serving, Noted)]
    fn noted(&mut self, cx: &mut Cx<Self>) {
        self.start(cx);
    }

    #[on(Serving, Replicate)]
    fn replicate(&mut self, cx: &mut Cx<Self>, Replicate { source }: Replicate) {
        cx.send(source, Copy { to: cx.me() });
    }

    #[on(Serving, Copy)]
    fn copy(&mut self, cx: &mut Cx<Self>, Copy { to }: Copy) {
        cx.send(to, Extent);
    }

    #[on(Serving, Extent)]
    fn store(&mut self, cx: &mut Cx<Self>) {
        self.replica = true;
        cx.announce(Replicated);
    }

    #[on(Serving, Fail)]
    fn fail(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Failed);
        cx.halt();
    }
}

/// Makes one of the nodes fail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Environment {
    manager: Addr<Manager>,
    nodes: Vec<Addr<Node>>,
}

#[machine(states(Calm, Over))]
impl Environment {
    #[default(Calm)]
    fn strike(&mut self, cx: &mut Cx<Self>) {
        let node = *cx.pick(&self.nodes);
        cx.send(node, Fail);
        cx.send(self.manager, Expired { node });
        cx.goto(Over);
    }
}

/// Announced by a node that fails, and its replica with it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Failed;

/// Announced by a node that has copied the extent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Replicated;

/// Liveness: when a replica is lost, there are as many as before again some time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Repair {
    wanted: usize,
    there: usize,
}

#[monitor(states(cold Repaired, hot Damaged))]
impl Repair {
    #[on(_, Failed)]
    fn failed(&mut self, cx: &mut MonitorCx<Self>, _: Failed) {
        self.there -= 1;
        self.judge(cx);
    }

    #[on(_, Replicated)]
    fn replicated(&mut self, cx: &mut MonitorCx<Self>, _: Replicated) {
        self.there += 1;
        self.judge(cx);
    }

    fn judge(&self, cx: &mut MonitorCx<Self>) {
        cx.goto(if self.there < self.wanted { Damaged } else { Repaired });
    }
}
