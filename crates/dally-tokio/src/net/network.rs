//! Which sockets there are in the running execution, and on which hosts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use dally_tasks::hosts::Host;
use dally_tasks::pipe::{self, Pipe};

use super::udp::Datagram;
use crate::io::Connection;

/// A connection that waits to be accepted, and who asked for it.
pub(super) struct Incoming {
    pub connection: Connection,
    pub peer: SocketAddr,
}

/// A UDP socket as others see it.
#[derive(Clone)]
pub(super) struct Inbox {
    pub datagrams: Pipe<Datagram>,
    /// The only address that it hears.
    pub peer: Option<SocketAddr>,
}

/// What a path of a Unix socket stands for.
#[derive(Clone)]
pub(super) enum Local {
    Listener(Pipe<(Connection, Option<PathBuf>)>),
    Datagrams(Pipe<(Vec<u8>, Option<PathBuf>)>),
}

/// The sockets of one execution, by hosts.
struct Network {
    execution: u64,
    listeners: BTreeMap<(Host, SocketAddr), Pipe<Incoming>>,
    inboxes: BTreeMap<(Host, SocketAddr), Inbox>,
    locals: BTreeMap<(Host, PathBuf), Local>,
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
pub(super) const BACKLOG: usize = 1_024;

/// The gate of the running execution's network. To wait for it is the scheduling point before an
/// operation on the network.
#[track_caller]
pub(super) fn gate() -> Pipe<()> {
    with(|network| network.gate.clone())
}

/// What never comes where the host of the running task has crashed in this step: it does nothing more.
pub(super) async fn while_up() {
    if !Host::here().is_up() {
        std::future::pending::<()>().await;
    }
}

/// Listens at an address; port 0 stands for any.
#[track_caller]
pub(super) fn listen(mut at: SocketAddr) -> io::Result<(SocketAddr, Pipe<Incoming>)> {
    let incoming = Pipe::new("listener", BACKLOG);
    let host = own(at.ip())?;
    with(|network| {
        network.gate.put(|_| ());
        if at.port() == 0 {
            at.set_port(network.any_port()?);
        } else if here(&network.listeners, host, at).is_some() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        network.listeners.insert((host, at), incoming.clone());
        Ok((at, incoming))
    })
}

/// Nobody listens at this address any more.
pub(super) fn close(host: Host, at: SocketAddr, incoming: &Pipe<Incoming>) {
    of_this_execution(|network| {
        network.listeners.remove(&(host, at));
    });
    // Connections that nobody accepted are dropped, which their other ends see.
    incoming.abandon();
}

/// The host that an address is of, seen from the running task.
pub(super) fn host_of(address: IpAddr) -> Host {
    let here = Host::here();
    if address.is_loopback() || address.is_unspecified() {
        return here;
    }
    // Addresses that are nobody's are the host's own.
    Host::at(address).unwrap_or(here)
}

/// The running task's host, if it may take this address.
fn own(address: IpAddr) -> io::Result<Host> {
    let host = host_of(address);
    if host == Host::here() { Ok(host) } else { Err(io::ErrorKind::AddrNotAvailable.into()) }
}

/// The address that the running task's host has for one that it reaches by `to`.
fn from(to: IpAddr) -> IpAddr {
    if host_of(to) == Host::here() { to } else { Host::here().address() }
}

/// Waits until something can pass between the running task's host and this one.
pub(super) async fn until_reached(host: Host) {
    if Host::here().is_cut_off_from(host) {
        let way = Pipe::between(Host::here(), host, "way", 1);
        way.put(|queue| queue.push_back(()));
        poll_fn(|cx| way.poll_readable(cx)).await;
    }
}

/// Where a connection to this address is accepted, and the address of who asks: the one that it is bound to,
/// if it is.
#[track_caller]
pub(super) fn find(
    to: SocketAddr,
    bound: Option<SocketAddr>,
) -> io::Result<(Pipe<Incoming>, SocketAddr)> {
    let host = host_of(to.ip());
    with(|network| {
        network.gate.put(|_| ());
        let listener = here(&network.listeners, host, to).filter(|_| host.is_up());
        let listener = listener.ok_or(io::ErrorKind::ConnectionRefused)?.clone();
        let port = match bound.map(|bound| bound.port()).filter(|&port| port != 0) {
            Some(port) => port,
            None => network.any_port()?,
        };
        Ok((listener, SocketAddr::new(from(to.ip()), port)))
    })
}

/// Takes an address for a UDP socket; port 0 stands for any.
#[track_caller]
pub(super) fn open(mut at: SocketAddr) -> io::Result<(SocketAddr, Pipe<Datagram>)> {
    let datagrams = Pipe::new("udp socket", usize::MAX);
    let host = own(at.ip())?;
    with(|network| {
        network.gate.put(|_| ());
        if at.port() == 0 {
            at.set_port(network.any_port()?);
        } else if here(&network.inboxes, host, at).is_some() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let inbox = Inbox { datagrams: datagrams.clone(), peer: None };
        network.inboxes.insert((host, at), inbox);
        Ok((at, datagrams))
    })
}

/// The UDP socket at this address hears only that one from here on.
pub(super) fn hear_only(host: Host, at: SocketAddr, peer: SocketAddr) {
    of_this_execution(|network| {
        if let Some(inbox) = network.inboxes.get_mut(&(host, at)) {
            inbox.peer = Some(peer);
        }
    });
}

/// The UDP socket at this address is gone.
pub(super) fn shut(host: Host, at: SocketAddr) {
    of_this_execution(|network| {
        network.inboxes.remove(&(host, at));
    });
}

/// Who gets a datagram for this address, and the address that it comes from.
#[track_caller]
pub(super) fn inbox(to: SocketAddr, bound: SocketAddr) -> (Option<Inbox>, SocketAddr) {
    let host = host_of(to.ip());
    let source = if bound.ip().is_unspecified() { from(to.ip()) } else { bound.ip() };
    with(|network| {
        network.gate.look(|_| ());
        let inbox = here(&network.inboxes, host, to).filter(|_| host.is_up()).cloned();
        (inbox, SocketAddr::new(source, bound.port()))
    })
}

/// Takes a path of this host for a Unix socket.
#[track_caller]
pub(super) fn take_path(path: &Path, local: Local) -> io::Result<()> {
    with(|network| {
        network.gate.put(|_| ());
        let place = (Host::here(), path.to_owned());
        if network.locals.contains_key(&place) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        network.locals.insert(place, local);
        Ok(())
    })
}

/// What is at a path of this host.
#[track_caller]
pub(super) fn at_path(path: &Path) -> io::Result<Local> {
    with(|network| {
        network.gate.look(|_| ());
        let local = network.locals.get(&(Host::here(), path.to_owned())).cloned();
        local.ok_or_else(|| io::ErrorKind::NotFound.into())
    })
}

/// A path of a host is free again.
pub(super) fn leave_path(host: Host, path: &Path) {
    of_this_execution(|network| {
        network.locals.remove(&(host, path.to_owned()));
    });
}

/// Does something with the network of the running execution, if there is one: a socket that outlived its
/// execution has nothing to do with this one.
fn of_this_execution(f: impl FnOnce(&mut Network)) {
    NETWORK.with_borrow_mut(|network| {
        let current = pipe::execution();
        if let Some(network) = network.as_mut().filter(|network| Some(network.execution) == current)
        {
            network.gate.put(|_| ());
            f(network);
        }
    });
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
        inboxes: BTreeMap::new(),
        locals: BTreeMap::new(),
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
}

/// What is at this address of a host, or at all of its addresses with this port.
fn here<S>(sockets: &BTreeMap<(Host, SocketAddr), S>, host: Host, at: SocketAddr) -> Option<&S> {
    let fits = |place: &SocketAddr| {
        let any = place.ip().is_unspecified() || at.ip().is_unspecified();
        place.port() == at.port() && (any || place.ip() == at.ip())
    };
    let mut on_it = sockets.iter().filter(|((of, _), _)| *of == host);
    on_it.find(|((_, place), _)| fits(place)).map(|(_, socket)| socket)
}
