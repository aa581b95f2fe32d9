//! Channels with a capacity.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::chan::{Chan, Steps};
use super::ends::ends;
use super::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
use super::recv::{Recv, RecvMany};
use super::send::{Closed, Send};
use crate::text::Operation;

/// A channel that holds at most `capacity` values.
///
/// # Panics
/// If the capacity is 0, and outside of a Dally execution.
#[track_caller]
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "mpsc bounded channel requires buffer > 0");
    let chan = Arc::new(Chan::new(Some(capacity)));
    (Sender { chan: chan.clone() }, Receiver { chan })
}

/// The sending end of a bounded channel; clones send to the same receiver.
pub struct Sender<T> {
    pub(super) chan: Arc<Chan<T>>,
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
        self.chan.try_send(value)
    }

    /// As [`Sender::send`], for at most this long.
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let permit = crate::time::timeout(timeout, self.reserve());
        async move {
            match permit.await {
                Err(_) => Err(SendTimeoutError::Timeout(value)),
                Ok(Err(_)) => Err(SendTimeoutError::Closed(value)),
                Ok(Ok(permit)) => {
                    permit.send(value);
                    Ok(())
                }
            }
        }
    }

    /// As [`Sender::send`], blocking the thread.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        crate::task::block("`mpsc::Sender::blocking_send`", self.send(value))
    }

    /// How many more values fit.
    pub fn capacity(&self) -> usize {
        self.chan.look(|state| state.room.free)
    }

    /// How many values the channel holds at most.
    pub fn max_capacity(&self) -> usize {
        self.chan.capacity.unwrap_or(usize::MAX)
    }
}

impl<T> Receiver<T> {
    /// How many more values fit.
    pub fn capacity(&self) -> usize {
        self.chan.look(|state| state.room.free)
    }

    /// How many values the channel holds at most.
    pub fn max_capacity(&self) -> usize {
        self.chan.capacity.unwrap_or(usize::MAX)
    }
}

ends!("a bounded", Sender, WeakSender, Receiver);
