//! A socket of the system beside one in memory, for who sets options by its number.

use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::OnceLock;

use super::TcpStream;

/// A socket that takes the options of TCP and is connected to nobody: made when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Descriptor(OnceLock<TcpListener>);

impl Descriptor {
    fn get(&self) -> &TcpListener {
        self.0.get_or_init(|| {
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
                .expect("the system has a socket for the options of one in memory")
        })
    }
}

/// A socket of the system that takes options, such as those of `socket2`, and is connected to nobody.
impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.get().as_fd()
    }
}

/// As [`AsFd`].
impl AsRawFd for TcpStream {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.get().as_raw_fd()
    }
}
