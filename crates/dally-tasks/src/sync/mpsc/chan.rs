//! What bounded and unbounded channels have in common.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use super::error::{SendError, TryRecvError, TrySendError};
use crate::current;
use crate::sync::Inner;
use crate::sync::queue::{Queue, Turn};
use crate::text::{Deed, Kind, Object, Wait};
use crate::waker::{Sleeper, rouse};

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
    receiver: Option<Sleeper>,
    /// Those who wait for room.
    room: Queue,
    /// Those who wait for the receiver to close.
    watchers: Queue,
}

impl<T> Chan<T> {
    #[track_caller]
    pub fn new(what: &str, capacity: Option<usize>) -> Chan<T> {
        let object = current::with(what, |exec| exec.object(Kind::Channel));
        let state = State {
            // Most channels hold a few values at some time: one allocation is enough for them.
            queue: VecDeque::with_capacity(capacity.unwrap_or(FEW).min(FEW)),
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
        let result = current::with_own(what, &self.object, Location::caller(), |exec| {
            let mut state = self.inner.lock();
            if state.closed || state.free == 0 {
                let closed = state.closed;
                drop(state);
                let deed = const { &Deed::moving::<T>("fail to send", "to") };
                exec.touch(&self.object, Mode::ReadModifyWrite, deed);
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
            exec.holds(&self.object, state.queue.len());
            drop(state);
            exec.touch(
                &self.object,
                Mode::ReadModifyWrite,
                const { &Deed::moving::<T>("send", "to") },
            );
            Ok(())
        });
        if let Some(waker) = receiver {
            waker.wake();
        }
        result
    }

    /// A poll of a bounded send.
    pub fn poll_send(
        &self,
        value: &mut Option<T>,
        steps: &mut Steps,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        let mut wakers = (None, None);
        let mut done = self.try_poll_send(value, steps, cx.waker(), false, &mut wakers);
        if matches!(done, Done::Before) {
            if !current::suspend(cx) {
                return Poll::Pending;
            }
            done = self.try_poll_send(value, steps, cx.waker(), true, &mut wakers);
        }
        let (receiver, old) = wakers;
        drop(old);
        if let Some(receiver) = receiver {
            rouse(receiver);
        }
        match done {
            Done::Sent => Poll::Ready(Ok(())),
            Done::NotYet | Done::Before => Poll::Pending,
            Done::Closed => Poll::Ready(value.take().map_or(Ok(()), |value| Err(SendError(value)))),
        }
    }

    /// `passed`: the scheduling point is.
    #[inline]
    fn try_poll_send(
        &self,
        value: &mut Option<T>,
        steps: &mut Steps,
        waker: &Waker,
        passed: bool,
        wakers: &mut (Option<Waker>, Option<Waker>),
    ) -> Done {
        let deed = const { &Deed::moving::<T>("send", "to") };
        let next = Access::update(Resource::Object(self.object.id));
        current::with_own(SEND, &self.object, steps.at, |exec| {
            let mut state = self.inner.lock();
            // Coming to wait has an effect, the place in the queue, so there is a point before
            // it whether or not there is room.
            if !passed
                && steps.ticket.is_none_or(|ticket| state.closed || state.room.is_over(ticket))
                && exec.stands_before(waker, steps.ticket.is_some(), Some(next))
            {
                return Done::Before;
            }
            if state.closed {
                if let Some(ticket) = steps.ticket.take() {
                    let (granted, old) = state.room.leave(ticket);
                    wakers.1 = old;
                    if granted {
                        state.free += 1;
                    }
                }
                drop(state);
                let deed = const { &Deed::moving::<T>("fail to send", "to") };
                exec.touch(&self.object, Mode::ReadModifyWrite, deed);
                return Done::Closed;
            }
            let room = match steps.ticket {
                Some(ticket) => {
                    let (turn, old) = state.room.ask(ticket, Some(waker));
                    wakers.1 = old;
                    if turn == Turn::NotYet {
                        exec.brush(&self.object, Mode::Read);
                    }
                    turn != Turn::NotYet
                }
                None if state.free == 0 => {
                    steps.ticket = Some(state.room.push(Some(waker.clone())));
                    // Its place in the queue depends on who came before.
                    exec.brush(&self.object, Mode::ReadModifyWrite);
                    false
                }
                None => {
                    state.free -= 1;
                    true
                }
            };
            if !room {
                drop(state);
                let wait =
                    Wait { object: self.object, deed, place: PlaceOf::Operation, at: steps.at };
                exec.wait(wait, next, waker);
                return Done::NotYet;
            }
            steps.ticket = None;
            let receiver = value.take().and_then(|value| state.push(value));
            exec.holds(&self.object, state.queue.len());
            drop(state);
            exec.touch(&self.object, Mode::ReadModifyWrite, deed);
            wakers.0 = receiver.and_then(|receiver| receiver.wake_in(exec));
            Done::Sent
        })
    }

    /// A sender that waited for room gives up.
    pub fn leave_room(&self, ticket: u64) {
        let (granted, old) = self.inner.lock().room.leave(ticket);
        drop(old);
        current::change(&self.object);
        if granted {
            let next = self.inner.lock().make_room();
            if let Some(waker) = next {
                rouse(waker);
            }
        }
    }

    /// Takes what is there.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut next = None;
        let what = "`mpsc::Receiver::try_recv`";
        let result = current::with_own(what, &self.object, Location::caller(), |exec| {
            let mut state = self.inner.lock();
            let Some(value) = state.queue.pop_front() else {
                let over = state.is_over();
                drop(state);
                let deed = if over {
                    const { &Deed::plain("find closed") }
                } else {
                    const { &Deed::plain("find empty") }
                };
                exec.touch(&self.object, Mode::ReadModifyWrite, deed);
                return Err(if over { TryRecvError::Disconnected } else { TryRecvError::Empty });
            };
            if self.capacity.is_some() {
                next = state.make_room();
            }
            exec.holds(&self.object, state.queue.len());
            drop(state);
            exec.touch(
                &self.object,
                Mode::ReadModifyWrite,
                const { &Deed::moving::<T>("receive", "from") },
            );
            Ok(value)
        });
        if let Some(waker) = next {
            rouse(waker);
        }
        result
    }

    /// A poll of a receive.
    pub fn poll_recv(&self, steps: &mut Steps, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut wakers = (None, None);
        let mut got = self.try_poll_recv(steps, cx.waker(), false, &mut wakers);
        if matches!(got, Got::Before) {
            if !current::suspend(cx) {
                return Poll::Pending;
            }
            got = self.try_poll_recv(steps, cx.waker(), true, &mut wakers);
        }
        let (next, old) = wakers;
        drop(old);
        if let Some(waker) = next {
            rouse(waker);
        }
        match got {
            Got::Value(value) => Poll::Ready(Some(value)),
            Got::End => Poll::Ready(None),
            Got::NotYet | Got::Before => Poll::Pending,
        }
    }

    /// `passed`: the scheduling point is.
    #[inline]
    fn try_poll_recv(
        &self,
        steps: &mut Steps,
        waker: &Waker,
        passed: bool,
        wakers: &mut (Option<Waker>, Option<Sleeper>),
    ) -> Got<T> {
        let deed = const { &Deed::moving::<T>("receive", "from") };
        let next = Access::update(Resource::Object(self.object.id));
        current::with_own(RECV, &self.object, steps.at, |exec| {
            let mut state = self.inner.lock();
            let over = state.is_over();
            // There is one receiver: that it waits is seen by nobody, so no point comes before.
            if state.queue.is_empty() && !over {
                wakers.1 = state.receiver.replace(Sleeper::new(exec, waker));
                drop(state);
                steps.waited = true;
                exec.brush(&self.object, Mode::Read);
                let wait =
                    Wait { object: self.object, deed, place: PlaceOf::Operation, at: steps.at };
                exec.wait(wait, next, waker);
                return Got::NotYet;
            }
            if !passed && exec.stands_before(waker, steps.waited, Some(next)) {
                // It has seen that there is no need to wait.
                exec.brush(&self.object, Mode::Read);
                return Got::Before;
            }
            let value = state.queue.pop_front();
            if value.is_some() && self.capacity.is_some() {
                wakers.0 = state.make_room();
            }
            exec.holds(&self.object, state.queue.len());
            drop(state);
            match value {
                Some(value) => {
                    exec.touch(&self.object, Mode::ReadModifyWrite, deed);
                    Got::Value(value)
                }
                None => {
                    let deed = const { &Deed::plain("find closed") };
                    exec.touch(&self.object, Mode::ReadModifyWrite, deed);
                    Got::End
                }
            }
        })
    }

    /// The receiver wants nothing more.
    pub fn close(&self, deed: &'static Deed) {
        let woken = {
            let mut state = self.inner.lock();
            state.closed = true;
            let mut woken = state.room.dismiss();
            woken.extend(state.watchers.dismiss());
            woken
        };
        current::try_with(|exec| exec.touch(&self.object, Mode::ReadModifyWrite, deed));
        woken.into_iter().for_each(rouse);
    }

    /// The receiver is dropped, and with it what it did not receive.
    pub fn drop_receiver(&self) {
        self.close(const { &Deed::plain("drop the receiver of") });
        let (rest, own) = {
            let mut state = self.inner.lock();
            let rest = std::mem::take(&mut state.queue);
            if self.capacity.is_some() {
                state.free += rest.len();
            }
            (rest, state.receiver.take())
        };
        current::try_with(|exec| exec.holds(&self.object, 0));
        drop((rest, own));
    }

    pub fn add_sender(&self) {
        self.inner.lock().senders += 1;
        current::look(&self.object);
    }

    pub fn add_weak(&self) {
        self.inner.lock().weak += 1;
        current::look(&self.object);
    }

    pub fn drop_weak(&self) {
        self.inner.lock().weak -= 1;
        current::look(&self.object);
    }

    /// How many handles there are. Making one is told as a read, since two that do so need no
    /// order; so counting them has to be a write.
    pub fn count(&self, of: impl FnOnce(&State<T>) -> usize) -> usize {
        current::try_with(|exec| {
            exec.touch(&self.object, Mode::ReadModifyWrite, const { &Deed::plain("look at") });
        });
        of(&self.inner.lock())
    }

    pub fn drop_sender(&self) {
        let receiver = {
            let mut state = self.inner.lock();
            state.senders -= 1;
            if state.senders == 0 { state.receiver.take() } else { None }
        };
        current::try_with(|exec| {
            exec.touch(
                &self.object,
                Mode::ReadModifyWrite,
                const { &Deed::plain("drop a sender of") },
            );
        });
        if let Some(waker) = receiver {
            waker.wake();
        }
    }

    /// Looks at the state, in a step that is thereby ordered with those that change it.
    pub fn look<R>(&self, f: impl FnOnce(&State<T>) -> R) -> R {
        current::try_with(|exec| {
            exec.touch(&self.object, Mode::Read, const { &Deed::plain("look at") });
        });
        f(&self.inner.lock())
    }
}

impl<T> State<T> {
    fn push(&mut self, value: T) -> Option<Sleeper> {
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

/// What came of an attempt to send.
enum Done {
    Sent,
    Closed,
    NotYet,
    /// The scheduling point comes first.
    Before,
}

/// What came of an attempt to receive.
enum Got<T> {
    Value(T),
    End,
    NotYet,
    /// The scheduling point comes first.
    Before,
}

/// A channel has room for so many values before it allocates again.
const FEW: usize = 8;

const SEND: &str = "`mpsc::Sender::send`";
const RECV: &str = "`mpsc::Receiver::recv`";

/// How far a future has come.
#[derive(Debug)]
pub(super) struct Steps {
    /// The future has waited for what it does next.
    waited: bool,
    /// The place among those who wait.
    pub ticket: Option<u64>,
    at: &'static Location<'static>,
}

impl Steps {
    #[track_caller]
    pub fn new() -> Steps {
        Steps { waited: false, ticket: None, at: Location::caller() }
    }

    /// For a future that keeps nothing from poll to poll, and may have waited.
    #[track_caller]
    pub fn unknown() -> Steps {
        Steps { waited: true, ..Steps::new() }
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

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let this = &mut *self;
        if this.limit == 0 {
            return Poll::Ready(0);
        }
        let before = this.buffer.len();
        match this.chan.poll_recv(&mut this.steps, cx) {
            Poll::Ready(Some(value)) => this.buffer.push(value),
            Poll::Ready(None) => return Poll::Ready(0),
            Poll::Pending => return Poll::Pending,
        }
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
}

impl<T> Future for Closed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let next = Access::read(Resource::Object(this.chan.object.id));
        let mut state = this.chan.inner.lock();
        if state.closed {
            drop(state);
            let (what, waited) = ("`mpsc::Sender::closed`", this.steps.ticket.is_some());
            if !current::pass_ready(cx, what, waited, &this.chan.object, next) {
                return Poll::Pending;
            }
            return this.chan.look(|_| Poll::Ready(()));
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
        let deed = const { &Deed::plain("see the receiver drop or close") };
        let object = this.chan.object;
        current::look(&object);
        let wait = Wait { object, deed, place: PlaceOf::Operation, at: this.steps.at };
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
