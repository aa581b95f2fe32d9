//! Notifications: one task tells others that something has happened.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use super::Inner;
use super::queue::{Queue, Turn};
use crate::current;
use crate::text::{Deed, Kind, Object, Wait};
use crate::waker::rouse;

const NOTIFIED: &Deed = &Deed::plain("be notified by");
const NOTIFIED_BY: &str = "`Notify::notified`";

/// A notification in the shape of `tokio::sync::Notify`.
///
/// [`notify_one`](Notify::notify_one) wakes the task that has waited longest, or is kept for the
/// next that waits. [`notify_waiters`](Notify::notify_waiters) wakes all that wait and keeps
/// nothing.
pub struct Notify {
    object: Object,
    inner: Inner<State>,
}

#[derive(Default)]
struct State {
    /// A `notify_one` that nobody has taken.
    permit: bool,
    /// How often all were woken.
    rounds: u64,
    queue: Queue,
}

impl Notify {
    /// A notification that nobody has given.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn new() -> Notify {
        let object = current::with("`Notify::new`", |exec| exec.object(Kind::Notify));
        Notify { object, inner: Inner::new(State::default()) }
    }

    /// Waits to be notified. The future counts as waiting for
    /// [`notify_waiters`](Notify::notify_waiters) from now on, and for
    /// [`notify_one`](Notify::notify_one) from its first poll, or [`Notified::enable`].
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        current::look(&self.object);
        let round = self.inner.lock().rounds;
        Notified { notify: self, round, stage: Stage::Start, at: Location::caller() }
    }

    /// Wakes the task that has waited longest, or is kept for the next that waits.
    #[track_caller]
    pub fn notify_one(&self) {
        current::with_own("`Notify::notify_one`", &self.object, Location::caller(), |exec| {
            exec.touch(
                &self.object,
                Mode::ReadModifyWrite,
                const { &Deed::plain("notify one by") },
            );
        });
        self.pass_on();
    }

    /// Wakes all tasks that wait.
    #[track_caller]
    pub fn notify_waiters(&self) {
        current::with_own("`Notify::notify_waiters`", &self.object, Location::caller(), |exec| {
            exec.touch(
                &self.object,
                Mode::ReadModifyWrite,
                const { &Deed::plain("notify all by") },
            );
        });
        let woken = {
            let mut state = self.inner.lock();
            state.rounds += 1;
            state.queue.dismiss()
        };
        woken.into_iter().for_each(rouse);
    }

    fn pass_on(&self) {
        let next = {
            let mut state = self.inner.lock();
            let next = state.queue.grant();
            state.permit |= next.is_none();
            next
        };
        self.tell_permit();
        if let Some(waker) = next.flatten() {
            rouse(waker);
        }
    }

    fn tell_permit(&self) {
        let permit = self.inner.lock().permit;
        current::try_with(|exec| exec.holds(&self.object, usize::from(permit)));
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
        current::look(&self.object);
        f.debug_struct("Notify").field("permit", &self.inner.lock().permit).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Start,
    Waiting(u64),
    Done,
}

/// The future of [`Notify::notified`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Notified<'a> {
    notify: &'a Notify,
    /// The rounds of `notify_waiters` before this future was made.
    round: u64,
    stage: Stage,
    at: &'static Location<'static>,
}

impl Notified<'_> {
    /// Begins to wait without being awaited; answers whether it has been notified already.
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        self.attempt(None)
    }

    fn attempt(&mut self, waker: Option<&Waker>) -> bool {
        let mut old = None;
        let notify = self.notify;
        let notified = current::with_own(NOTIFIED_BY, &notify.object, self.at, |exec| {
            let mut state = self.notify.inner.lock();
            match self.stage {
                Stage::Done => {}
                // All were woken, this one too: the permit is for others.
                Stage::Start if state.rounds != self.round => {}
                Stage::Start if state.permit => state.permit = false,
                Stage::Start => {
                    self.stage = Stage::Waiting(state.queue.push(waker.cloned()));
                    // Its place in the queue depends on who came before.
                    exec.brush(&notify.object, Mode::ReadModifyWrite);
                    return false;
                }
                Stage::Waiting(ticket) => {
                    let (turn, replaced) = state.queue.ask(ticket, waker);
                    old = replaced;
                    if turn == Turn::NotYet {
                        exec.brush(&notify.object, Mode::Read);
                        return false;
                    }
                }
            }
            exec.holds(&self.notify.object, usize::from(state.permit));
            self.stage = Stage::Done;
            exec.touch(&self.notify.object, Mode::ReadModifyWrite, NOTIFIED);
            true
        });
        drop(old);
        notified
    }
}

impl Future for Notified<'_> {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let next = Access::update(Resource::Object(self.notify.object.id));
        let waited = match self.stage {
            // Beginning to wait has an effect: a notification before it is missed.
            Stage::Start => Some(false),
            Stage::Waiting(ticket) => {
                self.notify.inner.lock().queue.is_over(ticket).then_some(true)
            }
            Stage::Done => None,
        };
        if waited.is_some_and(|waited| !current::pass(cx, NOTIFIED_BY, waited, next)) {
            return Poll::Pending;
        }
        if self.attempt(Some(cx.waker())) {
            return Poll::Ready(());
        }
        let object = self.notify.object;
        let wait = Wait { object, deed: NOTIFIED, place: PlaceOf::Operation, at: self.at };
        current::wait(wait, next, cx.waker());
        Poll::Pending
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        let Stage::Waiting(ticket) = self.stage else { return };
        let (granted, waker) = self.notify.inner.lock().queue.leave(ticket);
        drop(waker);
        current::change(&self.notify.object);
        if granted {
            // A `notify_one` that this future got and did not use belongs to the next.
            self.notify.pass_on();
        }
    }
}
