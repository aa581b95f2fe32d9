//! A value that is made once, in the shape of `tokio::sync::OnceCell`.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::OnceLock;

use super::semaphore::{Semaphore, SemaphorePermit, TryAcquireError};

/// A value that is made once, by the first who wants it.
pub struct OnceCell<T> {
    /// What it was made with, or what it was given later.
    given: Option<T>,
    value: OnceLock<T>,
    /// One permit for whoever makes the value; closed when it is there.
    making: Semaphore,
}

impl<T> OnceCell<T> {
    /// A cell without a value.
    #[track_caller]
    pub fn new() -> OnceCell<T> {
        OnceCell { given: None, value: OnceLock::new(), making: Semaphore::new(1) }
    }

    /// As [`OnceCell::new`], for statics.
    pub const fn const_new() -> OnceCell<T> {
        OnceCell { given: None, value: OnceLock::new(), making: Semaphore::const_new(1) }
    }

    /// A cell with this value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> OnceCell<T> {
        OnceCell { given: value, ..OnceCell::new() }
    }

    /// A cell with this value, for statics.
    pub const fn const_new_with(value: T) -> OnceCell<T> {
        let making = Semaphore::const_new(1);
        OnceCell { given: Some(value), value: OnceLock::new(), making }
    }

    /// Whether it has a value.
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// The value, if it has one.
    pub fn get(&self) -> Option<&T> {
        self.making.is_closed();
        self.there()
    }

    /// The value, if it has one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.given.as_mut().or(self.value.get_mut())
    }

    /// Gives it this value, unless it has one or somebody makes one.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        if self.initialized() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.making.try_acquire() {
            Ok(permit) => {
                self.put(value, permit);
                Ok(())
            }
            Err(TryAcquireError::NoPermits) => Err(SetError::InitializingError(value)),
            Err(TryAcquireError::Closed) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    /// The value; whoever is first makes it, and the others wait. If the maker is dropped or panics, the next
    /// one makes it.
    #[track_caller]
    pub fn get_or_init<F, Fut>(&self, f: F) -> impl Future<Output = &T>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        let permit = self.making.acquire();
        async move {
            if let Some(value) = self.get() {
                return value;
            }
            match permit.await {
                Ok(permit) => self.put(f().await, permit),
                Err(_) => self.there().expect(THERE),
            }
        }
    }

    /// As [`OnceCell::get_or_init`], where to make it can fail: then the next one tries.
    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, f: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let permit = self.making.acquire();
        async move {
            if let Some(value) = self.get() {
                return Ok(value);
            }
            match permit.await {
                Ok(permit) => Ok(self.put(f().await?, permit)),
                Err(_) => Ok(self.there().expect(THERE)),
            }
        }
    }

    /// The value without the cell.
    pub fn into_inner(self) -> Option<T> {
        self.given.or(self.value.into_inner())
    }

    /// Takes the value out of it.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }

    fn there(&self) -> Option<&T> {
        self.given.as_ref().or(self.value.get())
    }

    fn put(&self, value: T, permit: SemaphorePermit<'_>) -> &T {
        let value = self.value.get_or_init(|| value);
        self.making.close();
        permit.forget();
        value
    }
}

const THERE: &str = "whoever closes it has put the value there";

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> OnceCell<T> {
        OnceCell::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").field("value", &self.get()).finish()
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> OnceCell<T> {
        OnceCell::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &OnceCell<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> OnceCell<T> {
        OnceCell::new_with(Some(value))
    }
}

/// Why a value was not set; here it is back.
#[derive(Debug, PartialEq, Eq)]
pub enum SetError<T> {
    /// The cell has a value.
    AlreadyInitializedError(T),
    /// Somebody makes one.
    InitializingError(T),
}

impl<T> SetError<T> {
    /// Whether the cell has a value.
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, SetError::AlreadyInitializedError(_))
    }

    /// Whether somebody makes one.
    pub fn is_initializing_err(&self) -> bool {
        matches!(self, SetError::InitializingError(_))
    }
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetError::AlreadyInitializedError(_) => "AlreadyInitializedError",
            SetError::InitializingError(_) => "InitializingError",
        })
    }
}

impl<T: fmt::Debug> Error for SetError<T> {}
