//! Tasks that need not be `Send`, in the shape of `tokio::task::LocalSet`: they go on only while somebody
//! drives their set.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use dally_core::Mode;
use pin_project_lite::pin_project;

use super::task_local::{self, Scope};
use super::{AbortHandle, JoinHandle, OfRuntime, spawn_as};
use crate::sync::bound::Bound;
use crate::text::{Kind, Operation, TaskName};

/// The address of this is the key of the set that a task belongs to.
static CURRENT: u8 = 0;

fn key() -> usize {
    std::ptr::from_ref(&CURRENT).addr()
}

fn current_set() -> Option<Rc<Shared>> {
    task_local::value(key()).and_then(|value| value.downcast::<Shared>().ok())
}

/// Starts a task in the [`LocalSet`] that the running task belongs to or drives.
///
/// # Panics
/// Outside of a `LocalSet`.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let name = TaskName::Spawned(std::any::type_name::<F>(), Location::caller());
    spawn_local_as(name, future)
}

#[track_caller]
pub(super) fn spawn_local_as<F>(name: TaskName, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let Some(set) = current_set() else {
        panic!(
            "`spawn_local` called from outside of a `task::LocalSet` or \
             `runtime::LocalRuntime`"
        );
    };
    set.spawn(name, future)
}

/// A set of tasks that go on only while somebody drives it: by [`LocalSet::run_until`], or by awaiting the set
/// itself, which is done when all of its tasks are.
pub struct LocalSet {
    shared: Rc<Shared>,
}

/// What a set and its tasks share.
struct Shared {
    /// How many drive it at the moment.
    drivers: Cell<usize>,
    /// Whom to wake when somebody drives it.
    paused: RefCell<Vec<Waker>>,
    /// Its tasks, as far as they are not over.
    tasks: RefCell<Vec<(Rc<dyn Slot>, AbortHandle)>>,
    object: Bound<()>,
    /// Who waits for all of them to be over.
    waiting: RefCell<Option<Waker>>,
}

/// Where the future of a task is, so that the set can drop it.
trait Slot {
    fn clear(&self);
    fn is_over(&self) -> bool;
}

struct SlotOf<F> {
    /// Absent when the task is over, and while it is polled.
    future: RefCell<Option<Pin<Box<F>>>>,
    over: Cell<bool>,
}

impl<F> Slot for SlotOf<F> {
    fn clear(&self) {
        self.over.set(true);
        let future = self.future.borrow_mut().take();
        drop(future);
    }

    fn is_over(&self) -> bool {
        self.over.get()
    }
}

impl Shared {
    #[track_caller]
    fn spawn<F>(self: &Rc<Shared>, name: TaskName, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let future = RefCell::new(Some(Box::pin(future)));
        let slot = Rc::new(SlotOf { future, over: Cell::new(false) });
        let task = spawn_as(name, LocalTask { set: self.clone(), slot: slot.clone() });
        self.tasks.borrow_mut().push((slot, task.abort_handle()));
        task
    }

    fn drive(&self) {
        self.change(const { &Operation::plain("drive") });
        self.drivers.set(self.drivers.get() + 1);
        let paused = self.paused.take();
        paused.into_iter().for_each(Waker::wake);
    }

    /// Notes that whether somebody drives it is changed.
    fn change(&self, operation: &'static Operation) {
        self.object.settle(|()| (), operation, Mode::ReadModifyWrite);
    }

    /// A task is over: whoever waits for all of them looks again.
    fn settle(&self) {
        self.tasks.borrow_mut().retain(|(slot, _)| !slot.is_over());
        let waiting = self.waiting.borrow_mut().take();
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}

/// What a task of a set runs.
struct LocalTask<F> {
    set: Rc<Shared>,
    slot: Rc<SlotOf<F>>,
}

impl<F: Future> Future for LocalTask<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.set.object.look(|()| ());
        if self.set.drivers.get() == 0 {
            self.set.paused.borrow_mut().push(cx.waker().clone());
            return Poll::Pending;
        }
        let future = self.slot.future.borrow_mut().take();
        // Without it the set is gone, and the task is aborted.
        let Some(mut future) = future else { return Poll::Pending };
        let polled = {
            let _inside = task_local::enter(key(), self.set.clone());
            future.as_mut().poll(cx)
        };
        if polled.is_ready() {
            self.slot.over.set(true);
            drop(future);
            self.set.settle();
        } else if !self.slot.over.get() {
            *self.slot.future.borrow_mut() = Some(future);
        }
        polled
    }
}

impl<F> Drop for LocalTask<F> {
    fn drop(&mut self) {
        self.slot.clear();
        self.set.settle();
    }
}

impl LocalSet {
    /// A set without tasks.
    pub fn new() -> LocalSet {
        LocalSet {
            shared: Rc::new(Shared {
                drivers: Cell::new(0),
                paused: RefCell::default(),
                tasks: RefCell::default(),
                waiting: RefCell::default(),
                object: Bound::new(Kind::LocalSet, ()),
            }),
        }
    }

    /// Lets [`spawn_local`] put tasks into this set until the guard is dropped.
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard { _scope: task_local::enter(key(), self.shared.clone()) }
    }

    /// Starts a task in this set. It does not step before somebody drives the set.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let name = TaskName::Spawned(std::any::type_name::<F>(), Location::caller());
        self.shared.spawn(name, future)
    }

    /// Drives the set on this runtime until this future is done.
    #[track_caller]
    pub fn block_on<F: Future>(&self, rt: &impl OfRuntime, future: F) -> F::Output {
        rt.run(self.run_until(future))
    }

    /// Drives the set until this future is done.
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        RunUntil { future, driver: Driver::new(&self.shared) }.await
    }
}

impl Default for LocalSet {
    fn default() -> LocalSet {
        LocalSet::new()
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").finish()
    }
}

impl Future for LocalSet {
    type Output = ();

    /// Drives the set until all of its tasks are over.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.shared.tasks.borrow().is_empty() {
            return Poll::Ready(());
        }
        let before = self.shared.waiting.borrow_mut().replace(cx.waker().clone());
        drop(before);
        if self.shared.drivers.get() == 0 {
            self.shared.drive();
        }
        Poll::Pending
    }
}

impl Drop for LocalSet {
    /// Drops the futures of all tasks.
    fn drop(&mut self) {
        let tasks = self.shared.tasks.take();
        for (slot, task) in tasks {
            slot.clear();
            task.abort();
        }
    }
}

/// The guard of [`LocalSet::enter`].
#[must_use = "tasks go into the set only while the guard is kept"]
pub struct LocalEnterGuard {
    _scope: Scope,
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEnterGuard").finish()
    }
}

/// Drives a set from its first poll until it is dropped.
struct Driver {
    set: Rc<Shared>,
    driving: bool,
}

impl Driver {
    fn new(set: &Rc<Shared>) -> Driver {
        Driver { set: set.clone(), driving: false }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.driving {
            self.set.change(const { &Operation::plain("stop driving") });
            self.set.drivers.set(self.set.drivers.get() - 1);
        }
    }
}

pin_project! {
    struct RunUntil<F> {
        #[pin]
        future: F,
        driver: Driver,
    }
}

impl<F: Future> Future for RunUntil<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if !std::mem::replace(&mut this.driver.driving, true) {
            this.driver.set.drive();
        }
        let _inside = task_local::enter(key(), this.driver.set.clone());
        this.future.poll(cx)
    }
}
