//! A set of tasks that are joined in the order in which they end.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

use dally_core::Mode;
use dally_core::bug::PlaceOf;

use super::blocking::spawn_blocking_as;
use super::local::spawn_local_as;
use super::{AbortHandle, Id, JoinError, JoinHandle, LocalSet, OfRuntime, spawn_as};
use crate::current;
use crate::sync::bound::Bound;
use crate::text::{Kind, Operation, TaskName, Wait};
use crate::waker::Sleeper;

const JOIN: &Operation = &Operation::plain("join a task of");

/// Tasks that give their results in the order in which they end, in the shape of `tokio::task::JoinSet`. When the
/// set is dropped, all of them are aborted.
pub struct JoinSet<T> {
    handles: Vec<(u64, JoinHandle<T>)>,
    next: u64,
    ended: Arc<Ended>,
    waited: bool,
}

/// The tasks of a set that have ended and were not joined yet.
pub(crate) struct Ended {
    state: Bound<State>,
}

struct State {
    keys: std::collections::VecDeque<u64>,
    waiter: Option<Sleeper>,
}

impl Ended {
    fn new() -> Arc<Ended> {
        let state = State { keys: Default::default(), waiter: None };
        Arc::new(Ended { state: Bound::new(Kind::JoinSet, state) })
    }

    /// A task of the set has ended.
    pub(crate) fn push(&self, key: u64) {
        let add = |state: &mut State| {
            state.keys.push_back(key);
            state.waiter.take()
        };
        let waiter = self.state.settle(add, Operation::SILENT, Mode::ReadModifyWrite);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl<T> JoinSet<T> {
    /// A set without tasks.
    pub fn new() -> JoinSet<T> {
        JoinSet { handles: Vec::new(), next: 0, ended: Ended::new(), waited: false }
    }

    /// How many tasks were not joined yet.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether all tasks were joined.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    /// A builder for a task with a name.
    pub fn build_task(&mut self) -> Builder<'_, T> {
        Builder { set: self, name: None }
    }

    /// Starts a task of the set.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let name = TaskName::Spawned(std::any::type_name::<F>(), Location::caller());
        self.insert(spawn_as(name, task))
    }

    /// As [`JoinSet::spawn`], on this runtime: every runtime is the execution that runs.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, _: &impl OfRuntime) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.spawn(task)
    }

    /// As [`JoinSet::spawn_blocking`], on this runtime.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, _: &impl OfRuntime) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.spawn_blocking(f)
    }

    /// As [`JoinSet::spawn`], in the [`LocalSet`] that the running task belongs to or drives.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let name = TaskName::Spawned(std::any::type_name::<F>(), Location::caller());
        self.insert(spawn_local_as(name, task))
    }

    /// As [`JoinSet::spawn`], in this [`LocalSet`].
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(local_set.spawn_local(task))
    }

    /// As [`spawn_blocking`](super::spawn_blocking), as a task of the set.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let name = TaskName::Spawned(std::any::type_name::<F>(), Location::caller());
        self.insert(spawn_blocking_as(name, f))
    }

    /// Takes a task into the set.
    #[doc(hidden)]
    pub fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let key = self.next;
        self.next += 1;
        if handle.tell_end_to(&self.ended, key) {
            self.ended.push(key);
        }
        self.handles.push((key, handle));
        abort
    }

    /// The result of the task that ended first of those that were not joined; `None` if there is none.
    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T, JoinError>>> {
        let at = Location::caller();
        std::future::poll_fn(move |cx| self.poll_at(cx, at).map(|joined| joined.map(|one| one.1)))
    }

    /// As [`JoinSet::join_next`], with the identity of the task.
    #[track_caller]
    pub fn join_next_with_id(
        &mut self,
    ) -> impl Future<Output = Option<Result<(Id, T), JoinError>>> {
        let at = Location::caller();
        std::future::poll_fn(move |cx| self.poll_at(cx, at).map(|joined| joined.map(with_id)))
    }

    /// As [`JoinSet::join_next`], if a task has ended.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_next().map(|joined| joined.1)
    }

    /// As [`JoinSet::join_next_with_id`], if a task has ended.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        self.try_next().map(with_id)
    }

    /// Aborts all tasks and waits until they have ended.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// The results of all tasks in the order in which they end.
    ///
    /// # Panics
    /// If a task panicked, with its panic, or was aborted.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut results = Vec::with_capacity(self.len());
        while let Some(joined) = self.join_next().await {
            match joined {
                Ok(result) => results.push(result),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(error) => panic!("{error}"),
            }
        }
        results
    }

    /// Aborts all tasks; they are still to be joined.
    pub fn abort_all(&mut self) {
        self.handles.iter().for_each(|(_, handle)| handle.abort());
    }

    /// Lets all tasks run on by themselves.
    pub fn detach_all(&mut self) {
        self.handles.clear();
        // They go on to tell their ends to where nobody looks.
        self.ended = Ended::new();
    }

    /// As [`JoinSet::join_next`], for futures written by hand.
    #[track_caller]
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_at(cx, Location::caller()).map(|joined| joined.map(|one| one.1))
    }

    /// As [`JoinSet::join_next_with_id`], for futures written by hand.
    #[track_caller]
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        self.poll_at(cx, Location::caller()).map(|joined| joined.map(with_id))
    }

    fn try_next(&mut self) -> Option<(Id, Result<T, JoinError>)> {
        let next = |state: &mut State| state.keys.pop_front();
        let key = self.ended.state.settle(next, JOIN, Mode::ReadModifyWrite)?;
        self.take(key)
    }

    /// The result of a task that has ended.
    fn take(&mut self, key: u64) -> Option<(Id, Result<T, JoinError>)> {
        let place = self.handles.iter().position(|handle| handle.0 == key)?;
        let (_, handle) = self.handles.remove(place);
        Some((handle.id(), handle.take_result()))
    }

    fn poll_at(
        &mut self,
        cx: &mut Context<'_>,
        at: &'static Location<'static>,
    ) -> Poll<Option<(Id, Result<T, JoinError>)>> {
        if self.handles.is_empty() {
            return Poll::Ready(None);
        }
        let waited = &mut self.waited;
        let ended = &self.ended;
        let mut old = None;
        let key = current::attempt(cx, |passed| {
            ended.state.with(at, |exec, state, object| {
                let next = dally_core::Access::update(dally_core::Resource::Object(object.id));
                if state.keys.is_empty() {
                    old = state.waiter.replace(Sleeper::new(exec, cx.waker()));
                    *waited = true;
                    exec.touch_silently(object, Mode::Read);
                    let wait =
                        Wait { object: *object, operation: JOIN, place: PlaceOf::Operation, at };
                    exec.wait(wait, next, cx.waker());
                    return Some(Poll::Pending);
                }
                if !passed && exec.stands_before(cx.waker(), *waited, Some(next)) {
                    exec.touch_silently(object, Mode::Read);
                    return None;
                }
                *waited = false;
                exec.touch(object, Mode::ReadModifyWrite, JOIN);
                Some(Poll::Ready(state.keys.pop_front()))
            })
        });
        drop(old);
        key.map(|key| self.take(key?))
    }
}

fn with_id<T>((id, result): (Id, Result<T, JoinError>)) -> Result<(Id, T), JoinError> {
    result.map(|output| (id, output))
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.handles.iter().for_each(|(_, handle)| handle.abort());
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> JoinSet<T> {
        JoinSet::new()
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = F>>(tasks: I) -> JoinSet<T> {
        let mut set = JoinSet::new();
        set.extend(tasks);
        set
    }
}

impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, tasks: I) {
        for task in tasks {
            self.spawn(task);
        }
    }
}

/// Starts a task of a [`JoinSet`] with a name.
#[must_use = "builders do nothing unless used to spawn a task"]
pub struct Builder<'a, T> {
    set: &'a mut JoinSet<T>,
    name: Option<&'a str>,
}

impl<'a, T: 'static> Builder<'a, T> {
    /// The name that traces and findings show.
    pub fn name(self, name: &'a str) -> Self {
        Builder { name: Some(name), ..self }
    }

    /// Starts the task; never fails.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> std::io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let name = match self.name {
            Some(name) => TaskName::Given(name.to_owned()),
            None => TaskName::Spawned(std::any::type_name::<F>(), Location::caller()),
        };
        Ok(self.set.insert(spawn_as(name, future)))
    }
}

impl<T> fmt::Debug for Builder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("join_set::Builder").field("name", &self.name).finish_non_exhaustive()
    }
}
