//! Channels with a capacity.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::chan::{Chan, Steps};
use super::ends::ends;
use super::error::{TryRecvError, TrySendError};
use super::recv::{Recv, RecvMany};
use super::send::{Closed, Send};
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

ends!("a bounded", Sender, WeakSender, Receiver);
