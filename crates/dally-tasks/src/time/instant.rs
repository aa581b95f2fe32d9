//! Moments of virtual time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::sync::OnceLock;
use std::time::Duration;

use dally_core::Mode;

use crate::current;
use crate::text::Operation;

/// Executions start at this moment, so that programs can name earlier ones.
const START: Duration = Duration::from_secs(1 << 30);

/// A moment of virtual time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    at: Duration,
}

impl Instant {
    /// The present moment; by the clock of the system outside of executions.
    pub fn now() -> Instant {
        let now = current::try_with(|exec| {
            let clock = exec.clock();
            exec.touch(&clock, Mode::Read, const { &Operation::plain("read") });
            Instant { at: START + exec.timers.now }
        });
        #[allow(clippy::disallowed_methods, reason = "nobody schedules what runs outside")]
        now.unwrap_or_else(|| Instant::from_std(std::time::Instant::now()))
    }

    /// The same moment by the standard library's clock. Only differences mean anything.
    pub fn from_std(std: std::time::Instant) -> Instant {
        let base = base();
        let at = match std.checked_duration_since(base) {
            Some(later) => START + later,
            None => START.saturating_sub(base - std),
        };
        Instant { at }
    }

    /// This moment by the standard library's clock. Only differences mean anything.
    pub fn into_std(self) -> std::time::Instant {
        match self.at.checked_sub(START) {
            Some(later) => base() + later,
            None => base() - (START - self.at),
        }
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
        self.at.saturating_sub(earlier.at)
    }

    /// The time from `earlier` to this moment, if it is not later.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.at.checked_sub(earlier.at)
    }

    /// This much later, if that can be expressed.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        Some(Instant { at: self.at.checked_add(duration)? })
    }

    /// This much earlier, if that can be expressed.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        Some(Instant { at: self.at.checked_sub(duration)? })
    }

    /// This much later, or the end of time.
    pub(super) fn after(&self, duration: Duration) -> Instant {
        Instant { at: self.at.saturating_add(duration) }
    }

    /// Since the start of the execution.
    pub(super) fn since_start(&self) -> Duration {
        self.at.saturating_sub(START)
    }
}

/// The start of executions by the standard library's clock. Where that clock is the execution's, it is the same
/// for all of them; elsewhere it is one moment for the whole process.
#[expect(clippy::disallowed_methods, reason = "virtual, or only differences are seen")]
fn base() -> std::time::Instant {
    static BASE: OnceLock<std::time::Instant> = OnceLock::new();
    let Some(elapsed) = current::try_with(|exec| exec.timers.now) else {
        // No execution has been here yet, so nothing that one has given can be compared with it.
        return BASE.get().copied().unwrap_or_else(std::time::Instant::now);
    };
    *BASE.get_or_init(|| {
        let now = std::time::Instant::now();
        now.checked_sub(elapsed).unwrap_or(now)
    })
}

impl From<std::time::Instant> for Instant {
    fn from(std: std::time::Instant) -> Instant {
        Instant::from_std(std)
    }
}

impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> std::time::Instant {
        instant.into_std()
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, duration: Duration) -> Instant {
        self.checked_add(duration).expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, duration: Duration) -> Instant {
        self.checked_sub(duration).expect("overflow when subtracting duration from instant")
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
        write!(f, "Instant({:?})", self.since_start())
    }
}
