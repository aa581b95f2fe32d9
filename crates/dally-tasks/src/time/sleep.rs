//! Sleeping: a timer that is armed by the first poll.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use super::Instant;
use crate::current;
use crate::exec::PendingEvent;
use crate::text::{Operation, Wait};

/// Waits for at least `duration`: it may be any time longer, see the
/// [crate's documentation](crate#time).
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(Instant::now().after(duration))
}

/// Waits until `deadline` or any time later.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    current::with("a timer", |_| ());
    Sleep { deadline, timer: None, over: false, at: Location::caller() }
}

/// The future of [`sleep`] and [`sleep_until`]. Its timer is armed by the first poll, and
/// disarmed when it is dropped.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    deadline: Instant,
    timer: Option<Armed>,
    /// It has said that it is ready, and was not reset since.
    over: bool,
    at: &'static Location<'static>,
}

#[derive(Debug)]
pub(super) struct Armed {
    /// Its place among the timers of the execution.
    index: usize,
    run: u64,
}

impl Sleep {
    /// When it may end.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether it is over, or its timer has fired: what was never polled is not.
    pub fn is_elapsed(&self) -> bool {
        let fired = current::try_with(|exec| {
            let clock = exec.clock();
            exec.touch_silently(&clock, Mode::Read);
            let armed = self.timer.as_ref().filter(|armed| armed.run == exec.run);
            armed.is_some_and(|_| exec.timers.now >= self.deadline.since_start())
        });
        self.over || fired.unwrap_or(false)
    }

    /// Sleeps until another moment, from now on. Whoever was to be woken still is.
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        let waker = self.disarm();
        (self.deadline, self.over) = (deadline, false);
        let Some(waker) = waker else { return };
        let deadline = deadline.since_start();
        self.timer = current::try_with(|exec| {
            if exec.phase.is_over() {
                return None;
            }
            let index = exec.arm(deadline, waker);
            let timer = exec.timers.all[index].id;
            exec.tell(|| PendingEvent::TimerSet(timer, deadline));
            Some(Armed { index, run: exec.run })
        })
        .flatten();
    }

    /// As [`Sleep::reset`]; nobody is woken before it is polled again.
    pub(super) fn reset_without_timer(mut self: Pin<&mut Self>, deadline: Instant) {
        drop(self.disarm());
        (self.deadline, self.over) = (deadline, false);
    }

    /// Answers whom the timer was to wake.
    fn disarm(&mut self) -> Option<std::task::Waker> {
        let Armed { index, run } = self.timer.take()?;
        current::try_with(|exec| {
            if run != exec.run {
                return None;
            }
            let (armed, waker) = exec.disarm(index);
            if let Some(timer) = armed {
                exec.tell(|| PendingEvent::TimerCancelled(timer));
            }
            waker
        })
        .flatten()
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let deadline = this.deadline.since_start();
        let due = current::with("`sleep`", |exec| {
            let clock = exec.clock();
            exec.touch_silently(&clock, Mode::Read);
            this.timer.is_none() && exec.timers.now >= deadline
        });
        if due {
            // Nothing to wait for: no more than a chance for others.
            return match current::pass(cx, false, None) {
                true => {
                    this.over = true;
                    Poll::Ready(())
                }
                false => Poll::Pending,
            };
        }
        let mut old = None;
        let waker = cx.waker();
        let (fired, clock) = current::with("`sleep`", |exec| {
            let clock = exec.clock();
            let fired = match &this.timer {
                Some(armed) if armed.run == exec.run => {
                    let now = exec.timers.now;
                    let timer = &mut exec.timers.all[armed.index];
                    // Another timer may have moved the clock past this deadline. A task that polls
                    // both must not see only the later one fire.
                    let over = timer.fired || now >= deadline;
                    if !over {
                        old = timer.waker.replace(waker.clone());
                    }
                    over
                }
                _ => {
                    let index = exec.arm(deadline, waker.clone());
                    this.timer = Some(Armed { index, run: exec.run });
                    let timer = exec.timers.all[index].id;
                    exec.tell(|| PendingEvent::TimerSet(timer, deadline));
                    false
                }
            };
            (fired, clock)
        });
        drop(old);
        if fired {
            let next = Access::read(Resource::Object(clock.id));
            if !current::pass(cx, true, next) {
                return Poll::Pending;
            }
            drop(this.disarm());
            this.over = true;
            return Poll::Ready(());
        }
        let operation = const { &Operation::plain("wake up by") };
        let wait = Wait { object: clock, operation, place: PlaceOf::Operation, at: this.at };
        current::wait(wait, Access::read(Resource::Object(clock.id)), waker);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        drop(self.disarm());
    }
}
