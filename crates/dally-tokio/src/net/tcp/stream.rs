//! Connections.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::halves::{self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use crate::io::{AsyncRead, AsyncWrite, Connection, ReadBuf};
use crate::net::ToSocketAddrs;
use crate::net::network::{self, Incoming};

/// How many bytes are on their way in each direction at most.
const WINDOW: usize = 64 * 1024;

/// A connection between two sockets.
pub struct TcpStream {
    connection: Connection,
    local: SocketAddr,
    peer: SocketAddr,
}

impl TcpStream {
    pub(super) fn new(connection: Connection, local: SocketAddr, peer: SocketAddr) -> TcpStream {
        TcpStream { connection, local, peer }
    }

    /// Connects to the first of these addresses where somebody listens.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpStream>> {
        let gate = network::gate();
        async move {
            let mut failed =
                io::Error::new(io::ErrorKind::InvalidInput, "could not resolve to any address");
            for to in addr.addresses()? {
                poll_fn(|cx| gate.poll_writable(cx)).await;
                match network::find(to) {
                    Ok((listener, local)) => {
                        poll_fn(|cx| listener.poll_writable(cx)).await;
                        if listener.is_abandoned() {
                            failed = io::ErrorKind::ConnectionRefused.into();
                            continue;
                        }
                        let (near, far) = Connection::pair("connection", WINDOW, true);
                        let incoming = Incoming { connection: far, peer: local };
                        listener.put(|queue| queue.push_back(incoming));
                        return Ok(TcpStream::new(near, local, to));
                    }
                    Err(why) => failed = why,
                }
            }
            Err(failed)
        }
    }

    /// The address of this end.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }

    /// The address of the other end.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }

    /// An error that nobody has been told: there is none.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        Ok(None)
    }

    /// Reads without taking the bytes away.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        poll_fn(|cx| self.connection.poll_peek(cx, &mut buf)).await
    }

    /// As [`TcpStream::peek`].
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        self.connection.poll_peek(cx, buf)
    }

    /// Waits until something can be read.
    pub async fn readable(&self) -> io::Result<()> {
        poll_fn(|cx| self.poll_read_ready(cx)).await
    }

    /// As [`TcpStream::readable`].
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection.poll_readable(cx).map(Ok)
    }

    /// Reads what is there, or says that it would have to wait.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.connection.try_read(buf)
    }

    /// Waits until something can be written.
    pub async fn writable(&self) -> io::Result<()> {
        poll_fn(|cx| self.poll_write_ready(cx)).await
    }

    /// As [`TcpStream::writable`].
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection.poll_writable(cx).map(Ok)
    }

    /// Writes what there is room for, or says that it would have to wait.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.connection.try_write(buf)
    }

    /// Whether small packets are sent at once: always.
    pub fn nodelay(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Has no effect: bytes are on their way at once.
    pub fn set_nodelay(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    /// How long closing waits: not at all.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        Ok(None)
    }

    /// Has no effect.
    pub fn set_linger(&self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    /// Has no effect.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        Ok(())
    }

    /// The time to live of packets, which nobody counts here.
    pub fn ttl(&self) -> io::Result<u32> {
        Ok(64)
    }

    /// Has no effect.
    pub fn set_ttl(&self, _: u32) -> io::Result<()> {
        Ok(())
    }

    /// Two halves that borrow the stream.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        halves::split(self)
    }

    /// Two halves that own the stream. Dropping the one that writes ends what the other side reads.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        halves::into_split(self)
    }

    pub(super) fn read(&self, cx: &Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.connection.poll_read(cx, buf)
    }

    pub(super) fn write(&self, cx: &Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.connection.poll_write(cx, buf)
    }

    pub(super) fn finish(&self) {
        self.connection.finish();
    }
}

impl AsyncRead for TcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.read(cx, buf)
    }
}

impl AsyncWrite for TcpStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.finish();
        Poll::Ready(Ok(()))
    }
}

impl AsRef<TcpStream> for TcpStream {
    fn as_ref(&self) -> &TcpStream {
        self
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpStream")
            .field("local", &self.local)
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}
