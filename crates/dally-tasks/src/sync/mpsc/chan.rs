//! What bounded and unbounded channels have in common: their state, and how many have them.

use std::collections::VecDeque;
use std::panic::Location;
use std::task::Waker;

use dally_core::{Access, Mode, Resource};

use crate::current;
use crate::sync::Inner;
use crate::sync::permits::Permits;
use crate::sync::queue::Queue;
use crate::text::{Kind, Object, Operation};
use crate::waker::{Sleeper, rouse};

/// A channel has room for so many values before it allocates again.
const FEW: usize = 8;

pub(super) struct Chan<T> {
    pub object: Object,
    /// `None`: unbounded.
    pub capacity: Option<usize>,
    pub inner: Inner<State<T>>,
}

pub(super) struct State<T> {
    pub queue: VecDeque<T>,
    pub senders: usize,
    /// Handles that can become senders again.
    pub weak: usize,
    /// The receiver wants nothing more.
    pub closed: bool,
    /// How many more fit, and who waits for room.
    pub room: Permits,
    pub receiver: Option<Sleeper>,
    /// How many values were received, and for how many room was taken.
    pub received: usize,
    pub placed: usize,
    /// Those who wait for the receiver to close.
    pub watchers: Queue,
}

impl<T> Chan<T> {
    #[track_caller]
    pub fn new(capacity: Option<usize>) -> Chan<T> {
        let object = current::with_any(|exec| exec.object(Kind::Channel));
        let state = State {
            // Most channels hold a few values at some time: one allocation is enough for them.
            queue: VecDeque::with_capacity(capacity.unwrap_or(FEW).min(FEW)),
            senders: 1,
            weak: 0,
            closed: false,
            room: Permits::new(capacity.unwrap_or(usize::MAX)),
            receiver: None,
            received: 0,
            placed: 0,
            watchers: Queue::default(),
        };
        Chan { object, capacity, inner: Inner::new(state) }
    }

    /// The scheduling point before an operation that is not awaited, where the program has such points.
    #[inline]
    pub fn point(&self) {
        current::point(|| Access::update(Resource::Object(self.object.id)));
    }

    /// The receiver wants nothing more.
    pub fn close(&self, operation: &'static Operation) {
        let woken = {
            let mut state = self.inner.lock();
            state.closed = true;
            let mut woken = state.room.close();
            woken.extend(state.watchers.dismiss());
            woken
        };
        current::try_with(|exec| self.touch_both(exec, Mode::ReadModifyWrite, operation));
        woken.into_iter().for_each(rouse);
    }

    /// The receiver is dropped, and with it what it did not receive.
    pub fn drop_receiver(&self) {
        self.close(const { &Operation::plain("drop the receiver of") });
        let (rest, own) = {
            let mut state = self.inner.lock();
            let rest = std::mem::take(&mut state.queue);
            state.received += rest.len();
            let woken =
                if self.capacity.is_some() { state.room.add(rest.len()) } else { Vec::new() };
            debug_assert!(woken.is_empty(), "nobody waits for room in a channel that is closed");
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
            exec.touch(&self.object, Mode::ReadModifyWrite, const { &Operation::plain("look at") });
        });
        of(&self.inner.lock())
    }

    pub fn drop_sender(&self) {
        self.point();
        let receiver = {
            let mut state = self.inner.lock();
            state.senders -= 1;
            if state.senders == 0 { state.receiver.take() } else { None }
        };
        current::try_with(|exec| {
            exec.touch(
                &self.object,
                Mode::ReadModifyWrite,
                const { &Operation::plain("drop a sender of") },
            );
        });
        if let Some(waker) = receiver {
            waker.wake();
        }
    }

    /// Looks at what changes at the sending end alone, or at both ends at once.
    pub fn look_at_senders<R>(&self, f: impl FnOnce(&State<T>) -> R) -> R {
        current::look(&self.object);
        f(&self.inner.lock())
    }

    /// Looks at the state, in a step that is thereby ordered with those that change it.
    pub fn look<R>(&self, f: impl FnOnce(&State<T>) -> R) -> R {
        current::try_with(|exec| {
            self.touch_both(exec, Mode::Read, const { &Operation::plain("look at") });
        });
        f(&self.inner.lock())
    }
}

impl<T> State<T> {
    pub fn push(&mut self, value: T) -> Option<Sleeper> {
        self.queue.push_back(value);
        self.receiver.take()
    }

    /// One more fits: it is promised to the first who waits.
    #[inline]
    pub fn make_room(&mut self) -> Option<Waker> {
        self.room.add_one()
    }

    /// Nothing more will come, if nothing is there: no sender is left, or it is closed and nobody has room
    /// for a value in it, which could still be sent.
    pub fn is_over(&self, capacity: Option<usize>) -> bool {
        self.senders == 0 || self.closed && capacity.is_none_or(|all| self.room.free == all)
    }

    /// Somebody who had or wanted room gives it up: the receiver, if that was what it waited for after it had
    /// closed the channel.
    pub fn last_to_leave(&mut self, capacity: Option<usize>) -> Option<Sleeper> {
        let idle = capacity.is_none_or(|all| self.room.free == all);
        if self.closed && idle { self.receiver.take() } else { None }
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }
}

/// How far a future has come.
#[derive(Debug)]
pub(super) struct Steps {
    /// The future has waited for what it does next.
    pub waited: bool,
    /// The place among those who wait.
    pub ticket: Option<u64>,
    /// Whether it waits is seen by nobody: its thread is blocked meanwhile.
    pub unseen: bool,
    pub at: &'static Location<'static>,
}

impl Steps {
    #[track_caller]
    pub fn new() -> Steps {
        Steps { waited: false, ticket: None, unseen: false, at: Location::caller() }
    }

    /// For a future that nothing but the code that blocks the thread will poll.
    #[track_caller]
    pub fn unseen() -> Steps {
        Steps { unseen: true, ..Steps::new() }
    }

    /// For a future that keeps nothing from poll to poll, and may have waited.
    #[track_caller]
    pub fn unknown() -> Steps {
        Steps { waited: true, ..Steps::new() }
    }
}
