//! Listening for connections.

use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::{Context, Poll, ready};

use dally_tasks::faults;
use dally_tasks::hosts::Host;
use dally_tasks::pipe::Pipe;

use super::TcpStream;
use crate::net::ToSocketAddrs;
use crate::net::address::first_that;
use crate::net::network::{self, Incoming};

/// A socket that listens for connections.
#[derive(Debug)]
pub struct TcpListener {
    host: Host,
    at: SocketAddr,
    incoming: Pipe<Incoming>,
}

impl TcpListener {
    /// Listens at the first of these addresses that is free.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpListener>> {
        let gate = network::gate();
        async move {
            poll_fn(|cx| gate.poll_writable(cx)).await;
            let (at, incoming) = first_that(addr, network::listen)?;
            Ok(TcpListener::new(at, incoming))
        }
    }

    /// Listens in memory at the address of a socket of the system, which is closed: from here on it is reached by the
    /// sockets of this execution alone.
    #[track_caller]
    pub fn from_std(listener: std::net::TcpListener) -> io::Result<TcpListener> {
        let (at, incoming) = network::listen(listener.local_addr()?)?;
        Ok(TcpListener::new(at, incoming))
    }

    pub(super) fn new(at: SocketAddr, incoming: Pipe<Incoming>) -> TcpListener {
        TcpListener { host: Host::here(), at, incoming }
    }

    /// Waits for the next connection.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    /// As [`TcpListener::accept`].
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        ready!(self.incoming.poll_readable(cx));
        let Some(Incoming { connection, peer }) = self.incoming.take(|queue| queue.pop_front())
        else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        if faults::strike(&["a connection is lost before it is accepted"]).is_some() {
            connection.reset();
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        if !self.host.is_up() {
            return Poll::Pending;
        }
        // The client named the address that it connected to.
        let own = if self.at.ip().is_unspecified() { self.own_address(peer) } else { self.at.ip() };
        let at = SocketAddr::new(own, self.at.port());
        Poll::Ready(Ok((TcpStream::new(connection, at, peer), peer)))
    }

    /// The address of this host that somebody at another address has named.
    fn own_address(&self, peer: SocketAddr) -> IpAddr {
        if network::host_of(peer.ip()) == self.host { peer.ip() } else { self.host.address() }
    }

    /// Where it listens.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.at)
    }

    /// The time to live of packets, which nobody counts here.
    pub fn ttl(&self) -> io::Result<u32> {
        Ok(64)
    }

    /// Has no effect.
    pub fn set_ttl(&self, _: u32) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        network::close(self.host, self.at, &self.incoming);
    }
}
