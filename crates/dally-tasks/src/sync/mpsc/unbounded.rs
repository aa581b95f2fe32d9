//! Channels without a capacity.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::chan::{Chan, Closed, Recv, RecvMany, Steps};
use super::error::{SendError, TryRecvError};
use crate::text::Deed;

/// A channel that holds any number of values.
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Arc::new(Chan::new("`mpsc::unbounded_channel`", None));
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
        let sent = self.chan.try_send("`mpsc::UnboundedSender::send`", value);
        sent.map_err(|error| SendError(error.into_inner()))
    }

    /// Waits until the receiver is gone or has closed.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_, T> {
        Closed { chan: &self.chan, steps: Steps::new() }
    }

    /// Whether the receiver is gone or has closed.
    pub fn is_closed(&self) -> bool {
        self.chan.look(|state| state.closed)
    }

    /// Whether both send to the same receiver.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }

    /// A handle that does not keep the channel open.
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender::new(&self.chan)
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.chan.look(|state| state.senders)
    }

    /// How many handles there are that do not keep the channel open.
    pub fn weak_count(&self) -> usize {
        self.chan.look(|state| state.weak)
    }
}

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> UnboundedSender<T> {
        self.chan.add_sender();
        UnboundedSender { chan: self.chan.clone() }
    }
}

impl<T> Drop for UnboundedSender<T> {
    fn drop(&mut self) {
        self.chan.drop_sender();
    }
}

impl<T> fmt::Debug for UnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedSender").finish_non_exhaustive()
    }
}

/// A sending end that does not keep the channel open.
pub struct WeakUnboundedSender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> WeakUnboundedSender<T> {
    fn new(chan: &Arc<Chan<T>>) -> WeakUnboundedSender<T> {
        chan.inner.lock().weak += 1;
        WeakUnboundedSender { chan: chan.clone() }
    }

    /// A sender, unless all are gone.
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        let open = self.chan.look(|state| state.senders > 0);
        open.then(|| {
            self.chan.add_sender();
            UnboundedSender { chan: self.chan.clone() }
        })
    }
}

impl<T> Clone for WeakUnboundedSender<T> {
    fn clone(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender::new(&self.chan)
    }
}

impl<T> Drop for WeakUnboundedSender<T> {
    fn drop(&mut self) {
        self.chan.inner.lock().weak -= 1;
    }
}

impl<T> fmt::Debug for WeakUnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakUnboundedSender").finish_non_exhaustive()
    }
}

/// The receiving end of an unbounded channel.
pub struct UnboundedReceiver<T> {
    chan: Arc<Chan<T>>,
}

impl<T> UnboundedReceiver<T> {
    /// The next value; `None` when all senders are gone, or this end has closed, and all that
    /// was sent is received.
    #[track_caller]
    pub fn recv(&mut self) -> Recv<'_, T> {
        Recv { chan: &self.chan, steps: Steps::new() }
    }

    /// Up to `limit` values at once, at least one; 0 when nothing more will come.
    #[track_caller]
    pub fn recv_many<'a>(&'a mut self, buffer: &'a mut Vec<T>, limit: usize) -> RecvMany<'a, T> {
        RecvMany { chan: &self.chan, steps: Steps::new(), buffer, limit }
    }

    /// The next value, if it is there.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.chan.try_recv()
    }

    /// As [`recv`](Self::recv), for futures written by hand. It has no scheduling point of its
    /// own unless it waits: what is there is received at once.
    #[track_caller]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.chan.poll_recv(&mut Steps::without_point(), cx)
    }

    /// Lets nothing more be sent; what was sent can still be received.
    pub fn close(&mut self) {
        self.chan.close(const { &Deed::plain("close") });
    }

    /// Whether nothing more can be sent.
    pub fn is_closed(&self) -> bool {
        self.chan.look(|state| state.is_over())
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values are there.
    pub fn len(&self) -> usize {
        self.chan.look(|state| state.len())
    }
}

impl<T> Drop for UnboundedReceiver<T> {
    fn drop(&mut self) {
        self.chan.drop_receiver();
    }
}

impl<T> fmt::Debug for UnboundedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedReceiver").finish_non_exhaustive()
    }
}
