//! Channels with a capacity.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::chan::{Chan, Closed, Recv, RecvMany, Steps};
use super::ends::ends;
use super::error::{SendError, TryRecvError, TrySendError};
use crate::text::Deed;

/// A channel that holds at most `capacity` values.
///
/// # Panics
/// If the capacity is 0, and outside of a Dally execution.
#[track_caller]
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "mpsc bounded channel requires buffer > 0");
    let chan = Arc::new(Chan::new("`mpsc::channel`", Some(capacity)));
    (Sender { chan: chan.clone() }, Receiver { chan })
}

/// The sending end of a bounded channel; clones send to the same receiver.
pub struct Sender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> Sender<T> {
    /// Sends, waiting for room; gives the value back if the receiver is gone or has closed.
    #[track_caller]
    pub fn send(&self, value: T) -> Send<'_, T> {
        Send { chan: &self.chan, value: Some(value), steps: Steps::new() }
    }

    /// Sends at once, if there is room.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.chan.try_send("`mpsc::Sender::try_send`", value)
    }

    /// How many more values fit.
    pub fn capacity(&self) -> usize {
        self.chan.look(|state| state.free)
    }

    /// How many values the channel holds at most.
    pub fn max_capacity(&self) -> usize {
        self.chan.capacity.unwrap_or(usize::MAX)
    }
}

/// The future of [`Sender::send`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Send<'a, T> {
    chan: &'a Chan<T>,
    value: Option<T>,
    steps: Steps,
}

impl<T> Unpin for Send<'_, T> {}

impl<T> Future for Send<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.chan.poll_send(&mut this.value, &mut this.steps, cx)
    }
}

impl<T> Drop for Send<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.steps.ticket {
            self.chan.leave_room(ticket);
        }
    }
}

ends!("a bounded", Sender, WeakSender, Receiver);
