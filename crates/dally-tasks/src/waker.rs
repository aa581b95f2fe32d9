//! Wakers: real ones, so that any future works; and a check that only tasks under control call
//! them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use dally_core::Mode;

use crate::current;
use crate::exec::{Exec, Phase};

mod watched;

/// What the wakers of an execution share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// A waker was called by a thread that does not run the execution.
    foreign: AtomicBool,
    /// It is to be seen where copies of wakers are made.
    pub watched: AtomicBool,
}

impl Shared {
    /// Whether that happened, once.
    #[inline]
    pub fn take_foreign(&self) -> bool {
        self.foreign.load(Ordering::Relaxed) && self.foreign.swap(false, Ordering::Relaxed)
    }

    pub fn is_foreign(&self) -> bool {
        self.foreign.load(Ordering::Relaxed)
    }
}

/// Whom to wake. Mostly it is a task that waits by itself, and then its place will do; a waker
/// would be counted up and down.
#[derive(Debug)]
pub(crate) enum Sleeper {
    /// A task of this execution. Where nobody sees whether it waits, to wake it is nothing of its own
    /// either: it steps when there is what it waits for.
    Task { index: usize, run: u64, unseen: bool },
    /// The waker that a combinator has put in between.
    Other(Waker),
}

impl Sleeper {
    /// The running task, which polls with this waker.
    #[inline]
    pub fn new(exec: &Exec, waker: &Waker) -> Sleeper {
        let index = exec.current;
        if exec.phase == Phase::Step && exec.tasks[index].owns(waker) {
            Sleeper::Task { index, run: exec.run, unseen: false }
        } else {
            Sleeper::Other(waker.clone())
        }
    }

    /// As [`Sleeper::new`], where nobody sees whether it waits.
    pub fn unseen(exec: &Exec, waker: &Waker) -> Sleeper {
        match Sleeper::new(exec, waker) {
            Sleeper::Task { index, run, .. } => Sleeper::Task { index, run, unseen: true },
            other => other,
        }
    }

    /// Wakes where the execution is at hand; answers whom to wake where it is not.
    #[inline]
    pub fn wake_in(self, exec: &mut Exec) -> Option<Waker> {
        match self {
            Sleeper::Task { index, run, unseen } => {
                if run == exec.run {
                    exec.wake_as(index, unseen);
                }
                None
            }
            Sleeper::Other(waker) => Some(waker),
        }
    }

    /// Wakes where the execution is not at hand.
    pub fn wake(self) {
        match self {
            Sleeper::Task { .. } => {
                current::try_with(|exec| self.wake_in(exec));
            }
            Sleeper::Other(waker) => rouse(waker),
        }
    }
}

/// Calls a waker that a primitive has kept.
pub(crate) fn rouse(waker: Waker) {
    current::try_with(|exec| {
        if exec.linked && !exec.tasks.live().iter().any(|task| task.owns(&waker)) {
            let wakers = exec.wakers();
            exec.touch_silently(&wakers, Mode::ReadModifyWrite);
        }
    });
    waker.wake();
}

#[derive(Debug)]
pub(crate) struct TaskWaker {
    task: usize,
    /// Its execution is not over.
    live: AtomicBool,
    shared: Arc<Shared>,
}

impl TaskWaker {
    pub fn new(task: usize, shared: &Arc<Shared>) -> Arc<TaskWaker> {
        Arc::new(TaskWaker { task, live: AtomicBool::new(true), shared: shared.clone() })
    }

    /// A waker that calls this.
    pub fn waker(self: &Arc<Self>) -> Waker {
        watched::waker(Arc::clone(self))
    }

    pub fn revive(&self) {
        self.live.store(true, Ordering::Relaxed);
    }

    pub fn silence(&self) {
        self.live.store(false, Ordering::Relaxed);
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.live.load(Ordering::Relaxed) {
            return;
        }
        let woken = current::try_with(|exec| {
            let ours = Arc::ptr_eq(&exec.shared, &self.shared);
            if ours {
                exec.wake(self.task);
            }
            ours
        });
        if woken != Some(true) {
            self.shared.foreign.store(true, Ordering::Relaxed);
        }
    }
}
