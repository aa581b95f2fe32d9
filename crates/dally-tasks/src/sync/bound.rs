//! The state of a primitive with its identity, which it may get later than it is made.

use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use dally_core::{Access, Mode, ObjectId, Resource, WorkerId, panics};

use super::Inner;
use crate::current;
use crate::exec::Exec;
use crate::text::{Kind, Object, Operation};

/// The state of a primitive. What is made inside of an execution belongs to it. What is made outside, such as a
/// static by `const_new`, belongs to the execution that uses it, one after the other: its waiters and guards
/// are gone when an execution is over. Executions of two threads cannot share it.
pub(crate) struct Bound<S> {
    inner: Inner<Parts<S>>,
}

struct Parts<S> {
    object: Object,
    /// The thread whose executions use it, if it was made outside of them; 0 before the first.
    thread: Option<u64>,
    state: S,
}

impl<S> Bound<S> {
    /// Belongs to the execution that uses it first.
    pub const fn late(kind: Kind, state: S) -> Bound<S> {
        let id = ObjectId { creator: WorkerId::FAULTS, number: 0 };
        let object = Object { id, kind, run: 0, index: u32::MAX };
        Bound { inner: Inner::new(Parts { object, thread: Some(0), state }) }
    }

    /// Belongs to the running execution if there is one.
    pub fn new(kind: Kind, state: S) -> Bound<S> {
        match current::try_with(|exec| exec.object(kind)) {
            Some(object) => Bound { inner: Inner::new(Parts { object, thread: None, state }) },
            None => Bound::late(kind, state),
        }
    }

    /// An operation at this place of the user's source. Unwinds where the primitive belongs to another
    /// execution, or the step is cut. No code of the program may run in `f`.
    #[inline(always)]
    pub fn with<R>(
        &self,
        at: &'static Location<'static>,
        f: impl FnOnce(&mut Exec, &mut S, &Object) -> R,
    ) -> R {
        current::with_any(|exec| {
            let mut parts = self.inner.lock();
            let parts = &mut *parts;
            if parts.object.run != exec.run && !parts.bind(exec, at) {
                panics::cut();
            }
            f(exec, &mut parts.state, &parts.object)
        })
    }

    /// As [`Bound::with`] for destructors: never unwinds, and works outside of executions.
    pub fn settle<R>(
        &self,
        f: impl FnOnce(&mut S) -> R,
        operation: &'static Operation,
        mode: Mode,
    ) -> R {
        let (result, object) = {
            let mut parts = self.inner.lock();
            let result = f(&mut parts.state);
            (result, parts.object)
        };
        current::try_with(|exec| exec.touch(&object, mode, operation));
        result
    }

    /// As [`Bound::settle`] for what changes how much it holds, which observations see.
    #[inline]
    pub fn settle_held<R>(
        &self,
        f: impl FnOnce(&mut S) -> R,
        amount: impl FnOnce(&S) -> usize,
        operation: &'static Operation,
    ) -> R {
        let (result, object, amount) = {
            let mut parts = self.inner.lock();
            let result = f(&mut parts.state);
            (result, parts.object, amount(&parts.state))
        };
        current::try_with(|exec| {
            exec.touch(&object, Mode::ReadModifyWrite, operation);
            exec.holds(&object, amount);
        });
        result
    }

    /// Looks at the state, in a step that is thereby ordered with those that change it.
    pub fn look<R>(&self, f: impl FnOnce(&S) -> R) -> R {
        let parts = &mut *self.inner.lock();
        current::try_with(|exec| {
            if parts.object.run == exec.run || parts.bind_late(exec) {
                exec.touch(&parts.object, Mode::Read, const { &Operation::plain("look at") });
            }
        });
        f(&parts.state)
    }

    /// Looks at the state, without words for readers.
    pub fn peek<R>(&self, f: impl FnOnce(&S) -> R) -> R {
        let (object, result) = self.glance(f);
        current::look(&object);
        result
    }

    /// Looks at the state, in a step that touches the object anyway.
    #[inline]
    pub fn glance<R>(&self, f: impl FnOnce(&S) -> R) -> (Object, R) {
        let parts = self.inner.lock();
        (parts.object, f(&parts.state))
    }

    /// What an operation on it touches.
    pub fn next(&self) -> Access {
        Access::update(Resource::Object(self.inner.lock().object.id))
    }

    /// The scheduling point before an operation that is not awaited, where the program has such points.
    #[inline]
    pub fn point(&self) {
        current::point(|| self.next());
    }
}

impl<S> Parts<S> {
    #[cold]
    fn bind(&mut self, exec: &mut Exec, at: &'static Location<'static>) -> bool {
        self.bind_late(exec) || !current::is_refused(exec, &self.object, at)
    }

    /// Binds what was made outside of executions to the running one, if it may.
    #[cold]
    fn bind_late(&mut self, exec: &mut Exec) -> bool {
        let Some(thread) = &mut self.thread else { return false };
        let own = this_thread();
        if *thread != 0 && *thread != own || exec.phase.is_over() {
            return false;
        }
        *thread = own;
        self.object = exec.object(self.object.kind);
        true
    }
}

/// A number for this thread, compared for equality only.
fn this_thread() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static THIS: u64 = THREADS.fetch_add(1, Ordering::Relaxed);
    }
    THIS.with(|this| *this)
}
