//! TCP.

mod halves;
mod listener;
mod stream;

pub use self::halves::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use self::listener::TcpListener;
pub use self::stream::TcpStream;
