//! Chain replication: servers in a chain, a master that repairs the chain, clients, and a machine
//! that makes servers fail.
//!
//! Updates go to the head of the chain and are passed on from server to server. The tail has
//! every update that all servers have: it acknowledges updates to clients, and answers queries.
//! Word that an update has reached the tail travels back along the chain; until it arrives, a
//! server keeps the update among those it may have to send again.
//!
//! First the master sets up the chain: it tells every server its neighbours, and each answers.
//! Then the system is stable, which the master hints to the explorer as `stable`, and clients
//! learn where head and tail are. From then on the master pings the servers in rounds. A failed
//! server is fail-stop and is noticed for certain: it refuses whatever the master sends it, as a
//! host refuses connections where nobody listens. The master takes it out of the chain and tells
//! its neighbours. A new successor is sent again what it may have missed; a server without
//! successor is the new tail, and whatever it has is acknowledged. Clients repeat what they asked
//! of a head or tail that is gone.
//!
//! A fault machine removes one server after another from those that may fail, until one is left,
//! whenever it gets to run: before the system is stable, or after.
//!
//! [`Propagation`] checks that what a server has is a prefix of what every server before it has,
//! [`NothingLost`] that what clients see could have come from a single server. See van Renesse and
//! Schneider, "Chain Replication for Supporting High Throughput and Availability" (OSDI 2004), and
//! section 6.3 of Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems"
//! for the faults. The planted bugs are in [`Bug`].

mod client;
mod fault;
mod master;
mod monitors;
mod server;

use std::sync::Arc;

use dally::machines::{Addr, MachineProgram, Setup};

use crate::registry::{PlantedBug, Protocol};
use client::Client;
use fault::Fault;
use master::Master;
pub use monitors::{Acknowledged, Answered, Applied, Asked, Failed, NothingLost, Propagation};
use server::Server;

/// A mistake in an implementation of chain replication.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A server that has sent its updates again to a new successor counts them as delivered. If
    /// the new successor has failed too, they are gone.
    TwoNeighbours,
    /// A server sends nothing again to its new successor.
    ForgetsToResend,
    /// A server applies an update that its predecessor had to send again a second time.
    AppliesTwice,
    /// A server whose successor failed acknowledges what it has, as if that had been the tail.
    AcknowledgesEarly,
    /// The master tells clients of a new tail before it tells the tail, which is then asked in a
    /// state where nobody expects a query.
    RoutesFirst,
    /// A new head takes an update that it already has from its predecessor for a new one, since
    /// the client repeats it.
    TrustsRetries,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 6] = [
        Bug::TwoNeighbours,
        Bug::ForgetsToResend,
        Bug::AppliesTwice,
        Bug::AcknowledgesEarly,
        Bug::RoutesFirst,
        Bug::TrustsRetries,
    ];

    fn named(name: &str) -> Option<Bug> {
        Bug::ALL.into_iter().find(|bug| bug.planted().name == name)
    }

    const fn planted(self) -> PlantedBug {
        let (name, summary) = match self {
            Bug::TwoNeighbours => {
                ("two-neighbours", "what was sent to two failed neighbours in turn is lost")
            }
            Bug::ForgetsToResend => {
                ("forgets-to-resend", "a new successor is not sent what it may have missed")
            }
            Bug::AppliesTwice => ("applies-twice", "an update that is sent again is applied again"),
            Bug::AcknowledgesEarly => {
                ("acknowledges-early", "a server in the middle acknowledges as if it were the tail")
            }
            Bug::RoutesFirst => {
                ("routes-first", "clients learn who is the tail before the tail does")
            }
            Bug::TrustsRetries => {
                ("trusts-retries", "a new head applies an update again that a client repeats")
            }
        };
        PlantedBug { name, summary }
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "chain-replication",
    summary: "a chain of four servers keeps every acknowledged update while three of them fail",
    bugs: &[
        Bug::TwoNeighbours.planted(),
        Bug::ForgetsToResend.planted(),
        Bug::AppliesTwice.planted(),
        Bug::AcknowledgesEarly.planted(),
        Bug::RoutesFirst.planted(),
        Bug::TrustsRetries.planted(),
    ],
    max_steps: 500,
    program: |bug| Arc::new(program(Config::BUNDLED, bug.and_then(Bug::named))),
};

/// How big it is. All numbers are small on purpose: every execution ends, and small
/// configurations can be searched exhaustively.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// How many servers are in the chain, of which all but one fail.
    pub servers: u32,
    /// How many clients there are.
    pub clients: u32,
    /// How many updates each client makes, with a query after each.
    pub updates: u32,
    /// How many times the master looks for failed servers after the set-up.
    pub rounds: u32,
}

impl Config {
    /// The one in the registry, with the servers of Desai, Qadeer and Seshia, "Systematic Testing
    /// of Asynchronous Reactive Systems".
    pub const BUNDLED: Config = Config { servers: 4, clients: 2, updates: 1, rounds: 3 };
}

/// The protocol of this size, with this bug or without any.
pub fn program(config: Config, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, config, bug))
}

/// Creates the machines (servers from head to tail, clients, master, fault, in this order) and the
/// monitors.
pub fn deploy(setup: &mut Setup, config: Config, bug: Option<Bug>) {
    let servers: Vec<_> = (1..=config.servers).map(|n| setup.create(Server::new(n, bug))).collect();
    let clients = (0..config.clients).map(|_| setup.create(Client::new(config.updates))).collect();
    setup.create(Master::new(servers.clone(), clients, config.rounds, bug));
    setup.create(Fault::new(servers));
    setup.monitor(Propagation::default());
    setup.monitor(NothingLost::default());
}

/// An update, and its name: which one of which client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Update {
    client: Addr<Client>,
    number: u32,
}

/// From the master to a server: these are your neighbours.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Configure {
    master: Addr<Master>,
    predecessor: Option<Addr<Server>>,
    successor: Option<Addr<Server>>,
}

/// From a server to the master: I know my neighbours.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ready {
    server: Addr<Server>,
}

/// From the master to a server: are you there?
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ping {
    master: Addr<Master>,
}

/// From a server to the master: I am.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pong {
    server: Addr<Server>,
}

/// To the master, instead of any other answer: this server has failed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Refused {
    server: Addr<Server>,
}

/// From the master to a client: send updates to the head and queries to the tail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Route {
    head: Addr<Server>,
    tail: Addr<Server>,
}

/// From a client to the head: make this update.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Request {
    update: Update,
}

/// From the tail to a client: the update is made and will not be lost.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Made {
    update: Update,
}

/// From a client to the tail: which updates have been made? It asks after each update of its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Query {
    after: Update,
}

/// From the tail to a client: these, in this order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Answer {
    after: Update,
    history: Vec<Update>,
}

/// From a server to its successor: this is the next update.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Forward {
    place: usize,
    update: Update,
}

/// From a server to its predecessor: the tail has all updates up to this place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stored {
    place: usize,
}

/// To a server: fail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Fail;
