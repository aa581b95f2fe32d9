//! The results of tasks: joining and aborting.

mod error;

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Bug, Mode, ObjectId, Resource, WorkerId};

pub use self::error::JoinError;
use crate::current;
use crate::exec::State;
use crate::sync::Inner;
use crate::task::Id;
use crate::task::join_set::Ended;
use crate::text::{Kind, Object, Operation, RESULT, Wait};
use crate::waker::rouse;

const JOIN: &Operation = &Operation::plain("join");

/// Waits for a task and gives its result; dropping it lets the task run on by itself.
pub struct JoinHandle<T> {
    cell: Arc<Cell<T>>,
    task: TaskRef,
    waited: bool,
    at: &'static Location<'static>,
}

impl<T> JoinHandle<T> {
    /// Asks the task to end: its next step drops its future, and joining it gives an error that
    /// [is cancelled](JoinError::is_cancelled). A task that is over stays as it is.
    pub fn abort(&self) {
        self.task.abort();
    }

    /// A handle that can only abort.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { task: self.task }
    }

    /// Whether the task is over.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// The identity of the task.
    pub fn id(&self) -> Id {
        Id(self.task.worker)
    }

    /// Has this set hear of the end of the task, by this number; answers whether it has ended already.
    pub(crate) fn tell_end_to(&self, set: &Arc<Ended>, key: u64) -> bool {
        let mut content = self.cell.content.lock();
        if !content.is_over() {
            content.set = Some((set.clone(), key));
        }
        content.is_over()
    }

    /// The result of a task that has ended.
    pub(crate) fn take_result(self) -> Result<T, JoinError> {
        current::look(&self.task.result());
        self.cell.take(self.id())
    }
}

impl<T> Unpin for JoinHandle<T> {}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let result = this.task.result();
        let next = Access::read(Resource::Object(result.id));
        let waker = cx.waker().clone();
        let mut content = this.cell.content.lock();
        if !content.is_over() {
            let old = content.joiner.replace(waker);
            drop(content);
            drop(old);
            this.waited = true;
            current::look(&result);
            let wait = Wait { object: result, operation: JOIN, place: PlaceOf::Spawn, at: this.at };
            current::wait(wait, next, cx.waker());
            return Poll::Pending;
        }
        drop(content);
        if !current::pass_ready(cx, this.waited, &result, next) {
            return Poll::Pending;
        }
        current::with("`JoinHandle`", |exec| {
            exec.touch(&result, Mode::Read, JOIN);
        });
        Poll::Ready(this.cell.take(this.id()))
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).finish()
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        // What nobody will take is dropped where the task ends, as tokio does.
        let mut content = self.cell.content.lock();
        content.detached = true;
        let joiner = content.joiner.take();
        let outcome =
            content.is_over().then(|| std::mem::replace(&mut content.outcome, Outcome::Taken));
        drop(content);
        if let Some(Outcome::Panicked(panic)) = outcome {
            panic.was_not_observed();
        } else {
            drop(outcome);
        }
        drop(joiner);
    }
}

/// Aborts a task without being able to join it.
#[derive(Clone, Debug)]
pub struct AbortHandle {
    task: TaskRef,
}

impl AbortHandle {
    /// As [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Whether the task is over.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// The identity of the task.
    pub fn id(&self) -> Id {
        Id(self.task.worker)
    }
}

/// Where the result of a task is put and taken.
struct Cell<T> {
    content: Inner<Content<T>>,
}

struct Content<T> {
    outcome: Outcome<T>,
    joiner: Option<Waker>,
    /// The set that hears of the end, and the task's number there.
    set: Option<(Arc<Ended>, u64)>,
    /// Nobody will join.
    detached: bool,
}

enum Outcome<T> {
    Running,
    Output(T),
    Cancelled,
    Panicked(TaskPanic),
    Taken,
}

/// A panic of a task that is kept for whoever joins it.
pub(crate) struct TaskPanic {
    pub payload: Box<dyn Any + Send>,
    /// What it is if nobody does.
    pub bug: Box<Bug>,
}

impl TaskPanic {
    /// Nobody will hear of it: that is a bug, found here. Destructors run to their end first.
    fn was_not_observed(self) {
        current::try_with(|exec| {
            exec.bug.get_or_insert(self.bug);
            exec.cut = !exec.phase.is_over();
        });
    }
}

impl<T> Cell<T> {
    fn take(&self, id: Id) -> Result<T, JoinError> {
        match std::mem::replace(&mut self.content.lock().outcome, Outcome::Taken) {
            Outcome::Output(output) => Ok(output),
            Outcome::Cancelled => Err(JoinError::cancelled(id)),
            Outcome::Panicked(panic) => Err(JoinError::panic(id, panic.payload)),
            Outcome::Running | Outcome::Taken => {
                panic!("a JoinHandle was polled after it had given its result")
            }
        }
    }

    fn end(&self, outcome: Outcome<T>) {
        let mut unwanted = None;
        let (joiner, set) = {
            let mut content = self.content.lock();
            if content.detached {
                unwanted = Some(outcome);
            } else {
                content.outcome = outcome;
            }
            (content.joiner.take(), content.set.take())
        };
        drop(unwanted);
        if let Some((set, key)) = set {
            set.push(key);
        }
        if let Some(joiner) = joiner {
            rouse(joiner);
        }
    }
}

impl<T> Content<T> {
    fn is_over(&self) -> bool {
        !matches!(self.outcome, Outcome::Running)
    }
}

/// The task's end of its cell. Dropped with the future before it is done, it cancels, or tells of the panic.
pub(crate) struct Completion<T: 'static> {
    cell: Option<Arc<Cell<T>>>,
}

/// The result of a task that unwinds.
pub(crate) trait Unwinding {
    /// The task has unwound with this panic.
    fn panicked(&self, panic: TaskPanic);
}

impl<T> Unwinding for Cell<T> {
    fn panicked(&self, panic: TaskPanic) {
        let detached = self.content.lock().detached;
        if detached {
            panic.was_not_observed();
        } else {
            self.end(Outcome::Panicked(panic));
        }
    }
}

impl<T: 'static> Completion<T> {
    pub fn complete(mut self, output: T) {
        if let Some(cell) = self.cell.take() {
            cell.end(Outcome::Output(output));
        }
    }
}

impl<T: 'static> Drop for Completion<T> {
    fn drop(&mut self) {
        let Some(cell) = self.cell.take() else { return };
        if std::thread::panicking() {
            // The poll of the task unwinds: what with is known when it has.
            current::try_with(|exec| exec.unwinding = Some(cell));
        } else {
            cell.end(Outcome::Cancelled);
        }
    }
}

/// A handle that does not know its task yet.
pub(crate) struct Unbound<T> {
    cell: Arc<Cell<T>>,
    at: &'static Location<'static>,
}

/// A cell and its two ends.
#[track_caller]
pub(crate) fn pair<T>() -> (Unbound<T>, Completion<T>) {
    let content = Content { outcome: Outcome::Running, joiner: None, set: None, detached: false };
    let cell = Arc::new(Cell { content: Inner::new(content) });
    let unbound = Unbound { cell: cell.clone(), at: Location::caller() };
    (unbound, Completion { cell: Some(cell) })
}

impl<T> Unbound<T> {
    /// The handle of this task: (place, id, execution), or of none that ever ran.
    pub fn of(self, task: Option<(usize, WorkerId, u64)>) -> JoinHandle<T> {
        let task =
            task.map_or(TaskRef::NONE, |(index, worker, run)| TaskRef { index, worker, run });
        JoinHandle { cell: self.cell, task, waited: false, at: self.at }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskRef {
    index: usize,
    worker: WorkerId,
    run: u64,
}

impl TaskRef {
    /// A task that was spawned while the execution was torn down.
    const NONE: TaskRef = TaskRef { index: usize::MAX, worker: WorkerId::FAULTS, run: 0 };

    fn abort(self) {
        current::try_with(|exec| {
            if self.run == exec.run {
                exec.abort(self.index);
            }
        });
    }

    fn is_finished(self) -> bool {
        current::look(&self.result());
        current::try_with(|exec| {
            self.run != exec.run || exec.tasks[self.index].state == State::Finished
        })
        .unwrap_or(true)
    }

    fn result(self) -> Object {
        result_of(self.worker, self.run)
    }
}

/// The result of a task as an object: written when the task ends, read when it is joined.
pub(crate) fn result_of(worker: WorkerId, run: u64) -> Object {
    let id = ObjectId { creator: worker, number: RESULT };
    Object { id, kind: Kind::Task, run, index: u32::MAX }
}
