//! Sockets of Unix: in memory, by the path that names them. A path is free again when its socket is dropped.

mod credentials;
mod datagram;
mod listener;
mod stream;

use std::fmt;
use std::path::{Path, PathBuf};

pub use self::credentials::{UCred, gid_t, pid_t, uid_t};
pub use self::datagram::UnixDatagram;
pub use self::listener::UnixListener;
pub use self::stream::{
    OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, UnixStream, WriteHalf,
};

/// The path of a socket, if it has one.
#[derive(Clone)]
pub struct SocketAddr(Option<PathBuf>);

impl SocketAddr {
    /// Whether it has none.
    pub fn is_unnamed(&self) -> bool {
        self.0.is_none()
    }

    /// The path.
    pub fn as_pathname(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl fmt::Debug for SocketAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(path) => write!(f, "{path:?} (pathname)"),
            None => f.write_str("(unnamed)"),
        }
    }
}
