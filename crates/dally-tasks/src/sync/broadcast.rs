//! Every value for every receiver, in the shape of `tokio::sync::broadcast`.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use dally_core::Mode;

use self::error::{RecvError, SendError, TryRecvError};
use super::Inner;
use super::bound::Bound;
use super::queue::Queue;
use super::until::{Until, Words};
use crate::pipe::without_points;
use crate::task;
use crate::text::{Kind, Operation};
use crate::waker::rouse;

pub mod error;

/// A channel that keeps the last values, rounded up to a power of two, for every receiver. Those that are too
/// slow miss the oldest.
///
/// # Panics
/// If the capacity is 0 or more than half of what there can be.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::with_receivers(capacity, 1);
    let receiver = Receiver { shared: sender.shared.clone(), next: 0 };
    (sender, receiver)
}

type Shared<T> = Bound<State<T>>;

struct State<T> {
    capacity: usize,
    /// The last values that were sent, and how many have not received each. What all have received is gone.
    slots: VecDeque<(usize, Option<Arc<Inner<T>>>)>,
    /// How many values were sent.
    sent: u64,
    senders: usize,
    weak: usize,
    receivers: usize,
    closed: bool,
    /// Those who wait for a value.
    waiting: Queue,
    /// Those who wait until there is no receiver.
    deserted: Queue,
}

impl<T> State<T> {
    /// The number of the oldest value that is kept.
    fn oldest(&self) -> u64 {
        self.sent - self.slots.len() as u64
    }

    /// The next value of a receiver, or why there is none, and what is dropped by that.
    fn receive(&mut self, next: &mut u64) -> Result<Option<Arc<Inner<T>>>, TryRecvError> {
        if *next == self.sent {
            return Err(if self.closed { TryRecvError::Closed } else { TryRecvError::Empty });
        }
        let oldest = self.oldest();
        if *next < oldest {
            let missed = oldest - *next;
            *next = oldest;
            return Err(TryRecvError::Lagged(missed));
        }
        let (left, value) = &mut self.slots[(*next - oldest) as usize];
        *next += 1;
        *left -= 1;
        Ok(if *left == 0 { value.take() } else { value.clone() })
    }

    fn can_receive(&self, next: u64) -> bool {
        next != self.sent || self.closed
    }
}

/// The end that sends; clones send to the same receivers.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// A channel without a receiver.
    ///
    /// # Panics
    /// As [`channel`].
    #[track_caller]
    pub fn new(capacity: usize) -> Sender<T> {
        Sender::with_receivers(capacity, 0)
    }

    #[track_caller]
    fn with_receivers(capacity: usize, receivers: usize) -> Sender<T> {
        assert!(capacity > 0, "broadcast channel capacity cannot be zero");
        assert!(
            capacity <= usize::MAX >> 1,
            "broadcast channel capacity exceeded `usize::MAX / 2`"
        );
        let state = State {
            capacity: capacity.next_power_of_two(),
            slots: VecDeque::new(),
            sent: 0,
            senders: 1,
            weak: 0,
            receivers,
            closed: receivers == 0,
            waiting: Queue::new(),
            deserted: Queue::new(),
        };
        Sender { shared: Arc::new(Bound::new(Kind::Broadcast, state)) }
    }

    /// Sends to all receivers; answers how many these are.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.shared.point();
        let at = Location::caller();
        let mut value = Some(value);
        let (receivers, woken, old) = self.shared.with(at, |exec, state, object| {
            if state.receivers == 0 {
                let operation = const { &Operation::moving::<T>("fail to send", "to") };
                exec.touch(object, Mode::ReadModifyWrite, operation);
                return (0, Vec::new(), None);
            }
            let full = state.slots.len() == state.capacity;
            let old = if full { state.slots.pop_front() } else { None };
            state.slots.push_back((
                state.receivers,
                value.take().map(|value| Arc::new(Inner::new(value))),
            ));
            state.sent += 1;
            exec.touch(
                object,
                Mode::ReadModifyWrite,
                const { &Operation::moving::<T>("send", "to") },
            );
            exec.holds(object, state.slots.len());
            (state.receivers, state.waiting.dismiss(), old)
        });
        drop(old);
        woken.into_iter().for_each(rouse);
        value.map_or(Ok(receivers), |value| Err(SendError(value)))
    }

    /// Another receiver, which gets what is sent from here on.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::of(&self.shared)
    }

    /// A handle that does not keep the channel open.
    #[must_use = "this makes another handle and leaves the sender as it is"]
    pub fn downgrade(&self) -> WeakSender<T> {
        self.shared.settle(|state| state.weak += 1, Operation::SILENT, Mode::ReadModifyWrite);
        WeakSender { shared: self.shared.clone() }
    }

    /// How many values some receiver has not received.
    pub fn len(&self) -> usize {
        self.shared.look(|state| {
            let all_have = state.slots.iter().take_while(|slot| slot.0 == 0).count();
            state.slots.len() - all_have
        })
    }

    /// Whether all receivers have received all values.
    pub fn is_empty(&self) -> bool {
        self.shared.look(|state| state.slots.back().is_none_or(|slot| slot.0 == 0))
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.shared.look(|state| state.receivers)
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let operation = const { &Operation::plain("see the last receiver drop from") };
        let words =
            Words { what: "`broadcast::Sender::closed`", operation, at: Location::caller() };
        let ready = |state: &State<T>| state.closed;
        Until::new(&*self.shared, words, |state| &mut state.deserted, ready, |_| ())
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.shared.look(|state| state.senders)
    }

    /// How many handles there are that do not keep the channel open.
    pub fn weak_count(&self) -> usize {
        self.shared.look(|state| state.weak)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.shared.settle(|state| state.senders += 1, Operation::SILENT, Mode::ReadModifyWrite);
        Sender { shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.point();
        let close = |state: &mut State<T>| {
            state.senders -= 1;
            if state.senders > 0 {
                return Vec::new();
            }
            state.closed = true;
            state.waiting.dismiss()
        };
        let operation = const { &Operation::plain("drop a sender of") };
        let woken = self.shared.settle(close, operation, Mode::ReadModifyWrite);
        woken.into_iter().for_each(rouse);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::Sender")
    }
}

/// An end that sends and does not keep the channel open.
pub struct WeakSender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> WeakSender<T> {
    /// A sender, unless all are gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let add = |state: &mut State<T>| {
            state.senders += usize::from(state.senders > 0);
            state.senders > 0
        };
        let open = self.shared.settle(add, Operation::SILENT, Mode::ReadModifyWrite);
        open.then(|| Sender { shared: self.shared.clone() })
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.shared.look(|state| state.senders)
    }

    /// How many handles there are that do not keep the channel open.
    pub fn weak_count(&self) -> usize {
        self.shared.look(|state| state.weak)
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> WeakSender<T> {
        self.shared.settle(|state| state.weak += 1, Operation::SILENT, Mode::ReadModifyWrite);
        WeakSender { shared: self.shared.clone() }
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.shared.settle(|state| state.weak -= 1, Operation::SILENT, Mode::ReadModifyWrite);
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::WeakSender")
    }
}

/// The end that receives every value that is sent after it was made.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The number of the value that it receives next.
    next: u64,
}

impl<T> Receiver<T> {
    fn of(shared: &Arc<Shared<T>>) -> Receiver<T> {
        let add = |state: &mut State<T>| {
            if state.receivers == 0 {
                state.closed = false;
            }
            state.receivers += 1;
            state.sent
        };
        let next = shared.settle(add, Operation::SILENT, Mode::ReadModifyWrite);
        Receiver { shared: shared.clone(), next }
    }

    /// How many values were sent that it has not received, those that it has missed among them.
    pub fn len(&self) -> usize {
        self.shared.look(|state| state.sent - self.next) as usize
    }

    /// Whether it has received all values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// How many senders there are.
    pub fn sender_strong_count(&self) -> usize {
        self.shared.look(|state| state.senders)
    }

    /// How many handles there are that do not keep the channel open.
    pub fn sender_weak_count(&self) -> usize {
        self.shared.look(|state| state.weak)
    }

    /// Whether there is no sender.
    pub fn is_closed(&self) -> bool {
        self.sender_strong_count() == 0
    }
}

impl<T: Clone> Receiver<T> {
    /// Another receiver, which gets what is sent from here on.
    pub fn resubscribe(&self) -> Receiver<T> {
        Receiver::of(&self.shared)
    }

    /// The next value; an error if values were missed, or if there is none and there is no sender.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        let operation = const { &Operation::moving::<T>("receive", "from") };
        let words =
            Words { what: "`broadcast::Receiver::recv`", operation, at: Location::caller() };
        async move {
            let Receiver { shared, next } = self;
            let seen = *next;
            let ready = move |state: &State<T>| state.can_receive(seen);
            let take = |state: &mut State<T>| state.receive(next);
            let got = Until::new(&**shared, words, |state| &mut state.waiting, ready, take).await;
            match got {
                Ok(value) => value.map(|value| copy_of(&value)).ok_or(RecvError::Closed),
                Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
                Err(TryRecvError::Empty | TryRecvError::Closed) => Err(RecvError::Closed),
            }
        }
    }

    /// The next value, if it is there.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.shared.point();
        let at = Location::caller();
        let got = self.shared.with(at, |exec, state, object| {
            let operation = const { &Operation::moving::<T>("try to receive", "from") };
            exec.touch(object, Mode::ReadModifyWrite, operation);
            state.receive(&mut self.next)
        });
        got?.map(|value| copy_of(&value)).ok_or(TryRecvError::Closed)
    }

    /// As [`Receiver::recv`], blocking the thread.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        task::block("`broadcast::Receiver::blocking_recv`", self.recv())
    }
}

/// A copy of what was sent. Values need not be `Sync`, so there is a lock around each, and whoever copies it is
/// not suspended meanwhile.
fn copy_of<T: Clone>(value: &Inner<T>) -> T {
    without_points(|| value.lock().clone())
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.point();
        let leave = |state: &mut State<T>| {
            state.receivers -= 1;
            let mut rest = Vec::new();
            self.next = self.next.max(state.oldest());
            while let Ok(value) = state.receive(&mut self.next) {
                rest.extend(value);
            }
            if state.receivers > 0 {
                return (Vec::new(), rest);
            }
            state.closed = true;
            (state.deserted.dismiss(), rest)
        };
        let operation = const { &Operation::plain("drop a receiver of") };
        let (woken, rest) = self.shared.settle(leave, operation, Mode::ReadModifyWrite);
        drop(rest);
        woken.into_iter().for_each(rouse);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::Receiver")
    }
}
