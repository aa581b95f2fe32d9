//! Sockets in memory: those of one execution reach each other and nothing else.
//!
//! They are on the hosts that the test has started (`dally::tasks::hosts`); without any, every address is of the one host
//! that the test runs on. Bytes arrive in order, and a read may get all that is there, half of it or one byte,
//! by choice of the search. Connections are refused, lost and reset, and datagrams are lost, duplicated and late,
//! within the budget of faults.

mod address;
mod halves;
mod network;
pub mod tcp;
mod udp;
#[cfg(unix)]
pub mod unix;

pub use self::address::{ToSocketAddrs, lookup_host};
pub use self::tcp::{TcpListener, TcpSocket, TcpStream};
pub use self::udp::UdpSocket;
#[cfg(unix)]
pub use self::unix::{UnixDatagram, UnixListener, UnixStream};
