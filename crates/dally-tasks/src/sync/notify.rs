//! Notifications: one task tells others that something has happened.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use super::bound::Bound;
use super::queue::{Queue, Turn};
use crate::current;
use crate::text::{Kind, Operation, Wait};
use crate::waker::rouse;

const NOTIFIED: &Operation = &Operation::plain("be notified by");

/// A notification in the shape of `tokio::sync::Notify`.
///
/// [`notify_one`](Notify::notify_one) wakes the task that has waited longest, or is kept for the
/// next that waits. [`notify_waiters`](Notify::notify_waiters) wakes all that wait and keeps
/// nothing.
pub struct Notify {
    state: Bound<State>,
}

struct State {
    /// A `notify_one` that nobody has taken.
    permit: bool,
    /// How often all were woken.
    rounds: u64,
    queue: Queue,
}

impl State {
    const fn new() -> State {
        State { permit: false, rounds: 0, queue: Queue::new() }
    }
}

/// Which of those who wait is woken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    First,
    Last,
}

impl Notify {
    /// A notification that nobody has given.
    #[track_caller]
    pub fn new() -> Notify {
        Notify { state: Bound::new(Kind::Notify, State::new()) }
    }

    /// As [`Notify::new`], for statics.
    pub const fn const_new() -> Notify {
        Notify { state: Bound::late(Kind::Notify, State::new()) }
    }

    /// Waits to be notified. The future counts as waiting for
    /// [`notify_waiters`](Notify::notify_waiters) from now on, and for
    /// [`notify_one`](Notify::notify_one) from its first poll, or [`Notified::enable`].
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        Notified(Waiting::new(self))
    }

    /// As [`Notify::notified`], with a future that keeps the notification alive by itself.
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        OwnedNotified(Waiting::new(self))
    }

    /// Wakes the task that has waited longest, or is kept for the next that waits.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(Which::First, const { &Operation::plain("notify one by") });
    }

    /// Wakes the task that has waited shortest, or is kept for the next that waits.
    #[track_caller]
    pub fn notify_last(&self) {
        self.notify(Which::Last, const { &Operation::plain("notify the last by") });
    }

    /// Wakes all tasks that wait.
    #[track_caller]
    pub fn notify_waiters(&self) {
        self.state.point();
        let at = Location::caller();
        let woken = self.state.with(at, |exec, state, object| {
            exec.touch(object, Mode::ReadModifyWrite, const { &Operation::plain("notify all by") });
            state.rounds += 1;
            state.queue.dismiss()
        });
        woken.into_iter().for_each(rouse);
    }

    #[track_caller]
    fn notify(&self, which: Which, operation: &'static Operation) {
        self.state.point();
        // An object of another execution is refused here.
        self.state.with(Location::caller(), |_, _, _| ());
        self.pass_on(which, operation);
    }

    fn pass_on(&self, which: Which, operation: &'static Operation) {
        let wake = |state: &mut State| {
            let next = match which {
                Which::First => state.queue.grant(),
                Which::Last => state.queue.grant_last(),
            };
            state.permit |= next.is_none();
            next
        };
        let next = self.state.settle_held(wake, |state| usize::from(state.permit), operation);
        if let Some(waker) = next.flatten() {
            rouse(waker);
        }
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let permit = self.state.look(|state| state.permit);
        f.debug_struct("Notify").field("permit", &permit).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Start,
    Waiting(u64),
    Done,
}

/// Somebody who waits, whoever keeps the notification alive.
struct Waiting<N: Deref<Target = Notify>> {
    notify: N,
    /// The rounds of `notify_waiters` before this was made.
    round: u64,
    stage: Stage,
    at: &'static Location<'static>,
}

impl<N: Deref<Target = Notify>> Waiting<N> {
    #[track_caller]
    fn new(notify: N) -> Waiting<N> {
        let round = notify.state.peek(|state| state.rounds);
        Waiting { notify, round, stage: Stage::Start, at: Location::caller() }
    }

    fn attempt(&mut self, waker: Option<&Waker>) -> bool {
        let mut old = None;
        let notified = self.notify.state.with(self.at, |exec, state, object| {
            match self.stage {
                Stage::Done => {}
                // All were woken, this one too: the permit is for others.
                Stage::Start if state.rounds != self.round => {}
                Stage::Start if state.permit => state.permit = false,
                Stage::Start => {
                    self.stage = Stage::Waiting(state.queue.push(waker.cloned()));
                    // Its place in the queue depends on who came before.
                    exec.touch_silently(object, Mode::ReadModifyWrite);
                    return false;
                }
                Stage::Waiting(ticket) => {
                    let (turn, replaced) = state.queue.ask(ticket, waker);
                    old = replaced;
                    if turn == Turn::NotYet {
                        exec.touch_silently(object, Mode::Read);
                        return false;
                    }
                }
            }
            exec.holds(object, usize::from(state.permit));
            self.stage = Stage::Done;
            exec.touch(object, Mode::ReadModifyWrite, NOTIFIED);
            true
        });
        drop(old);
        notified
    }

    #[inline(always)]
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (object, over) = self.notify.state.glance(|state| match self.stage {
            Stage::Waiting(ticket) => state.queue.is_over(ticket),
            Stage::Start | Stage::Done => false,
        });
        let next = Access::update(Resource::Object(object.id));
        let waited = match self.stage {
            // Beginning to wait has an effect: a notification before it is missed.
            Stage::Start => Some(false),
            Stage::Waiting(_) => over.then_some(true),
            Stage::Done => None,
        };
        if waited.is_some_and(|waited| !current::pass(cx, waited, next)) {
            return Poll::Pending;
        }
        if self.attempt(Some(cx.waker())) {
            return Poll::Ready(());
        }
        let wait = Wait { object, operation: NOTIFIED, place: PlaceOf::Operation, at: self.at };
        current::wait(wait, next, cx.waker());
        Poll::Pending
    }
}

impl<N: Deref<Target = Notify>> Drop for Waiting<N> {
    fn drop(&mut self) {
        let Stage::Waiting(ticket) = self.stage else { return };
        let leave = |state: &mut State| {
            let which = state.queue.granted_as(ticket);
            (which, state.queue.leave(ticket))
        };
        let (which, (granted, waker)) =
            self.notify.state.settle(leave, Operation::SILENT, Mode::ReadModifyWrite);
        drop(waker);
        if granted {
            // A notification that this got and did not use belongs to the next.
            self.notify.pass_on(which, Operation::SILENT);
        }
    }
}

impl<N: Deref<Target = Notify>> fmt::Debug for Waiting<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notified").field("stage", &self.stage).finish_non_exhaustive()
    }
}

/// The future of [`Notify::notified`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Notified<'a>(Waiting<&'a Notify>);

/// The future of [`Notify::notified_owned`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct OwnedNotified(Waiting<Arc<Notify>>);

macro_rules! notified {
    ($($notified:ty),*) => {$(
        impl $notified {
            /// Begins to wait without being awaited; answers whether it has been notified already.
            pub fn enable(mut self: Pin<&mut Self>) -> bool {
                self.0.attempt(None)
            }
        }

        impl Future for $notified {
            type Output = ();

            #[inline(always)]
            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                self.0.poll(cx)
            }
        }
    )*};
}

notified!(Notified<'_>, OwnedNotified);
