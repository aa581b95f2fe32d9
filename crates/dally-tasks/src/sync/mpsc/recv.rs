//! What the receiver does.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Resource};

use super::chan::{Chan, Steps};
use super::error::TryRecvError;
use crate::current;
use crate::text::{Operation, Wait};
use crate::waker::{Sleeper, rouse};

/// The future of `recv`: the next value, or `None` when nothing more will come.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Recv<'a, T> {
    pub(super) chan: &'a Chan<T>,
    pub(super) steps: Steps,
}

impl<T> Future for Recv<'_, T> {
    type Output = Option<T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = &mut *self;
        this.chan.poll_recv(&mut this.steps, cx)
    }
}

/// The future of `recv_many`: how many values were put into the buffer.
#[must_use = "futures do nothing unless they are awaited"]
pub struct RecvMany<'a, T> {
    pub(super) chan: &'a Chan<T>,
    pub(super) steps: Steps,
    pub(super) buffer: &'a mut Vec<T>,
    pub(super) limit: usize,
}

impl<T> Future for RecvMany<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let this = &mut *self;
        this.chan.poll_recv_many(&mut this.steps, cx, this.buffer, this.limit)
    }
}

impl<T> Chan<T> {
    /// A poll of a receive of several values.
    pub fn poll_recv_many(
        &self,
        steps: &mut Steps,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        let before = buffer.len();
        match self.poll_recv(steps, cx) {
            Poll::Ready(Some(value)) => buffer.push(value),
            Poll::Ready(None) => return Poll::Ready(0),
            Poll::Pending => return Poll::Pending,
        }
        while buffer.len() - before < limit
            && let Ok(value) = self.take_next()
        {
            buffer.push(value);
        }
        Poll::Ready(buffer.len() - before)
    }

    /// Takes what is there.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.point();
        self.take_next()
    }

    #[track_caller]
    fn take_next(&self) -> Result<T, TryRecvError> {
        let mut next = None;
        let result = current::with_own(&self.object, Location::caller(), |exec| {
            let mut state = self.inner.lock();
            let Some(value) = state.queue.pop_front() else {
                let over = state.is_over(self.capacity);
                drop(state);
                let operation = if over {
                    const { &Operation::plain("find closed") }
                } else {
                    const { &Operation::plain("find empty") }
                };
                self.touch_nothing(exec, operation);
                return Err(if over { TryRecvError::Disconnected } else { TryRecvError::Empty });
            };
            state.received += 1;
            if self.capacity.is_some() {
                next = state.make_room();
            }
            exec.holds(&self.object, state.queue.len());
            let operation = const { &Operation::moving::<T>("receive", "from") };
            self.touch_received(exec, &state, operation);
            drop(state);
            Ok(value)
        });
        if let Some(waker) = next {
            rouse(waker);
        }
        result
    }

    /// A poll of a receive.
    #[inline(always)]
    pub fn poll_recv(&self, steps: &mut Steps, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut wakers = (None, None);
        let got = current::attempt(cx, |passed| {
            self.try_poll_recv(steps, cx.waker(), passed, &mut wakers)
        });
        let (next, old) = wakers;
        drop(old);
        if let Some(waker) = next {
            rouse(waker);
        }
        got
    }

    /// As [`current::attempt`] wants it. Answers also whom to wake and a waker to drop.
    fn try_poll_recv(
        &self,
        steps: &mut Steps,
        waker: &Waker,
        passed: bool,
        wakers: &mut (Option<Waker>, Option<Sleeper>),
    ) -> Option<Poll<Option<T>>> {
        let operation = const { &Operation::moving::<T>("receive", "from") };
        let next = Access::update(Resource::Object(self.object.id));
        current::with_own(&self.object, steps.at, |exec| {
            let mut state = self.inner.lock();
            let over = state.is_over(self.capacity);
            // There is one receiver: that it waits is seen by nobody, so no point comes before.
            if state.queue.is_empty() && !over {
                let sleeper = if steps.unseen {
                    Sleeper::unseen(exec, waker)
                } else {
                    self.look_for_value(exec, &state);
                    Sleeper::new(exec, waker)
                };
                wakers.1 = state.receiver.replace(sleeper);
                drop(state);
                steps.waited = true;
                let wait = Wait {
                    object: self.object,
                    operation,
                    place: PlaceOf::Operation,
                    at: steps.at,
                };
                exec.wait(wait, next, waker);
                return Some(Poll::Pending);
            }
            if !passed && exec.stands_before(waker, steps.waited, Some(next)) {
                // It has seen that there is no need to wait.
                if !steps.unseen {
                    self.look_for_value(exec, &state);
                }
                return None;
            }
            let value = state.queue.pop_front();
            if value.is_some() {
                state.received += 1;
                if self.capacity.is_some() {
                    wakers.0 = state.make_room();
                }
                if steps.unseen {
                    self.touch_awaited(exec, &state, operation);
                } else {
                    self.touch_received(exec, &state, operation);
                }
            } else {
                self.touch_nothing(exec, const { &Operation::plain("find closed") });
            }
            exec.holds(&self.object, state.queue.len());
            Some(Poll::Ready(value))
        })
    }
}
