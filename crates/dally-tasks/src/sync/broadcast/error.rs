//! Why something was not sent or not received.

use std::error::Error;
use std::fmt;

/// There is no receiver; here is the value back.
#[derive(Debug)]
pub struct SendError<T>(pub T);

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl<T: fmt::Debug> Error for SendError<T> {}

/// Why there is no next value.
#[derive(Debug, PartialEq, Eq, Clone)]
pub enum RecvError {
    /// There is none, and no sender.
    Closed,
    /// So many were missed; the next one is the oldest that is kept.
    Lagged(u64),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Closed => f.write_str("channel closed"),
            RecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl Error for RecvError {}

/// Why there is no next value now.
#[derive(Debug, PartialEq, Eq, Clone)]
pub enum TryRecvError {
    /// Nothing is there yet.
    Empty,
    /// There is none, and no sender.
    Closed,
    /// So many were missed; the next one is the oldest that is kept.
    Lagged(u64),
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("channel empty"),
            TryRecvError::Closed => f.write_str("channel closed"),
            TryRecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl Error for TryRecvError {}
