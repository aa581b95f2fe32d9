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
