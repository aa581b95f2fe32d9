//! Channels with a capacity.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::chan::{Chan, Closed, Recv, RecvMany, Steps};
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
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(&self.chan)
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

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.chan.add_sender();
        Sender { chan: self.chan.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.chan.drop_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// A sending end that does not keep the channel open.
pub struct WeakSender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> WeakSender<T> {
    fn new(chan: &Arc<Chan<T>>) -> WeakSender<T> {
        chan.inner.lock().weak += 1;
        WeakSender { chan: chan.clone() }
    }

    /// A sender, unless all are gone.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let open = self.chan.look(|state| state.senders > 0);
        open.then(|| {
            self.chan.add_sender();
            Sender { chan: self.chan.clone() }
        })
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> WeakSender<T> {
        WeakSender::new(&self.chan)
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.chan.inner.lock().weak -= 1;
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}

/// The receiving end of a bounded channel.
pub struct Receiver<T> {
    chan: Arc<Chan<T>>,
}

impl<T> Receiver<T> {
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

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.chan.drop_receiver();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
