//! The halves of a connection.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::TcpStream;
use crate::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The half of [`TcpStream::split`] that reads.
#[derive(Debug)]
pub struct ReadHalf<'a>(&'a TcpStream);

/// The half of [`TcpStream::split`] that writes.
#[derive(Debug)]
pub struct WriteHalf<'a>(&'a TcpStream);

/// The half of [`TcpStream::into_split`] that reads.
#[derive(Debug)]
pub struct OwnedReadHalf(Arc<TcpStream>);

/// The half of [`TcpStream::into_split`] that writes. Dropped, it ends what the other side reads.
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: Arc<TcpStream>,
    finish_on_drop: bool,
}

pub(super) fn split(stream: &TcpStream) -> (ReadHalf<'_>, WriteHalf<'_>) {
    (ReadHalf(stream), WriteHalf(stream))
}

pub(super) fn into_split(stream: TcpStream) -> (OwnedReadHalf, OwnedWriteHalf) {
    let stream = Arc::new(stream);
    (OwnedReadHalf(Arc::clone(&stream)), OwnedWriteHalf { stream, finish_on_drop: true })
}

impl OwnedReadHalf {
    /// The stream again, if the other half is of the same.
    pub fn reunite(self, other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
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

impl OwnedWriteHalf {
    /// As [`OwnedReadHalf::reunite`].
    pub fn reunite(self, other: OwnedReadHalf) -> Result<TcpStream, ReuniteError> {
        other.reunite(self)
    }

    /// Drops the half without ending what the other side reads.
    pub fn forget(mut self) {
        self.finish_on_drop = false;
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.finish_on_drop {
            self.stream.finish();
        }
    }
}

/// The halves of two streams, which are none.
#[derive(Debug)]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

impl fmt::Display for ReuniteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tried to reunite halves that are not from the same socket")
    }
}

impl Error for ReuniteError {}

macro_rules! reads {
    ($($type:ty),*) => {$(
        impl $type {
            /// As [`TcpStream::poll_peek`].
            pub fn poll_peek(
                &mut self,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<usize>> {
                self.0.poll_peek(cx, buf)
            }

            /// As [`TcpStream::peek`].
            pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.0.peek(buf).await
            }

            /// As [`TcpStream::readable`].
            pub async fn readable(&self) -> io::Result<()> {
                self.0.readable().await
            }

            /// As [`TcpStream::try_read`].
            pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.0.try_read(buf)
            }

            /// As [`TcpStream::peer_addr`].
            pub fn peer_addr(&self) -> io::Result<SocketAddr> {
                self.0.peer_addr()
            }

            /// As [`TcpStream::local_addr`].
            pub fn local_addr(&self) -> io::Result<SocketAddr> {
                self.0.local_addr()
            }
        }

        impl AsyncRead for $type {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                self.0.read(cx, buf)
            }
        }

        impl AsRef<TcpStream> for $type {
            fn as_ref(&self) -> &TcpStream {
                &self.0
            }
        }
    )*};
}

reads!(ReadHalf<'_>, OwnedReadHalf);

macro_rules! writes {
    ($($type:ty),*) => {$(
        impl $type {
            /// As [`TcpStream::writable`].
            pub async fn writable(&self) -> io::Result<()> {
                self.as_ref().writable().await
            }

            /// As [`TcpStream::try_write`].
            pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
                self.as_ref().try_write(buf)
            }

            /// As [`TcpStream::peer_addr`].
            pub fn peer_addr(&self) -> io::Result<SocketAddr> {
                self.as_ref().peer_addr()
            }

            /// As [`TcpStream::local_addr`].
            pub fn local_addr(&self) -> io::Result<SocketAddr> {
                self.as_ref().local_addr()
            }
        }

        impl AsyncWrite for $type {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                (*self).as_ref().write(cx, buf)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                (*self).as_ref().finish();
                Poll::Ready(Ok(()))
            }
        }
    )*};
}

writes!(WriteHalf<'_>, OwnedWriteHalf);

impl AsRef<TcpStream> for WriteHalf<'_> {
    fn as_ref(&self) -> &TcpStream {
        self.0
    }
}

impl AsRef<TcpStream> for OwnedWriteHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.stream
    }
}
