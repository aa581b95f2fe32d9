//! The functions of C that the standard library asks for the time and for random numbers.
//!
//! The linker takes these for those of the C library, which comes later. They answer as their manual pages
//! say.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::hint::black_box;
use std::slice;

/// Makes the linker keep the functions: whoever runs executions needs this module.
pub(super) fn link() {
    black_box(clock_gettime as *const () as usize);
    black_box(getrandom as *const () as usize);
}

/// The time of a clock: virtual where the thread runs an execution.
///
/// # Safety
/// `out` is valid for a write, as for the function of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, out: *mut libc::timespec) -> c_int {
    let by_calendar = matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE);
    let controlled = by_calendar
        || matches!(
            clock,
            libc::CLOCK_MONOTONIC
                | libc::CLOCK_MONOTONIC_RAW
                | libc::CLOCK_MONOTONIC_COARSE
                | libc::CLOCK_BOOTTIME
        );
    // The clocks that are left count the processor's time.
    if controlled && let Some(now) = super::now(by_calendar) {
        let seconds = libc::time_t::try_from(now.as_secs()).unwrap_or(libc::time_t::MAX);
        let now = libc::timespec { tv_sec: seconds, tv_nsec: now.subsec_nanos().into() };
        // SAFETY: the caller's promise.
        unsafe { out.write(now) };
        return 0;
    }
    // SAFETY: this is the system call with the arguments that it was to have, the caller's promise included.
    let answer = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, out) };
    answer as c_int
}

/// Random bytes: those of the schedule where the thread runs an execution.
///
/// # Safety
/// `out` is valid for writes of so many bytes, as for the function of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(out: *mut c_void, length: usize, flags: c_uint) -> isize {
    if !out.is_null() && length <= isize::MAX as usize {
        // SAFETY: the caller's promise. The bytes may not have a value yet, so they are given one before
        // there is a slice of them.
        let bytes = unsafe {
            out.cast::<u8>().write_bytes(0, length);
            slice::from_raw_parts_mut(out.cast::<u8>(), length)
        };
        if super::fill(bytes) {
            return length as isize;
        }
    }
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_getrandom, out, length, flags) as isize }
}
