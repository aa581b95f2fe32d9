//! Where tasks meet: channels, locks and notifications.

pub mod mpsc;
mod mutex;
mod notify;
pub mod oneshot;
mod queue;

pub use mutex::{Lock, LockOwned, Mutex, MutexGuard, OwnedMutexGuard, TryLockError};
pub use notify::{Notified, Notify};

use std::sync::{Mutex as Plain, MutexGuard as PlainGuard, PoisonError};

/// The state of a primitive. One thread uses it at a time and no code of the program runs under
/// it, so the mutex never waits: it is there because handles are `Send` and `Sync`, as tokio's.
#[derive(Debug)]
struct Inner<S>(Plain<S>);

impl<S> Inner<S> {
    fn new(state: S) -> Inner<S> {
        Inner(Plain::new(state))
    }

    fn lock(&self) -> PlainGuard<'_, S> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
