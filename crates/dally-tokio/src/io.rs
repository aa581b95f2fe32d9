//! Traits and adapters of tokio itself; pipes, halves, standard input and output of our own.
//!
//! What tasks meet in is ours, so that there are scheduling points before its operations: [`duplex`] and
//! [`split`]. All else works on whatever it is given.

mod connection;
mod duplex;
mod interest;
mod split;
mod standard;

pub use tokio_real::io::*;

pub(crate) use self::connection::{Connection, Over};
pub use self::duplex::{DuplexStream, duplex};
pub use self::interest::{Interest, Ready};
pub(crate) use self::interest::{readiness, when_ready};
pub use self::split::{ReadHalf, WriteHalf, split};
pub use self::standard::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
