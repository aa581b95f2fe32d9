//! The execution that runs on this thread, and the way every primitive reaches it.

// The operations of a program reach its execution, and whoever is asked and told in the step, by
// pointers that their thread has.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use dally_core::{Access, Bug, Env, Mode, panics};

use crate::coroutine;
use crate::exec::{Exec, Phase};
use crate::model::Points;
use crate::text::{Object, Wait};

thread_local! {
    /// The running execution; absent outside of one, and while somebody reaches it.
    static EXEC: Cell<Option<NonNull<Exec>>> = const { Cell::new(None) };

    /// What stands for an execution in code of this thread that runs outside of one.
    static OUTSIDE: RefCell<Exec> = RefCell::new(Exec::outside());
}

/// While this lives, code of the program under test runs as part of an execution, which nobody
/// else can reach. It must be dropped, where it was made.
#[must_use = "an execution is left where this is dropped"]
pub(crate) struct Entered<'e> {
    exec: &'e mut Exec,
    /// An execution inside of an execution is odd, but no reason to lose the outer one.
    outer: Option<NonNull<Exec>>,
}

/// Enters an execution.
#[inline(always)]
pub(crate) fn enter(exec: &mut Exec) -> Entered<'_> {
    let outer = EXEC.replace(Some(NonNull::from(&mut *exec)));
    Entered { exec, outer }
}

/// As [`enter`], in a step: `env` can be asked and told.
#[inline(always)]
pub(crate) fn enter_step<'e>(exec: &'e mut Exec, env: &'e mut dyn Env) -> Entered<'e> {
    // SAFETY: this changes the lifetime alone. `Entered` has borrowed `env` for as long as the
    // pointer is there.
    let env = unsafe { std::mem::transmute::<NonNull<dyn Env + 'e>, NonNull<dyn Env>>(env.into()) };
    exec.env = Some(env);
    enter(exec)
}

impl Drop for Entered<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        EXEC.set(self.outer);
        self.exec.env = None;
    }
}

/// An execution that somebody reaches: put back where it was, also when code unwinds.
struct CurrentGuard(NonNull<Exec>);

impl CurrentGuard {
    #[inline]
    fn take() -> Option<CurrentGuard> {
        EXEC.take().map(CurrentGuard)
    }

    #[inline]
    fn exec(&mut self) -> &mut Exec {
        // SAFETY: `Entered` has put it there, has borrowed the execution as long as it is there,
        // and does not touch it. It was taken from there, so nobody else has it.
        unsafe { self.0.as_mut() }
    }
}

impl Drop for CurrentGuard {
    #[inline]
    fn drop(&mut self) {
        EXEC.set(Some(self.0));
    }
}

/// Reaches the running execution. No code of the program may run in `f`: no wakers, no
/// destructors. Unwinds if the step has been cut.
#[track_caller]
#[inline]
pub(crate) fn with<R>(what: &str, f: impl FnOnce(&mut Exec) -> R) -> R {
    match CurrentGuard::take() {
        Some(lent) => reach(lent, f),
        None => outside(what),
    }
}

/// As [`with`], for what tokio allows outside of runtimes too: there nothing is scheduled, and every operation
/// is done at once.
#[inline(always)]
pub(crate) fn with_any<R>(f: impl FnOnce(&mut Exec) -> R) -> R {
    match CurrentGuard::take() {
        Some(lent) => reach(lent, f),
        None => unscheduled(f),
    }
}

#[cold]
fn unscheduled<R>(f: impl FnOnce(&mut Exec) -> R) -> R {
    let mut f = Some(f);
    let done = OUTSIDE.try_with(|exec| f.take().map(|f| f(&mut exec.borrow_mut())));
    match (done, f) {
        (Ok(Some(done)), _) => done,
        // A destructor of another thread-local, when the thread ends.
        (_, Some(f)) => f(&mut Exec::outside()),
        (_, None) => unreachable!("it is called once"),
    }
}

/// Whether no execution runs on this thread.
pub(crate) fn is_outside() -> bool {
    EXEC.get().is_none()
}

#[inline(always)]
fn reach<R>(mut lent: CurrentGuard, f: impl FnOnce(&mut Exec) -> R) -> R {
    let exec = lent.exec();
    let result = f(exec);
    if exec.pending.is_much() {
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
    CurrentGuard::take().map(|mut lent| f(lent.exec()))
}

/// Reaches who is asked, after telling what has happened so far; `None` outside of steps. `f` must
/// not ask again.
pub(crate) fn ask<R>(exec: &mut Exec, f: impl FnOnce(&mut Exec, &mut dyn Env) -> R) -> Option<R> {
    let mut env = exec.env.filter(|_| exec.phase == Phase::Step)?;
    // SAFETY: `Entered` has borrowed it as long as it is there. The execution is reached by one at a
    // time, and who reaches it asks one thing at a time.
    let env = unsafe { env.as_mut() };
    exec.catch_up(env);
    Some(f(exec, env))
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
#[inline(always)]
pub(crate) fn with_own<R>(
    object: &Object,
    at: &'static Location<'static>,
    f: impl FnOnce(&mut Exec) -> R,
) -> R {
    with_any(|exec| {
        if object.run != exec.run && is_refused(exec, object, at) {
            panics::cut();
        }
        f(exec)
    })
}

#[cold]
pub(crate) fn is_refused(exec: &mut Exec, object: &Object, at: &'static Location<'static>) -> bool {
    // Destructors are left in peace, and what is run once has nothing to leak into.
    let explored = exec.phase != Phase::Outside && !exec.model.once;
    if !explored || exec.phase.is_over() || std::thread::panicking() {
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

/// As [`pass`], for an operation on this object at this place that has not waited. The object is refused as in
/// [`with_own`].
#[inline(always)]
pub(crate) fn pass_first(
    cx: &Context<'_>,
    object: &Object,
    at: &'static Location<'static>,
    next: Access,
) -> bool {
    !with_own(object, at, |exec| exec.stands_before(cx.waker(), false, Some(next))) || suspend(cx)
}

/// The scheduling point before an operation; answers whether to do it now. If not, return
/// `Poll::Pending`. `waited` and `next` are as in [`Exec::stands_before`].
#[inline(always)]
pub(crate) fn pass(cx: &Context<'_>, waited: bool, next: impl Into<Option<Access>>) -> bool {
    !with_any(|exec| exec.stands_before(cx.waker(), waited, next.into())) || suspend(cx)
}

/// As [`pass`], for an operation that has looked at this object to see that it need not wait.
#[inline(always)]
pub(crate) fn pass_ready(cx: &Context<'_>, waited: bool, object: &Object, next: Access) -> bool {
    let before = with_any(|exec| {
        let before = exec.stands_before(cx.waker(), waited, Some(next));
        if before {
            exec.touch_silently(object, Mode::Read);
        }
        before
    });
    !before || suspend(cx)
}

/// Tries an operation and, where that stands before its scheduling point, once more when the point is
/// passed. `operation` is told whether it is passed, and answers `None` where it stands before it.
#[inline(always)]
pub(crate) fn attempt<R>(
    cx: &Context<'_>,
    mut operation: impl FnMut(bool) -> Option<Poll<R>>,
) -> Poll<R> {
    match operation(false) {
        Some(answer) => answer,
        None if suspend(cx) => operation(true).unwrap_or(Poll::Pending),
        None => Poll::Pending,
    }
}

/// Ends the step here, and comes back in the next step of the task; answers whether to go on. If
/// not, return `Poll::Pending`. Nothing may be locked.
///
/// When the execution is over, there is no next step. The poll then goes on to its end, as one that runs while
/// tokio's runtime is shut down, and once it has used up tokio's budget its operations answer that they are pending.
#[inline(always)]
fn suspend(cx: &Context<'_>) -> bool {
    let goes_on = coroutine::suspend();
    if !goes_on {
        // Whoever blocks its thread until it is woken would do so for ever.
        cx.waker().wake_by_ref();
    }
    goes_on
}

/// Notes that the running step looks at an object, without words for readers: what it sees
/// depends on who has been there before.
pub(crate) fn look(object: &Object) {
    try_with(|exec| exec.touch_silently(object, Mode::Read));
}

/// Says what the running task waits for if this poll leaves it blocked.
pub(crate) fn wait(wait: Wait, next: Access, waker: &Waker) {
    try_with(|exec| exec.wait(wait, next, waker));
}

/// The scheduling point before an operation that is not awaited, where the program has such points: the worker
/// is suspended where it stands. Nothing may be locked.
#[inline]
pub(crate) fn point(next: impl FnOnce() -> Access) {
    let before = try_with(|exec| exec.model.points == Points::Operations && exec.polling);
    if before == Some(true) && !std::thread::panicking() {
        let next = next();
        try_with(|exec| exec.tasks[exec.current].stand_before(Some(next)));
        // Where the execution is over the operation is done all the same.
        coroutine::suspend();
    }
}
