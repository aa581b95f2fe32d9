//! What goes wrong with time.

use std::fmt;
use std::io;

/// The time given was not enough.
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed(pub(super) ());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> io::Error {
        io::Error::new(io::ErrorKind::TimedOut, elapsed)
    }
}

/// An error of a timer, in the shape of tokio's. No operation gives one.
#[derive(Debug, Clone, Copy)]
pub struct Error(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shutdown,
    AtCapacity,
    Invalid,
}

impl Error {
    /// The timers are shut down.
    pub fn shutdown() -> Error {
        Error(Kind::Shutdown)
    }

    /// Whether the timers are shut down.
    pub fn is_shutdown(&self) -> bool {
        self.0 == Kind::Shutdown
    }

    /// There are too many timers.
    pub fn at_capacity() -> Error {
        Error(Kind::AtCapacity)
    }

    /// Whether there are too many timers.
    pub fn is_at_capacity(&self) -> bool {
        self.0 == Kind::AtCapacity
    }

    /// The timer is wrongly configured.
    pub fn invalid() -> Error {
        Error(Kind::Invalid)
    }

    /// Whether the timer is wrongly configured.
    pub fn is_invalid(&self) -> bool {
        self.0 == Kind::Invalid
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Shutdown => "the timers are shut down",
            Kind::AtCapacity => "there are too many timers",
            Kind::Invalid => "the timer duration exceeds the maximum duration",
        })
    }
}

impl std::error::Error for Error {}
