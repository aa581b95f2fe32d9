//! Bytes in both directions between two ends.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use dally_tasks::hosts::Host;
use dally_tasks::pipe::Pipe;
use dally_tasks::{choose, faults};

use super::{ReadBuf, Ready, readiness};

/// One end of a connection. Dropped, it sends nothing more and loses what was not read.
#[derive(Debug)]
pub struct Connection {
    incoming: Pipe<u8>,
    outgoing: Pipe<u8>,
    over: Over,
}

/// What the bytes of a connection pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// Memory: a read gets all that is there.
    Memory,
    /// A socket of the system: a read may get less than what is there, by choice of the search.
    Socket,
    /// As a socket; the connection may be reset.
    Network,
}

impl Connection {
    /// Two ends with this many bytes on their way in each direction at most.
    #[track_caller]
    pub fn pair(kind: &'static str, capacity: usize, over: Over) -> (Connection, Connection) {
        let (one, other) = (Pipe::new(kind, capacity), Pipe::new(kind, capacity));
        Connection::ends(one, other, over)
    }

    /// As [`Connection::pair`], between two hosts.
    #[track_caller]
    pub fn between(near: Host, far: Host, capacity: usize) -> (Connection, Connection) {
        let [one, other] = [(); 2].map(|()| Pipe::between(near, far, "connection", capacity));
        Connection::ends(one, other, Over::Network)
    }

    fn ends(one: Pipe<u8>, other: Pipe<u8>, over: Over) -> (Connection, Connection) {
        let near = Connection { incoming: one.clone(), outgoing: other.clone(), over };
        (near, Connection { incoming: other, outgoing: one, over })
    }

    /// Resets the connection: both ends get an error, and what was on its way is lost.
    pub fn reset(&self) {
        self.outgoing.break_off();
        self.incoming.break_off();
    }

    /// An error if the connection was reset.
    fn check(&self, pipe: &Pipe<u8>) -> io::Result<()> {
        if self.over == Over::Network && pipe.is_broken() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }

    /// As [`Connection::poll_peek`].
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        poll_fn(|cx| self.poll_peek(cx, &mut buf)).await
    }

    /// As [`Connection::try_read`], into the first of several buffers that has room.
    pub fn try_read_vectored(&self, bufs: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
        match bufs.iter_mut().find(|buf| !buf.is_empty()) {
            Some(buf) => self.try_read(buf),
            None => Ok(0),
        }
    }

    /// As [`Connection::try_write`], of several buffers.
    pub fn try_write_vectored(&self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
        let bytes: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
        self.try_write(&bytes)
    }

    fn poll_read_ready(&self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        self.poll_readable(cx).map(Ok)
    }

    fn poll_write_ready(&self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        self.poll_writable(cx).map(Ok)
    }

    /// What can be done without waiting.
    pub fn readiness(&self) -> Ready {
        let mut ready = Ready::EMPTY;
        let all = [
            (self.is_readable(), Ready::READABLE),
            (self.is_writable(), Ready::WRITABLE),
            (self.is_read_closed(), Ready::READ_CLOSED),
            (self.is_write_closed(), Ready::WRITE_CLOSED),
        ];
        all.into_iter().filter(|(is, _)| *is).for_each(|(_, what)| ready |= what);
        ready
    }

    /// Whether something can be read now, the end and errors too.
    fn is_readable(&self) -> bool {
        let there = self.incoming.look(|queue| !queue.is_empty());
        !self.incoming.is_held() && (there || self.incoming.is_finished())
    }

    /// Whether something can be written now, or a write would fail.
    fn is_writable(&self) -> bool {
        self.outgoing.room() > 0 || self.outgoing.is_abandoned() || self.outgoing.is_finished()
    }

    /// Whether the other end sends nothing more, and all that it has sent was read.
    fn is_read_closed(&self) -> bool {
        self.incoming.is_finished() && !self.incoming.is_held()
    }

    /// Whether nothing more can be sent.
    fn is_write_closed(&self) -> bool {
        self.outgoing.is_abandoned() || self.outgoing.is_finished()
    }

    pub fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        self.incoming.poll_readable(cx)
    }

    pub fn poll_writable(&self, cx: &Context<'_>) -> Poll<()> {
        self.outgoing.poll_writable(cx)
    }

    pub fn poll_read(&self, cx: &Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // One that has room for nothing waits like any other, as tokio's.
        ready!(self.incoming.poll_readable(cx));
        self.check(&self.incoming)?;
        let amount = self.amount(buf.remaining());
        self.incoming.take(|queue| {
            copy(queue.as_slices(), amount, buf);
            queue.drain(..amount);
        });
        Poll::Ready(Ok(()))
    }

    /// As a read that leaves the bytes where they are.
    pub fn poll_peek(&self, cx: &Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        ready!(self.incoming.poll_readable(cx));
        self.check(&self.incoming)?;
        let amount = self.amount(buf.remaining());
        self.incoming.look(|queue| copy(queue.as_slices(), amount, buf));
        Poll::Ready(Ok(amount))
    }

    /// Reads what is there, without waiting.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        self.check(&self.incoming)?;
        if !self.is_readable() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let amount = self.amount(buf.len());
        self.incoming.take(|queue| {
            buf.iter_mut().zip(queue.drain(..amount)).for_each(|(to, byte)| *to = byte);
        });
        Ok(amount)
    }

    pub fn poll_write(&self, cx: &Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        ready!(self.outgoing.poll_writable(cx));
        let written = self.write(buf);
        // A host that has crashed in this step does nothing more.
        if Host::here().is_up() { Poll::Ready(written) } else { Poll::Pending }
    }

    /// Writes what there is room for, without waiting.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        let full = self.outgoing.room() == 0 && !self.outgoing.is_abandoned();
        if full && !buf.is_empty() {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            self.write(buf)
        }
    }

    /// Sends nothing more: the other end finds the end after what was sent.
    pub fn finish(&self) {
        self.outgoing.finish();
    }

    fn write(&self, buf: &[u8]) -> io::Result<usize> {
        if self.over == Over::Network && faults::strike(&["the connection is reset"]).is_some() {
            self.reset();
        }
        self.check(&self.outgoing)?;
        if self.is_write_closed() || !Host::here().is_up() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let amount = self.outgoing.room().min(buf.len());
        self.outgoing.put(|queue| queue.extend(&buf[..amount]));
        Ok(amount)
    }

    /// How many of the bytes that are there a read gets.
    fn amount(&self, wanted: usize) -> usize {
        let there = self.incoming.look(|queue| queue.len()).min(wanted);
        if self.over == Over::Memory || there < 2 {
            return there;
        }
        // All, one byte, or half of it, where that is something else.
        match choose(if there < 4 { 2 } else { 3 }) {
            0 => there,
            1 => 1,
            _ => there / 2,
        }
    }
}

readiness!(Connection);

fn copy((first, second): (&[u8], &[u8]), amount: usize, buf: &mut ReadBuf<'_>) {
    let of_first = first.len().min(amount);
    buf.put_slice(&first[..of_first]);
    buf.put_slice(&second[..amount - of_first]);
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.over == Over::Network && !Host::here().is_up() {
            return self.reset();
        }
        self.outgoing.finish();
        self.incoming.abandon();
    }
}
