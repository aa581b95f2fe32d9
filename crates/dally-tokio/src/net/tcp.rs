//! TCP.

#[cfg(unix)]
mod descriptor;
mod listener;
mod socket;
mod stream;

pub use self::listener::TcpListener;
pub use self::socket::TcpSocket;
pub use self::stream::{
    OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, TcpStream, WriteHalf,
};
