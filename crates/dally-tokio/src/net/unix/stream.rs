//! Connections.

use std::future::{Future, poll_fn};
use std::io;
use std::path::Path;
use std::task::{Context, Poll};

use super::{SocketAddr, UCred};
use crate::io::{Connection, Over};
use crate::net::halves::stream;
use crate::net::network::{self, Local};

/// How many bytes are on their way in each direction at most.
const WINDOW: usize = 64 * 1024;

/// A connection between two sockets of a host.
pub struct UnixStream {
    connection: Connection,
    local: SocketAddr,
    peer: SocketAddr,
}

impl UnixStream {
    pub(super) fn new(connection: Connection, local: SocketAddr, peer: SocketAddr) -> UnixStream {
        UnixStream { connection, local, peer }
    }

    /// Connects to the socket that listens at this path.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<UnixStream>> {
        let gate = network::gate();
        async move {
            let path = path.as_ref();
            poll_fn(|cx| gate.poll_writable(cx)).await;
            let Local::Listener(listener) = network::at_path(path)? else {
                // As Linux says it.
                return Err(io::Error::from_raw_os_error(91));
            };
            poll_fn(|cx| listener.poll_writable(cx)).await;
            if listener.is_abandoned() {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let (near, far) = Connection::pair("connection", WINDOW, Over::Socket);
            listener.put(|queue| queue.push_back((far, None)));
            Ok(UnixStream::new(near, SocketAddr(None), SocketAddr(Some(path.to_owned()))))
        }
    }

    /// Whose process is at the other end.
    pub fn peer_cred(&self) -> io::Result<UCred> {
        Ok(UCred::of_the_test())
    }

    /// Two streams that are connected.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = Connection::pair("connection", WINDOW, Over::Socket);
        let unnamed = |end| UnixStream::new(end, SocketAddr(None), SocketAddr(None));
        Ok((unnamed(one), unnamed(other)))
    }
}

stream!(UnixStream: SocketAddr);
