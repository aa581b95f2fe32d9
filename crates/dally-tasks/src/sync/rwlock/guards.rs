//! The guards of a lock for readers and writers.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::super::bound::Bound;
use super::super::permits::{self, Permits};
use super::RwLock;
use crate::text::Operation;

/// So many permits of a lock; given back when this is dropped.
struct Held<'a> {
    permits: &'a Bound<Permits>,
    amount: usize,
}

/// As [`Held`], keeping the lock alive by itself.
struct OwnedHeld<T: ?Sized> {
    lock: Arc<RwLock<T>>,
    amount: usize,
}

const UNLOCK: &Operation = &Operation::plain("unlock");
const DOWNGRADE: &Operation = &Operation::plain("go on reading");

impl Held<'_> {
    /// Keeps a reader's permit and gives the others back.
    fn downgrade(&mut self) {
        let rest = std::mem::replace(&mut self.amount, 1) - 1;
        permits::give_back(self.permits, rest, DOWNGRADE);
    }
}

impl<T: ?Sized> OwnedHeld<T> {
    fn downgrade(&mut self) {
        let rest = std::mem::replace(&mut self.amount, 1) - 1;
        permits::give_back(&self.lock.permits, rest, DOWNGRADE);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        permits::give_back(self.permits, self.amount, UNLOCK);
    }
}

impl<T: ?Sized> Drop for OwnedHeld<T> {
    fn drop(&mut self) {
        permits::give_back(&self.lock.permits, self.amount, UNLOCK);
    }
}

/// Shared access to the value of a locked [`RwLock`], or to a part of it.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    held: Held<'a>,
    part: NonNull<T>,
    _part: PhantomData<&'a T>,
}

/// Exclusive access to the value of a locked [`RwLock`].
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    held: Held<'a>,
    part: NonNull<T>,
    _part: PhantomData<&'a mut T>,
}

/// Exclusive access to a part of the value of a locked [`RwLock`].
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    held: Held<'a>,
    part: NonNull<T>,
    _part: PhantomData<&'a mut T>,
}

/// As [`RwLockReadGuard`], keeping the lock alive by itself.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    held: OwnedHeld<T>,
    part: NonNull<U>,
    _part: PhantomData<Box<U>>,
}

/// As [`RwLockWriteGuard`], keeping the lock alive by itself.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    held: OwnedHeld<T>,
    part: NonNull<T>,
    _part: PhantomData<Box<T>>,
}

/// As [`RwLockMappedWriteGuard`], keeping the lock alive by itself.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    held: OwnedHeld<T>,
    part: NonNull<U>,
    _part: PhantomData<Box<U>>,
}

/// What kinds of guards have in common; `$of` are their parameters, `$Part` is what they guard.
macro_rules! guard {
    ($($Guard:ident, [$($of:tt)*], [$($param:tt)*], $Part:ident;)*) => {$(
        impl<$($of)*> Deref for $Guard<$($param)*> {
            type Target = $Part;

            fn deref(&self) -> &$Part {
                // SAFETY: the guard has permits, so nobody changes the value but through this guard, and the
                // value stays in its place as long as the lock lives, which the guard keeps alive or borrows.
                unsafe { self.part.as_ref() }
            }
        }

        impl<$($of)*> fmt::Debug for $Guard<$($param)*>
        where
            $Part: fmt::Debug,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($of)*> fmt::Display for $Guard<$($param)*>
        where
            $Part: fmt::Display,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&**self, f)
            }
        }
    )*};
}

guard! {
    RwLockReadGuard, ['a, T: ?Sized], ['a, T], T;
    RwLockWriteGuard, ['a, T: ?Sized], ['a, T], T;
    RwLockMappedWriteGuard, ['a, T: ?Sized], ['a, T], T;
    OwnedRwLockReadGuard, [T: ?Sized, U: ?Sized], [T, U], U;
    OwnedRwLockWriteGuard, [T: ?Sized], [T], T;
    OwnedRwLockMappedWriteGuard, [T: ?Sized, U: ?Sized], [T, U], U;
}

/// What guards of writers have beyond that.
macro_rules! write_guard {
    ($($Guard:ident, [$($of:tt)*], [$($param:tt)*], $Part:ident;)*) => {$(
        impl<$($of)*> DerefMut for $Guard<$($param)*> {
            fn deref_mut(&mut self) -> &mut $Part {
                // SAFETY: the guard has all permits, so it is the only one, and it is borrowed mutably.
                unsafe { self.part.as_mut() }
            }
        }
    )*};
}

write_guard! {
    RwLockWriteGuard, ['a, T: ?Sized], ['a, T], T;
    RwLockMappedWriteGuard, ['a, T: ?Sized], ['a, T], T;
    OwnedRwLockWriteGuard, [T: ?Sized], [T], T;
    OwnedRwLockMappedWriteGuard, [T: ?Sized, U: ?Sized], [T, U], U;
}

// SAFETY: a guard of a reader is as a `&T`.
unsafe impl<T: ?Sized + Sync> Send for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: a guard of a writer is as a `&mut T`.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: an owned guard is as a reference to its part with the lock itself, which may be dropped with it.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedRwLockReadGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedRwLockReadGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedRwLockWriteGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedRwLockWriteGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Send
    for OwnedRwLockMappedWriteGuard<T, U>
{
}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync
    for OwnedRwLockMappedWriteGuard<T, U>
{
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    pub(super) fn of(lock: &'a RwLock<T>) -> RwLockReadGuard<'a, T> {
        let held = Held { permits: &lock.permits, amount: 1 };
        RwLockReadGuard { held, part: lock.pointer(), _part: PhantomData }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    pub(super) fn of(lock: &'a RwLock<T>) -> RwLockWriteGuard<'a, T> {
        let held = Held { permits: &lock.permits, amount: lock.all as usize };
        RwLockWriteGuard { held, part: lock.pointer(), _part: PhantomData }
    }
}

impl<T: ?Sized> OwnedRwLockReadGuard<T> {
    pub(super) fn of(lock: Arc<RwLock<T>>) -> OwnedRwLockReadGuard<T> {
        let part = lock.pointer();
        OwnedRwLockReadGuard { held: OwnedHeld { lock, amount: 1 }, part, _part: PhantomData }
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    pub(super) fn of(lock: Arc<RwLock<T>>) -> OwnedRwLockWriteGuard<T> {
        let (part, amount) = (lock.pointer(), lock.all as usize);
        OwnedRwLockWriteGuard { held: OwnedHeld { lock, amount }, part, _part: PhantomData }
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.held.lock
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.held.lock
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.held.lock
    }
}

/// Guards of a part of what is guarded: `$Of` becomes `$To`.
macro_rules! map {
    ($([$($of:tt)*] $Of:ty => $To:ident<$($to:tt),*> by $reference:ty => $part:ty, $mutable:tt;)*) => {$(
        impl<$($of)*> $Of {
            /// The guard of a part.
            pub fn map<F, V: ?Sized>(this: Self, f: F) -> $To<$($to),*>
            where
                F: FnOnce($reference) -> $part,
            {
                map!(@this $mutable this);
                let part = NonNull::from(f(map!(@borrow $mutable this)));
                $To { held: this.held, part, _part: PhantomData }
            }

            /// The guard of a part, if there is one.
            pub fn try_map<F, V: ?Sized>(this: Self, f: F) -> Result<$To<$($to),*>, Self>
            where
                F: FnOnce($reference) -> Option<$part>,
            {
                map!(@this $mutable this);
                match f(map!(@borrow $mutable this)).map(NonNull::from) {
                    Some(part) => Ok($To { held: this.held, part, _part: PhantomData }),
                    None => Err(this),
                }
            }
        }
    )*};
    (@this mutable $this:ident) => { let mut $this = $this; };
    (@this shared $this:ident) => {};
    (@borrow mutable $this:ident) => { &mut $this };
    (@borrow shared $this:ident) => { &$this };
}

map! {
    ['a, T: ?Sized] RwLockReadGuard<'a, T> => RwLockReadGuard<'a, V> by &T => &V, shared;
    ['a, T: ?Sized] RwLockWriteGuard<'a, T> => RwLockMappedWriteGuard<'a, V>
        by &mut T => &mut V, mutable;
    ['a, T: ?Sized] RwLockMappedWriteGuard<'a, T> => RwLockMappedWriteGuard<'a, V>
        by &mut T => &mut V, mutable;
    [T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U> => OwnedRwLockReadGuard<T, V>
        by &U => &V, shared;
    [T: ?Sized] OwnedRwLockWriteGuard<T> => OwnedRwLockMappedWriteGuard<T, V>
        by &mut T => &mut V, mutable;
    [T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U> => OwnedRwLockMappedWriteGuard<T, V>
        by &mut U => &mut V, mutable;
}

/// Guards of writers that become guards of readers.
macro_rules! downgrade {
    ($([$($of:tt)*] $Of:ty => $Read:ident, $Mapped:ident, [$($by:tt)*], $To:ty;)*) => {$(
        impl<$($of)*> $Of {
            /// The guard of a part, as guards of a part of a part are.
            pub fn into_mapped(this: Self) -> $Mapped<$($by)* T> {
                $Mapped { held: this.held, part: this.part, _part: PhantomData }
            }

            /// Goes on as a reader, without letting a writer in between.
            pub fn downgrade(mut self) -> $Read<$($by)* T> {
                self.held.downgrade();
                $Read { held: self.held, part: self.part, _part: PhantomData }
            }

            /// Goes on as a reader of a part.
            pub fn downgrade_map<F, U: ?Sized>(mut this: Self, f: F) -> $To
            where
                F: FnOnce(&T) -> &U,
            {
                let part = NonNull::from(f(&this));
                this.held.downgrade();
                $Read { held: this.held, part, _part: PhantomData }
            }

            /// Goes on as a reader of a part, if there is one.
            pub fn try_downgrade_map<F, U: ?Sized>(mut this: Self, f: F) -> Result<$To, Self>
            where
                F: FnOnce(&T) -> Option<&U>,
            {
                let Some(part) = f(&this).map(NonNull::from) else { return Err(this) };
                this.held.downgrade();
                Ok($Read { held: this.held, part, _part: PhantomData })
            }
        }
    )*};
}

downgrade! {
    ['a, T: ?Sized] RwLockWriteGuard<'a, T> => RwLockReadGuard, RwLockMappedWriteGuard, ['a,],
        RwLockReadGuard<'a, U>;
    [T: ?Sized] OwnedRwLockWriteGuard<T> => OwnedRwLockReadGuard, OwnedRwLockMappedWriteGuard, [],
        OwnedRwLockReadGuard<T, U>;
}
