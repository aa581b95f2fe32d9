//! What bounded and unbounded channels have in common.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use dally_core::{Access, Op};

use super::error::{SendError, TryRecvError, TrySendError};
use crate::current::{self, Point};
use crate::sync::Inner;
use crate::sync::queue::{Queue, Turn};
use crate::text::{Deed, Object, Wait};

pub(super) struct Chan<T> {
    pub object: Object,
    /// `None`: unbounded.
    pub capacity: Option<usize>,
    pub inner: Inner<State<T>>,
}

pub(super) struct State<T> {
    queue: VecDeque<T>,
    pub senders: usize,
    /// Handles that can become senders again.
    pub weak: usize,
    /// The receiver wants nothing more.
    pub closed: bool,
    /// How many more fit, those that are promised to waiters left out.
    pub free: usize,
    receiver: Option<Waker>,
    /// Those who wait for room.
    room: Queue,
    /// Those who wait for the receiver to close.
    watchers: Queue,
}

impl<T> Chan<T> {
    #[track_caller]
    pub fn new(what: &str, capacity: Option<usize>) -> Chan<T> {
        let object = current::with(what, |running| running.object("channel"));
        let state = State {
            queue: VecDeque::new(),
            senders: 1,
            weak: 0,
            closed: false,
            free: capacity.unwrap_or(usize::MAX),
            receiver: None,
            room: Queue::default(),
            watchers: Queue::default(),
        };
        Chan { object, capacity, inner: Inner::new(state) }
    }

    /// Sends at once if there is room.
    #[track_caller]
    pub fn try_send(&self, what: &str, value: T) -> Result<(), TrySendError<T>> {
        let mut receiver = None;
        let result = current::with(what, |running| {
            running.own(&self.object);
            let mut state = self.inner.lock();
            if state.closed || state.free == 0 {
                let closed = state.closed;
                drop(state);
                let deed = Deed::moving::<T>("fail to send", "to");
                running.touch(&self.object, Access::Write, deed);
                return Err(if closed {
                    TrySendError::Closed(value)
                } else {
                    TrySendError::Full(value)
                });
            }
            if self.capacity.is_some() {
                state.free -= 1;
            }
            receiver = state.push(value);
            running.exec.holds(&self.object, state.queue.len());
            drop(state);
            running.touch(&self.object, Access::Write, Deed::moving::<T>("send", "to"));
            Ok(())
        });
        if let Some(waker) = receiver {
            waker.wake();
        }
        result
    }

    /// A step of a bounded send; `ticket` is the place among those who wait for room.
    pub fn poll_send(
        &self,
        value: &mut Option<T>,
        ticket: &mut Option<u64>,
        waker: &Waker,
    ) -> Poll<Result<(), SendError<T>>> {
        let mut wakers = (None, None);
        let polled = current::with("`mpsc::Sender::send`", |running| {
            running.own(&self.object);
            let mut state = self.inner.lock();
            if state.closed {
                if let Some(ticket) = ticket.take() {
                    wakers.1 = state.room.leave(ticket).1;
                }
                drop(state);
                let deed = Deed::moving::<T>("fail to send", "to");
                running.touch(&self.object, Access::Write, deed);
                return Poll::Ready(false);
            }
            match *ticket {
                Some(place) => {
                    let (turn, old) = state.room.ask(place, waker);
                    wakers.1 = old;
                    if turn == Turn::NotYet {
                        return Poll::Pending;
                    }
                    *ticket = None;
                }
                None if state.free == 0 => {
                    *ticket = Some(state.room.push(Some(waker.clone())));
                    return Poll::Pending;
                }
                None => state.free -= 1,
            }
            if let Some(value) = value.take() {
                wakers.0 = state.push(value);
            }
            running.exec.holds(&self.object, state.queue.len());
            drop(state);
            running.touch(&self.object, Access::Write, Deed::moving::<T>("send", "to"));
            Poll::Ready(true)
        });
        if let Some(receiver) = wakers.0 {
            receiver.wake();
        }
        match (polled, value.take()) {
            (Poll::Ready(false), Some(value)) => Poll::Ready(Err(SendError(value))),
            (Poll::Ready(_), _) => Poll::Ready(Ok(())),
            (Poll::Pending, kept) => {
                *value = kept;
                Poll::Pending
            }
        }
    }

    /// A sender that waited for room gives up.
    pub fn leave_room(&self, ticket: u64) {
        let (granted, old) = self.inner.lock().room.leave(ticket);
        drop(old);
        if granted {
            let next = self.inner.lock().make_room();
            if let Some(waker) = next {
                waker.wake();
            }
        }
    }

    /// Takes what is there.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut next = None;
        let result = current::with("`mpsc::Receiver::try_recv`", |running| {
            running.own(&self.object);
            let mut state = self.inner.lock();
            let Some(value) = state.queue.pop_front() else {
                let over = state.is_over();
                drop(state);
                let deed = Deed::plain(if over { "find closed" } else { "find empty" });
                running.touch(&self.object, Access::Write, deed);
                return Err(if over { TryRecvError::Disconnected } else { TryRecvError::Empty });
            };
            if self.capacity.is_some() {
                next = state.make_room();
            }
            running.exec.holds(&self.object, state.queue.len());
            drop(state);
            running.touch(&self.object, Access::Write, Deed::moving::<T>("receive", "from"));
            Ok(value)
        });
        if let Some(waker) = next {
            waker.wake();
        }
        result
    }

    /// Waits for something to receive, or for the end; `true` if it is there.
    fn poll_ready(&self, steps: &mut Steps, cx: &mut Context<'_>) -> bool {
        let op = Op::Write(self.object.id);
        let mut state = self.inner.lock();
        // There is one receiver: that it waits is seen by nobody, so no point comes before it.
        if state.queue.is_empty() && !state.is_over() {
            let old = state.receiver.replace(cx.waker().clone());
            drop(state);
            drop(old);
            steps.waited = true;
            let deed = Deed::moving::<T>("receive", "from");
            current::wait(Wait { object: self.object, deed, place: "at", at: steps.at }, op);
            return false;
        }
        drop(state);
        steps.waited || steps.point.passed(cx, op, "`mpsc::Receiver::recv`")
    }

    /// A receive by a future that is written by hand and keeps nothing from poll to poll: it
    /// could not tell a point that it has passed, so it has none.
    pub fn poll_recv(&self, steps: &mut Steps, cx: &mut Context<'_>) -> Poll<Option<T>> {
        steps.waited = true;
        if self.poll_ready(steps, cx) { Poll::Ready(self.try_recv().ok()) } else { Poll::Pending }
    }

    /// The receiver wants nothing more.
    pub fn close(&self, deed: Deed) {
        let woken = {
            let mut state = self.inner.lock();
            state.closed = true;
            let mut woken = state.room.dismiss();
            woken.extend(state.watchers.dismiss());
            woken
        };
        current::try_with(|running| running.touch(&self.object, Access::Write, deed));
        woken.into_iter().for_each(Waker::wake);
    }

    /// The receiver is dropped, and with it what it did not receive.
    pub fn drop_receiver(&self) {
        self.close(Deed::plain("drop the receiver of"));
        let (rest, own) = {
            let mut state = self.inner.lock();
            (std::mem::take(&mut state.queue), state.receiver.take())
        };
        current::try_with(|running| running.exec.holds(&self.object, 0));
        drop((rest, own));
    }

    pub fn add_sender(&self) {
        self.inner.lock().senders += 1;
    }

    pub fn drop_sender(&self) {
        let receiver = {
            let mut state = self.inner.lock();
            state.senders -= 1;
            if state.senders == 0 { state.receiver.take() } else { None }
        };
        current::try_with(|running| {
            running.touch(&self.object, Access::Write, Deed::plain("drop a sender of"));
        });
        if let Some(waker) = receiver {
            waker.wake();
        }
    }

    /// Looks at the state, in a step that is thereby ordered with those that change it.
    pub fn look<R>(&self, f: impl FnOnce(&State<T>) -> R) -> R {
        current::try_with(|running| {
            running.touch(&self.object, Access::Read, Deed::plain("look at"));
        });
        f(&self.inner.lock())
    }
}

impl<T> State<T> {
    fn push(&mut self, value: T) -> Option<Waker> {
        self.queue.push_back(value);
        self.receiver.take()
    }

    /// One more fits: it is promised to the first who waits.
    fn make_room(&mut self) -> Option<Waker> {
        match self.room.grant() {
            Some(waker) => waker,
            None => {
                self.free += 1;
                None
            }
        }
    }

    /// Nothing more will come.
    pub fn is_over(&self) -> bool {
        self.closed || self.senders == 0
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }
}

/// How far a future has come.
#[derive(Debug)]
pub(super) struct Steps {
    point: Point,
    waited: bool,
    at: &'static Location<'static>,
}

impl Steps {
    #[track_caller]
    pub fn new() -> Steps {
        Steps { point: Point::default(), waited: false, at: Location::caller() }
    }
}

/// The future of `recv`: the next value, or `None` when nothing more will come.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Recv<'a, T> {
    pub(super) chan: &'a Chan<T>,
    pub(super) steps: Steps,
}

impl<T> Future for Recv<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = &mut *self;
        if this.chan.poll_ready(&mut this.steps, cx) {
            Poll::Ready(this.chan.try_recv().ok())
        } else {
            Poll::Pending
        }
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

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let this = &mut *self;
        if this.limit == 0 {
            return Poll::Ready(0);
        }
        if !this.chan.poll_ready(&mut this.steps, cx) {
            return Poll::Pending;
        }
        let before = this.buffer.len();
        while this.buffer.len() - before < this.limit
            && let Ok(value) = this.chan.try_recv()
        {
            this.buffer.push(value);
        }
        Poll::Ready(this.buffer.len() - before)
    }
}

/// The future of a sender's `closed`.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Closed<'a, T> {
    pub(super) chan: &'a Chan<T>,
    pub(super) steps: Steps,
    pub(super) ticket: Option<u64>,
}

impl<T> Future for Closed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let op = Op::Read(this.chan.object.id);
        let mut state = this.chan.inner.lock();
        if state.closed {
            drop(state);
            let passed =
                this.ticket.is_some() || this.steps.point.passed(cx, op, "`mpsc::Sender::closed`");
            if !passed {
                return Poll::Pending;
            }
            return this.chan.look(|_| Poll::Ready(()));
        }
        let old = match this.ticket {
            Some(ticket) => state.watchers.ask(ticket, cx.waker()).1,
            None => {
                this.ticket = Some(state.watchers.push(Some(cx.waker().clone())));
                None
            }
        };
        drop(state);
        drop(old);
        let deed = Deed::plain("see the receiver drop or close");
        current::wait(Wait { object: this.chan.object, deed, place: "at", at: this.steps.at }, op);
        Poll::Pending
    }
}

impl<T> Drop for Closed<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let left = self.chan.inner.lock().watchers.leave(ticket);
            drop(left);
        }
    }
}
