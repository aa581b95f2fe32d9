//! Sockets that are neither connected nor listen yet.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{TcpListener, TcpStream};
use crate::net::network;

/// A socket that is to connect or to listen.
#[derive(Debug)]
pub struct TcpSocket {
    is_v4: bool,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    bound: Option<SocketAddr>,
    /// It was one of the system that was connected already.
    connected: bool,
    options: Options,
}

/// Options that are kept, and that nothing depends on in memory.
macro_rules! kept_options {
    ($($option:ident, $set:ident: $type:ty;)*) => {
        #[derive(Clone, Copy, Debug, Default)]
        struct Options {
            linger: Option<Duration>,
            $($option: $type,)*
        }

        impl TcpSocket {
            $(
                #[doc = concat!("What [`TcpSocket::", stringify!($set), "`] has set.")]
                pub fn $option(&self) -> io::Result<$type> {
                    Ok(self.state().options.$option)
                }

                #[doc = concat!("Changes nothing but what [`TcpSocket::", stringify!($option), "`] answers.")]
                pub fn $set(&self, $option: $type) -> io::Result<()> {
                    self.state().options.$option = $option;
                    Ok(())
                }
            )*
        }
    };
}

kept_options! {
    keepalive, set_keepalive: bool;
    nodelay, set_nodelay: bool;
    recv_buffer_size, set_recv_buffer_size: u32;
    reuseaddr, set_reuseaddr: bool;
    reuseport, set_reuseport: bool;
    send_buffer_size, set_send_buffer_size: u32;
    tclass_v6, set_tclass_v6: u32;
    tos_v4, set_tos_v4: u32;
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

    /// A socket with the address of one of the system, which is closed. If that was bound to a port, the network in memory
    /// chooses another, because the system's would differ from run to run.
    pub fn from_std_stream(stream: std::net::TcpStream) -> TcpSocket {
        let bound = stream.local_addr().ok();
        let is_v4 = bound.is_none_or(|at| at.is_ipv4());
        let chosen = bound.filter(|at| at.port() != 0 || !at.ip().is_unspecified());
        let state = State {
            bound: chosen.map(|at| SocketAddr::new(at.ip(), 0)),
            connected: stream.peer_addr().is_ok(),
            options: Options { nodelay: stream.nodelay().unwrap_or(false), ..Options::default() },
        };
        TcpSocket { is_v4, state: Mutex::new(state) }
    }

    /// How long closing waits: see [`TcpStream::linger`].
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        Ok(self.state().options.linger)
    }

    /// As [`TcpStream::set_linger`].
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.state().options.linger = linger;
        Ok(())
    }

    /// As [`TcpStream::set_zero_linger`].
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }

    /// An error that nobody has been told: there is none.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        Ok(None)
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
        let State { bound, connected, options } = *self.state();
        if connected {
            // As Linux says it.
            return Err(io::Error::from_raw_os_error(106));
        }
        let stream = TcpStream::connect_from(&network::gate(), bound, to).await?;
        stream.set_nodelay(options.nodelay)?;
        stream.set_linger(options.linger)?;
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
