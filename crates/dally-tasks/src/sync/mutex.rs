//! A lock that can be held across awaits.

// Values that are unsized, and guards of a part of a value, need a value that stays in its place while a guard
// points to it.
#![allow(unsafe_code)]

mod guards;

use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

pub use self::guards::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use super::bound::Bound;
use super::queue::{Queue, Turn};
use crate::current;
use crate::task;
use crate::text::{Kind, Operation, Wait};
use crate::waker::rouse;

const LOCK: &Operation = &Operation::plain("lock");

/// A lock in the shape of `tokio::sync::Mutex`: first come, first served.
pub struct Mutex<T: ?Sized> {
    lock: Bound<State>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through a guard or by whoever owns the lock, and there is one guard at a time:
// `held` says so, under the lock of the state. So to share the lock is to send the value.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> std::panic::UnwindSafe for Mutex<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for Mutex<T> {}

struct State {
    /// There is a guard, or a waiter's turn has come.
    held: bool,
    queue: Queue,
}

impl State {
    const fn new() -> State {
        State { held: false, queue: Queue::new() }
    }
}

impl<T> Mutex<T> {
    /// A lock around `value`.
    #[track_caller]
    pub fn new(value: T) -> Mutex<T> {
        Mutex { lock: Bound::new(Kind::Mutex, State::new()), value: UnsafeCell::new(value) }
    }

    /// As [`Mutex::new`], for statics.
    pub const fn const_new(value: T) -> Mutex<T> {
        Mutex { lock: Bound::late(Kind::Mutex, State::new()), value: UnsafeCell::new(value) }
    }

    /// The value without the lock.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks, waiting for those who came earlier.
    #[track_caller]
    pub fn lock(&self) -> Lock<'_, T> {
        Lock { acquire: Acquire::new(self) }
    }

    /// As [`Mutex::lock`], with a guard that keeps the lock alive by itself.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> LockOwned<T> {
        LockOwned { acquire: Acquire::new(self) }
    }

    /// As [`Mutex::lock`], blocking the thread.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        task::block("`Mutex::blocking_lock`", self.lock())
    }

    /// As [`Mutex::lock_owned`], blocking the thread.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        task::block("`Mutex::blocking_lock_owned`", self.lock_owned())
    }

    /// Locks if that is possible at once.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        self.lock.try_take()?;
        Ok(MutexGuard::of(self))
    }

    /// As [`Mutex::try_lock`], with a guard that keeps the lock alive by itself.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        self.lock.try_take()?;
        Ok(OwnedMutexGuard::of(self))
    }

    /// The value, which nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl Bound<State> {
    #[track_caller]
    fn try_take(&self) -> Result<(), TryLockError> {
        self.point();
        self.with(Location::caller(), |exec, state, object| {
            // Failing looks at the lock as well, and orders this step with the holder's.
            let operation =
                if state.held { const { &Operation::plain("fail to lock") } } else { LOCK };
            exec.touch(object, Mode::ReadModifyWrite, operation);
            if state.held {
                return Err(TryLockError(()));
            }
            state.held = true;
            exec.locks(object);
            Ok(())
        })
    }

    /// Passes the lock on, or opens it.
    fn release(&self) {
        self.point();
        self.pass_on(const { &Operation::plain("unlock") });
    }

    fn pass_on(&self, operation: &'static Operation) {
        let open = |state: &mut State| {
            let next = state.queue.grant();
            state.held = next.is_some();
            next
        };
        let next = self.settle_held(open, |state| usize::from(state.held), operation);
        if let Some(waker) = next.flatten() {
            rouse(waker);
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    /// Shows the value if nobody has locked it or is about to.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Shown<'a>(&'a Bound<State>);
        impl Drop for Shown<'_> {
            fn drop(&mut self) {
                self.0.pass_on(Operation::SILENT);
            }
        }
        let take = |state: &mut State| std::mem::replace(&mut state.held, true);
        if self.lock.settle(take, Operation::SILENT, Mode::Read) {
            return f.debug_struct("Mutex").field("data", &format_args!("<locked>")).finish();
        }
        let _shown = Shown(&self.lock);
        // SAFETY: `held` was false and is true until this is shown, so nobody else reaches the value.
        let value = unsafe { &*self.value.get() };
        f.debug_struct("Mutex").field("data", &value).finish()
    }
}

/// The lock is held by somebody else.
#[derive(Debug)]
pub struct TryLockError(pub(super) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl std::error::Error for TryLockError {}

/// The way to a lock, whoever keeps the lock alive.
struct Acquire<L: Deref<Target = Mutex<T>>, T: ?Sized> {
    /// Absent once the guard has it.
    lock: Option<L>,
    attempt: Attempt,
}

/// How far somebody is on the way to a lock.
struct Attempt {
    ticket: Option<u64>,
    at: &'static Location<'static>,
}

impl<L: Deref<Target = Mutex<T>>, T: ?Sized> Acquire<L, T> {
    #[track_caller]
    fn new(lock: L) -> Acquire<L, T> {
        let attempt = Attempt { ticket: None, at: Location::caller() };
        Acquire { lock: Some(lock), attempt }
    }

    #[inline(always)]
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<L> {
        // To take may unwind, and the destructor then needs the lock to leave its queue.
        let taken = match &self.lock {
            Some(lock) => self.attempt.take(&lock.lock, cx),
            None => panic!("`Mutex::lock` was polled after it had given its guard"),
        };
        let Poll::Ready(()) = taken else { return Poll::Pending };
        match self.lock.take() {
            Some(lock) => Poll::Ready(lock),
            None => Poll::Pending,
        }
    }
}

impl Attempt {
    #[inline(always)]
    fn take(&mut self, lock: &Bound<State>, cx: &mut Context<'_>) -> Poll<()> {
        current::attempt(cx, |passed| self.try_take(lock, cx.waker(), passed))
    }

    /// As [`current::attempt`] wants it.
    fn try_take(&mut self, lock: &Bound<State>, waker: &Waker, passed: bool) -> Option<Poll<()>> {
        let mut old = None;
        let taken = lock.with(self.at, |exec, state, object| {
            let next = Access::update(Resource::Object(object.id));
            // Coming to wait has an effect, the place in the queue, so there is a point before it
            // whether or not the lock is held.
            if !passed
                && self.ticket.is_none_or(|ticket| state.queue.is_over(ticket))
                && exec.stands_before(waker, self.ticket.is_some(), Some(next))
            {
                return None;
            }
            let turn = match self.ticket {
                Some(ticket) => {
                    let (turn, replaced) = state.queue.ask(ticket, Some(waker));
                    old = replaced;
                    if turn == Turn::NotYet {
                        exec.touch_silently(object, Mode::Read);
                    }
                    turn
                }
                None if state.held => {
                    self.ticket = Some(state.queue.push(Some(waker.clone())));
                    // Its place in the queue depends on who came before.
                    exec.touch_silently(object, Mode::ReadModifyWrite);
                    Turn::NotYet
                }
                None => Turn::Granted,
            };
            if turn == Turn::NotYet {
                let (operation, at) = (LOCK, self.at);
                let wait = Wait { object: *object, operation, place: PlaceOf::Operation, at };
                exec.wait(wait, next, waker);
                return Some(Poll::Pending);
            }
            self.ticket = None;
            state.held = true;
            exec.touch(object, Mode::ReadModifyWrite, LOCK);
            exec.locks(object);
            Some(Poll::Ready(()))
        });
        drop(old);
        taken
    }
}

impl<L: Deref<Target = Mutex<T>>, T: ?Sized> Drop for Acquire<L, T> {
    fn drop(&mut self) {
        let (Some(lock), Some(ticket)) = (&self.lock, self.attempt.ticket) else { return };
        let leave = |state: &mut State| state.queue.leave(ticket);
        let (granted, waker) = lock.lock.settle(leave, Operation::SILENT, Mode::ReadModifyWrite);
        drop(waker);
        if granted {
            lock.lock.pass_on(const { &Operation::plain("unlock") });
        }
    }
}

/// The future of [`Mutex::lock`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Lock<'a, T: ?Sized> {
    acquire: Acquire<&'a Mutex<T>, T>,
}

impl<'a, T: ?Sized> Future for Lock<'a, T> {
    type Output = MutexGuard<'a, T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<MutexGuard<'a, T>> {
        self.acquire.poll(cx).map(MutexGuard::of)
    }
}

/// The future of [`Mutex::lock_owned`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct LockOwned<T: ?Sized> {
    acquire: Acquire<Arc<Mutex<T>>, T>,
}

impl<T: ?Sized> Future for LockOwned<T> {
    type Output = OwnedMutexGuard<T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<OwnedMutexGuard<T>> {
        self.acquire.poll(cx).map(OwnedMutexGuard::of)
    }
}
