//! The execution that runs on this thread, and the way every primitive reaches it.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::task::{Context, Waker};

use dally_core::{Access, Bug, Env, Mode, panics};
use scoped_tls_hkt::{ReborrowMut, scoped_thread_local};

use crate::exec::{Exec, Phase};
use crate::text::{Object, Wait};

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
    ask(exec, |_, _| ());
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
    if exec.phase == Phase::TearDown || std::thread::panicking() {
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

/// The scheduling point before an operation.
///
/// The first poll announces what the operation will do and stays pending, though the task can
/// go on: others may step in between. A poll in a later step may go on.
#[derive(Debug, Default)]
pub(crate) struct Point {
    /// The step that announced; 0 before that.
    announced: u64,
}

/// How an operation stands to the point before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stand {
    /// The point is passed: do it.
    Past,
    /// Announced in this step: return `Poll::Pending`.
    Before,
    /// Announced, but a combinator put a waker of its own in between: ask [`linked`].
    Linked,
}

impl Point {
    /// Whether the operation may be done now; if not, return `Poll::Pending`.
    pub fn passed(
        &mut self,
        cx: &mut Context<'_>,
        next: impl Into<Option<Access>>,
        what: &'static str,
    ) -> bool {
        match with(what, |exec| self.stand(exec, cx.waker(), next)) {
            Stand::Past => true,
            Stand::Before => false,
            Stand::Linked => linked(cx, what),
        }
    }

    /// As [`Point::passed`], where the execution is at hand.
    #[inline]
    pub fn stand(
        &mut self,
        exec: &mut Exec,
        waker: &Waker,
        next: impl Into<Option<Access>>,
    ) -> Stand {
        // A combinator may poll again in the same step: that is no point passed.
        let later = self.announced != 0 && self.announced != exec.steps;
        if later || exec.phase != Phase::Step {
            return Stand::Past;
        }
        self.announced = exec.steps;
        let task = &mut exec.tasks[exec.current];
        task.announce(next.into());
        if task.owns(waker) {
            task.ready = true;
            Stand::Before
        } else {
            exec.link(waker);
            Stand::Linked
        }
    }
}

/// Calls the waker that a combinator put in between; answers whether to go on at once. A waker
/// that does not lead to this task (`now_or_never`) will not poll again, so there is no later:
/// what can be done is done now.
#[cold]
pub(crate) fn linked(cx: &mut Context<'_>, what: &'static str) -> bool {
    cx.waker().wake_by_ref();
    with(what, |exec| !exec.tasks[exec.current].ready)
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
