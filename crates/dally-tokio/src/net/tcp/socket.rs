//! Sockets that are neither connected nor listen yet.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{TcpListener, TcpStream};
use crate::net::network;

/// A socket that is to connect or to listen.
#[derive(Debug)]
pub struct TcpSocket {
    is_v4: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bound: Option<SocketAddr>,
    nodelay: bool,
    reuseaddr: bool,
}

impl TcpSocket {
    /// A socket for addresses of IPv4.
    pub fn new_v4() -> io::Result<TcpSocket> {
        Ok(TcpSocket { is_v4: true, state: Mutex::default() })
    }

    /// A socket for addresses of IPv6.
    pub fn new_v6() -> io::Result<TcpSocket> {
        Ok(TcpSocket { is_v4: false, state: Mutex::default() })
    }

    /// Whether an address that was left can be taken at once, as was set. Here it always can.
    pub fn reuseaddr(&self) -> io::Result<bool> {
        Ok(self.state().reuseaddr)
    }

    /// Changes nothing but what [`TcpSocket::reuseaddr`] answers.
    pub fn set_reuseaddr(&self, reuseaddr: bool) -> io::Result<()> {
        self.state().reuseaddr = reuseaddr;
        Ok(())
    }

    /// As [`TcpStream::nodelay`].
    pub fn nodelay(&self) -> io::Result<bool> {
        Ok(self.state().nodelay)
    }

    /// As [`TcpStream::set_nodelay`].
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.state().nodelay = nodelay;
        Ok(())
    }

    /// Has no effect: nobody looks whether a peer that says nothing is still there.
    pub fn set_keepalive(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    /// Chooses the address that the socket connects from or listens at.
    pub fn bind(&self, at: SocketAddr) -> io::Result<()> {
        if at.is_ipv4() != self.is_v4 || self.state().bound.is_some() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.state().bound = Some(at);
        Ok(())
    }

    /// The address that was chosen.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let any = if self.is_v4 { [0; 4].into() } else { [0_u16; 8].into() };
        Ok(self.state().bound.unwrap_or(SocketAddr::new(any, 0)))
    }

    /// Connects to this address.
    pub async fn connect(self, to: SocketAddr) -> io::Result<TcpStream> {
        if to.is_ipv4() != self.is_v4 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (bound, nodelay) = (self.state().bound, self.state().nodelay);
        let stream = TcpStream::connect_from(&network::gate(), bound, to).await?;
        stream.set_nodelay(nodelay)?;
        Ok(stream)
    }

    /// Listens at the address that was chosen.
    #[track_caller]
    pub fn listen(self, _: u32) -> io::Result<TcpListener> {
        let (at, incoming) = network::listen(self.local_addr()?)?;
        Ok(TcpListener::new(at, incoming))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
