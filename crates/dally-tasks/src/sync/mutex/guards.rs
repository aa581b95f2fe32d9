//! The guards of a mutex.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::super::bound::Bound;
use super::{Mutex, State};

/// The value of a locked [`Mutex`]; unlocks when it is dropped.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    /// It is as a reference to the value, for `Send` and `Sync`.
    _value: PhantomData<&'a mut T>,
}

/// As [`MutexGuard`], keeping the lock alive by itself.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMutexGuard<T: ?Sized> {
    lock: Arc<Mutex<T>>,
    /// It is as the value, for `Send` and `Sync`.
    _value: PhantomData<Box<T>>,
}

/// A part of the value of a locked [`Mutex`]; unlocks when it is dropped.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    lock: Held<'a>,
    part: NonNull<T>,
    _part: PhantomData<&'a mut T>,
}

/// As [`MappedMutexGuard`], keeping the lock alive by itself.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    guard: OwnedMutexGuard<T>,
    part: NonNull<U>,
    _part: PhantomData<Box<U>>,
}

// SAFETY: a mapped guard is as a `&mut T`, and `PhantomData` says so to the compiler where it has no raw pointer.
unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
// SAFETY: as above; it gives no more than `&T` to those who share it.
unsafe impl<T: ?Sized + Send + Sync> Sync for MappedMutexGuard<'_, T> {}
// SAFETY: as above, with the lock of the value, which may be dropped with it.
unsafe impl<T: ?Sized + Send, U: ?Sized + Send> Send for OwnedMappedMutexGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedMappedMutexGuard<T, U> {}

/// A lock that is held, without its value: given back when this is dropped.
struct Held<'a>(&'a Bound<State>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub(super) fn of(lock: &'a Mutex<T>) -> MutexGuard<'a, T> {
        MutexGuard { lock, _value: PhantomData }
    }

    /// The guard of a part of the value.
    pub fn map<U, F>(mut this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        let part = NonNull::from(f(&mut this));
        MappedMutexGuard { lock: this.into_held(), part, _part: PhantomData }
    }

    /// The guard of a part of the value, if there is one.
    pub fn try_map<U, F>(mut this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(NonNull::from) {
            Some(part) => Ok(MappedMutexGuard { lock: this.into_held(), part, _part: PhantomData }),
            None => Err(this),
        }
    }

    /// The lock.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.lock
    }

    fn into_held(self) -> Held<'a> {
        let lock = self.lock;
        std::mem::forget(self);
        Held(&lock.lock)
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    pub(super) fn of(lock: Arc<Mutex<T>>) -> OwnedMutexGuard<T> {
        OwnedMutexGuard { lock, _value: PhantomData }
    }

    /// The guard of a part of the value.
    pub fn map<U, F>(mut this: Self, f: F) -> OwnedMappedMutexGuard<T, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        let part = NonNull::from(f(&mut this));
        OwnedMappedMutexGuard { guard: this, part, _part: PhantomData }
    }

    /// The guard of a part of the value, if there is one.
    pub fn try_map<U, F>(mut this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(NonNull::from) {
            Some(part) => Ok(OwnedMappedMutexGuard { guard: this, part, _part: PhantomData }),
            None => Err(this),
        }
    }

    /// The lock.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.lock
    }
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// The guard of a part of the part.
    pub fn map<U, F>(mut this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        let part = NonNull::from(f(&mut this));
        MappedMutexGuard { lock: this.lock, part, _part: PhantomData }
    }

    /// The guard of a part of the part, if there is one.
    pub fn try_map<U, F>(mut this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(NonNull::from) {
            Some(part) => Ok(MappedMutexGuard { lock: this.lock, part, _part: PhantomData }),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    /// The guard of a part of the part.
    pub fn map<S, F>(mut this: Self, f: F) -> OwnedMappedMutexGuard<T, S>
    where
        S: ?Sized,
        F: FnOnce(&mut U) -> &mut S,
    {
        let part = NonNull::from(f(&mut this));
        OwnedMappedMutexGuard { guard: this.guard, part, _part: PhantomData }
    }

    /// The guard of a part of the part, if there is one.
    pub fn try_map<S, F>(mut this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, S>, Self>
    where
        S: ?Sized,
        F: FnOnce(&mut U) -> Option<&mut S>,
    {
        match f(&mut this).map(NonNull::from) {
            Some(part) => Ok(OwnedMappedMutexGuard { guard: this.guard, part, _part: PhantomData }),
            None => Err(this),
        }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.lock.release();
    }
}

impl<T: ?Sized> Drop for OwnedMutexGuard<T> {
    fn drop(&mut self) {
        self.lock.lock.release();
    }
}

/// What all guards give: the value at this pointer.
macro_rules! guard {
    ($($guard:ty, $target:ident, [$($of:tt)*], $pointer:expr;)*) => {$(
        impl<$($of)*> Deref for $guard {
            type Target = $target;

            fn deref(&self) -> &$target {
                // SAFETY: this is the only guard while the lock is held, the value stays in its place as
                // long as the lock lives, and the guard is borrowed as long as the reference is.
                unsafe { &*$pointer(self) }
            }
        }

        impl<$($of)*> DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut $target {
                // SAFETY: as in `deref`, and the guard is borrowed mutably.
                unsafe { &mut *$pointer(self) }
            }
        }

        impl<$($of)*> fmt::Debug for $guard
        where
            $target: fmt::Debug,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($of)*> fmt::Display for $guard
        where
            $target: fmt::Display,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&**self, f)
            }
        }
    )*};
}

guard! {
    MutexGuard<'_, T>, T, [T: ?Sized], |guard: &MutexGuard<'_, T>| guard.lock.value.get();
    OwnedMutexGuard<T>, T, [T: ?Sized], |guard: &OwnedMutexGuard<T>| guard.lock.value.get();
    MappedMutexGuard<'_, T>, T, [T: ?Sized], |guard: &MappedMutexGuard<'_, T>| guard.part.as_ptr();
    OwnedMappedMutexGuard<T, U>, U, [T: ?Sized, U: ?Sized],
        |guard: &OwnedMappedMutexGuard<T, U>| guard.part.as_ptr();
}
