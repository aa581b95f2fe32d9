//! The execution that runs on this thread, and the way every primitive reaches it.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::task::{Context, Waker};

use dally_core::{Access, Bug, Env, Mode, panics};
use scoped_tls_hkt::{ReborrowMut, scoped_thread_local};

use crate::coroutine;
use crate::exec::{Exec, Phase};
use crate::text::{Object, Wait};
use crate::waker::rouse;

thread_local! {
    /// The running execution; absent outside of one, and while somebody reaches it. It needs no
    /// destructor, which makes reaching it one load: [`enter`] always takes it back.
    static EXEC: Cell<Option<ManuallyDrop<Box<Exec>>>> = const { Cell::new(None) };
}

/// Who is asked and told in this step.
struct Asked<'a>(&'a mut (dyn Env + 'a));

impl<'a, 'b: 'a> ReborrowMut<'a> for Asked<'b> {
    type Result = Asked<'a>;

    fn reborrow_mut(&'a mut self) -> Asked<'a> {
        Asked(self.0)
    }
}

scoped_thread_local!(static mut ENV: for<'a> Asked<'a>);

/// Puts an execution back where it was lent from, also when code unwinds.
struct Lent(Option<ManuallyDrop<Box<Exec>>>);

impl Drop for Lent {
    #[inline]
    fn drop(&mut self) {
        EXEC.set(self.0.take());
    }
}

/// Runs code of the program under test as part of this execution, which is in the slot
/// afterwards as before. The code must not unwind.
pub(crate) fn enter<R>(slot: &mut Option<Box<Exec>>, code: impl FnOnce() -> R) -> R {
    // An execution inside of an execution is odd, but no reason to lose the outer one.
    let outer = Lent(EXEC.replace(slot.take().map(ManuallyDrop::new)));
    let result = code();
    let emptied = std::mem::replace(slot, EXEC.take().map(ManuallyDrop::into_inner));
    // It was taken from above, so there is nothing to drop and no need to look.
    std::mem::forget(emptied);
    drop(outer);
    result
}

/// As [`enter`], in a step: `env` can be asked and told.
pub(crate) fn enter_step<R>(
    slot: &mut Option<Box<Exec>>,
    env: &mut dyn Env,
    code: impl FnOnce() -> R,
) -> R {
    ENV.set(Asked(env), || enter(slot, code))
}

/// Reaches the running execution. No code of the program may run in `f`: no wakers, no
/// destructors. Unwinds if the step has been cut.
#[track_caller]
#[inline]
pub(crate) fn with<R>(what: &str, f: impl FnOnce(&mut Exec) -> R) -> R {
    let Some(exec) = EXEC.take() else { outside(what) };
    let mut lent = Lent(Some(exec));
    let Some(exec) = &mut lent.0 else { outside(what) };
    let result = f(exec);
    if exec.untold.is_much() {
        flush(exec);
    }
    let cut = exec.cut;
    drop(lent);
    if cut && !std::thread::panicking() {
        panics::cut();
    }
    result
}

/// As [`with`] for destructors and wakers: never unwinds, and is `None` outside an execution.
#[inline]
pub(crate) fn try_with<R>(f: impl FnOnce(&mut Exec) -> R) -> Option<R> {
    let mut lent = Lent(Some(EXEC.take()?));
    lent.0.as_mut().map(|exec| f(exec))
}

/// Reaches who is asked, after telling what has happened so far; `None` outside of steps.
pub(crate) fn ask<R>(exec: &mut Exec, f: impl FnOnce(&mut Exec, &mut dyn Env) -> R) -> Option<R> {
    (exec.phase == Phase::Step).then(|| {
        ENV.with(|asked| {
            exec.catch_up(asked.0);
            f(exec, asked.0)
        })
    })
}

#[cold]
fn flush(exec: &mut Exec) {
    if exec.phase == Phase::GivingUp {
        exec.lose_patience();
    } else {
        ask(exec, |_, _| ());
    }
}

#[cold]
#[track_caller]
fn outside(what: &str) -> ! {
    panic!(
        "{what} outside of a Dally execution: the primitives of dally_tasks work only in the \
         tasks of a program that Dally runs, such as the body of a #[dally::test]"
    );
}

/// As [`with`], for an operation on this object at this place of the user's source. An object of
/// an execution that is over is refused: state that leaks from one execution into the next would
/// make a schedule mean something else every time.
#[track_caller]
#[inline]
pub(crate) fn with_own<R>(
    what: &str,
    object: &Object,
    at: &'static Location<'static>,
    f: impl FnOnce(&mut Exec) -> R,
) -> R {
    let result = with(what, |exec| {
        if object.run != exec.run && is_refused(exec, object, at) { None } else { Some(f(exec)) }
    });
    result.unwrap_or_else(|| panics::cut())
}

#[cold]
fn is_refused(exec: &mut Exec, object: &Object, at: &'static Location<'static>) -> bool {
    // Destructors are left in peace.
    if exec.phase.is_over() || std::thread::panicking() {
        return false;
    }
    let message = format!(
        "`{object}` belongs to another execution: it was kept in a static or outside of the \
         program's async block; make it inside, so that every execution starts afresh"
    );
    let bug = Bug::panic(message).at(Some(at.into()));
    exec.bug.get_or_insert_with(|| Box::new(bug));
    exec.cut = true;
    true
}

/// The scheduling point before an operation; answers whether to do it now. If not, return
/// `Poll::Pending`. `waited` and `next` are as in [`Exec::stands_before`].
pub(crate) fn pass(
    cx: &Context<'_>,
    what: &'static str,
    waited: bool,
    next: impl Into<Option<Access>>,
) -> bool {
    !with(what, |exec| exec.stands_before(cx.waker(), waited, next.into())) || suspend(cx)
}

/// As [`pass`], for an operation that has looked at this object to see that it need not wait.
pub(crate) fn pass_ready(
    cx: &Context<'_>,
    what: &'static str,
    waited: bool,
    object: &Object,
    next: Access,
) -> bool {
    let before = with(what, |exec| {
        let before = exec.stands_before(cx.waker(), waited, Some(next));
        if before {
            exec.brush(object, Mode::Read);
        }
        before
    });
    !before || suspend(cx)
}

/// Ends the step here, and comes back in the next step of the task; answers whether to go on. If
/// not, return `Poll::Pending`. Nothing may be locked.
///
/// When the execution is over, there is no next step. The poll then goes on to its end, as one that runs while
/// tokio's runtime is shut down, and once it has used up tokio's budget its operations answer that they are pending.
pub(crate) fn suspend(cx: &Context<'_>) -> bool {
    let goes_on = coroutine::suspend();
    if !goes_on {
        // Whoever blocks its thread until it is woken would do so for ever.
        cx.waker().wake_by_ref();
    }
    goes_on
}

/// The poll of the running task has come to its end: wakes those who gave way. Answers whether the
/// task was aborted meanwhile.
pub(crate) fn end_poll() -> bool {
    let (aborted, deferred) = with("a task", |exec| {
        exec.polling = false;
        let task = &mut exec.tasks[exec.current];
        (task.aborted, std::mem::take(&mut task.deferred))
    });
    if !deferred.is_empty() {
        deferred.into_iter().for_each(rouse);
    }
    aborted
}

/// Notes that the running step looks at an object, without words for readers: what it sees
/// depends on who has been there before.
pub(crate) fn look(object: &Object) {
    try_with(|exec| exec.brush(object, Mode::Read));
}

/// Notes that the running step changes an object, without words for readers.
pub(crate) fn change(object: &Object) {
    try_with(|exec| exec.brush(object, Mode::ReadModifyWrite));
}

/// Says what the running task waits for if this poll leaves it blocked.
pub(crate) fn wait(wait: Wait, next: Access, waker: &Waker) {
    try_with(|exec| exec.wait(wait, next, waker));
}
