//! Ticks at a fixed distance.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::{Instant, Sleep, sleep_until};

/// Ticks at once, and then whenever so much time has passed.
///
/// # Panics
/// If the period is zero, and outside of a Dally execution.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    interval_at(Instant::now(), period)
}

/// Ticks at this moment, and then whenever so much time has passed.
///
/// # Panics
/// If the period is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    let delay = Box::pin(sleep_until(start));
    Interval { delay, period, missed_tick_behavior: MissedTickBehavior::default() }
}

/// When an [`Interval`] ticks after it has missed ticks, because nobody waited for them in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// As fast as it can until it has caught up.
    #[default]
    Burst,
    /// A period after the late tick.
    Delay,
    /// At the next moment that is a whole number of periods after the start.
    Skip,
}

impl MissedTickBehavior {
    /// When the tick after a late one is due.
    fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        match self {
            MissedTickBehavior::Burst => due.after(period),
            MissedTickBehavior::Delay => now.after(period),
            MissedTickBehavior::Skip => {
                let late = (now - due).as_nanos() % period.as_nanos();
                let late = Duration::from_nanos_u128(late);
                now.after(period - late)
            }
        }
    }
}

/// What [`interval`] and [`interval_at`] make.
#[derive(Debug)]
pub struct Interval {
    delay: Pin<Box<Sleep>>,
    period: Duration,
    missed_tick_behavior: MissedTickBehavior,
}

/// A tick that is late by no more than this was not missed.
const PUNCTUAL: Duration = Duration::from_millis(5);

impl Interval {
    /// Waits for the next tick; answers when it was due.
    pub async fn tick(&mut self) -> Instant {
        std::future::poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// As [`Interval::tick`], for futures written by hand.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        if self.delay.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        let due = self.delay.deadline();
        let now = Instant::now();
        let next = if now > due.after(PUNCTUAL) {
            self.missed_tick_behavior.next(due, now, self.period)
        } else {
            due.after(self.period)
        };
        self.delay.as_mut().reset_without_timer(next);
        Poll::Ready(due)
    }

    /// The next tick is a period from now.
    #[track_caller]
    pub fn reset(&mut self) {
        self.delay.as_mut().reset(Instant::now().after(self.period));
    }

    /// The next tick is now.
    #[track_caller]
    pub fn reset_immediately(&mut self) {
        self.delay.as_mut().reset(Instant::now());
    }

    /// The next tick is this much from now.
    #[track_caller]
    pub fn reset_after(&mut self, after: Duration) {
        self.delay.as_mut().reset(Instant::now().after(after));
    }

    /// The next tick is at this moment.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.as_mut().reset(deadline);
    }

    /// When it ticks after it has missed ticks.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed_tick_behavior
    }

    /// Says when it ticks after it has missed ticks.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed_tick_behavior = behavior;
    }

    /// The time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }
}
