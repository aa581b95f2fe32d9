//! The execution that runs on this thread, and the way every primitive reaches it.

use std::cell::Cell;
use std::task::Context;

use dally_core::{Access, Env, Event, Op, Text, panics};
use scoped_tls_hkt::{ReborrowMut, scoped_thread_local};

use crate::exec::{Exec, Phase};
use crate::text::{Deed, Object, Wait};

/// The running execution and, inside a step, who is asked and told.
pub(crate) struct Running<'a> {
    pub exec: &'a mut Exec,
    pub env: Option<&'a mut (dyn Env + 'a)>,
}

impl<'a, 'b: 'a> ReborrowMut<'a> for Running<'b> {
    type Result = Running<'a>;

    fn reborrow_mut(&'a mut self) -> Running<'a> {
        let env: Option<&'a mut (dyn Env + 'a)> = match &mut self.env {
            Some(env) => Some(&mut **env),
            None => None,
        };
        Running { exec: self.exec, env }
    }
}

scoped_thread_local!(static mut RUNNING: for<'a> Running<'a>);

thread_local! {
    /// Whether `RUNNING` is set: asked first, because an unset `RUNNING` answers with a panic
    /// that says nothing to a user.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Puts `INSIDE` back, also when the code under test unwinds.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        INSIDE.set(self.0);
    }
}

/// Runs code of the program under test as part of this execution.
pub(crate) fn enter<R>(running: Running<'_>, code: impl FnOnce() -> R) -> R {
    let _restore = Restore(INSIDE.replace(true));
    RUNNING.set(running, code)
}

/// Reaches the running execution. No code of the program may run in `f`: no wakers, no
/// destructors. Unwinds if the step has been cut.
#[track_caller]
pub(crate) fn with<R>(what: &str, f: impl FnOnce(&mut Running<'_>) -> R) -> R {
    if !INSIDE.get() {
        outside(what);
    }
    let (result, cut) = RUNNING.with(|mut running| {
        let result = f(&mut running);
        (result, running.exec.cut)
    });
    if cut && !std::thread::panicking() {
        panics::cut();
    }
    result
}

/// As [`with`] for destructors and wakers: never unwinds, and is `None` outside an execution.
pub(crate) fn try_with<R>(f: impl FnOnce(&mut Running<'_>) -> R) -> Option<R> {
    INSIDE.get().then(|| RUNNING.with(|mut running| f(&mut running)))
}

/// Runs code that must not reach the execution because the execution is borrowed: a monitor.
pub(crate) fn apart<R>(code: impl FnOnce() -> R) -> R {
    let _restore = Restore(INSIDE.replace(false));
    code()
}

#[cold]
#[track_caller]
fn outside(what: &str) -> ! {
    panic!(
        "{what} outside of a Dally execution: the primitives of dally_tasks work only in the \
         tasks of a program that Dally runs, such as the body of a #[dally::test]"
    );
}

impl Running<'_> {
    /// Tells what happened; remembers if the environment has had enough.
    pub fn tell(&mut self, event: Event<Text<'_>>) {
        if let Some(env) = &mut self.env
            && env.event(event).is_err()
        {
            self.exec.cut = true;
        }
    }

    /// Tells that a shared object was touched.
    pub fn touch(&mut self, object: &Object, access: Access, deed: Deed) {
        if self.env.is_some() {
            let what = deed.of(object);
            self.tell(Event::Accessed { object: object.id, access, what: Text::Display(&what) });
        }
    }

    /// Refuses an object of an execution that is over: state that leaks from one execution into
    /// the next would make a schedule mean something else every time.
    #[track_caller]
    pub fn own(&self, object: &Object) {
        if object.run != self.exec.run && self.exec.phase != Phase::TearDown {
            foreign(object);
        }
    }

    /// A new shared object of the running worker.
    pub fn object(&mut self, kind: &'static str) -> Object {
        self.exec.object(kind)
    }

    /// Makes a task run again.
    pub fn wake(&mut self, task: usize) {
        if let Some(worker) = self.exec.wake(task) {
            self.tell(Event::Enabled { worker });
        }
    }
}

#[cold]
#[track_caller]
fn foreign(object: &Object) -> ! {
    panic!(
        "`{object}` belongs to another execution: it was kept in a static or outside of the \
         program's async block; make it inside, so that every execution starts afresh"
    );
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

impl Point {
    /// Whether the operation may be done now; if not, return `Poll::Pending`.
    pub fn passed(&mut self, cx: &mut Context<'_>, op: Op, what: &'static str) -> bool {
        enum Now {
            GoOn,
            Announced,
            /// A combinator put a waker of its own in between.
            Linked,
        }
        let now = with(what, |running| {
            let exec = &mut *running.exec;
            // A combinator may poll again in the same step: that is no point passed.
            let later = self.announced != 0 && self.announced != exec.steps;
            if later || exec.phase != Phase::Step {
                return Now::GoOn;
            }
            self.announced = exec.steps;
            let task = &mut exec.tasks[exec.current];
            task.announce(op);
            if task.owns(cx.waker()) {
                task.ready = true;
                Now::Announced
            } else {
                Now::Linked
            }
        });
        match now {
            Now::GoOn => true,
            Now::Announced => false,
            Now::Linked => {
                cx.waker().wake_by_ref();
                // A waker that does not lead to this task (`now_or_never`) will not poll again,
                // so there is no later: what can be done is done now.
                with(what, |running| !running.exec.tasks[running.exec.current].ready)
            }
        }
    }
}

/// Says what the running task waits for if this poll leaves it blocked.
pub(crate) fn wait(wait: Wait, op: Op) {
    try_with(|running| {
        let exec = &mut *running.exec;
        if exec.phase == Phase::Step {
            let task = &mut exec.tasks[exec.current];
            task.announce(op);
            task.waits.push(wait);
        }
    });
}
