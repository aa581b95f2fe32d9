//! Real time for the timers of one machine.

use std::pin::Pin;
use std::time::Duration;

use dally_core::{Stop, panics};
use tokio::time::{Instant, Sleep};

use crate::timer::{Mode, Timer};

/// The shortest period: the resolution of tokio's timers.
const FINEST: Duration = Duration::from_millis(1);

/// Thirty years, instead of durations that overflow the clock.
const FAR: Duration = Duration::from_secs(86_400 * 365 * 30);

/// When the timers of a machine are due, by their index. Whether a timer may fire at all is decided
/// by the system.
#[derive(Default)]
pub(crate) struct Clock {
    due: Vec<Due>,
    sleep: Option<Pin<Box<Sleep>>>,
}

#[derive(Clone, Copy)]
struct Due {
    at: Instant,
    period: Duration,
}

impl Clock {
    pub(crate) fn arm(&mut self, place: usize, time: Duration) {
        let at = later(Instant::now(), time);
        let due = Due { at, period: time.max(FINEST) };
        if place < self.due.len() {
            self.due[place] = due;
        } else {
            self.due.resize(place + 1, due);
        }
    }

    /// The timer that can fire and is due first, and when.
    pub(crate) fn next(&self, timers: &[Timer]) -> Option<(usize, Instant)> {
        let places = timers.iter().zip(&self.due).enumerate();
        let armed = places.filter(|(_, (timer, _))| timer.can_fire());
        armed.map(|(place, (_, due))| (place, due.at)).min_by_key(|&(place, at)| (at, place))
    }

    /// The timer in this place fires at `now`. A periodic one keeps its rhythm; ticks that came due
    /// before the last one was handled are skipped.
    pub(crate) fn fired(&mut self, place: usize, mode: Mode, now: Instant) {
        if mode == Mode::Every
            && let Some(due) = self.due.get_mut(place)
        {
            let next = later(due.at, due.period);
            due.at = if next > now { next } else { later(now, due.period) };
        }
    }

    /// A future that ends at this time. It is kept, so that a machine that messages wake often does
    /// not register its timer anew each time.
    pub(crate) fn sleep_until(&mut self, at: Instant) -> Result<Pin<&mut Sleep>, Stop> {
        let mut sleep = match self.sleep.take() {
            Some(sleep) => sleep,
            // tokio panics where the runtime has no time driver, and says what to do.
            None => panics::catch(|| Box::pin(tokio::time::sleep_until(at)))?,
        };
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        Ok(self.sleep.insert(sleep).as_mut())
    }
}

fn later(at: Instant, time: Duration) -> Instant {
    at.checked_add(time).or_else(|| at.checked_add(FAR)).unwrap_or(at)
}
