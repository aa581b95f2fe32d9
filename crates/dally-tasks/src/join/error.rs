//! Why a task has no result.

use std::any::Any;
use std::{fmt, io};

use crate::sync::Inner;
use crate::task::Id;

/// Why a task has no result: it was aborted, or it panicked.
pub struct JoinError {
    id: Id,
    why: Why,
}

enum Why {
    Cancelled,
    /// What the panic carried; the lock makes it shareable, as tokio's error is.
    Panic(Inner<Box<dyn Any + Send>>),
}

impl JoinError {
    pub(crate) fn cancelled(id: Id) -> JoinError {
        JoinError { id, why: Why::Cancelled }
    }

    pub(crate) fn panic(id: Id, payload: Box<dyn Any + Send>) -> JoinError {
        JoinError { id, why: Why::Panic(Inner::new(payload)) }
    }

    /// Whether the task was aborted.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.why, Why::Cancelled)
    }

    /// Whether the task panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.why, Why::Panic(_))
    }

    /// The payload of the panic.
    ///
    /// # Panics
    /// If the task was aborted.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(cancelled) => panic!("`JoinError` reason is not a panic: {cancelled}"),
        }
    }

    /// The payload of the panic, or the error itself.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, JoinError> {
        match self.why {
            Why::Panic(payload) => Ok(payload.into_inner()),
            Why::Cancelled => Err(self),
        }
    }

    /// The identity of the task.
    pub fn id(&self) -> Id {
        self.id
    }

    /// The message of the panic, if it is text.
    fn message(&self) -> Option<String> {
        let Why::Panic(payload) = &self.why else { return None };
        let payload = payload.lock();
        let text = payload.downcast_ref::<&'static str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_panic(), self.message()) {
            (false, _) => write!(f, "task {} was cancelled", self.id),
            (true, Some(text)) => write!(f, "task {} panicked with message {text:?}", self.id),
            (true, None) => write!(f, "task {} panicked", self.id),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_panic(), self.message()) {
            (false, _) => write!(f, "JoinError::Cancelled({:?})", self.id),
            (true, Some(text)) => write!(f, "JoinError::Panic({:?}, {text:?}, ...)", self.id),
            (true, None) => write!(f, "JoinError::Panic({:?}, ...)", self.id),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> io::Error {
        io::Error::other(if error.is_panic() { "task panicked" } else { "task was cancelled" })
    }
}
