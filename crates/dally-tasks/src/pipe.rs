//! Queues that sockets and pipes are made of: bytes, connections or datagrams on their way.

use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use crate::current;
use crate::exec::Link;
use crate::hosts::Host;
use crate::sync::Inner;
use crate::text::{Kind, Object, Operation, Wait};
use crate::waker::rouse;

const TAKE: &Operation = &Operation::plain("take from");
const PUT: &Operation = &Operation::plain("put into");

/// A queue with two ends that are closed one by one. Clones are the same queue.
///
/// To take or to put is two calls: one that waits until it can be done, with the scheduling point before
/// it, and one that does it in the same step.
///
/// ```
/// use std::future::poll_fn;
///
/// use dally_tasks::{TaskProgram, pipe::Pipe, spawn};
///
/// TaskProgram::new("pipe", || async {
///     let pipe = Pipe::new("pipe", 4);
///     let other = pipe.clone();
///     spawn(async move {
///         poll_fn(|cx| other.poll_writable(cx)).await;
///         other.put(|queue| queue.extend(*b"ping"));
///     });
///     poll_fn(|cx| pipe.poll_readable(cx)).await;
///     assert_eq!(pipe.take(|queue| queue.drain(..).collect::<Vec<u8>>()), b"ping");
/// });
/// ```
pub struct Pipe<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    object: Object,
    /// Where it was made: what waits for it is told by this place.
    at: &'static Location<'static>,
    capacity: usize,
    /// The way between two hosts that items take, if it is one: while it is cut, none arrives.
    link: Option<Link>,
    state: Inner<State<T>>,
}

struct State<T> {
    queue: VecDeque<T>,
    /// Nothing more is put.
    finished: bool,
    /// Nothing more is taken.
    abandoned: bool,
    /// It was broken off: what was on its way is lost.
    broken: bool,
    readers: Waiters,
    writers: Waiters,
}

/// Who waits at one end. More than one task can, such as by `readable`.
#[derive(Default)]
struct Waiters {
    wakers: Vec<Waker>,
    /// Somebody has waited since something was last taken or put.
    waited: bool,
}

impl Waiters {
    /// Answers whether the waker is new.
    fn add(&mut self, waker: &Waker) -> bool {
        self.waited = true;
        !self.wakers.iter().any(|known| known.will_wake(waker))
    }
}

/// One of the two ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Read,
    Write,
}

impl<T> Pipe<T> {
    /// An empty queue for this many items, of a kind with this name.
    #[track_caller]
    pub fn new(kind: &'static str, capacity: usize) -> Pipe<T> {
        Pipe::over(None, kind, capacity)
    }

    /// As [`Pipe::new`], from one host to another: while the way between them is cut, nothing arrives.
    ///
    /// # Panics
    /// Outside of a Dally execution.
    #[track_caller]
    pub fn between(one: Host, other: Host, kind: &'static str, capacity: usize) -> Pipe<T> {
        Pipe::over(Link::between(one.number(), other.number()), kind, capacity)
    }

    #[track_caller]
    fn over(link: Option<Link>, kind: &'static str, capacity: usize) -> Pipe<T> {
        let object = current::with_any(|exec| exec.object(Kind::Pipe(kind)));
        let state = State {
            queue: VecDeque::new(),
            finished: false,
            abandoned: false,
            broken: false,
            readers: Waiters::default(),
            writers: Waiters::default(),
        };
        let at = Location::caller();
        let shared = Shared { object, at, capacity, link, state: Inner::new(state) };
        Pipe { shared: Arc::new(shared) }
    }

    /// Waits until something is there or nothing more will come, and lets others step before it is taken.
    pub fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        self.poll(cx, End::Read)
    }

    /// Waits until there is room or nobody will take, and lets others step before something is put.
    pub fn poll_writable(&self, cx: &Context<'_>) -> Poll<()> {
        self.poll(cx, End::Write)
    }

    /// Takes, in the running step. No code of the program may run in `f`.
    pub fn take<R>(&self, f: impl FnOnce(&mut VecDeque<T>) -> R) -> R {
        self.change(End::Read, TAKE, |state| f(&mut state.queue))
    }

    /// Puts, in the running step. No code of the program may run in `f`.
    pub fn put<R>(&self, f: impl FnOnce(&mut VecDeque<T>) -> R) -> R {
        self.change(End::Write, PUT, |state| f(&mut state.queue))
    }

    /// Looks at what is there, in a step that is thereby ordered with those that change it.
    pub fn look<R>(&self, f: impl FnOnce(&VecDeque<T>) -> R) -> R {
        current::look(&self.shared.object);
        f(&self.shared.state.lock().queue)
    }

    /// How many items there is room for.
    pub fn room(&self) -> usize {
        self.look(|queue| self.shared.capacity.saturating_sub(queue.len()))
    }

    /// Nothing more is put: who takes gets what is there and then finds the end.
    pub fn finish(&self) {
        self.change(End::Write, const { &Operation::plain("finish") }, |state| {
            state.finished = true
        });
    }

    /// Nothing more is taken: what is there is lost.
    pub fn abandon(&self) {
        let lost = self.change(End::Read, const { &Operation::plain("abandon") }, |state| {
            state.abandoned = true;
            std::mem::take(&mut state.queue)
        });
        // Items may have destructors that use other pipes.
        drop(lost);
    }

    /// Both ends are closed, and what is there is lost.
    pub fn break_off(&self) {
        let lost = self.change(End::Write, const { &Operation::plain("break off") }, |state| {
            (state.finished, state.abandoned, state.broken) = (true, true, true);
            std::mem::take(&mut state.queue)
        });
        drop(lost);
    }

    /// Whether it was broken off.
    pub fn is_broken(&self) -> bool {
        current::look(&self.shared.object);
        self.shared.state.lock().broken
    }

    /// Whether what is there does not arrive, because the way between the hosts is cut.
    pub fn is_held(&self) -> bool {
        current::look(&self.shared.object);
        self.shared.is_held()
    }

    /// Whether nothing more is put.
    pub fn is_finished(&self) -> bool {
        current::look(&self.shared.object);
        self.shared.state.lock().finished
    }

    /// Whether nothing more is taken.
    pub fn is_abandoned(&self) -> bool {
        current::look(&self.shared.object);
        self.shared.state.lock().abandoned
    }

    fn poll(&self, cx: &Context<'_>, end: End) -> Poll<()> {
        let object = self.shared.object;
        let next = Access::update(Resource::Object(object.id));
        for passed in [false, true] {
            let Some(waited) = self.is_ready(end) else {
                self.wait(cx, end, next);
                return Poll::Pending;
            };
            // After the point somebody else may have taken what was there.
            if passed {
                break;
            }
            if !current::pass_ready(cx, waited, &object, next) {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    /// `None` if the end must wait; else whether somebody has waited at it.
    fn is_ready(&self, end: End) -> Option<bool> {
        let held = end == End::Read && self.shared.is_held();
        let state = self.shared.state.lock();
        let (ready, waiters) = match end {
            End::Read => (!held && (!state.queue.is_empty() || state.finished), &state.readers),
            End::Write => {
                let room = state.queue.len() < self.shared.capacity;
                (room || state.abandoned || state.finished, &state.writers)
            }
        };
        ready.then_some(waiters.waited)
    }

    fn wait(&self, cx: &Context<'_>, end: End, next: Access) {
        let Shared { object, at, state, .. } = &*self.shared;
        let operation = if end == End::Read { TAKE } else { PUT };
        current::with_own(object, at, |exec| {
            let mut state = state.lock();
            let waiters = if end == End::Read { &mut state.readers } else { &mut state.writers };
            // Those who wait are woken in their order, so who begins to wait comes before or after others.
            let mut mode = if waiters.waited { Mode::Read } else { Mode::ReadModifyWrite };
            if waiters.add(cx.waker()) {
                waiters.wakers.push(cx.waker().clone());
                mode = Mode::ReadModifyWrite;
            }
            drop(state);
            if self.shared.link.is_some_and(|link| exec.hosts.is_cut(link)) {
                exec.hosts.wait(cx.waker());
                let faults = exec.faults();
                exec.touch_silently(&faults, Mode::ReadModifyWrite);
            }
            exec.touch_silently(object, mode);
            let wait = Wait { object: *object, operation, place: PlaceOf::Creation, at };
            exec.wait(wait, next, cx.waker());
        });
    }

    /// Changes the state and wakes the other end, and those at this end who may go on now.
    fn change<R>(
        &self,
        end: End,
        operation: &'static Operation,
        f: impl FnOnce(&mut State<T>) -> R,
    ) -> R {
        let Shared { object, state, .. } = &*self.shared;
        let (result, woken, held) = {
            let mut state = state.lock();
            let result = f(&mut state);
            match end {
                End::Read => state.readers.waited = false,
                End::Write => state.writers.waited = false,
            }
            let mut woken = Vec::new();
            if !state.queue.is_empty() || state.finished {
                woken.append(&mut state.readers.wakers);
            }
            if state.queue.len() < self.shared.capacity || state.abandoned || state.finished {
                woken.append(&mut state.writers.wakers);
            }
            (result, woken, state.queue.len())
        };
        current::try_with(|exec| {
            // What outlived its execution is no object of this one.
            if object.run == exec.run {
                exec.touch(object, Mode::ReadModifyWrite, operation);
                exec.holds(object, held);
            }
        });
        woken.into_iter().for_each(rouse);
        result
    }
}

impl<T> Shared<T> {
    fn is_held(&self) -> bool {
        let cut = |link| current::try_with(|exec| exec.hosts.is_cut(link)).unwrap_or(false);
        self.link.is_some_and(cut)
    }
}

impl<T> Clone for Pipe<T> {
    fn clone(&self) -> Pipe<T> {
        Pipe { shared: Arc::clone(&self.shared) }
    }
}

impl<T> fmt::Debug for Pipe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe").field("object", &self.shared.object).finish_non_exhaustive()
    }
}

/// Which execution runs on this thread, of all in this process: a number that is compared for equality only.
pub fn execution() -> Option<u64> {
    current::try_with(|exec| exec.run)
}

/// Polls something without scheduling points: no other task steps meanwhile. For a future under a lock,
/// which nobody else could take while it is suspended.
pub fn without_points<R>(f: impl FnOnce() -> R) -> R {
    struct Restore(Option<bool>);
    impl Drop for Restore {
        fn drop(&mut self) {
            if let Some(polling) = self.0 {
                current::try_with(|exec| exec.polling = polling);
            }
        }
    }
    let _restore = Restore(current::try_with(|exec| std::mem::take(&mut exec.polling)));
    f()
}
