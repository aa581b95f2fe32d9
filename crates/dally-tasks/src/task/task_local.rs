//! Values that belong to a task while a future of it is polled, in the shape of `tokio::task_local!`.
//!
//! They are kept by the task and not by the thread, because a task can be suspended inside of such a scope
//! while others step on the same thread.

use std::any::Any;
use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::current;

/// Declares values that a task has while a future of it is polled in a scope.
///
/// ```
/// use dally_tasks::TaskProgram;
///
/// dally_tasks::task_local! {
///     static REQUEST: u32;
/// }
///
/// TaskProgram::new("scope", || async {
///     REQUEST.scope(7, async { assert_eq!(REQUEST.get(), 7) }).await;
///     assert!(REQUEST.try_get().is_err());
/// });
/// ```
#[macro_export]
macro_rules! task_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty; $($rest:tt)*) => {
        $crate::task_local!($(#[$attr])* $vis static $name: $t);
        $crate::task_local!($($rest)*);
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty) => {
        $(#[$attr])*
        $vis static $name: $crate::task::LocalKey<$t> = $crate::task::LocalKey::__new();
    };
}

/// The scopes that tasks of this thread are in, of all tasks together: (execution, task, key, value). The
/// last one of a task and a key counts.
type Scopes = Vec<(Owner, usize, Rc<dyn Any>)>;

/// Whose scope: the execution and the place of the task.
type Owner = (u64, usize);

thread_local! {
    static SCOPES: RefCell<Scopes> = const { RefCell::new(Vec::new()) };
}

/// Who runs; outside of executions it is the thread itself.
fn owner() -> Owner {
    current::try_with(|exec| (exec.run, exec.current)).unwrap_or((0, 0))
}

/// The value that the running task has for this key.
pub(crate) fn value(key: usize) -> Option<Rc<dyn Any>> {
    let owner = owner();
    SCOPES.with_borrow(|scopes| {
        let last = scopes.iter().rfind(|scope| scope.0 == owner && scope.1 == key)?;
        Some(last.2.clone())
    })
}

/// Gives the running task this value until the guard is dropped.
pub(crate) fn enter(key: usize, value: Rc<dyn Any>) -> Scope {
    let owner = owner();
    SCOPES.with_borrow_mut(|scopes| scopes.push((owner, key, value)));
    Scope { owner, key, left: false }
}

/// The guard of [`enter`].
pub(crate) struct Scope {
    owner: Owner,
    key: usize,
    left: bool,
}

impl Scope {
    /// Leaves the scope; answers the value that the task had in it.
    fn leave(&mut self) -> Option<Rc<dyn Any>> {
        if std::mem::replace(&mut self.left, true) {
            return None;
        }
        SCOPES.with_borrow_mut(|scopes| {
            let at = scopes.iter().rposition(|of| of.0 == self.owner && of.1 == self.key)?;
            Some(scopes.remove(at).2)
        })
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        drop(self.leave());
    }
}

/// A key of [`task_local!`](crate::task_local).
pub struct LocalKey<T: 'static> {
    /// Keys are told apart by their addresses, so they need one.
    _address: u8,
    _value: PhantomData<fn() -> T>,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn __new() -> LocalKey<T> {
        LocalKey { _address: 0, _value: PhantomData }
    }

    fn key(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The future with this value while it is polled and dropped.
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture { local: self, slot: Some(value), future: Some(future) }
    }

    /// Runs a function with this value.
    #[track_caller]
    pub fn sync_scope<F, R>(&'static self, value: T, f: F) -> R
    where
        F: FnOnce() -> R,
    {
        self.lend(&mut Some(value), f)
    }

    /// Runs a function while the running task has the value of this slot, which is put back afterwards.
    fn lend<R>(&'static self, slot: &mut Option<T>, f: impl FnOnce() -> R) -> R {
        struct ValueGuard<'a, T: 'static> {
            scope: Scope,
            slot: &'a mut Option<T>,
        }
        impl<T: 'static> Drop for ValueGuard<'_, T> {
            fn drop(&mut self) {
                let value = self.scope.leave().and_then(|value| value.downcast::<Option<T>>().ok());
                *self.slot = value.and_then(Rc::into_inner).flatten();
            }
        }
        let value: Rc<dyn Any> = Rc::new(slot.take());
        let _lent = ValueGuard { scope: enter(self.key(), value), slot };
        f()
    }

    /// The value of the innermost scope.
    ///
    /// # Panics
    /// Outside of all scopes.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(_) => panic!("cannot access a task-local storage value without setting it first"),
        }
    }

    /// The value of the innermost scope, if there is one.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        let slot = value(self.key()).and_then(|value| value.downcast::<Option<T>>().ok());
        slot.as_deref().and_then(Option::as_ref).map(f).ok_or(AccessError { _private: () })
    }
}

impl<T: Clone + 'static> LocalKey<T> {
    /// A copy of the value of the innermost scope.
    ///
    /// # Panics
    /// Outside of all scopes.
    #[track_caller]
    pub fn get(&'static self) -> T {
        self.with(T::clone)
    }

    /// A copy of the value of the innermost scope, if there is one.
    pub fn try_get(&'static self) -> Result<T, AccessError> {
        self.try_with(T::clone)
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LocalKey { .. }")
    }
}

pin_project! {
    /// The future of [`LocalKey::scope`].
    pub struct TaskLocalFuture<T, F>
    where
        T: 'static,
    {
        local: &'static LocalKey<T>,
        slot: Option<T>,
        #[pin]
        future: Option<F>,
    }

    impl<T: 'static, F> PinnedDrop for TaskLocalFuture<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            let mut future = this.future;
            if future.is_some() {
                this.local.lend(this.slot, || future.set(None));
            }
        }
    }
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// The value, if the future is not polled at the moment.
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        self.project().slot.take()
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut future = this.future;
        let polled = this.local.lend(this.slot, || {
            let polled = future.as_mut().as_pin_mut().map(|future| future.poll(cx));
            if polled.as_ref().is_some_and(Poll::is_ready) {
                future.set(None);
            }
            polled
        });
        let Some(polled) = polled else { panic!("`TaskLocalFuture` polled after completion") };
        polled
    }
}

impl<T: fmt::Debug + 'static, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value: &dyn fmt::Debug = match &self.slot {
            Some(value) => value,
            None => &format_args!("<missing>"),
        };
        f.debug_struct("TaskLocalFuture").field("value", value).finish()
    }
}

/// The task is in no scope of the key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError {
    _private: (),
}

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt("task-local value not set", f)
    }
}

impl Error for AccessError {}
