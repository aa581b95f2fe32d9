//! Where tasks meet: channels, locks and notifications.

pub mod mpsc;
mod mutex;
mod notify;
pub mod oneshot;
mod queue;

pub use mutex::{Lock, LockOwned, Mutex, MutexGuard, OwnedMutexGuard, TryLockError};
pub use notify::{Notified, Notify};

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
    pub fn new(state: S) -> Inner<S> {
        Inner(spin::Mutex::new(state))
    }

    #[inline]
    pub fn lock(&self) -> spin::MutexGuard<'_, S> {
        self.0.lock()
    }
}
