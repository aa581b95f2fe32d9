//! Channels without a capacity.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::chan::{Chan, Steps};
use super::ends::ends;
use super::error::{SendError, TryRecvError};
use super::recv::{Recv, RecvMany};
use super::send::Closed;
use crate::text::Operation;

/// A channel that holds any number of values.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Arc::new(Chan::new(None));
    (UnboundedSender { chan: chan.clone() }, UnboundedReceiver { chan })
}

/// The sending end of an unbounded channel; clones send to the same receiver.
pub struct UnboundedSender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> UnboundedSender<T> {
    /// Sends, at once; gives the value back if the receiver is gone or has closed.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let sent = self.chan.try_send(value);
        sent.map_err(|error| SendError(error.into_inner()))
    }
}

ends!("an unbounded", UnboundedSender, WeakUnboundedSender, UnboundedReceiver);
