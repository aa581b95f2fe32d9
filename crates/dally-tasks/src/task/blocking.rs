//! Code that blocks its thread: a worker like any other, whose step goes on until it blocks.

use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use dally_core::panics;

use super::{JoinHandle, spawn_as};
use crate::coroutine;
use crate::current;
use crate::text::TaskName;

/// Runs a function that may block, as a worker of its own. Between two operations of this crate it is
/// one step. A function that has begun cannot be aborted.
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn spawn_blocking<F, R>(function: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let name = TaskName::Spawned(std::any::type_name::<F>(), Location::caller());
    spawn_blocking_as(name, function)
}

#[track_caller]
pub(super) fn spawn_blocking_as<F, R>(name: TaskName, function: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + 'static,
    R: 'static,
{
    spawn_as(name, async move {
        let _blocking = Blocking::set(true);
        function()
    })
}

/// Runs a function that may block, in the task that calls it.
pub fn block_in_place<F, R>(function: F) -> R
where
    F: FnOnce() -> R,
{
    let _blocking = Blocking::set(true);
    function()
}

/// Blocks the worker that runs until this future is ready, as the `block_on` of a runtime's handle. Others
/// step meanwhile.
///
/// # Panics
/// Outside of a Dally execution, and in async code, because tokio does: see [`block_in_place`].
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    current::with("`block_on`", |_| ());
    block("`block_on`", future)
}

/// As [`block_on`], for the operation of this name.
#[track_caller]
pub(crate) fn block<F: Future>(what: &str, future: F) -> F::Output {
    if current::is_outside() {
        return block_thread(future);
    }
    let may_block =
        current::with(what, |exec| exec.phase.is_over() || exec.tasks[exec.current].may_block);
    assert!(
        may_block,
        "{what} blocks its thread, which drives async tasks here: call it in `spawn_blocking` or \
         `block_in_place`, or await the async operation instead"
    );
    let _async = Blocking::set(false);
    stall(what, future)
}

/// Blocks the worker that runs, which may be async code: what blocks its thread in tokio too.
#[track_caller]
pub(crate) fn stall<F: Future>(what: &str, future: F) -> F::Output {
    if current::is_outside() {
        return block_thread(future);
    }
    let mut future = pin!(future);
    loop {
        let waker = current::with(what, |exec| exec.tasks[exec.current].waker());
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        // When the execution is over nobody comes to wake it: what is left of the code is unwound.
        if !coroutine::is_running() || !coroutine::park() {
            panics::cut();
        }
        current::with(what, |exec| exec.tasks[exec.current].unpark());
    }
}

/// Blocks a thread that is none of Dally's, outside of executions.
fn block_thread<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the thread is woken, and nobody sees which it is"
    )]
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Says whether the code of the running task may block, until this is dropped.
struct Blocking {
    task: usize,
    before: bool,
}

impl Blocking {
    fn set(may_block: bool) -> Blocking {
        let set = current::try_with(|exec| {
            let task = exec.current;
            (task, std::mem::replace(&mut exec.tasks[task].may_block, may_block))
        });
        let (task, before) = set.unwrap_or((0, false));
        Blocking { task, before }
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        current::try_with(|exec| {
            if let Some(task) = exec.tasks.get_mut(self.task) {
                task.may_block = self.before;
            }
        });
    }
}
