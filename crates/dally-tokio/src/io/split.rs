//! The two halves of a stream.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use dally_tasks::pipe::{Pipe, without_points};

use super::{AsyncRead, AsyncWrite, ReadBuf};

/// Splits a stream into a half that reads and one that writes.
///
/// The stream is locked while one of them polls it. Another task that stepped in there would wait for the
/// lock for ever, so the scheduling point is before the lock.
#[track_caller]
pub fn split<T: AsyncRead + AsyncWrite>(stream: T) -> (ReadHalf<T>, WriteHalf<T>) {
    let shared = Arc::new(Shared { stream: Mutex::new(stream), gate: Pipe::new("stream", 1) });
    (ReadHalf { shared: Arc::clone(&shared) }, WriteHalf { shared })
}

/// The half of [`split`] that reads.
pub struct ReadHalf<T> {
    shared: Arc<Shared<T>>,
}

/// The half of [`split`] that writes.
pub struct WriteHalf<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    stream: Mutex<T>,
    /// Always has room: to wait for it is the scheduling point.
    gate: Pipe<()>,
}

impl<T> Shared<T> {
    fn poll<R>(
        &self,
        cx: &mut Context<'_>,
        f: impl FnOnce(Pin<&mut T>, &mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        ready!(self.gate.poll_writable(cx));
        self.gate.put(|_| ());
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the stream is in an allocation that is shared by the two halves. It is moved out of it by
        // `unsplit` alone, which demands that it can be.
        #[allow(unsafe_code)]
        let pinned = unsafe { Pin::new_unchecked(&mut *stream) };
        without_points(|| f(pinned, cx))
    }
}

impl<T> ReadHalf<T> {
    /// Whether the other half is of the same stream.
    pub fn is_pair_of(&self, other: &WriteHalf<T>) -> bool {
        other.is_pair_of(self)
    }

    /// The stream again.
    ///
    /// # Panics
    /// If the other half is of another stream.
    #[track_caller]
    pub fn unsplit(self, other: WriteHalf<T>) -> T
    where
        T: Unpin,
    {
        assert!(
            self.is_pair_of(&other),
            "Unrelated `split::Write` passed to `split::Read::unsplit`."
        );
        drop(other);
        let Some(shared) = Arc::into_inner(self.shared) else {
            unreachable!("two halves share a stream, and the other one is gone")
        };
        shared.stream.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> WriteHalf<T> {
    /// Whether the other half is of the same stream.
    pub fn is_pair_of(&self, other: &ReadHalf<T>) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T: AsyncRead> AsyncRead for ReadHalf<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.shared.poll(cx, |stream, cx| stream.poll_read(cx, buf))
    }
}

impl<T: AsyncWrite> AsyncWrite for WriteHalf<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.shared.poll(cx, |stream, cx| stream.poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.poll(cx, |stream, cx| stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.poll(cx, |stream, cx| stream.poll_shutdown(cx))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.shared.poll(cx, |stream, cx| stream.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        let stream = self.shared.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream.is_write_vectored()
    }
}

impl<T: fmt::Debug> fmt::Debug for ReadHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("split::ReadHalf").finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for WriteHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("split::WriteHalf").finish()
    }
}
