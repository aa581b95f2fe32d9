//! Where tasks meet: channels, locks and notifications.

mod barrier;
pub(crate) mod bound;
pub mod broadcast;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod permits;
mod queue;
mod rwlock;
mod semaphore;
mod set_once;
mod until;
pub mod watch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{
    Lock, LockOwned, MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard,
    TryLockError,
};
pub use notify::{Notified, Notify, OwnedNotified};
pub use once_cell::{OnceCell, SetError};
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
pub use set_once::{SetOnce, SetOnceError};

/// The futures of this module that have names.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}

use std::panic::{RefUnwindSafe, UnwindSafe};

/// The state of a primitive. One thread uses it at a time and no code of the program runs under
/// it, so the lock never waits: it is there because handles are `Send` and `Sync`, as tokio's.
/// A spin lock that never spins is the cheapest there is.
#[derive(Debug)]
pub(crate) struct Inner<S>(spin::Mutex<S>);

// As with a lock of the standard library: whoever unwinds leaves no state half changed.
impl<S> RefUnwindSafe for Inner<S> {}
impl<S> UnwindSafe for Inner<S> {}

impl<S> Inner<S> {
    pub const fn new(state: S) -> Inner<S> {
        Inner(spin::Mutex::new(state))
    }

    pub fn into_inner(self) -> S {
        self.0.into_inner()
    }

    #[inline]
    pub fn lock(&self) -> spin::MutexGuard<'_, S> {
        self.0.lock()
    }
}
