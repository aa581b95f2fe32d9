//! The halves of a stream, of TCP and of Unix.

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::io::{AsyncRead, AsyncWrite, Connection, Interest, ReadBuf, Ready};

/// A stream that has halves.
pub trait Stream: Sealed {
    /// The addresses of its ends.
    type Address;

    /// The address of this end.
    fn local_addr(&self) -> io::Result<Self::Address>;

    /// The address of the other end.
    fn peer_addr(&self) -> io::Result<Self::Address>;
}

pub(super) mod sealed {
    use super::Connection;

    pub trait Sealed {
        fn connection(&self) -> &Connection;
    }
}

use self::sealed::Sealed;

/// The half that reads of a stream that was split for a while.
#[derive(Debug)]
pub struct ReadHalf<'a, S>(&'a S);

/// The half that writes of a stream that was split for a while.
#[derive(Debug)]
pub struct WriteHalf<'a, S>(&'a S);

/// The half that reads of a stream that was split for good.
#[derive(Debug)]
pub struct OwnedReadHalf<S: Stream>(Arc<S>);

/// The half that writes of a stream that was split for good. Dropped, it ends what the other side reads.
#[derive(Debug)]
pub struct OwnedWriteHalf<S: Stream> {
    stream: Arc<S>,
    finish_on_drop: bool,
}

pub(super) fn split<S>(stream: &S) -> (ReadHalf<'_, S>, WriteHalf<'_, S>) {
    (ReadHalf(stream), WriteHalf(stream))
}

pub(super) fn into_split<S: Stream>(stream: S) -> (OwnedReadHalf<S>, OwnedWriteHalf<S>) {
    let stream = Arc::new(stream);
    (OwnedReadHalf(Arc::clone(&stream)), OwnedWriteHalf { stream, finish_on_drop: true })
}

impl<S: Stream> OwnedReadHalf<S> {
    /// The stream again, if the other half is of the same.
    pub fn reunite(self, other: OwnedWriteHalf<S>) -> Result<S, ReuniteError<S>> {
        if !Arc::ptr_eq(&self.0, &other.stream) {
            return Err(ReuniteError(self, other));
        }
        other.forget();
        let Some(stream) = Arc::into_inner(self.0) else {
            unreachable!("two halves share a stream, and the other one is gone")
        };
        Ok(stream)
    }
}

impl<S: Stream> OwnedWriteHalf<S> {
    /// As [`OwnedReadHalf::reunite`].
    pub fn reunite(self, other: OwnedReadHalf<S>) -> Result<S, ReuniteError<S>> {
        other.reunite(self)
    }

    /// Drops the half without ending what the other side reads.
    pub fn forget(mut self) {
        self.finish_on_drop = false;
    }
}

impl<S: Stream> Drop for OwnedWriteHalf<S> {
    fn drop(&mut self) {
        if self.finish_on_drop {
            self.stream.connection().finish();
        }
    }
}

/// The halves of two streams, which are none.
#[derive(Debug)]
pub struct ReuniteError<S: Stream>(pub OwnedReadHalf<S>, pub OwnedWriteHalf<S>);

impl<S: Stream> fmt::Display for ReuniteError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tried to reunite halves that are not from the same socket")
    }
}

impl<S: Stream + fmt::Debug> Error for ReuniteError<S> {}

macro_rules! reads {
    ($($type:ty),*) => {$(
        impl<S: Stream> $type {
            /// Reads without taking the bytes away.
            pub fn poll_peek(
                &mut self,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<usize>> {
                self.0.connection().poll_peek(cx, buf)
            }

            /// As [`Self::poll_peek`].
            pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.0.connection().peek(buf).await
            }

            /// Waits until any of these can be done, and answers what can.
            pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
                self.0.connection().ready(interest).await
            }

            /// Waits until something can be read.
            pub async fn readable(&self) -> io::Result<()> {
                self.0.connection().readable().await
            }

            /// Reads what is there, or says that it would have to wait.
            pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.0.connection().try_read(buf)
            }

            /// As [`Self::try_read`], into several buffers.
            pub fn try_read_vectored(&self, bufs: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
                self.0.connection().try_read_vectored(bufs)
            }

            /// The address of the other end.
            pub fn peer_addr(&self) -> io::Result<S::Address> {
                self.0.peer_addr()
            }

            /// The address of this end.
            pub fn local_addr(&self) -> io::Result<S::Address> {
                self.0.local_addr()
            }
        }

        impl<S: Stream> AsyncRead for $type {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                self.0.connection().poll_read(cx, buf)
            }
        }

        impl<S: Stream> AsRef<S> for $type {
            fn as_ref(&self) -> &S {
                &self.0
            }
        }
    )*};
}

reads!(ReadHalf<'_, S>, OwnedReadHalf<S>);

macro_rules! writes {
    ($($type:ty),*) => {$(
        impl<S: Stream> $type {
            /// Waits until any of these can be done, and answers what can.
            pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
                self.as_ref().connection().ready(interest).await
            }

            /// Waits until something can be written.
            pub async fn writable(&self) -> io::Result<()> {
                self.as_ref().connection().writable().await
            }

            /// Writes what there is room for, or says that it would have to wait.
            pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
                self.as_ref().connection().try_write(buf)
            }

            /// As [`Self::try_write`], of several buffers.
            pub fn try_write_vectored(&self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
                self.as_ref().connection().try_write_vectored(bufs)
            }

            /// The address of the other end.
            pub fn peer_addr(&self) -> io::Result<S::Address> {
                self.as_ref().peer_addr()
            }

            /// The address of this end.
            pub fn local_addr(&self) -> io::Result<S::Address> {
                self.as_ref().local_addr()
            }
        }

        impl<S: Stream> AsyncWrite for $type {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                (*self).as_ref().connection().poll_write(cx, buf)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                (*self).as_ref().connection().finish();
                Poll::Ready(Ok(()))
            }
        }
    )*};
}

writes!(WriteHalf<'_, S>, OwnedWriteHalf<S>);

impl<S> AsRef<S> for WriteHalf<'_, S> {
    fn as_ref(&self) -> &S {
        self.0
    }
}

impl<S: Stream> AsRef<S> for OwnedWriteHalf<S> {
    fn as_ref(&self) -> &S {
        &self.stream
    }
}

/// What every stream over a connection has: methods in the shape of tokio's.
macro_rules! stream {
    ($stream:ident: $address:ty) => {
        impl $stream {
            /// Reads what is there, or says that it would have to wait.
            pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.connection.try_read(buf)
            }

            /// As [`Self::try_read`], into several buffers.
            pub fn try_read_vectored(&self, bufs: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
                self.connection.try_read_vectored(bufs)
            }

            /// Writes what there is room for, or says that it would have to wait.
            pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
                self.connection.try_write(buf)
            }

            /// As [`Self::try_write`], of several buffers.
            pub fn try_write_vectored(&self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
                self.connection.try_write_vectored(bufs)
            }

            /// As [`Self::readable`].
            pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.connection.poll_readable(cx).map(Ok)
            }

            /// As [`Self::writable`].
            pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.connection.poll_writable(cx).map(Ok)
            }

            fn readiness(&self) -> crate::io::Ready {
                self.connection.readiness()
            }

            /// An error that nobody has been told: there is none.
            pub fn take_error(&self) -> io::Result<Option<io::Error>> {
                Ok(None)
            }

            /// The address of this end.
            pub fn local_addr(&self) -> io::Result<$address> {
                Ok(self.local.clone())
            }

            /// The address of the other end.
            pub fn peer_addr(&self) -> io::Result<$address> {
                Ok(self.peer.clone())
            }

            /// Two halves that borrow the stream.
            pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
                crate::net::halves::split(self)
            }

            /// Two halves that own the stream. Dropping the one that writes ends what the other side reads.
            pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
                crate::net::halves::into_split(self)
            }
        }

        crate::io::readiness!($stream);

        /// The half of a split stream that reads.
        pub type ReadHalf<'a> = crate::net::halves::ReadHalf<'a, $stream>;
        /// The half of a split stream that writes.
        pub type WriteHalf<'a> = crate::net::halves::WriteHalf<'a, $stream>;
        /// The half that reads of a stream that was split for good.
        pub type OwnedReadHalf = crate::net::halves::OwnedReadHalf<$stream>;
        /// The half that writes of a stream that was split for good. Dropped, it ends what the other side reads.
        pub type OwnedWriteHalf = crate::net::halves::OwnedWriteHalf<$stream>;
        /// The halves of two streams, which are none.
        pub type ReuniteError = crate::net::halves::ReuniteError<$stream>;

        impl crate::net::halves::sealed::Sealed for $stream {
            fn connection(&self) -> &Connection {
                &self.connection
            }
        }

        impl crate::net::halves::Stream for $stream {
            type Address = $address;

            fn local_addr(&self) -> io::Result<$address> {
                self.local_addr()
            }

            fn peer_addr(&self) -> io::Result<$address> {
                self.peer_addr()
            }
        }

        impl crate::io::AsyncRead for $stream {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                self.connection.poll_read(cx, buf)
            }
        }

        impl crate::io::AsyncWrite for $stream {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.connection.poll_write(cx, buf)
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<io::Result<()>> {
                self.connection.finish();
                Poll::Ready(Ok(()))
            }
        }

        impl AsRef<$stream> for $stream {
            fn as_ref(&self) -> &$stream {
                self
            }
        }

        /// Its ends.
        impl std::fmt::Debug for $stream {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($stream))
                    .field("local", &self.local)
                    .field("peer", &self.peer)
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(super) use stream;
