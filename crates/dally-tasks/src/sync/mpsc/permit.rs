//! Room in a bounded channel that is kept for a value.

use std::fmt;
use std::future::Future;
use std::iter::FusedIterator;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::bounded::Sender;
use super::chan::{Chan, Steps};
use super::error::{SendError, TrySendError};
use crate::text::Operation;

const RESERVE: &Operation = &Operation::plain("reserve room in");
const GIVE_BACK: &Operation = &Operation::plain("give back room in");

/// Room for one value in a bounded channel.
pub struct Permit<'a, T> {
    chan: &'a Chan<T>,
}

/// Room for several values in a bounded channel: permits, one after the other.
pub struct PermitIterator<'a, T> {
    chan: &'a Chan<T>,
    left: usize,
}

/// Room for one value in a bounded channel, with the sender that it was made of.
pub struct OwnedPermit<T> {
    /// Absent once it is used.
    sender: Option<Sender<T>>,
}

impl<T> Sender<T> {
    /// Waits for room for a value.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        let reserve = Reserve::new(&self.chan, 1);
        async move {
            reserve.await?;
            Ok(Permit { chan: &self.chan })
        }
    }

    /// Waits for room for so many values.
    #[track_caller]
    pub fn reserve_many(
        &self,
        n: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        let reserve = Reserve::new(&self.chan, n);
        async move {
            if n > self.max_capacity() {
                return Err(SendError(()));
            }
            reserve.await?;
            Ok(PermitIterator { chan: &self.chan, left: n })
        }
    }

    /// As [`Sender::reserve`], with a permit that has the sender.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let steps = Steps::new();
        async move {
            Reserve { chan: &self.chan, n: 1, steps }.await?;
            Ok(OwnedPermit { sender: Some(self) })
        }
    }

    /// Room for a value, if there is.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.chan.try_reserve(1, RESERVE)?;
        Ok(Permit { chan: &self.chan })
    }

    /// Room for so many values, if there is.
    #[track_caller]
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.chan.try_reserve(n, RESERVE)?;
        Ok(PermitIterator { chan: &self.chan, left: n })
    }

    /// As [`Sender::try_reserve`], with a permit that has the sender.
    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.chan.try_reserve(1, RESERVE) {
            Ok(()) => Ok(OwnedPermit { sender: Some(self) }),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }
}

/// Waits for room for so many values.
struct Reserve<'a, T> {
    chan: &'a Chan<T>,
    n: usize,
    steps: Steps,
}

impl<'a, T> Reserve<'a, T> {
    #[track_caller]
    fn new(chan: &'a Chan<T>, n: usize) -> Reserve<'a, T> {
        Reserve { chan, n, steps: Steps::new() }
    }
}

impl<T> Future for Reserve<'_, T> {
    type Output = Result<(), SendError<()>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.chan.poll_send(None, this.n, RESERVE, &mut this.steps, cx)
    }
}

impl<T> Drop for Reserve<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.steps.ticket {
            self.chan.leave_room(ticket);
        }
    }
}

impl<T> Permit<'_, T> {
    /// Sends, at once.
    pub fn send(self, value: T) {
        self.chan.send_into_room(value);
        std::mem::forget(self);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.chan.give_room_back(1, GIVE_BACK);
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit { chan: self.chan })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.chan.give_room_back(self.left, GIVE_BACK);
        }
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("capacity", &self.left).finish_non_exhaustive()
    }
}

const USED: &str = "a permit is there until it is used";

impl<T> OwnedPermit<T> {
    /// Sends, at once; gives the sender back.
    pub fn send(mut self, value: T) -> Sender<T> {
        let sender = self.sender.take().expect(USED);
        sender.chan.send_into_room(value);
        sender
    }

    /// Gives the room back, and the sender.
    pub fn release(mut self) -> Sender<T> {
        let sender = self.sender.take().expect(USED);
        sender.chan.give_room_back(1, GIVE_BACK);
        sender
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        let (own, other) = (self.sender.as_ref(), other.sender.as_ref());
        own.zip(other).is_some_and(|(own, other)| own.same_channel(other))
    }

    /// Whether it belongs to the channel of this sender.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.sender.as_ref().is_some_and(|own| own.same_channel(sender))
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            sender.chan.give_room_back(1, GIVE_BACK);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
