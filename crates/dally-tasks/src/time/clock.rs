//! Stopping the clock and moving it by hand, in the shape of tokio's test utilities.

use std::time::Duration;

use dally_core::Mode;

use crate::current;
use crate::text::Operation;
use crate::waker::rouse;

/// Stops the clock: from here on it moves by [`advance`] and, when nobody else can step, to the next deadline, whatever
/// the program's [`Clock`](crate::Clock) says.
///
/// # Panics
/// If it is stopped already, and outside of a Dally execution.
#[track_caller]
pub fn pause() {
    let was_paused = current::with("`time::pause`", |exec| {
        let clock = exec.clock();
        exec.touch(&clock, Mode::ReadModifyWrite, const { &Operation::plain("stop") });
        exec.set_paused(true)
    });
    assert!(!was_paused, "time is already frozen");
}

/// Lets the clock run again after [`pause`].
///
/// # Panics
/// If it is not stopped, and outside of a Dally execution.
#[track_caller]
pub fn resume() {
    let was_paused = current::with("`time::resume`", |exec| {
        let clock = exec.clock();
        exec.touch(&clock, Mode::ReadModifyWrite, const { &Operation::plain("start") });
        exec.set_paused(false)
    });
    assert!(was_paused, "time is not frozen");
}

/// Moves the stopped clock by this much, and lets timers fire whose deadline has come, in its order.
///
/// # Panics
/// If the clock is not stopped, and outside of a Dally execution.
pub async fn advance(duration: Duration) {
    let due = current::with("`time::advance`", |exec| {
        let clock = exec.clock();
        exec.touch(&clock, Mode::ReadModifyWrite, const { &Operation::plain("advance") });
        exec.advance(duration)
    });
    let Some(due) = due else { panic!("time is not frozen") };
    due.into_iter().for_each(rouse);
    crate::yield_now().await;
}
