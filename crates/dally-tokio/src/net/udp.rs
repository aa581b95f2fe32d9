//! UDP.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use dally_tasks::hosts::Host;
use dally_tasks::pipe::Pipe;
use dally_tasks::{faults, task};

use super::ToSocketAddrs;
use super::address::first_that;
use super::network::{self, Inbox};
use crate::io::{ReadBuf, Ready, readiness};

/// What one socket sends another.
#[derive(Clone)]
pub(super) struct Datagram {
    from: SocketAddr,
    bytes: Vec<u8>,
}

/// How many datagrams wait at a socket; those that come then are lost.
const WAITING: usize = 1_024;
/// The longest datagram.
const LONGEST: usize = 65_507;

/// A socket for datagrams: each arrives whole or not at all.
#[derive(Debug)]
pub struct UdpSocket {
    host: Host,
    at: SocketAddr,
    datagrams: Pipe<Datagram>,
    /// All others see the network in its order by this.
    gate: Pipe<()>,
    set: Mutex<Set>,
}

/// What the program has set.
#[derive(Debug)]
struct Set {
    peer: Option<SocketAddr>,
    broadcast: bool,
    ttl: u32,
}

impl UdpSocket {
    /// A socket at the first of these addresses that is free.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<UdpSocket>> {
        let gate = network::gate();
        async move {
            poll_fn(|cx| gate.poll_writable(cx)).await;
            let (at, datagrams) = first_that(addr, network::open)?;
            let set = Mutex::new(Set { peer: None, broadcast: false, ttl: 64 });
            Ok(UdpSocket { host: Host::here(), at, datagrams, gate, set })
        }
    }

    /// From here on the socket sends to the first of these addresses, and hears no other.
    pub async fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        poll_fn(|cx| self.gate.poll_writable(cx)).await;
        let peer = first_that(addr, Ok)?;
        self.set().peer = Some(peer);
        network::hear_only(self.host, self.at, peer);
        Ok(())
    }

    /// The address of this end.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.at)
    }

    /// The address that the socket is connected to.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.set().peer.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Sends a datagram to whom the socket is connected to.
    pub async fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_send(cx, bytes)).await
    }

    /// As [`UdpSocket::send`].
    pub fn poll_send(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send_to(cx, bytes, self.destination()?)
    }

    /// Sends a datagram to the first of these addresses.
    pub async fn send_to<A: ToSocketAddrs>(&self, bytes: &[u8], target: A) -> io::Result<usize> {
        let target = first_that(target, Ok)?;
        poll_fn(|cx| self.poll_send_to(cx, bytes, target)).await
    }

    /// As [`UdpSocket::send_to`].
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        // There is always room: it is lost otherwise. To wait is the scheduling point.
        match network::inbox(target, self.at).0 {
            Some(inbox) => ready!(inbox.datagrams.poll_writable(cx)),
            None => ready!(self.gate.poll_writable(cx)),
        }
        let sent = self.deliver(bytes, target);
        if self.host.is_up() { Poll::Ready(sent) } else { Poll::Pending }
    }

    /// As [`UdpSocket::send`]: sending never has to wait.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.deliver(bytes, self.destination()?)
    }

    /// As [`UdpSocket::send_to`]: sending never has to wait.
    pub fn try_send_to(&self, bytes: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.deliver(bytes, target)
    }

    /// Waits for a datagram; what does not fit into the buffer is lost.
    pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.recv_from(buf).await?.0)
    }

    /// As [`UdpSocket::recv`], with the address that it comes from.
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        poll_fn(|cx| self.poll_readable(cx)).await;
        self.try_recv_from(buf)
    }

    /// As [`UdpSocket::recv`].
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.poll_recv_from(cx, buf).map_ok(|_| ())
    }

    /// As [`UdpSocket::recv_from`].
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        ready!(self.poll_readable(cx));
        let datagram = self.datagrams.take(|queue| queue.pop_front());
        let Some(Datagram { from, bytes }) = datagram else { return Poll::Pending };
        buf.put_slice(&bytes[..bytes.len().min(buf.remaining())]);
        Poll::Ready(Ok(from))
    }

    /// As [`UdpSocket::recv`], without waiting.
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.try_recv_from(buf)?.0)
    }

    /// As [`UdpSocket::recv_from`], without waiting.
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let datagram = self.datagrams.take(|queue| queue.pop_front());
        let Datagram { from, bytes } = datagram.ok_or(io::ErrorKind::WouldBlock)?;
        Ok((copy(&bytes, buf), from))
    }

    /// As [`UdpSocket::recv_from`]; the datagram stays where it is.
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        poll_fn(|cx| self.poll_readable(cx)).await;
        self.try_peek_from(buf)
    }

    /// As [`UdpSocket::peek_from`], without the address.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.peek_from(buf).await?.0)
    }

    /// As [`UdpSocket::peek_from`], without waiting.
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.datagrams.look(|queue| {
            let Datagram { from, bytes } = queue.front().ok_or(io::ErrorKind::WouldBlock)?;
            Ok((copy(bytes, buf), *from))
        })
    }

    /// As [`UdpSocket::readable`].
    pub fn poll_recv_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_read_ready(cx)
    }

    /// As [`UdpSocket::writable`].
    pub fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_write_ready(cx)
    }

    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_readable(cx).map(Ok)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.gate.poll_writable(cx).map(Ok)
    }

    fn readiness(&self) -> Ready {
        if self.datagrams.look(|queue| queue.is_empty()) {
            Ready::WRITABLE
        } else {
            Ready::READABLE | Ready::WRITABLE
        }
    }

    /// Whether datagrams may go to all, as was set.
    pub fn broadcast(&self) -> io::Result<bool> {
        Ok(self.set().broadcast)
    }

    /// Changes nothing but what [`UdpSocket::broadcast`] answers.
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.set().broadcast = broadcast;
        Ok(())
    }

    /// The time to live of packets, which nobody counts here.
    pub fn ttl(&self) -> io::Result<u32> {
        Ok(self.set().ttl)
    }

    /// Changes nothing but what [`UdpSocket::ttl`] answers.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.set().ttl = ttl;
        Ok(())
    }

    /// An error that nobody has been told: there is none.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        Ok(None)
    }

    fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        self.datagrams.poll_readable(cx)
    }

    fn destination(&self) -> io::Result<SocketAddr> {
        // As Linux says it.
        let unconnected = || io::Error::from_raw_os_error(89);
        self.set().peer.ok_or_else(unconnected)
    }

    fn deliver(&self, bytes: &[u8], to: SocketAddr) -> io::Result<usize> {
        if bytes.len() > LONGEST {
            return Err(io::Error::from_raw_os_error(90));
        }
        let fate = faults::strike(&[
            "a datagram is lost",
            "a datagram arrives twice",
            "a datagram is late, and others may overtake it",
        ]);
        let (inbox, from) = network::inbox(to, self.at);
        let cut = self.host.is_cut_off_from(network::host_of(to.ip()));
        let datagram = Datagram { from, bytes: bytes.to_vec() };
        let Some(inbox) = inbox.filter(|_| !cut && self.host.is_up()) else {
            return Ok(bytes.len());
        };
        match fate {
            Some(0) => {}
            Some(1) => {
                inbox.take_in(datagram.clone());
                inbox.take_in(datagram);
            }
            Some(_) => {
                let late = async move { inbox.take_in(datagram) };
                drop(task::Builder::new().name("late datagram").spawn(late));
            }
            None => inbox.take_in(datagram),
        }
        Ok(bytes.len())
    }

    fn set(&self) -> MutexGuard<'_, Set> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

readiness!(UdpSocket);

impl Inbox {
    fn take_in(&self, datagram: Datagram) {
        if self.peer.is_none_or(|peer| peer == datagram.from) {
            self.datagrams.put(|queue| {
                if queue.len() < WAITING {
                    queue.push_back(datagram);
                }
            });
        }
    }
}

impl Drop for UdpSocket {
    fn drop(&mut self) {
        network::shut(self.host, self.at);
    }
}

fn copy(bytes: &[u8], buf: &mut [u8]) -> usize {
    let amount = bytes.len().min(buf.len());
    buf[..amount].copy_from_slice(&bytes[..amount]);
    amount
}
