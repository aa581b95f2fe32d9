//! Bytes in both directions between two ends.

use std::io;
use std::task::{Context, Poll, ready};

use dally_tasks::choose;
use dally_tasks::pipe::Pipe;

use super::ReadBuf;

/// One end of a connection. Dropped, it sends nothing more and loses what was not read.
#[derive(Debug)]
pub(crate) struct Connection {
    incoming: Pipe<u8>,
    outgoing: Pipe<u8>,
    /// A read may get less than what is there, by choice of the search.
    in_pieces: bool,
}

impl Connection {
    /// Two ends with this many bytes on their way in each direction at most.
    #[track_caller]
    pub fn pair(kind: &'static str, capacity: usize, in_pieces: bool) -> (Connection, Connection) {
        let (one, other) = (Pipe::new(kind, capacity), Pipe::new(kind, capacity));
        let near = Connection { incoming: one.clone(), outgoing: other.clone(), in_pieces };
        (near, Connection { incoming: other, outgoing: one, in_pieces })
    }

    pub fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        self.incoming.poll_readable(cx)
    }

    pub fn poll_writable(&self, cx: &Context<'_>) -> Poll<()> {
        self.outgoing.poll_writable(cx)
    }

    pub fn poll_read(&self, cx: &Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buf.remaining() > 0 {
            ready!(self.incoming.poll_readable(cx));
            let amount = self.amount(buf.remaining());
            self.incoming.take(|queue| {
                copy(queue.as_slices(), amount, buf);
                queue.drain(..amount);
            });
        }
        Poll::Ready(Ok(()))
    }

    /// As a read that leaves the bytes where they are.
    pub fn poll_peek(&self, cx: &Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(0));
        }
        ready!(self.incoming.poll_readable(cx));
        let amount = self.amount(buf.remaining());
        self.incoming.look(|queue| copy(queue.as_slices(), amount, buf));
        Poll::Ready(Ok(amount))
    }

    /// Reads what is there, without waiting.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        let amount = self.amount(buf.len());
        if amount == 0 && !self.incoming.is_finished() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
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
        Poll::Ready(self.write(buf))
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
        if self.outgoing.is_abandoned() || self.outgoing.is_finished() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let amount = self.outgoing.room().min(buf.len());
        self.outgoing.put(|queue| queue.extend(&buf[..amount]));
        Ok(amount)
    }

    /// How many of the bytes that are there a read gets.
    fn amount(&self, wanted: usize) -> usize {
        let there = self.incoming.look(|queue| queue.len()).min(wanted);
        if !self.in_pieces || there < 2 {
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

fn copy((first, second): (&[u8], &[u8]), amount: usize, buf: &mut ReadBuf<'_>) {
    let of_first = first.len().min(amount);
    buf.put_slice(&first[..of_first]);
    buf.put_slice(&second[..amount - of_first]);
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.outgoing.finish();
        self.incoming.abandon();
    }
}
