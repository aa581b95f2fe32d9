//! A pair of pipes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{AsyncRead, AsyncWrite, Connection, Over, ReadBuf};

/// Two streams, each of which reads what the other writes; at most this many bytes wait in each direction.
#[track_caller]
pub fn duplex(max_buf_size: usize) -> (DuplexStream, DuplexStream) {
    let (one, other) = Connection::pair("pipe", max_buf_size, Over::Memory);
    (DuplexStream(one), DuplexStream(other))
}

/// One end of [`duplex`].
#[derive(Debug)]
pub struct DuplexStream(Connection);

impl AsyncRead for DuplexStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.poll_read(cx, buf)
    }
}

impl AsyncWrite for DuplexStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.finish();
        Poll::Ready(Ok(()))
    }
}
