//! What programs ask of the system below Rust's own functions: the time, random numbers, and the seeds of hash
//! maps. Inside of an execution Dally answers, outside the system does.
//!
//! The standard library and the crates that draw random numbers reach the system by functions of C. A binary
//! that has such functions of its own is linked with those, so that `std::time::Instant::now`,
//! `SystemTime::now`, `getrandom`, `rand` and `uuid` need no change. This is so on Linux; elsewhere the system
//! answers always. Threads of its own that a program starts, calls that block, sockets and locks of files are seen in
//! the same way, and told of.

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64", not(miri)))]
mod foreign_calls;
mod hash_seeds;
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
mod system_calls;

use std::time::Duration;

use dally_core::{Input, Mode, fingerprint};

use crate::current;
use crate::exec::Exec;
use crate::text::Operation;

/// 1 January 2026, 00:00 UTC: when executions begin by the calendar.
const CALENDAR_START: Duration = Duration::from_secs(1_767_225_600);
/// When executions begin by the clock that never goes back. Programs may name earlier moments.
const MONOTONIC_START: Duration = Duration::from_secs(1 << 30);

/// An execution begins: the hash maps that it makes have the seeds that they have in every other one.
pub(crate) fn begin() {
    hash_seeds::reset();
    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    system_calls::link();
    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64", not(miri)))]
    foreign_calls::link();
}

/// The present moment of the execution that runs on this thread, by the calendar or by the monotonic clock.
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", not(miri))),
    expect(dead_code)
)]
fn now(by_calendar: bool) -> Option<Duration> {
    let start = if by_calendar { CALENDAR_START } else { MONOTONIC_START };
    current::try_with(|exec| {
        // Once in a step: a library that keeps the time for a while, in a variable of the thread, asks more often in the
        // first execution than in those after it.
        if std::mem::replace(&mut exec.clock_read_in, exec.steps) != exec.steps {
            let clock = exec.clock();
            exec.touch(&clock, Mode::Read, const { &Operation::plain("read") });
        }
        let now = start.saturating_add(exec.timers.now);
        let host = exec.tasks[exec.current].host;
        match exec.hosts.get_mut(host).filter(|_| by_calendar) {
            None => now,
            Some(host) => {
                host.dated = true;
                let skew = Duration::from_secs(host.skew.unsigned_abs());
                if host.skew < 0 { now.saturating_sub(skew) } else { now.saturating_add(skew) }
            }
        }
    })
}

/// Random bytes of the execution that runs on this thread; `false` if none does.
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", not(miri))),
    expect(dead_code)
)]
fn fill(out: &mut [u8]) -> bool {
    let filled = current::try_with(|exec| {
        let mut state = exec.random.unwrap_or_else(|| seed(exec));
        for bytes in out.chunks_mut(8) {
            state = state.wrapping_add(1);
            let word = fingerprint::mix(state, RANDOM).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        exec.random = Some(state);
    });
    filled.is_some()
}

/// Random numbers are the same in every schedule that has the same seed, which is an input of it.
fn seed(exec: &mut Exec) -> u64 {
    let asked = Input::named("seed of random numbers");
    let answer = current::ask(exec, |exec, env| {
        env.input(asked).unwrap_or_else(|_| {
            exec.cut = true;
            asked.given
        })
    });
    fingerprint::mix(answer.unwrap_or(asked.given) as u64, RANDOM)
}

/// Tells these hashes from others.
const RANDOM: u64 = 0x5eed;
