//! Who listens at which address of the running execution.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

use dally_tasks::pipe::{self, Pipe};

use crate::io::Connection;

/// A connection that waits to be accepted, and who asked for it.
pub(super) struct Incoming {
    pub connection: Connection,
    pub peer: SocketAddr,
}

/// The sockets of one execution.
struct Network {
    execution: u64,
    listeners: BTreeMap<SocketAddr, Pipe<Incoming>>,
    /// Ports up to here were given to sockets that asked for any.
    last_port: u16,
    /// Has room for ever. Whoever binds or connects goes by it, so that these have an order.
    gate: Pipe<()>,
}

thread_local! {
    static NETWORK: RefCell<Option<Network>> = const { RefCell::new(None) };
}

/// The ports of sockets that ask for any begin after this one.
const BEFORE_EPHEMERAL: u16 = 49_151;
/// How many connections wait to be accepted at most.
const BACKLOG: usize = 1_024;

/// The gate of the running execution's network. To wait for it is the scheduling point before an
/// operation on the network.
#[track_caller]
pub(super) fn gate() -> Pipe<()> {
    with(|network| network.gate.clone())
}

/// Listens at an address; port 0 stands for any.
#[track_caller]
pub(super) fn listen(mut at: SocketAddr) -> io::Result<(SocketAddr, Pipe<Incoming>)> {
    let incoming = Pipe::new("listener", BACKLOG);
    with(|network| {
        network.gate.put(|_| ());
        if at.port() == 0 {
            at.set_port(network.any_port()?);
        } else if network.listener(at).is_some() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        network.listeners.insert(at, incoming.clone());
        Ok((at, incoming))
    })
}

/// Nobody listens at this address any more.
pub(super) fn close(at: SocketAddr, incoming: &Pipe<Incoming>) {
    // A listener that outlived its execution has nothing to do with this one.
    NETWORK.with_borrow_mut(|network| {
        let current = pipe::execution();
        if let Some(network) = network.as_mut().filter(|network| Some(network.execution) == current)
        {
            network.gate.put(|_| ());
            network.listeners.remove(&at);
        }
    });
    // Connections that nobody accepted are dropped, which their other ends see.
    incoming.abandon();
}

/// Where a connection to this address is accepted, and the address of who asks.
#[track_caller]
pub(super) fn find(to: SocketAddr) -> io::Result<(Pipe<Incoming>, SocketAddr)> {
    with(|network| {
        network.gate.put(|_| ());
        let listener = network.listener(to).ok_or(io::ErrorKind::ConnectionRefused)?.clone();
        Ok((listener, SocketAddr::new(to.ip(), network.any_port()?)))
    })
}

#[track_caller]
fn with<R>(f: impl FnOnce(&mut Network) -> R) -> R {
    let Some(execution) = pipe::execution() else {
        panic!("there is no reactor running: a socket is used outside of an execution of Dally");
    };
    let earlier = NETWORK.take().filter(|network| network.execution == execution);
    let mut network = earlier.unwrap_or_else(|| Network {
        execution,
        listeners: BTreeMap::new(),
        last_port: BEFORE_EPHEMERAL,
        gate: Pipe::new("network", 1),
    });
    let result = f(&mut network);
    NETWORK.set(Some(network));
    result
}

impl Network {
    fn any_port(&mut self) -> io::Result<u16> {
        self.last_port = self.last_port.checked_add(1).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(self.last_port)
    }

    /// Who listens at this address, or at all addresses with its port.
    fn listener(&self, at: SocketAddr) -> Option<&Pipe<Incoming>> {
        let here = |listening: &SocketAddr| {
            let any = listening.ip().is_unspecified() || at.ip().is_unspecified();
            listening.port() == at.port() && (any || listening.ip() == at.ip())
        };
        self.listeners.iter().find(|(listening, _)| here(listening)).map(|(_, listener)| listener)
    }
}
