//! Wakers of which it can be seen who keeps a copy.
//!
//! A future that is none of Dally's keeps a copy of the waker that it was polled with. So while an execution watches,
//! a copy that is made notes the call: if the poll then waits for nothing of Dally's, that call is what it waits in.
// The standard library's way to make a waker of an `Arc` sees no copies.
#![allow(unsafe_code)]

use std::backtrace::Backtrace;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

use super::TaskWaker;
use crate::current;

/// The data of each is what [`Arc::into_raw`] of a [`TaskWaker`] gives, and stands for one count of it.
static TABLE: RawWakerVTable = RawWakerVTable::new(copy, wake, wake_by_ref, give_back);

/// A waker of a task.
pub(super) fn waker(of: Arc<TaskWaker>) -> Waker {
    // SAFETY: the functions of the table take the data for what it is: see each. They can be called from any thread,
    // since `TaskWaker` is `Send` and `Sync`.
    unsafe { Waker::from_raw(RawWaker::new(Arc::into_raw(of).cast(), &TABLE)) }
}

unsafe fn copy(data: *const ()) -> RawWaker {
    let of = data.cast::<TaskWaker>();
    // SAFETY: the waker that is copied has a count, so what it points to is there.
    let watched = unsafe { &*of }.shared.watched.load(Ordering::Relaxed);
    if watched {
        note();
    }
    // SAFETY: as above; the new count is that of the copy.
    unsafe { Arc::increment_strong_count(of) };
    RawWaker::new(data, &TABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the count of the waker that is used up becomes that of the `Arc`.
    unsafe { Arc::from_raw(data.cast::<TaskWaker>()) }.wake();
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker has a count, so what it points to is there, and keeps it, since the `Arc` is never dropped.
    let of = ManuallyDrop::new(unsafe { Arc::from_raw(data.cast::<TaskWaker>()) });
    of.wake_by_ref();
}

unsafe fn give_back(data: *const ()) {
    // SAFETY: the count of the waker becomes that of the `Arc`, which gives it back.
    drop(unsafe { Arc::from_raw(data.cast::<TaskWaker>()) });
}

/// A copy is made by the step that runs, if one does.
#[cold]
fn note() {
    if current::is_outside() {
        return;
    }
    let call = Arc::new(Backtrace::force_capture());
    current::try_with(|exec| exec.uses.copied = Some((exec.steps, call)));
}

#[cfg(test)]
mod tests {
    use super::super::Shared;
    use super::*;

    /// Whatever is done with wakers, as many of them are counted as there are.
    #[test]
    fn each_waker_has_one_count() {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let shared = Arc::<Shared>::default();
        let of = TaskWaker::new(0, &shared);
        let mut wakers = vec![of.waker()];
        for _ in 0..if cfg!(miri) { 300 } else { 10_000 } {
            let one = random(wakers.len());
            match random(5) {
                0 | 1 => wakers.push(wakers[one].clone()),
                2 => wakers[one].wake_by_ref(),
                3 if wakers.len() > 1 => wakers.swap_remove(one).wake(),
                4 if wakers.len() > 1 => drop(wakers.swap_remove(one)),
                _ => shared.watched.store(random(2) == 0, Ordering::Relaxed),
            }
            assert_eq!(Arc::strong_count(&of), 1 + wakers.len());
        }
        assert!(wakers.iter().all(|waker| waker.will_wake(&of.waker())), "they wake the same");
        drop(wakers);
        assert_eq!(Arc::strong_count(&of), 1);
    }

    #[test]
    fn a_waker_calls_the_task_that_it_is_of_for_as_long_as_that_lives() {
        let shared = Arc::<Shared>::default();
        let of = TaskWaker::new(0, &shared);
        let copy = of.waker().clone();
        copy.wake_by_ref();
        assert!(shared.take_foreign(), "nobody runs the execution here");
        let another = copy.clone();
        another.wake();
        assert!(shared.take_foreign());
        of.silence();
        drop(of);
        copy.wake();
        assert!(!shared.is_foreign());
    }
}
