//! Polls that can be suspended where they stand.
//!
//! Each poll of a task runs on a stack of its own. An operation suspends it at its scheduling
//! point, and goes on inside the same poll when the task is scheduled again: the futures around
//! the operation see nothing of it. A stack with its coroutine serves one poll after another.
//!
//! Every step switches to a stack and back. What passes between the two are words in registers: what
//! is polled stays where it is, and a panic is caught on the stack that it happens on.
// An operation is deep inside of the program's code, and reaches its coroutine by a pointer.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, Yielder};
use dally_core::{Bug, Problem, Stop, panics};

use crate::exec::BoxFuture;
use crate::overflow;

/// As much as the threads of a search have: programs under test recurse as they do in production.
/// Memory comes where it is touched.
const STACK: usize = 16 << 20;

/// How many operations a poll may do when its execution is over. tokio gives a poll as many before it answers
/// that it is pending, and finishes the polls that run when a runtime is shut down.
const BUDGET: u32 = 128;

/// How many operations of the budget it costs to block the thread: nobody comes to wake it, so what it waits for
/// is looked at once more, and not a hundred times.
const PARKED: u32 = BUDGET / 2;

thread_local! {
    /// The stack that runs on this thread, if it is not the thread's own.
    static RUNNING: Cell<Option<NonNull<Switch>>> = const { Cell::new(None) };
}

/// What a task runs: its future, and the stack on which a poll of it is suspended.
pub(crate) struct Body {
    stack: Option<Box<PollStack>>,
    /// Owned, from a pinned box; absent when the task is over. It is a pointer because a suspended
    /// poll has borrowed what it points to.
    future: Option<NonNull<dyn Future<Output = ()>>>,
    /// The task's own.
    waker: Waker,
    /// What the last poll has unwound with.
    payload: Option<Box<dyn Any + Send>>,
}

/// How far a poll has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// It stands before an operation.
    Suspended,
    /// It blocks its thread until it is woken.
    Parked,
    Pending,
    Ready,
}

impl Body {
    /// What the task of this waker runs.
    pub fn new(future: Option<BoxFuture>, waker: Waker) -> Body {
        let mut body = Body { stack: None, future: None, waker, payload: None };
        body.set_future(future);
        body
    }

    /// The task's waker.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// What the last poll has unwound with.
    pub fn take_payload(&mut self) -> Option<Box<dyn Any + Send>> {
        self.payload.take()
    }

    /// Begins again with this future, in the place of one that is over.
    pub fn begin_again(&mut self, future: Option<BoxFuture>) {
        drop(self.take());
        self.payload = None;
        self.set_future(future);
    }

    fn set_future(&mut self, future: Option<BoxFuture>) {
        // SAFETY: the future stays where it is, and is dropped there by `take`.
        let boxed = future.map(|future| unsafe { Pin::into_inner_unchecked(future) });
        self.future = boxed.map(|boxed| NonNull::from(Box::leak(boxed)));
    }

    /// Takes the future. If a poll of it is suspended, that is left by unwinding first.
    pub fn take(&mut self) -> Option<BoxFuture> {
        self.stack = None;
        let future = self.future.take()?;
        // SAFETY: it is from a pinned box, was never moved out of it, and no poll has borrowed it.
        Some(unsafe { Pin::new_unchecked(Box::from_raw(future.as_ptr())) })
    }

    /// Whether there is nothing left to run or drop.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.future.is_none()
    }

    /// Whether a poll has not come to its end.
    #[inline]
    pub fn is_suspended(&self) -> bool {
        self.stack.is_some()
    }

    /// Goes on with the poll that was suspended or begins one, until it is suspended or done.
    /// A future that is absent is ready.
    #[inline(always)]
    pub fn poll(&mut self, idle: &mut IdleStacks) -> Result<Progress, Stop> {
        if self.stack.is_none() {
            let Some(future) = self.future else { return Ok(Progress::Ready) };
            let stack = match idle.stacks.pop() {
                Some(stack) => stack,
                None => idle.make()?,
            };
            stack.switch.future.set(Some(future));
            stack.switch.waker.set(&self.waker);
            self.stack = Some(stack);
        }
        self.resume(idle)
    }

    /// Lets a poll that was suspended come to its end: its operations are no scheduling points any
    /// more, and from some number of them on they are not ready.
    pub fn give_up(&mut self, idle: &mut IdleStacks) {
        if let Some(stack) = &self.stack {
            stack.switch.left.set(Some(BUDGET));
            // What it does is not judged.
            let _ = self.resume(idle);
        }
    }

    #[inline(always)]
    fn resume(&mut self, idle: &mut IdleStacks) -> Result<Progress, Stop> {
        let Some(stack) = &mut self.stack else { return Ok(Progress::Ready) };
        match stack.resume() {
            Some(progress @ (Progress::Suspended | Progress::Parked)) => Ok(progress),
            Some(ended) => {
                idle.stacks.extend(self.stack.take());
                Ok(ended)
            }
            None => {
                let unwound = stack.switch.unwound.take();
                idle.stacks.extend(self.stack.take());
                Err(match unwound {
                    Some(payload) => {
                        let stop = panics::stop_of(&*payload);
                        self.payload = Some(payload);
                        stop
                    }
                    None => Stop::Cut,
                })
            }
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Stacks that no poll uses.
#[derive(Default)]
pub(crate) struct IdleStacks {
    #[expect(clippy::vec_box, reason = "they come and go in their boxes")]
    stacks: Vec<Box<PollStack>>,
    /// How many there are with those that polls use.
    made: usize,
    /// The system had no memory for another.
    scarce: bool,
}

impl IdleStacks {
    #[cold]
    fn make(&mut self) -> Result<Box<PollStack>, Stop> {
        let stack = PollStack::new().map_err(|_| {
            self.scarce = true;
            Bug::new(Problem::OutOfStacks { stacks: self.made })
        })?;
        self.made += 1;
        Ok(stack)
    }

    /// An execution is over: if stacks are scarce the memory is given back, since whoever tells of that
    /// needs some.
    pub fn give_back(&mut self) {
        if std::mem::take(&mut self.scarce) {
            self.free();
        }
    }

    fn free(&mut self) {
        self.made -= self.stacks.len();
        for mut stack in self.stacks.drain(..) {
            // With nothing to poll its coroutine returns.
            stack.resume();
        }
    }
}

impl Drop for IdleStacks {
    fn drop(&mut self) {
        self.free();
    }
}

/// A stack for polls, with the coroutine that runs them one after the other. It stays in its box: what a
/// step moves as a whole right after it was written in pieces stalls the processor.
struct PollStack {
    coroutine: Coroutine<(), Option<Progress>, ()>,
    switch: Rc<Switch>,
}

/// How a coroutine suspends itself: with how far the poll has come, or `None` if it has unwound.
type PollYielder = Yielder<(), Option<Progress>>;

/// What a coroutine and whoever resumes it know of each other.
struct Switch {
    /// The lowest address of the stack, where its guard page is.
    lowest: usize,
    /// How the coroutine suspends itself; absent before it begins. It lives on the coroutine's stack.
    yielder: Cell<Option<NonNull<PollYielder>>>,
    /// What to poll next, and with which waker.
    future: Cell<Option<NonNull<dyn Future<Output = ()>>>>,
    waker: Cell<*const Waker>,
    /// How many operations the poll may still do, if the execution is over and nobody would resume it.
    left: Cell<Option<u32>>,
    /// What the poll has unwound with.
    unwound: Cell<Option<Box<dyn Any + Send>>>,
}

impl PollStack {
    #[cold]
    fn new() -> io::Result<Box<PollStack>> {
        overflow::watch();
        let stack = DefaultStack::new(STACK)?;
        let switch = Rc::new(Switch {
            lowest: stack.limit().get(),
            yielder: Cell::new(None),
            future: Cell::new(None),
            waker: Cell::new(ptr::null()),
            left: Cell::new(None),
            unwound: Cell::new(None),
        });
        let inside = switch.clone();
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| inside.run_polls(yielder));
        Ok(Box::new(PollStack { coroutine, switch }))
    }

    /// Goes on until a poll is suspended or has come to its end; `None` if it has unwound.
    #[inline(always)]
    fn resume(&mut self) -> Option<Progress> {
        // Whoever resumes may be a poll itself: an execution inside of an execution.
        let outer = RUNNING.replace(Some(NonNull::from(&*self.switch)));
        let resumed = self.coroutine.resume(());
        RUNNING.set(outer);
        resumed.as_yield().flatten()
    }
}

impl Switch {
    /// What a coroutine does: one poll after another, while there is one.
    fn run_polls(&self, yielder: &PollYielder) {
        self.yielder.set(Some(NonNull::from(yielder)));
        // What is left of a future after a panic is dropped by whoever ends the execution, and not
        // while this stack unwinds.
        while let Err(payload) = panics::catch_payload(|| self.poll_each(yielder)) {
            self.unwound.set(Some(payload));
            yielder.suspend(None);
        }
    }

    fn poll_each(&self, yielder: &PollYielder) {
        while let Some(mut future) = self.future.take() {
            self.left.set(None);
            // SAFETY: `Body::poll` has just set both to what the body owns. The future is pinned, and
            // is left alone by the body until the poll has ended: see `Body::take`. The waker is
            // copied, because the body itself may move meanwhile; the body keeps the original for as
            // long, and the copy is never dropped.
            let (future, waker) = unsafe {
                let waker = ManuallyDrop::new(ptr::read(self.waker.get()));
                (Pin::new_unchecked(future.as_mut()), waker)
            };
            yielder.suspend(Some(match future.poll(&mut Context::from_waker(&waker)) {
                Poll::Pending => Progress::Pending,
                Poll::Ready(()) => Progress::Ready,
            }));
        }
    }
}

/// Suspends the poll that runs on this thread and comes back when it is resumed; answers whether it
/// may go on. It may not where the execution is over and it has gone on often enough. Where no poll runs it goes on.
#[inline(always)]
pub(crate) fn suspend() -> bool {
    suspend_as(Progress::Suspended)
}

/// As [`suspend`], of a poll that blocks its thread until it is woken.
pub(crate) fn park() -> bool {
    suspend_as(Progress::Parked)
}

/// Whether a poll runs on this thread.
pub(crate) fn is_running() -> bool {
    RUNNING.get().is_some()
}

#[inline(always)]
fn suspend_as(progress: Progress) -> bool {
    let Some(running) = RUNNING.get() else { return true };
    // SAFETY: `RUNNING` is the switch of the coroutine that this code runs on: `resume` sets it
    // before it switches there and takes it back afterwards, and holds the stack meanwhile.
    let switch = unsafe { running.as_ref() };
    if switch.left.get().is_none() {
        let Some(yielder) = switch.yielder.get() else { return true };
        // SAFETY: it is on the stack that this code runs on, below it. Coroutines stay on their
        // thread, because they are not `Send`.
        unsafe { yielder.as_ref() }.suspend(Some(progress));
    }
    // Whoever has resumed it may have said that the execution is over.
    match switch.left.get() {
        None => true,
        Some(left) => {
            let cost = if progress == Progress::Parked { PARKED } else { 1 };
            switch.left.set(Some(left.saturating_sub(cost)));
            left > 0
        }
    }
}

/// The lowest address of the stack that runs on this thread; 0 if that is the thread's own.
pub(crate) fn lowest_address() -> usize {
    // SAFETY: as in `suspend`.
    RUNNING.get().map_or(0, |running| unsafe { running.as_ref() }.lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that runs this code in its first poll, and that poll.
    fn begin(code: impl FnOnce() + 'static, idle: &mut IdleStacks) -> (Body, Progress) {
        let mut body = Body::new(Some(Box::pin(async move { code() })), Waker::noop().clone());
        let progress = go_on(&mut body, idle);
        (body, progress)
    }

    fn go_on(body: &mut Body, idle: &mut IdleStacks) -> Progress {
        body.poll(idle).expect("it does not panic")
    }

    #[test]
    fn polls_take_turns_and_keep_what_is_on_their_stacks() {
        let turns = || {
            let log = Box::new([1, 2, 3]);
            for n in *log {
                assert_eq!(log[n - 1], n);
                assert!(suspend());
            }
        };
        let idle = &mut IdleStacks::default();
        let mut bodies = [begin(turns, idle).0, begin(turns, idle).0];
        for _ in 0..2 {
            let progress = bodies.each_mut().map(|body| go_on(body, idle));
            assert_eq!(progress, [Progress::Suspended; 2]);
            // A suspended poll does not mind that its body moves.
            bodies.swap(0, 1);
        }
        assert_eq!(bodies.each_mut().map(|body| go_on(body, idle)), [Progress::Ready; 2]);
        assert_eq!(idle.stacks.len(), 2);
    }

    #[test]
    fn a_poll_inside_of_a_poll_suspends_only_itself() {
        let idle = &mut IdleStacks::default();
        let (mut outer, progress) = begin(
            || {
                let idle = &mut IdleStacks::default();
                let (mut inner, progress) = begin(|| assert!(suspend()), idle);
                assert_eq!(progress, Progress::Suspended);
                suspend();
                assert_eq!(go_on(&mut inner, idle), Progress::Ready);
                suspend();
            },
            idle,
        );
        assert_eq!(progress, Progress::Suspended);
        assert_eq!(go_on(&mut outer, idle), Progress::Suspended);
        assert_eq!(go_on(&mut outer, idle), Progress::Ready);
    }

    #[test]
    fn a_panic_leaves_the_future_to_the_body_and_the_stack_to_others() {
        struct Quiet;
        impl Future for Quiet {
            type Output = ();
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
                std::panic::resume_unwind(Box::new("seven"))
            }
        }
        impl Drop for Quiet {
            fn drop(&mut self) {
                assert!(!std::thread::panicking(), "dropped while unwinding");
            }
        }
        let idle = &mut IdleStacks::default();
        let mut body = Body::new(Some(Box::pin(Quiet)), Waker::noop().clone());
        let Err(Stop::Bug(bug)) = body.poll(idle) else { panic!("no bug") };
        assert_eq!(bug.message(), "seven");
        assert_eq!(idle.stacks.len(), 1);
        assert!(body.take().is_some());
    }

    #[test]
    fn a_poll_that_nobody_resumes_is_left_by_unwinding() {
        let held = Rc::new(());
        let kept = held.clone();
        let idle = &mut IdleStacks::default();
        let (body, progress) = begin(
            move || {
                let _kept = kept;
                suspend();
            },
            idle,
        );
        assert_eq!((progress, Rc::strong_count(&held)), (Progress::Suspended, 2));
        drop(body);
        assert_eq!(Rc::strong_count(&held), 1);
    }

    #[test]
    fn nothing_happens_where_no_poll_runs() {
        assert!(suspend());
    }

    #[test]
    fn a_poll_that_gives_up_is_not_suspended_again_and_the_next_on_its_stack_is() {
        let idle = &mut IdleStacks::default();
        let (mut body, _) = begin(
            || {
                assert!((0..BUDGET).all(|_| suspend()));
                assert!(!suspend() && !suspend());
            },
            idle,
        );
        body.give_up(idle);
        assert!(!body.is_suspended());
        let (mut next, progress) = begin(|| assert!(suspend()), idle);
        assert_eq!(progress, Progress::Suspended);
        assert_eq!(go_on(&mut next, idle), Progress::Ready);
        assert_eq!(idle.stacks.len(), 1);
    }
}
