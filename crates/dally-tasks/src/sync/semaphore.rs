//! A number of permits, in the shape of `tokio::sync::Semaphore`.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::bound::Bound;
use super::permits::{self, Attempt, MOST, Permits};
use crate::task;
use crate::text::{Kind, Operation};
use crate::waker::rouse;

const ACQUIRE: &Operation = &Operation::plain("acquire");
const FAIL: &Operation = &Operation::plain("fail to acquire");
const RELEASE: &Operation = &Operation::plain("release");

/// A number of permits: whoever wants some waits for those who came earlier.
pub struct Semaphore {
    permits: Bound<Permits>,
}

impl Semaphore {
    /// The most permits that a semaphore can hold.
    pub const MAX_PERMITS: usize = MOST;

    /// A semaphore with so many permits.
    ///
    /// # Panics
    /// If they are more than [`Semaphore::MAX_PERMITS`].
    #[track_caller]
    pub fn new(permits: usize) -> Semaphore {
        assert!(permits <= MOST, "a semaphore may not have more than MAX_PERMITS permits ({MOST})");
        Semaphore { permits: Bound::new(Kind::Semaphore, Permits::new(permits)) }
    }

    /// As [`Semaphore::new`], for statics.
    pub const fn const_new(permits: usize) -> Semaphore {
        assert!(permits <= MOST, "a semaphore may not have more than MAX_PERMITS permits");
        Semaphore { permits: Bound::late(Kind::Semaphore, Permits::new(permits)) }
    }

    /// How many permits are free.
    pub fn available_permits(&self) -> usize {
        self.permits.look(|permits| permits.free)
    }

    /// Adds permits.
    ///
    /// # Panics
    /// If there would be more than [`Semaphore::MAX_PERMITS`].
    pub fn add_permits(&self, n: usize) {
        permits::give_back(&self.permits, n, const { &Operation::plain("add permits to") });
    }

    /// Takes free permits away, at most so many; answers how many.
    pub fn forget_permits(&self, n: usize) -> usize {
        self.permits.point();
        let forget = |permits: &mut Permits| {
            let gone = permits.free.min(n);
            permits.free -= gone;
            gone
        };
        let operation = const { &Operation::plain("take permits from") };
        self.permits.settle(forget, operation, dally_core::Mode::ReadModifyWrite)
    }

    /// Waits for a permit.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// Waits for so many permits.
    #[track_caller]
    pub fn acquire_many(
        &self,
        n: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let acquire = Acquire::new(self, n);
        async move {
            let (sem, permits) = acquire.await?;
            Ok(SemaphorePermit { sem, permits })
        }
    }

    /// Takes a permit if one is free.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes so many permits if they are free.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_take(n)?;
        Ok(SemaphorePermit { sem: self, permits: n as usize })
    }

    /// As [`Semaphore::acquire`], blocking the thread.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        task::block("`Semaphore::blocking_acquire`", self.acquire())
    }

    /// As [`Semaphore::acquire_many`], blocking the thread.
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        task::block("`Semaphore::blocking_acquire_many`", self.acquire_many(n))
    }

    /// As [`Semaphore::acquire`], with a permit that keeps the semaphore alive by itself.
    #[track_caller]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// As [`Semaphore::acquire_many`], with a permit that keeps the semaphore alive by itself.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let acquire = Acquire::new(self, n);
        async move {
            let (sem, permits) = acquire.await?;
            Ok(OwnedSemaphorePermit { sem, permits })
        }
    }

    /// As [`Semaphore::try_acquire`], with a permit that keeps the semaphore alive by itself.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// As [`Semaphore::try_acquire_many`], with a permit that keeps the semaphore alive by itself.
    #[track_caller]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_take(n)?;
        Ok(OwnedSemaphorePermit { sem: self, permits: n as usize })
    }

    /// As [`Semaphore::acquire_owned`], blocking the thread.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        task::block("`Semaphore::blocking_acquire_owned`", self.acquire_owned())
    }

    /// As [`Semaphore::acquire_many_owned`], blocking the thread.
    #[track_caller]
    pub fn blocking_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        task::block("`Semaphore::blocking_acquire_many_owned`", self.acquire_many_owned(n))
    }

    /// Gives out no more permits: whoever waits or comes is sent away.
    pub fn close(&self) {
        self.permits.point();
        let operation = const { &Operation::plain("close") };
        let woken =
            self.permits.settle(Permits::close, operation, dally_core::Mode::ReadModifyWrite);
        woken.into_iter().for_each(rouse);
    }

    /// Whether it gives out no more permits.
    pub fn is_closed(&self) -> bool {
        self.permits.look(|permits| permits.closed)
    }

    #[track_caller]
    fn try_take(&self, n: u32) -> Result<(), TryAcquireError> {
        permits::try_take(&self.permits, n as usize, (ACQUIRE, FAIL))
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Inner(usize);
        impl fmt::Debug for Inner {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Semaphore").field("permits", &self.0).finish()
            }
        }
        f.debug_struct("Semaphore").field("ll_sem", &Inner(self.available_permits())).finish()
    }
}

/// The way to permits, whoever keeps the semaphore alive.
struct Acquire<S: Deref<Target = Semaphore>> {
    /// Absent once it has the permits.
    sem: Option<S>,
    attempt: Attempt,
}

impl<S: Deref<Target = Semaphore>> Acquire<S> {
    #[track_caller]
    fn new(sem: S, n: u32) -> Acquire<S> {
        let attempt = Attempt::new(n as usize, ACQUIRE);
        Acquire { sem: Some(sem), attempt }
    }
}

impl<S: Deref<Target = Semaphore>> Unpin for Acquire<S> {}

impl<S: Deref<Target = Semaphore>> Future for Acquire<S> {
    type Output = Result<(S, usize), AcquireError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        // To take may unwind, and the destructor then needs the semaphore to leave its queue.
        let Some(sem) = &this.sem else {
            panic!("`Semaphore::acquire` was polled after it was done")
        };
        match this.attempt.poll(&sem.permits, cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(closed)) => Poll::Ready(Err(closed)),
            Poll::Ready(Ok(())) => match this.sem.take() {
                Some(sem) => Poll::Ready(Ok((sem, this.attempt.wants))),
                None => Poll::Pending,
            },
        }
    }
}

impl<S: Deref<Target = Semaphore>> Drop for Acquire<S> {
    fn drop(&mut self) {
        if let Some(sem) = &self.sem {
            self.attempt.give_up(&sem.permits);
        }
    }
}

/// Permits of a [`Semaphore`]; given back when this is dropped.
#[must_use]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    sem: &'a Semaphore,
    permits: usize,
}

/// As [`SemaphorePermit`], keeping the semaphore alive by itself.
#[must_use]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    sem: Arc<Semaphore>,
    permits: usize,
}

impl SemaphorePermit<'_> {
    /// The semaphore.
    pub fn semaphore(&self) -> &Semaphore {
        self.sem
    }
}

impl OwnedSemaphorePermit {
    /// The semaphore.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.sem
    }
}

macro_rules! permit {
    ($permit:ty, $same:expr) => {
        impl $permit {
            /// Never gives the permits back.
            pub fn forget(mut self) {
                self.permits = 0;
            }

            /// Takes the permits of another one of the same semaphore.
            ///
            /// # Panics
            /// If it is of another semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!($same(self, &other), "merging permits from different semaphore instances");
                self.permits += std::mem::take(&mut other.permits);
            }

            /// Splits so many permits off, if it has as many.
            pub fn split(&mut self, n: usize) -> Option<Self> {
                self.permits = self.permits.checked_sub(n)?;
                Some(Self { sem: self.sem.clone(), permits: n })
            }

            /// How many permits it has.
            pub fn num_permits(&self) -> usize {
                self.permits
            }
        }

        impl Drop for $permit {
            fn drop(&mut self) {
                if self.permits > 0 {
                    permits::give_back(&self.sem.permits, self.permits, RELEASE);
                }
            }
        }
    };
}

permit!(SemaphorePermit<'_>, |own: &SemaphorePermit<'_>, other: &SemaphorePermit<'_>| {
    std::ptr::eq(own.sem, other.sem)
});
permit!(OwnedSemaphorePermit, |own: &OwnedSemaphorePermit, other: &OwnedSemaphorePermit| {
    Arc::ptr_eq(&own.sem, &other.sem)
});

/// The semaphore is closed.
#[derive(Debug)]
pub struct AcquireError(pub(super) ());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl Error for AcquireError {}

/// Why permits could not be taken at once.
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// Not as many are free.
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "semaphore closed",
            TryAcquireError::NoPermits => "no permits available",
        })
    }
}

impl Error for TryAcquireError {}
