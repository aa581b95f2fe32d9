//! A channel for one value.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use super::Inner;
use crate::current;
use crate::text::{Kind, Object, Operation, Wait};
use crate::waker::rouse;

/// A channel for one value.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let object = current::with_any(|exec| exec.object(Kind::Oneshot));
    let state = State { value: None, sender: true, receiver: true, rx_waker: None, tx_waker: None };
    let shared = Arc::new(Shared { object, inner: Inner::new(state) });
    let at = Location::caller();
    let tx = Sender { shared: Some(shared.clone()) };
    (tx, Receiver { shared: Some(shared), waited: false, at })
}

struct Shared<T> {
    object: Object,
    inner: Inner<State<T>>,
}

struct State<T> {
    value: Option<T>,
    /// The sender is there and has not sent.
    sender: bool,
    /// The receiver is there and has not closed.
    receiver: bool,
    rx_waker: Option<Waker>,
    tx_waker: Option<Waker>,
}

impl<T> Shared<T> {
    /// The scheduling point before an operation that is not awaited, where the program has such points.
    fn point(&self) {
        current::point(|| Access::update(Resource::Object(self.object.id)));
    }

    fn tell(&self, operation: &'static Operation, holds: usize) {
        current::try_with(|exec| {
            exec.touch(&self.object, Mode::ReadModifyWrite, operation);
            exec.holds(&self.object, holds);
        });
    }

    /// The receiver wants nothing more; answers what nobody will take.
    fn close(&self) -> Option<Waker> {
        let mut state = self.inner.lock();
        state.receiver = false;
        // The sender hears of it again when the receiver is dropped after it has closed, as in tokio.
        if state.sender { state.tx_waker.clone() } else { state.tx_waker.take() }
    }
}

/// The sending end.
pub struct Sender<T> {
    /// Absent once it has sent.
    shared: Option<Arc<Shared<T>>>,
}

impl<T> Sender<T> {
    /// Sends, at once; gives the value back if the receiver is gone.
    #[track_caller]
    pub fn send(mut self, value: T) -> Result<(), T> {
        let Some(shared) = self.shared.take() else { return Err(value) };
        shared.point();
        current::with_own(&shared.object, Location::caller(), |_| ());
        let mut state = shared.inner.lock();
        state.sender = false;
        if !state.receiver {
            drop(state);
            shared.tell(const { &Operation::moving::<T>("fail to send", "to") }, 0);
            return Err(value);
        }
        state.value = Some(value);
        let wakers = (state.rx_waker.take(), state.tx_waker.take());
        drop(state);
        shared.tell(const { &Operation::moving::<T>("send", "to") }, 1);
        if let Some(waker) = wakers.0 {
            rouse(waker);
        }
        Ok(())
    }

    /// Whether the receiver is gone or has closed.
    pub fn is_closed(&self) -> bool {
        self.shared.as_ref().is_none_or(|shared| {
            shared.tell(const { &Operation::plain("look at") }, 0);
            !shared.inner.lock().receiver
        })
    }

    /// As [`Sender::closed`], for futures written by hand.
    #[track_caller]
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let shared = self.shared.as_deref();
        Pin::new(&mut Closed { shared, waited: true, at: Location::caller() }).poll(cx)
    }

    /// Waits until the receiver is gone or has closed.
    #[track_caller]
    pub fn closed(&mut self) -> Closed<'_, T> {
        let shared = self.shared.as_deref();
        Closed { shared, waited: false, at: Location::caller() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let Some(shared) = self.shared.take() else { return };
        shared.point();
        let wakers = {
            let mut state = shared.inner.lock();
            state.sender = false;
            // A receiver that has closed knows that nothing will come.
            let receiver = if state.receiver { state.rx_waker.take() } else { None };
            (receiver, state.tx_waker.take())
        };
        shared.tell(const { &Operation::plain("drop the sender of") }, 0);
        if let Some(waker) = wakers.0 {
            rouse(waker);
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The future of [`Sender::closed`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Closed<'a, T> {
    shared: Option<&'a Shared<T>>,
    waited: bool,
    at: &'static Location<'static>,
}

impl<T> Future for Closed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let Some(shared) = this.shared else { return Poll::Ready(()) };
        let next = Access::read(Resource::Object(shared.object.id));
        let waker = cx.waker().clone();
        let mut state = shared.inner.lock();
        if state.receiver {
            let old = state.tx_waker.replace(waker);
            drop(state);
            drop(old);
            this.waited = true;
            let operation = const { &Operation::plain("see the receiver drop") };
            current::look(&shared.object);
            let wait =
                Wait { object: shared.object, operation, place: PlaceOf::Operation, at: this.at };
            current::wait(wait, next, cx.waker());
            return Poll::Pending;
        }
        drop(state);
        if !current::pass_ready(cx, this.waited, &shared.object, next) {
            return Poll::Pending;
        }
        shared.tell(const { &Operation::plain("find closed") }, 0);
        Poll::Ready(())
    }
}

/// The receiving end: a future of the value.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Receiver<T> {
    /// Absent once it has given the value, or has said that there is none.
    shared: Option<Arc<Shared<T>>>,
    waited: bool,
    at: &'static Location<'static>,
}

impl<T> Receiver<T> {
    /// Takes the value if it is there.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, error::TryRecvError> {
        let Some(shared) = &self.shared else { return Err(error::TryRecvError::Closed) };
        shared.point();
        current::with_own(&shared.object, Location::caller(), |_| ());
        let mut state = shared.inner.lock();
        let (value, closed) = (state.value.take(), !state.sender || !state.receiver);
        drop(state);
        shared.tell(const { &Operation::moving::<T>("try to receive", "from") }, 0);
        match value {
            None if !closed => Err(error::TryRecvError::Empty),
            // Either way it has nothing more to give.
            value => {
                self.shared = None;
                value.ok_or(error::TryRecvError::Closed)
            }
        }
    }

    /// Waits for the value, blocking the thread.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, error::RecvError> {
        crate::task::block("`oneshot::Receiver::blocking_recv`", self)
    }

    /// Whether it has given the value, or has said that there is none.
    pub fn is_terminated(&self) -> bool {
        self.shared.is_none()
    }

    /// Whether there is no value to receive now.
    pub fn is_empty(&self) -> bool {
        self.shared.as_ref().is_none_or(|shared| {
            current::look(&shared.object);
            shared.inner.lock().value.is_none()
        })
    }

    /// Lets nothing more be sent; what was sent can still be received.
    pub fn close(&mut self) {
        let Some(shared) = &self.shared else { return };
        let waker = shared.close();
        let holds = usize::from(shared.inner.lock().value.is_some());
        shared.tell(const { &Operation::plain("close") }, holds);
        if let Some(waker) = waker {
            rouse(waker);
        }
    }
}

impl<T> Unpin for Receiver<T> {}

impl<T> Future for Receiver<T> {
    type Output = Result<T, error::RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(shared) = &this.shared else {
            panic!("a oneshot receiver was polled after it had given its value")
        };
        let next = Access::update(Resource::Object(shared.object.id));
        let waker = cx.waker().clone();
        let mut state = shared.inner.lock();
        if state.value.is_none() && state.sender && state.receiver {
            let old = state.rx_waker.replace(waker);
            drop(state);
            drop(old);
            this.waited = true;
            let operation = const { &Operation::moving::<T>("receive", "from") };
            let wait =
                Wait { object: shared.object, operation, place: PlaceOf::Creation, at: this.at };
            current::look(&shared.object);
            current::wait(wait, next, cx.waker());
            return Poll::Pending;
        }
        drop(state);
        if !current::pass_ready(cx, this.waited, &shared.object, next) {
            return Poll::Pending;
        }
        current::with_own(&shared.object, this.at, |_| ());
        let value = shared.inner.lock().value.take();
        shared.tell(
            match value {
                Some(_) => const { &Operation::moving::<T>("receive", "from") },
                None => const { &Operation::plain("find closed") },
            },
            0,
        );
        this.shared = None;
        Poll::Ready(value.ok_or(error::RecvError(())))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let Some(shared) = self.shared.take() else { return };
        shared.point();
        let waker = shared.close();
        let (value, own) = {
            let mut state = shared.inner.lock();
            (state.value.take(), state.rx_waker.take())
        };
        shared.tell(const { &Operation::plain("drop the receiver of") }, 0);
        drop((value, own));
        if let Some(waker) = waker {
            rouse(waker);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Why nothing was received.
pub mod error {
    use std::fmt;

    /// The sender was dropped without sending.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RecvError(pub(super) ());

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl std::error::Error for RecvError {}

    /// Why there is no value now.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum TryRecvError {
        /// Nothing was sent yet.
        Empty,
        /// The sender was dropped without sending, or the value was taken already.
        Closed,
    }

    impl fmt::Display for TryRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(match self {
                TryRecvError::Empty => "channel empty",
                TryRecvError::Closed => "channel closed",
            })
        }
    }

    impl std::error::Error for TryRecvError {}
}
