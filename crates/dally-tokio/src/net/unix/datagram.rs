//! Datagrams. None is lost, and whoever sends waits until there is room.

use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use dally_tasks::hosts::Host;
use dally_tasks::pipe::Pipe;

use super::SocketAddr;
use crate::io::{Ready, readiness};
use crate::net::network::{self, Local};

type Datagrams = Pipe<(Vec<u8>, Option<PathBuf>)>;

/// How many datagrams wait at a socket.
const WAITING: usize = 10;

/// A socket for datagrams within a host.
#[derive(Debug)]
pub struct UnixDatagram {
    host: Host,
    path: Option<PathBuf>,
    incoming: Datagrams,
    peer: Mutex<Option<(Datagrams, Option<PathBuf>)>>,
}

impl UnixDatagram {
    /// A socket at a path that is free.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        let path = path.as_ref().to_owned();
        let mut socket = UnixDatagram::unbound()?;
        network::take_path(&path, Local::Datagrams(socket.incoming.clone()))?;
        socket.path = Some(path);
        Ok(socket)
    }

    /// A socket without a path, to which nobody can send unless it is one of a pair.
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        let incoming = Pipe::new("unix socket", WAITING);
        Ok(UnixDatagram { host: Host::here(), path: None, incoming, peer: Mutex::default() })
    }

    /// Two sockets that are connected.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = (UnixDatagram::unbound()?, UnixDatagram::unbound()?);
        one.set_peer(other.incoming.clone(), None);
        other.set_peer(one.incoming.clone(), None);
        Ok((one, other))
    }

    /// From here on the socket sends to this path.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        let path = path.as_ref();
        self.set_peer(datagrams_at(path)?, Some(path.to_owned()));
        Ok(())
    }

    /// Sends to whom the socket is connected to.
    pub async fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let peer = self.destination()?;
        self.send_into(&peer, bytes).await
    }

    /// As [`UnixDatagram::send`], without waiting.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        let peer = self.destination()?;
        self.put(&peer, bytes)
    }

    /// Sends to this path.
    pub async fn send_to<P: AsRef<Path>>(&self, bytes: &[u8], target: P) -> io::Result<usize> {
        let target = datagrams_at(target.as_ref())?;
        self.send_into(&target, bytes).await
    }

    /// As [`UnixDatagram::send_to`], without waiting.
    pub fn try_send_to<P: AsRef<Path>>(&self, bytes: &[u8], target: P) -> io::Result<usize> {
        let target = datagrams_at(target.as_ref())?;
        self.put(&target, bytes)
    }

    /// Waits for a datagram; what does not fit into the buffer is lost.
    pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.recv_from(buf).await?.0)
    }

    /// As [`UnixDatagram::recv`], with the path that it comes from.
    pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        poll_fn(|cx| self.incoming.poll_readable(cx)).await;
        self.try_recv_from(buf)
    }

    /// As [`UnixDatagram::recv`], without waiting.
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.try_recv_from(buf)?.0)
    }

    /// As [`UnixDatagram::recv_from`], without waiting.
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let datagram = self.incoming.take(|queue| queue.pop_front());
        let (bytes, from) = datagram.ok_or(io::ErrorKind::WouldBlock)?;
        let amount = bytes.len().min(buf.len());
        buf[..amount].copy_from_slice(&bytes[..amount]);
        Ok((amount, SocketAddr(from)))
    }

    /// The path of this socket.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(SocketAddr(self.path.clone()))
    }

    /// The path that it is connected to.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        let peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, path) = peer.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        Ok(SocketAddr(path.clone()))
    }

    /// As [`UnixDatagram::readable`].
    pub fn poll_recv_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_read_ready(cx)
    }

    /// As [`UnixDatagram::writable`].
    pub fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_write_ready(cx)
    }

    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.incoming.poll_readable(cx).map(Ok)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.destination() {
            Ok(peer) => peer.poll_writable(cx).map(Ok),
            // A send fails at once.
            Err(_) => Poll::Ready(Ok(())),
        }
    }

    fn readiness(&self) -> Ready {
        let full = |peer: Datagrams| peer.room() == 0 && !peer.is_abandoned();
        let writable =
            if self.destination().is_ok_and(full) { Ready::EMPTY } else { Ready::WRITABLE };
        let readable = self.incoming.look(|queue| !queue.is_empty());
        if readable { writable | Ready::READABLE } else { writable }
    }

    async fn send_into(&self, to: &Datagrams, bytes: &[u8]) -> io::Result<usize> {
        poll_fn(|cx| to.poll_writable(cx)).await;
        self.put(to, bytes)
    }

    fn put(&self, to: &Datagrams, bytes: &[u8]) -> io::Result<usize> {
        if to.is_abandoned() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        if to.room() == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        to.put(|queue| queue.push_back((bytes.to_vec(), self.path.clone())));
        Ok(bytes.len())
    }

    fn destination(&self) -> io::Result<Datagrams> {
        let peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        let (datagrams, _) = peer.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        Ok(datagrams.clone())
    }

    fn set_peer(&self, datagrams: Datagrams, path: Option<PathBuf>) {
        *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = Some((datagrams, path));
    }
}

readiness!(UnixDatagram);

fn datagrams_at(path: &Path) -> io::Result<Datagrams> {
    match network::at_path(path)? {
        Local::Datagrams(datagrams) => Ok(datagrams),
        // As Linux says it.
        Local::Listener(_) => Err(io::Error::from_raw_os_error(91)),
    }
}

impl Drop for UnixDatagram {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            network::leave_path(self.host, path);
        }
        self.incoming.abandon();
    }
}
