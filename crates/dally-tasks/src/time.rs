//! Virtual time: it moves only when a timer fires, and which timer fires is explored.

use std::fmt;
use std::future::Future;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

pub use std::time::Duration;

use crate::current;
use crate::exec::Told;
use crate::text::{Deed, Wait};

/// A moment of virtual time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// Since the start of the execution.
    since_start: Duration,
}

impl Instant {
    /// The present moment.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn now() -> Instant {
        current::with("`Instant::now`", |exec| {
            let clock = exec.clock();
            exec.touch(&clock, Mode::Read, const { &Deed::plain("read") });
            Instant { since_start: exec.timers.now }
        })
    }

    /// How long ago this moment was.
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// The time from `earlier` to this moment; zero if it is not earlier.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// The time from `earlier` to this moment; zero if it is not earlier.
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.since_start.saturating_sub(earlier.since_start)
    }

    /// The time from `earlier` to this moment, if it is not later.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.since_start.checked_sub(earlier.since_start)
    }

    /// This much later, if that can be expressed.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        Some(Instant { since_start: self.since_start.checked_add(duration)? })
    }

    /// This much earlier, if the execution had begun by then.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        Some(Instant { since_start: self.since_start.checked_sub(duration)? })
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// Saturates at the end of time.
    fn add(self, duration: Duration) -> Instant {
        Instant { since_start: self.since_start.saturating_add(duration) }
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    /// Saturates at the start of the execution.
    fn sub(self, duration: Duration) -> Instant {
        Instant { since_start: self.since_start.saturating_sub(duration) }
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

/// The time since the start of the execution.
impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Instant({:?})", self.since_start)
    }
}

/// Waits for at least `duration`: it may be any time longer, see the
/// [crate's documentation](crate#time).
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(Instant::now() + duration)
}

/// Waits until `deadline` or any time later.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { deadline, timer: None, at: Location::caller() }
}

/// The future of [`sleep`] and [`sleep_until`]. Its timer is armed by the first poll, and
/// disarmed when it is dropped.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    deadline: Instant,
    timer: Option<Armed>,
    at: &'static Location<'static>,
}

#[derive(Debug)]
struct Armed {
    /// Its place among the timers of the execution.
    index: usize,
    run: u64,
}

impl Sleep {
    /// When it may end.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether its deadline has passed.
    pub fn is_elapsed(&self) -> bool {
        current::try_with(|exec| {
            let clock = exec.clock();
            exec.brush(&clock, Mode::Read);
            exec.timers.now >= self.deadline.since_start
        })
        .unwrap_or(false)
    }

    /// Sleeps until another moment, from now on.
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.disarm();
        self.deadline = deadline;
    }

    fn disarm(&mut self) {
        let Some(Armed { index, run }) = self.timer.take() else { return };
        let waker = current::try_with(|exec| {
            if run != exec.run {
                return None;
            }
            let (armed, waker) = exec.disarm(index);
            if let Some(timer) = armed {
                exec.tell(|| Told::TimerCancelled(timer));
            }
            waker
        });
        drop(waker);
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let deadline = this.deadline.since_start;
        let due = current::with("`sleep`", |exec| {
            let clock = exec.clock();
            exec.brush(&clock, Mode::Read);
            this.timer.is_none() && exec.timers.now >= deadline
        });
        if due {
            // Nothing to wait for: no more than a chance for others.
            return match current::pass(cx, "`sleep`", false, None) {
                true => Poll::Ready(()),
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
                    exec.tell(|| Told::TimerSet(timer, deadline));
                    false
                }
            };
            (fired, clock)
        });
        drop(old);
        if fired {
            let next = Access::read(Resource::Object(clock.id));
            if !current::pass(cx, "`sleep`", true, next) {
                return Poll::Pending;
            }
            this.disarm();
            return Poll::Ready(());
        }
        let deed = const { &Deed::plain("wake up by") };
        let wait = Wait { object: clock, deed, place: PlaceOf::Operation, at: this.at };
        current::wait(wait, Access::read(Resource::Object(clock.id)), waker);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.disarm();
    }
}

/// Gives a future this much time. Both outcomes are explored wherever the future is not done
/// at once; see the [crate's documentation](crate#time).
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    timeout_at(Instant::now() + duration, future)
}

/// Gives a future time until `deadline`.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: Box::pin(future.into_future()), delay: sleep_until(deadline) }
}

/// The future of [`timeout`] and [`timeout_at`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    delay: Sleep,
}

impl<F> Timeout<F> {
    /// The future that was given time.
    pub fn get_ref(&self) -> &F {
        &self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, error::Elapsed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        match Pin::new(&mut self.delay).poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(error::Elapsed(()))),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// What goes wrong with time.
pub mod error {
    use std::fmt;

    /// The time given was not enough.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Elapsed(pub(super) ());

    impl fmt::Display for Elapsed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("deadline has elapsed")
        }
    }

    impl std::error::Error for Elapsed {}

    impl From<Elapsed> for std::io::Error {
        fn from(elapsed: Elapsed) -> std::io::Error {
            std::io::Error::new(std::io::ErrorKind::TimedOut, elapsed)
        }
    }
}
