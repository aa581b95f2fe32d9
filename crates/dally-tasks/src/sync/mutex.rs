//! A lock that can be held across awaits.

use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use super::Inner;
use super::queue::{Queue, Turn};
use crate::current;
use crate::text::{Deed, Kind, Object, Wait};
use crate::waker::rouse;

const LOCK: &Deed = &Deed::plain("lock");

/// A lock in the shape of `tokio::sync::Mutex`: first come, first served.
///
/// A guard holds the value itself and puts it back when it is dropped; a guard that is forgotten
/// (`mem::forget`) keeps the lock and the value for ever.
pub struct Mutex<T> {
    object: Object,
    inner: Inner<State<T>>,
}

struct State<T> {
    /// Absent while a guard has it.
    value: Option<T>,
    /// A guard has the value, or a waiter's turn has come.
    held: bool,
    queue: Queue,
}

impl<T> Mutex<T> {
    /// A lock around `value`.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn new(value: T) -> Mutex<T> {
        let object = current::with("`Mutex::new`", |exec| exec.object(Kind::Mutex));
        let state = State { value: Some(value), held: false, queue: Queue::default() };
        Mutex { object, inner: Inner::new(state) }
    }

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

    /// Locks if that is possible at once.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let value = self.try_take()?;
        Ok(MutexGuard(Guard { lock: self, value: Some(value) }))
    }

    /// As [`Mutex::try_lock`], with a guard that keeps the lock alive by itself.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let value = self.try_take()?;
        Ok(OwnedMutexGuard(Guard { lock: self, value: Some(value) }))
    }

    /// The value, which nobody else can reach.
    ///
    /// # Panics
    /// If a guard was forgotten (`mem::forget`): it has the value.
    pub fn get_mut(&mut self) -> &mut T {
        let state = self.inner.0.get_mut();
        state.value.as_mut().expect(FORGOTTEN)
    }

    /// The value without the lock.
    ///
    /// # Panics
    /// If a guard was forgotten (`mem::forget`): it has the value.
    pub fn into_inner(self) -> T {
        self.inner.lock().value.take().expect(FORGOTTEN)
    }

    #[track_caller]
    fn try_take(&self) -> Result<T, TryLockError> {
        current::with_own("`Mutex::try_lock`", &self.object, Location::caller(), |exec| {
            let mut state = self.inner.lock();
            // Failing looks at the lock as well, and orders this step with the holder's.
            let deed = if state.held { const { &Deed::plain("fail to lock") } } else { LOCK };
            exec.touch(&self.object, Mode::ReadModifyWrite, deed);
            if state.held {
                return Err(TryLockError(()));
            }
            state.held = true;
            exec.locks(&self.object);
            state.value.take().ok_or(TryLockError(()))
        })
    }

    /// Passes the lock on, or opens it.
    fn release(&self, value: Option<T>) {
        let mut state = self.inner.lock();
        if value.is_some() {
            state.value = value;
        }
        let next = state.queue.grant();
        state.held = next.is_some();
        let held = state.held;
        drop(state);
        current::try_with(|exec| {
            exec.touch(&self.object, Mode::ReadModifyWrite, const { &Deed::plain("unlock") });
            exec.holds(&self.object, usize::from(held));
        });
        if let Some(waker) = next.flatten() {
            rouse(waker);
        }
    }
}

const FORGOTTEN: &str = "a guard of this lock was forgotten (`mem::forget`) and has its value";

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

impl<T: fmt::Debug> fmt::Debug for Mutex<T> {
    /// Shows the value if nobody has locked it or is about to.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        current::look(&self.object);
        let value = {
            let mut state = self.inner.lock();
            if state.held { None } else { state.value.take() }
        };
        let Some(value) = value else {
            return f.debug_struct("Mutex").field("data", &format_args!("<locked>")).finish();
        };
        // The program's code runs, which may unwind, and may look at this very lock.
        let shown = Shown { lock: self, value: Some(value) };
        f.debug_struct("Mutex").field("data", &shown.value.as_ref().expect(SHOWN)).finish()
    }
}

const SHOWN: &str = "the value is put back after it was shown";

/// A value that is shown without being locked; it is put back where it was.
struct Shown<'a, T> {
    lock: &'a Mutex<T>,
    value: Option<T>,
}

impl<T> Drop for Shown<'_, T> {
    fn drop(&mut self) {
        self.lock.inner.lock().value = self.value.take();
    }
}

/// The lock is held by somebody else.
#[derive(Debug)]
pub struct TryLockError(());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl std::error::Error for TryLockError {}

/// The way to a lock, whoever keeps the lock alive.
struct Acquire<L: Deref<Target = Mutex<T>>, T> {
    /// Absent once the guard has it.
    lock: Option<L>,
    attempt: Attempt,
}

/// How far somebody is on the way to a lock.
struct Attempt {
    ticket: Option<u64>,
    at: &'static Location<'static>,
}

impl<L: Deref<Target = Mutex<T>>, T> Acquire<L, T> {
    #[track_caller]
    fn new(lock: L) -> Acquire<L, T> {
        let attempt = Attempt { ticket: None, at: Location::caller() };
        Acquire { lock: Some(lock), attempt }
    }

    #[inline(always)]
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Guard<L, T>> {
        // To take may unwind, and the destructor then needs the lock to leave its queue.
        let taken = match &self.lock {
            Some(lock) => self.attempt.take(lock, cx),
            None => panic!("`Mutex::lock` was polled after it had given its guard"),
        };
        let Poll::Ready(value) = taken else { return Poll::Pending };
        match self.lock.take() {
            Some(lock) => Poll::Ready(Guard { lock, value: Some(value) }),
            None => Poll::Pending,
        }
    }
}

impl Attempt {
    #[inline(always)]
    fn take<T>(&mut self, lock: &Mutex<T>, cx: &mut Context<'_>) -> Poll<T> {
        current::attempt(cx, |passed| self.try_take(lock, cx.waker(), passed))
    }

    /// As [`current::attempt`] wants it.
    fn try_take<T>(&mut self, lock: &Mutex<T>, waker: &Waker, passed: bool) -> Option<Poll<T>> {
        let next = Access::update(Resource::Object(lock.object.id));
        let mut old = None;
        let taken = current::with_own("`Mutex::lock`", &lock.object, self.at, |exec| {
            let mut state = lock.inner.lock();
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
                        exec.brush(&lock.object, Mode::Read);
                    }
                    turn
                }
                None if state.held => {
                    self.ticket = Some(state.queue.push(Some(waker.clone())));
                    // Its place in the queue depends on who came before.
                    exec.brush(&lock.object, Mode::ReadModifyWrite);
                    Turn::NotYet
                }
                None => Turn::Granted,
            };
            let value = if turn == Turn::NotYet { None } else { state.value.take() };
            let Some(value) = value else {
                let wait = Wait {
                    object: lock.object,
                    deed: LOCK,
                    place: PlaceOf::Operation,
                    at: self.at,
                };
                exec.wait(wait, next, waker);
                return Some(Poll::Pending);
            };
            self.ticket = None;
            state.held = true;
            exec.touch(&lock.object, Mode::ReadModifyWrite, LOCK);
            exec.locks(&lock.object);
            Some(Poll::Ready(value))
        });
        drop(old);
        taken
    }
}

impl<L: Deref<Target = Mutex<T>>, T> Drop for Acquire<L, T> {
    fn drop(&mut self) {
        let (Some(lock), Some(ticket)) = (&self.lock, self.attempt.ticket) else { return };
        let (granted, waker) = lock.inner.lock().queue.leave(ticket);
        drop(waker);
        if granted {
            lock.release(None);
        } else {
            current::change(&lock.object);
        }
    }
}

/// The future of [`Mutex::lock`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Lock<'a, T> {
    acquire: Acquire<&'a Mutex<T>, T>,
}

impl<'a, T> Future for Lock<'a, T> {
    type Output = MutexGuard<'a, T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<MutexGuard<'a, T>> {
        self.acquire.poll(cx).map(MutexGuard)
    }
}

/// The future of [`Mutex::lock_owned`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct LockOwned<T> {
    acquire: Acquire<Arc<Mutex<T>>, T>,
}

impl<T> Future for LockOwned<T> {
    type Output = OwnedMutexGuard<T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<OwnedMutexGuard<T>> {
        self.acquire.poll(cx).map(OwnedMutexGuard)
    }
}

struct Guard<L: Deref<Target = Mutex<T>>, T> {
    lock: L,
    /// Absent only while the guard is dropped.
    value: Option<T>,
}

impl<L: Deref<Target = Mutex<T>>, T> Drop for Guard<L, T> {
    fn drop(&mut self) {
        let value = self.value.take();
        self.lock.release(value);
    }
}

impl<L: Deref<Target = Mutex<T>>, T> Guard<L, T> {
    fn get(&self) -> &T {
        self.value.as_ref().expect("a guard has the value until it is dropped")
    }

    fn get_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("a guard has the value until it is dropped")
    }
}

/// The value of a locked [`Mutex`]; unlocks when it is dropped.
#[must_use = "the lock is released at once if the guard is not kept"]
pub struct MutexGuard<'a, T>(Guard<&'a Mutex<T>, T>);

/// As [`MutexGuard`], keeping the lock alive by itself.
#[must_use = "the lock is released at once if the guard is not kept"]
pub struct OwnedMutexGuard<T>(Guard<Arc<Mutex<T>>, T>);

macro_rules! guard {
    ($($guard:ty),*) => {$(
        impl<T> Deref for $guard {
            type Target = T;

            fn deref(&self) -> &T {
                self.0.get()
            }
        }

        impl<T> DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut T {
                self.0.get_mut()
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl<T: fmt::Display> fmt::Display for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&**self, f)
            }
        }
    )*};
}

guard!(MutexGuard<'_, T>, OwnedMutexGuard<T>);
