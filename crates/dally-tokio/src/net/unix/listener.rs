//! Listening for connections.

use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll, ready};

use dally_tasks::hosts::Host;
use dally_tasks::pipe::Pipe;

use super::{SocketAddr, UnixStream};
use crate::io::Connection;
use crate::net::network::{self, Local};

/// A socket that listens for connections.
#[derive(Debug)]
pub struct UnixListener {
    host: Host,
    path: PathBuf,
    incoming: Pipe<(Connection, Option<PathBuf>)>,
}

impl UnixListener {
    /// Listens at a path that is free.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        let path = path.as_ref().to_owned();
        let incoming = Pipe::new("listener", network::BACKLOG);
        network::take_path(&path, Local::Listener(incoming.clone()))?;
        Ok(UnixListener { host: Host::here(), path, incoming })
    }

    /// Waits for the next connection.
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    /// As [`UnixListener::accept`].
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        ready!(self.incoming.poll_readable(cx));
        let Some((connection, from)) = self.incoming.take(|queue| queue.pop_front()) else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        let (own, peer) = (SocketAddr(Some(self.path.clone())), SocketAddr(from));
        Poll::Ready(Ok((UnixStream::new(connection, own, peer.clone()), peer)))
    }

    /// Where it listens.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(SocketAddr(Some(self.path.clone())))
    }

    /// An error that nobody has been told: there is none.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        Ok(None)
    }
}

impl Drop for UnixListener {
    fn drop(&mut self) {
        network::leave_path(self.host, &self.path);
        self.incoming.abandon();
    }
}
