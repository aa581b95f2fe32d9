//! A lock for many readers or one writer, in the shape of `tokio::sync::RwLock`.

// Values that are unsized, and guards of a part of a value, need a value that stays in its place while guards
// point to it.
#![allow(unsafe_code)]

mod guards;

use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll};

pub use self::guards::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
use super::bound::Bound;
use super::mutex::TryLockError;
use super::permits::{self, Attempt, Permits};
use crate::task;
use crate::text::{Kind, Operation};

/// As many can read at the same time.
const MAX_READS: u32 = u32::MAX >> 3;

const READ: &Operation = &Operation::plain("lock for reading");
const WRITE: &Operation = &Operation::plain("lock for writing");
const FAIL: &Operation = &Operation::plain("fail to lock");

/// A lock for many readers or one writer: first come, first served, so that a writer who waits keeps later
/// readers waiting.
pub struct RwLock<T: ?Sized> {
    /// How many permits a writer needs; a reader needs one.
    all: u32,
    permits: Bound<Permits>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through guards or by whoever owns the lock; there is one guard of a writer, who
// has all permits, or guards of readers, who have one each.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above; readers of several threads share the value.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> std::panic::UnwindSafe for RwLock<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// A lock around `value`.
    #[track_caller]
    pub fn new(value: T) -> RwLock<T> {
        RwLock::with_max_readers(value, MAX_READS)
    }

    /// A lock that so many can read at the same time.
    ///
    /// # Panics
    /// If these are more than `u32::MAX >> 3`.
    #[track_caller]
    pub fn with_max_readers(value: T, max_reads: u32) -> RwLock<T> {
        assert!(
            max_reads <= MAX_READS,
            "a RwLock may not be created with more than {MAX_READS} readers"
        );
        let permits = Bound::new(Kind::RwLock, Permits::new(max_reads as usize));
        RwLock { all: max_reads, permits, value: UnsafeCell::new(value) }
    }

    /// As [`RwLock::new`], for statics.
    pub const fn const_new(value: T) -> RwLock<T> {
        RwLock::const_with_max_readers(value, MAX_READS)
    }

    /// As [`RwLock::with_max_readers`], for statics.
    pub const fn const_with_max_readers(value: T, max_reads: u32) -> RwLock<T> {
        assert!(max_reads <= MAX_READS);
        let permits = Bound::late(Kind::RwLock, Permits::new(max_reads as usize));
        RwLock { all: max_reads, permits, value: UnsafeCell::new(value) }
    }

    /// The value without the lock.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks for reading, waiting for those who came earlier.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let acquire = self.reading(self);
        async move { RwLockReadGuard::of(acquire.await) }
    }

    /// As [`RwLock::read`], blocking the thread.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        task::block("`RwLock::blocking_read`", self.read())
    }

    /// As [`RwLock::read`], with a guard that keeps the lock alive by itself.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let acquire = self.reading(self.clone());
        async move { OwnedRwLockReadGuard::of(acquire.await) }
    }

    /// Locks for reading if that is possible at once.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        self.try_take(1, READ)?;
        Ok(RwLockReadGuard::of(self))
    }

    /// As [`RwLock::try_read`], with a guard that keeps the lock alive by itself.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        self.try_take(1, READ)?;
        Ok(OwnedRwLockReadGuard::of(self))
    }

    /// Locks for writing, waiting for those who came earlier.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let acquire = self.writing(self);
        async move { RwLockWriteGuard::of(acquire.await) }
    }

    /// As [`RwLock::write`], blocking the thread.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        task::block("`RwLock::blocking_write`", self.write())
    }

    /// As [`RwLock::write`], with a guard that keeps the lock alive by itself.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let acquire = self.writing(self.clone());
        async move { OwnedRwLockWriteGuard::of(acquire.await) }
    }

    /// Locks for writing if that is possible at once.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        self.try_take(self.all, WRITE)?;
        Ok(RwLockWriteGuard::of(self))
    }

    /// As [`RwLock::try_write`], with a guard that keeps the lock alive by itself.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        self.try_take(self.all, WRITE)?;
        Ok(OwnedRwLockWriteGuard::of(self))
    }

    /// The value, which nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[track_caller]
    fn reading<L: Deref<Target = Self>>(&self, lock: L) -> Acquire<L, T> {
        Acquire { lock: Some(lock), attempt: Attempt::new(1, READ) }
    }

    #[track_caller]
    fn writing<L: Deref<Target = Self>>(&self, lock: L) -> Acquire<L, T> {
        let attempt = Attempt::new(self.all as usize, WRITE);
        Acquire { lock: Some(lock), attempt }
    }

    #[track_caller]
    fn try_take(&self, n: u32, operation: &'static Operation) -> Result<(), TryLockError> {
        permits::try_take(&self.permits, n as usize, (operation, FAIL))
            .map_err(|_| TryLockError(()))
    }

    fn pointer(&self) -> NonNull<T> {
        // SAFETY: the pointer of a cell is not null.
        unsafe { NonNull::new_unchecked(self.value.get()) }
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    /// Shows the value if no writer has locked it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Shown<'a>(&'a Bound<Permits>);
        impl Drop for Shown<'_> {
            fn drop(&mut self) {
                let back = |permits: &mut Permits| permits.add(1);
                let woken = self.0.settle(back, Operation::SILENT, dally_core::Mode::Read);
                woken.into_iter().for_each(crate::waker::rouse);
            }
        }
        let take = |permits: &mut Permits| permits.take(1).is_ok();
        if !self.permits.settle(take, Operation::SILENT, dally_core::Mode::Read) {
            return f.debug_struct("RwLock").field("data", &format_args!("<locked>")).finish();
        }
        let _shown = Shown(&self.permits);
        // SAFETY: this has a reader's permit until it is shown, so no writer reaches the value.
        let value = unsafe { self.pointer().as_ref() };
        f.debug_struct("RwLock").field("data", &value).finish()
    }
}

/// The way to a lock, whoever keeps the lock alive.
struct Acquire<L: Deref<Target = RwLock<T>>, T: ?Sized> {
    /// Absent once it has the permits.
    lock: Option<L>,
    attempt: Attempt,
}

impl<L: Deref<Target = RwLock<T>>, T: ?Sized> Unpin for Acquire<L, T> {}

impl<L: Deref<Target = RwLock<T>>, T: ?Sized> Future for Acquire<L, T> {
    type Output = L;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<L> {
        let this = &mut *self;
        // To take may unwind, and the destructor then needs the lock to leave its queue.
        let Some(lock) = &this.lock else {
            panic!("`RwLock` was polled after it had given its guard")
        };
        match this.attempt.poll(&lock.permits, cx) {
            Poll::Ready(Ok(())) => this.lock.take().map_or(Poll::Pending, Poll::Ready),
            Poll::Ready(Err(_)) => unreachable!("the permits of a lock are never closed"),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<L: Deref<Target = RwLock<T>>, T: ?Sized> Drop for Acquire<L, T> {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            self.attempt.give_up(&lock.permits);
        }
    }
}
