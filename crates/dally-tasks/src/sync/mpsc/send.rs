//! What senders do: send, wait for room, and wait until nobody receives any more.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use super::chan::{Chan, Steps};
use super::error::{SendError, TrySendError};
use crate::current;
use crate::sync::TryAcquireError;
use crate::text::{Operation, Wait};
use crate::waker::rouse;

/// The future of [`Sender::send`](super::Sender::send).
#[must_use = "futures do nothing unless they are awaited"]
pub struct Send<'a, T> {
    pub(super) chan: &'a Chan<T>,
    pub(super) value: Option<T>,
    pub(super) steps: Steps,
}

impl<T> Unpin for Send<'_, T> {}

impl<T> Future for Send<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let operation = const { &Operation::moving::<T>("send", "to") };
        match this.chan.poll_send(Some(&mut this.value), 1, operation, &mut this.steps, cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => Poll::Ready(Ok(())),
            // Polled again after it is done, it has nothing to give back.
            Poll::Ready(Err(_)) => {
                Poll::Ready(this.value.take().map_or(Ok(()), |value| Err(SendError(value))))
            }
        }
    }
}

impl<T> Drop for Send<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.steps.ticket {
            self.chan.leave_room(ticket);
        }
    }
}

/// The future of a sender's `closed`.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Closed<'a, T> {
    pub(super) chan: &'a Chan<T>,
    pub(super) steps: Steps,
}

impl<T> Future for Closed<'_, T> {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let next = Access::read(Resource::Object(this.chan.object.id));
        let mut state = this.chan.inner.lock();
        if state.closed {
            drop(state);
            let waited = this.steps.ticket.is_some();
            if !current::pass_ready(cx, waited, &this.chan.object, next) {
                return Poll::Pending;
            }
            return this.chan.look_at_senders(|_| Poll::Ready(()));
        }
        let old = match this.steps.ticket {
            Some(ticket) => state.watchers.ask(ticket, Some(cx.waker())).1,
            None => {
                this.steps.ticket = Some(state.watchers.push(Some(cx.waker().clone())));
                None
            }
        };
        drop(state);
        drop(old);
        let operation = const { &Operation::plain("see the receiver drop or close") };
        let object = this.chan.object;
        current::look(&object);
        let wait = Wait { object, operation, place: PlaceOf::Operation, at: this.steps.at };
        current::wait(wait, next, cx.waker());
        Poll::Pending
    }
}

impl<T> Drop for Closed<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.steps.ticket {
            let left = self.chan.inner.lock().watchers.leave(ticket);
            drop(left);
        }
    }
}

impl<T> Chan<T> {
    /// Sends at once if there is room.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.point();
        let mut receiver = None;
        let result = current::with_own(&self.object, Location::caller(), |exec| {
            let mut state = self.inner.lock();
            if state.closed || state.room.free == 0 {
                let closed = state.closed;
                drop(state);
                let operation = const { &Operation::moving::<T>("fail to send", "to") };
                self.touch_both(exec, Mode::ReadModifyWrite, operation);
                return Err(if closed {
                    TrySendError::Closed(value)
                } else {
                    TrySendError::Full(value)
                });
            }
            let operation = const { &Operation::moving::<T>("send", "to") };
            self.touch_room(exec, &state, 1, operation);
            if self.capacity.is_some() {
                state.room.free -= 1;
                state.placed += 1;
            }
            receiver = state.push(value);
            self.touch_sent(exec, &state);
            exec.holds(&self.object, state.queue.len());
            drop(state);
            Ok(())
        });
        if let Some(waker) = receiver {
            waker.wake();
        }
        result
    }

    /// Takes room for so many values if there is.
    #[track_caller]
    pub fn try_reserve(
        &self,
        n: usize,
        operation: &'static Operation,
    ) -> Result<(), TrySendError<()>> {
        self.point();
        let at = Location::caller();
        current::with_own(&self.object, at, |exec| {
            let mut state = self.inner.lock();
            let taken = state.room.take(n);
            let fail = const { &Operation::plain("fail to reserve room in") };
            let operation = if taken.is_ok() { operation } else { fail };
            self.touch_room(exec, &state, n, operation);
            if taken.is_ok() {
                state.placed += n;
            }
            drop(state);
            taken.map_err(|error| match error {
                TryAcquireError::Closed => TrySendError::Closed(()),
                TryAcquireError::NoPermits => TrySendError::Full(()),
            })
        })
    }

    /// Sends where there is room for it.
    pub fn send_into_room(&self, value: T) {
        self.point();
        let receiver = self.inner.lock().push(value);
        current::try_with(|exec| {
            let operation = const { &Operation::moving::<T>("send", "to") };
            exec.touch(&self.object, Mode::ReadModifyWrite, operation);
            let state = self.inner.lock();
            self.touch_sent(exec, &state);
            exec.holds(&self.object, state.len());
        });
        if let Some(waker) = receiver {
            waker.wake();
        }
    }

    /// Gives room back that was not used.
    pub fn give_room_back(&self, n: usize, operation: &'static Operation) {
        self.point();
        let (woken, receiver) = {
            let mut state = self.inner.lock();
            let woken = state.room.add(n);
            (woken, state.last_to_leave(self.capacity))
        };
        current::try_with(|exec| self.touch_both(exec, Mode::ReadModifyWrite, operation));
        woken.into_iter().for_each(rouse);
        if let Some(waker) = receiver {
            waker.wake();
        }
    }

    /// A poll for room for `n` values, into which the value is sent if there is one.
    #[inline(always)]
    pub fn poll_send(
        &self,
        mut value: Option<&mut Option<T>>,
        n: usize,
        operation: &'static Operation,
        steps: &mut Steps,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        // Whoever has no place in the queue stands before the operation whether or not there is room.
        let passed = steps.ticket.is_none();
        let next = Access::update(Resource::Object(self.object.id));
        if passed && !current::pass_first(cx, &self.object, steps.at, next) {
            return Poll::Pending;
        }
        let mut wakers = (None, None);
        let sent = current::attempt(cx, |again| {
            let (value, waker) = (value.as_deref_mut(), cx.waker());
            let passed = passed || again;
            self.try_poll_send(value, n, operation, steps, waker, passed, &mut wakers)
        });
        let (receiver, old) = wakers;
        drop(old);
        if let Some(receiver) = receiver {
            rouse(receiver);
        }
        sent
    }

    /// As [`current::attempt`] wants it. Answers also whom to wake and a waker to drop.
    #[expect(clippy::too_many_arguments, reason = "the parts of two futures")]
    fn try_poll_send(
        &self,
        value: Option<&mut Option<T>>,
        n: usize,
        operation: &'static Operation,
        steps: &mut Steps,
        waker: &Waker,
        passed: bool,
        wakers: &mut (Option<Waker>, Option<Waker>),
    ) -> Option<Poll<Result<(), SendError<()>>>> {
        let next = Access::update(Resource::Object(self.object.id));
        current::with_own(&self.object, steps.at, |exec| {
            let mut state = self.inner.lock();
            // Coming to wait has an effect, the place in the queue, so there is a point before
            // it whether or not there is room. Who has a place comes to it when there is room.
            if !passed
                && steps.ticket.is_some_and(|ticket| state.room.is_over(ticket))
                && exec.stands_before(waker, true, Some(next))
            {
                return None;
            }
            if state.closed {
                if let Some(ticket) = steps.ticket.take() {
                    let (has, old) = state.room.leave(ticket);
                    wakers.1 = old;
                    state.room.free += has;
                }
                let receiver = state.last_to_leave(self.capacity);
                drop(state);
                let operation = const { &Operation::moving::<T>("fail to send", "to") };
                self.touch_both(exec, Mode::ReadModifyWrite, operation);
                wakers.0 = receiver.and_then(|receiver| receiver.wake_in(exec));
                return Some(Poll::Ready(Err(SendError(()))));
            }
            let room = match steps.ticket {
                Some(ticket) => {
                    let (done, old) = state.room.ask(ticket, waker);
                    wakers.1 = old;
                    let mode = if done { Mode::ReadModifyWrite } else { Mode::Read };
                    self.touch_both(exec, mode, Operation::SILENT);
                    done
                }
                None if state.room.free < n => {
                    steps.ticket = Some(state.room.enqueue(n, waker.clone()));
                    // Its place in the queue depends on who came before.
                    self.touch_room(exec, &state, n, Operation::SILENT);
                    state.placed += n;
                    false
                }
                None => {
                    state.room.free -= n;
                    self.touch_room(exec, &state, n, Operation::SILENT);
                    state.placed += n;
                    true
                }
            };
            if !room {
                drop(state);
                let wait = Wait {
                    object: self.object,
                    operation,
                    place: PlaceOf::Operation,
                    at: steps.at,
                };
                exec.wait(wait, next, waker);
                return Some(Poll::Pending);
            }
            steps.ticket = None;
            exec.touch(&self.object, Mode::ReadModifyWrite, operation);
            let receiver = value.and_then(Option::take).and_then(|value| {
                let receiver = state.push(value);
                self.touch_sent(exec, &state);
                receiver
            });
            exec.holds(&self.object, state.queue.len());
            drop(state);
            wakers.0 = receiver.and_then(|receiver| receiver.wake_in(exec));
            Some(Poll::Ready(Ok(())))
        })
    }

    /// Somebody who waited for room gives up.
    pub fn leave_room(&self, ticket: u64) {
        let (woken, old, receiver) = {
            let mut state = self.inner.lock();
            let (has, old) = state.room.leave(ticket);
            (state.room.add(has), old, state.last_to_leave(self.capacity))
        };
        drop(old);
        current::try_with(|exec| {
            self.touch_both(exec, Mode::ReadModifyWrite, Operation::SILENT);
        });
        woken.into_iter().for_each(rouse);
        if let Some(waker) = receiver {
            waker.wake();
        }
    }
}
