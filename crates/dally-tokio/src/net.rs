//! Sockets in memory: those of one execution reach each other and nothing else.
//!
//! Every address is of this one host. Bytes arrive in order, and a read may get all that is there, half of it or
//! one byte, by choice of the search. Nothing is lost or reset.

mod address;
mod network;
pub mod tcp;

pub use self::address::{ToSocketAddrs, lookup_host};
pub use self::tcp::{TcpListener, TcpStream};
