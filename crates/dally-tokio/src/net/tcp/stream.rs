//! Connections.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use dally_tasks::faults;
use dally_tasks::hosts::Host;
use dally_tasks::pipe::Pipe;

use crate::io::{Connection, ReadBuf};
use crate::net::ToSocketAddrs;
use crate::net::address::unresolved;
use crate::net::halves::stream;
use crate::net::network::{self, Incoming};

/// How many bytes are on their way in each direction at most.
const WINDOW: usize = 64 * 1024;

/// A connection between two sockets.
pub struct TcpStream {
    connection: Connection,
    local: SocketAddr,
    peer: SocketAddr,
    options: Mutex<Options>,
    #[cfg(unix)]
    pub(super) descriptor: super::descriptor::Descriptor,
}

/// What the program has set of a socket.
#[derive(Clone, Copy)]
struct Options {
    nodelay: bool,
    linger: Option<Duration>,
    ttl: u32,
}

impl TcpStream {
    pub(super) fn new(connection: Connection, local: SocketAddr, peer: SocketAddr) -> TcpStream {
        let options = Options { nodelay: false, linger: None, ttl: 64 };
        let options = Mutex::new(options);
        TcpStream {
            connection,
            local,
            peer,
            options,
            #[cfg(unix)]
            descriptor: Default::default(),
        }
    }

    /// Connects to the first of these addresses where somebody listens.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpStream>> {
        let gate = network::gate();
        async move {
            let mut failed = unresolved();
            for to in addr.addresses()? {
                match TcpStream::connect_from(&gate, None, to).await {
                    Ok(stream) => return Ok(stream),
                    Err(why) => failed = why,
                }
            }
            Err(failed)
        }
    }

    /// Connects to one address, from the one that the socket is bound to, if it is.
    pub(super) async fn connect_from(
        gate: &Pipe<()>,
        bound: Option<SocketAddr>,
        to: SocketAddr,
    ) -> io::Result<TcpStream> {
        poll_fn(|cx| gate.poll_writable(cx)).await;
        let refused = faults::strike(&["a connection is refused"]).is_some();
        network::while_up().await;
        if refused {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let host = network::host_of(to.ip());
        network::until_reached(host).await;
        let (listener, local) = network::find(to, bound)?;
        poll_fn(|cx| listener.poll_writable(cx)).await;
        if listener.is_abandoned() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (near, far) = Connection::between(Host::here(), host, WINDOW);
        listener.put(|queue| queue.push_back(Incoming { connection: far, peer: local }));
        // Whoever connects to all addresses has reached the one of this host.
        let peer =
            if to.ip().is_unspecified() { SocketAddr::new(local.ip(), to.port()) } else { to };
        Ok(TcpStream::new(near, local, peer))
    }

    /// Reads without taking the bytes away.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.connection.peek(buf).await
    }

    /// As [`TcpStream::peek`].
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        self.connection.poll_peek(cx, buf)
    }

    /// Whether small packets are sent at once, as [`TcpStream::set_nodelay`] has it. Here all are.
    pub fn nodelay(&self) -> io::Result<bool> {
        Ok(self.options().nodelay)
    }

    /// Changes nothing but what [`TcpStream::nodelay`] answers: bytes are on their way at once.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.options().nodelay = nodelay;
        Ok(())
    }

    /// How long closing waits.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        Ok(self.options().linger)
    }

    /// A stream that does not wait at all resets the connection when it is dropped; nothing else depends on it.
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.options().linger = linger;
        Ok(())
    }

    /// Has the stream reset the connection when it is dropped.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }

    /// The time to live of packets, which nobody counts here.
    pub fn ttl(&self) -> io::Result<u32> {
        Ok(self.options().ttl)
    }

    /// Changes nothing but what [`TcpStream::ttl`] answers.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.options().ttl = ttl;
        Ok(())
    }

    fn options(&self) -> MutexGuard<'_, Options> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

stream!(TcpStream: SocketAddr);

impl Drop for TcpStream {
    fn drop(&mut self) {
        if self.options().linger == Some(Duration::ZERO) {
            self.connection.reset();
        }
    }
}
