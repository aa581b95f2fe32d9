//! A provider of resources that may fail over between what it does and what it writes down.
//!
//! Clients create a resource each and delete it again. The provider has the directory allocate and
//! free it, and writes down how far it is. It may crash once, at any time; when it is back it goes
//! on from what it has written down, and clients that wait ask again.
//!
//! With [`Bug::AllocatesAgain`] (version 1) the provider gives each of its attempts a number of
//! its own instead of the request's: if it crashes while the directory allocates, the request is
//! done twice. With [`Bug::RepairsDeleted`] (version 2) it writes nothing down before it deletes:
//! if it crashes after that, it takes the resource for lost and allocates it again.
//!
//! A stand-in for the production service ResourceProvider of "Learning-based controlled
//! concurrency testing" (Mukherjee et al., OOPSLA 2020), whose code is not public.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use dally::machines::{Addr, Cx, Faults, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the provider.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// The directory cannot tell an attempt from the one before it.
    AllocatesAgain,
    /// What was deleted is taken for lost.
    RepairsDeleted,
}

/// `resource-provider-v1` of the command line.
pub const V1: Protocol = Protocol {
    name: "resource-provider-v1",
    summary: "a provider of resources that may fail over, for three clients",
    bugs: &[PlantedBug {
        name: "allocates-again",
        summary: "after a crash the provider does a request once more that the directory has done",
    }],
    max_steps: 500,
    program: |name| {
        let bug = (name == Some("allocates-again")).then_some(Bug::AllocatesAgain);
        Arc::new(program(3, bug))
    },
};

/// `resource-provider-v2` of the command line.
pub const V2: Protocol = Protocol {
    name: "resource-provider-v2",
    summary: "a provider of resources that may fail over, for five clients",
    bugs: &[PlantedBug {
        name: "repairs-deleted",
        summary: "after a crash the provider allocates a resource again that it has just deleted",
    }],
    max_steps: 500,
    program: |name| {
        let bug = (name == Some("repairs-deleted")).then_some(Bug::RepairsDeleted);
        Arc::new(program(5, bug))
    },
};

/// A provider for so many clients, with this bug or without any.
pub fn program(clients: usize, bug: Option<Bug>) -> MachineProgram {
    let name = if clients == 3 { V1.name } else { V2.name };
    MachineProgram::new(name, move |setup| deploy(setup, clients, bug))
        .faults(Faults { crash: 1, ..Faults::NONE })
}

/// Creates the directory, the provider, its clients and the monitor.
pub fn deploy(setup: &mut Setup, clients: usize, bug: Option<Bug>) {
    let provider = setup.reserve();
    let directory = setup.create(Directory { provider, done: BTreeMap::new() });
    let clients: Vec<_> =
        (0..clients).map(|number| setup.create(Client { number, provider })).collect();
    let ledger = Ledger::new();
    setup.fill(provider, Provider { directory, clients, ledger, attempts: 0, bug });
    setup.monitor(Once::default());
}

/// To the provider: create a resource for this client.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Create {
    client: usize,
}

/// To the provider: delete the resource of this client.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Delete {
    client: usize,
}

/// To a client: it is there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Created;

/// To a client: it is gone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Deleted;

/// To a client: ask again, if you wait.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Back;

/// To the directory: allocate for this client, unless that was done under the same number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Allocate {
    client: usize,
    number: usize,
}

/// From the directory: it is done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Allocated {
    client: usize,
}

/// To the directory: free what this client has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Free {
    client: usize,
}

/// From the directory: it is done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Freed {
    client: usize,
}

/// How far the provider is with the resource of a client.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Progress {
    Creating,
    Created,
    Deleting,
    Deleted,
}

/// What the provider has on disk.
type Ledger = BTreeMap<usize, Progress>;

/// The service under test.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Provider {
    directory: Addr<Directory>,
    clients: Vec<Addr<Client>>,
    ledger: Ledger,
    /// How often it has asked the directory to allocate, since it started.
    attempts: usize,
    bug: Option<Bug>,
}

#[machine(states(Serving), durable = Ledger)]
impl Provider {
    fn recover(self, durable: Option<Ledger>) -> Self {
        Provider { ledger: durable.unwrap_or_default(), ..self }
    }

    #[observe]
    fn written_down(&self) -> impl Hash {
        &self.ledger
    }

    // There is nothing to go on with when it starts for the first time.
    #[entry(Serving)]
    fn go_on(&mut self, cx: &mut Cx<Self>) {
        for (client, progress) in self.ledger.clone() {
            match progress {
                Progress::Creating => self.allocate(cx, client),
                Progress::Created if self.bug == Some(Bug::RepairsDeleted) => {
                    self.allocate(cx, client);
                }
                Progress::Deleting => cx.send(self.directory, Free { client }),
                Progress::Created | Progress::Deleted => {}
            }
        }
        for &client in &self.clients {
            cx.send(client, Back);
        }
    }

    #[on(Serving, Create)]
    fn create(&mut self, cx: &mut Cx<Self>, Create { client }: Create) {
        match self.ledger.get(&client) {
            None => {
                self.record(cx, client, Progress::Creating);
                self.allocate(cx, client);
            }
            Some(Progress::Creating) => {}
            Some(_) => cx.send(self.clients[client], Created),
        }
    }

    #[on(Serving, Allocated)]
    fn allocated(&mut self, cx: &mut Cx<Self>, Allocated { client }: Allocated) {
        if self.ledger.get(&client) == Some(&Progress::Creating) {
            self.record(cx, client, Progress::Created);
            cx.send(self.clients[client], Created);
        }
    }

    #[on(Serving, Delete)]
    fn delete(&mut self, cx: &mut Cx<Self>, Delete { client }: Delete) {
        match self.ledger.get(&client) {
            Some(Progress::Deleted) => cx.send(self.clients[client], Deleted),
            Some(Progress::Created) => {
                if self.bug != Some(Bug::RepairsDeleted) {
                    self.record(cx, client, Progress::Deleting);
                }
                cx.send(self.directory, Free { client });
            }
            _ => {}
        }
    }

    #[on(Serving, Freed)]
    fn freed(&mut self, cx: &mut Cx<Self>, Freed { client }: Freed) {
        if self.ledger.get(&client) != Some(&Progress::Deleted) {
            self.record(cx, client, Progress::Deleted);
            cx.send(self.clients[client], Deleted);
        }
    }

    fn record(&mut self, cx: &mut Cx<Self>, client: usize, progress: Progress) {
        self.ledger.insert(client, progress);
        cx.persist(self.ledger.clone());
    }

    fn allocate(&mut self, cx: &mut Cx<Self>, client: usize) {
        self.attempts += 1;
        let number = match self.bug {
            Some(Bug::AllocatesAgain) => self.attempts,
            _ => client,
        };
        cx.send(self.directory, Allocate { client, number });
    }
}

/// Keeps track of what is allocated. It never fails.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Directory {
    provider: Addr<Provider>,
    /// For each client the number under which its resource was allocated, while it is there.
    done: BTreeMap<usize, usize>,
}

#[machine(states(Ready))]
impl Directory {
    #[observe]
    fn allocated(&self) -> impl Hash {
        &self.done
    }

    #[on(Ready, Allocate)]
    fn allocate(&mut self, cx: &mut Cx<Self>, Allocate { client, number }: Allocate) {
        if self.done.insert(client, number) != Some(number) {
            cx.announce(Made { client });
        }
        cx.send(self.provider, Allocated { client });
    }

    #[on(Ready, Free)]
    fn free(&mut self, cx: &mut Cx<Self>, Free { client }: Free) {
        self.done.remove(&client);
        cx.send(self.provider, Freed { client });
    }
}

/// Creates a resource, then deletes it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Client {
    number: usize,
    provider: Addr<Provider>,
}

#[machine(states(Creating, Deleting, Gone))]
impl Client {
    #[entry(Creating)]
    #[on(Creating, Back)]
    fn create(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.provider, Create { client: self.number });
    }

    #[entry(Deleting)]
    #[on(Deleting, Back)]
    fn delete(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.provider, Delete { client: self.number });
    }

    #[goto(Creating, Created => Deleting)]
    #[goto(Deleting, Deleted => Gone)]
    #[ignore(Deleting | Gone, Created)]
    #[ignore(Gone, Back, Deleted)]
    const RULES: () = ();
}

/// Announced by the directory when it allocates a resource.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Made {
    /// For this client.
    pub client: usize,
}

/// Nobody gets a resource twice.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Once {
    made: BTreeSet<usize>,
}

#[monitor(states(Watching))]
impl Once {
    #[on(Watching, Made)]
    fn made(&mut self, _: &mut MonitorCx<Self>, Made { client }: Made) {
        assert!(self.made.insert(client), "the resource of client {client} is made twice");
    }
}
