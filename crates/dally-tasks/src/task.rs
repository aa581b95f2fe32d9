//! Tasks: spawning them and giving way to others.

mod blocking;
pub mod coop;
pub mod join_set;
mod local;
mod task_local;

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use dally_core::WorkerId;

pub(crate) use self::blocking::{block, stall};
pub use self::blocking::{block_in_place, block_on, spawn_blocking};
pub use self::coop::{Unconstrained, consume_budget, unconstrained};
pub use self::join_set::JoinSet;
pub use self::local::{LocalEnterGuard, LocalSet, spawn_local};
pub use self::task_local::{AccessError, LocalKey};
pub use crate::join::{AbortHandle, JoinError, JoinHandle};

/// A runtime or a handle to one, of the crate that has them: this one has executions alone.
pub trait OfRuntime {
    /// Runs a future to its end.
    fn run<F: Future>(&self, future: F) -> F::Output;
}

/// The futures of this module that have names.
pub mod futures {
    pub use super::task_local::TaskLocalFuture;
}

use crate::current;
use crate::exec::{PendingEvent, Phase};
use crate::join;
use crate::text::TaskName;

/// Starts a task. It is named after the future's function and the line of this call; see
/// [`Builder`] to name it otherwise.
///
/// A panic in a task is a bug of the program, or reaches whoever joins the task: see
/// [`TaskPanics`](crate::TaskPanics).
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_as(TaskName::Spawned(std::any::type_name::<F>(), Location::caller()), future)
}

#[track_caller]
fn spawn_as<F>(name: TaskName, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    spawn_on(None, name, future)
}

/// Starts a task on this host, or on that of the running task.
#[track_caller]
pub(crate) fn spawn_on<F>(host: Option<u32>, name: TaskName, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let (handle, completion) = join::pair();
    let body = Box::pin(async move {
        let completion = completion;
        let output = future.await;
        completion.complete(output);
    });
    let mut refused = None;
    let task = current::with("`spawn`", |exec| {
        if exec.phase.is_over() {
            refused = Some(body);
            return None;
        }
        let host = host.unwrap_or(exec.tasks[exec.current].host);
        let task = exec.spawn(host, name, body);
        let worker = exec.tasks[task].id;
        exec.tell(|| PendingEvent::Created(task));
        Some((task, worker, exec.run))
    });
    // Its destructors run here, where the execution is not borrowed.
    drop(refused);
    handle.of(task)
}

/// Starts a task with a name, in the shape of tokio's unstable `task::Builder`.
///
/// ```
/// # use dally_tasks::{TaskProgram, task};
/// TaskProgram::new("named", || async {
///     let refill = task::Builder::new().name("refill").spawn(async {}).unwrap();
///     refill.await.unwrap();
/// });
/// ```
#[derive(Debug, Default)]
pub struct Builder<'a> {
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    /// A builder without a name.
    pub fn new() -> Builder<'a> {
        Builder::default()
    }

    /// The name that traces and findings show.
    #[must_use]
    pub fn name(&self, name: &'a str) -> Builder<'a> {
        Builder { name: Some(name) }
    }

    /// Starts the task; never fails.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> std::io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let name = match self.name {
            Some(name) => TaskName::Given(name.to_owned()),
            None => TaskName::Spawned(std::any::type_name::<F>(), Location::caller()),
        };
        Ok(spawn_as(name, future))
    }

    /// As [`Builder::spawn`], in the [`LocalSet`] that the running task belongs to or drives.
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> std::io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let name = match self.name {
            Some(name) => TaskName::Given(name.to_owned()),
            None => TaskName::Spawned(std::any::type_name::<F>(), Location::caller()),
        };
        Ok(local::spawn_local_as(name, future))
    }

    /// As [`spawn_blocking`], with the name.
    #[track_caller]
    pub fn spawn_blocking<F, R>(self, function: F) -> std::io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let name = match self.name {
            Some(name) => TaskName::Given(name.to_owned()),
            None => TaskName::Spawned(std::any::type_name::<F>(), Location::caller()),
        };
        Ok(blocking::spawn_blocking_as(name, function))
    }
}

/// Lets any other task step before this one goes on.
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    /// Pending at first, as tokio's: it wakes when the task has been polled to the end.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.yielded, true) {
            return Poll::Ready(());
        }
        let waker = cx.waker();
        let pending = current::with("`yield_now`", |exec| {
            if exec.phase == Phase::Step {
                exec.link(waker);
                let task = &mut exec.tasks[exec.current];
                task.announce(None);
                if task.owns(waker) {
                    task.ready = true;
                } else {
                    task.deferred.push(waker.clone());
                }
            }
            // Destructors have nobody to give way to.
            exec.phase != Phase::TearDown
        });
        if pending { Poll::Pending } else { Poll::Ready(()) }
    }
}

/// The identity of a task: the same in every schedule in which the task exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub(crate) WorkerId);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The identity of the task that runs.
///
/// # Panics
/// Outside of tasks.
#[track_caller]
pub fn id() -> Id {
    match try_id() {
        Some(id) => id,
        None => panic!("Can't get a task id when not inside a task"),
    }
}

/// The identity of the task that runs, if one does: what a runtime blocks on is none.
pub fn try_id() -> Option<Id> {
    current::try_with(|exec| (exec.current > 0).then(|| Id(exec.tasks[exec.current].id))).flatten()
}
