//! Polls that can be suspended where they stand.
//!
//! Each poll of a task runs on a stack of its own. An operation suspends it at its scheduling
//! point, and goes on inside the same poll when the task is scheduled again: the futures around
//! the operation see nothing of it. A stack with its coroutine serves one poll after another of its thread.
// An operation is deep inside of the program's code, and reaches its coroutine by a pointer.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};
use std::thread;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::exec::BoxFuture;
use crate::overflow;

/// As much as the threads of a search have: programs under test recurse as they do in production.
/// Memory comes where it is touched.
const STACK: usize = 16 << 20;

/// How many operations a poll may do when its execution is over. tokio gives a poll as many before it answers
/// that it is pending, and finishes the polls that run when a runtime is shut down.
const BUDGET: u32 = 128;

thread_local! {
    /// How the poll that runs on this thread suspends itself.
    static SWITCH: Cell<Option<NonNull<Switch>>> = const { Cell::new(None) };
    /// Stacks that no poll uses.
    #[allow(clippy::vec_box, reason = "they come and go in their boxes")]
    static IDLE: RefCell<Vec<Box<PollStack>>> = const { RefCell::new(Vec::new()) };
}

/// What a coroutine is resumed for.
enum Order {
    /// A new poll.
    Poll(BoxFuture, Waker),
    /// The poll is scheduled again.
    GoOn,
    /// The execution is over: the poll is to come to its end.
    GiveUp,
}

/// How a poll suspends itself; on the stack of its coroutine.
struct Switch {
    yielder: NonNull<Yielder<Order, Option<Polled>>>,
    /// How many operations it may still do, if the execution is over and nobody would resume it.
    left: Cell<Option<u32>>,
}

/// A stack for polls, with the coroutine that runs them one after the other. It yields a poll that has come to
/// its end, or `None` where one is suspended. It stays in its box: what a step moves as a whole right after it was
/// written in pieces stalls the processor.
struct PollStack {
    coroutine: Coroutine<Order, Option<Polled>, Infallible>,
    /// The lowest address of the stack.
    lowest: usize,
    /// Whether no poll is on it.
    idle: bool,
}

/// A poll that has not come to its end.
pub(crate) struct SuspendedPoll(Box<PollStack>);

/// How far a poll has come.
pub(crate) enum Progress {
    Suspended(SuspendedPoll),
    Ended(Polled),
}

/// A poll that has come to its end, and what was polled.
pub(crate) struct Polled {
    pub future: BoxFuture,
    pub waker: Waker,
    /// What the future answered, or what it panicked with.
    pub answer: thread::Result<Poll<()>>,
}

/// Polls a future until it suspends itself or is done.
///
/// # Panics
/// If there is no memory for a stack.
#[inline]
pub(crate) fn poll(future: BoxFuture, waker: Waker) -> Progress {
    let idle = IDLE.try_with(|stacks| stacks.borrow_mut().pop()).ok().flatten();
    idle.unwrap_or_else(PollStack::new).resume(Order::Poll(future, waker))
}

impl SuspendedPoll {
    /// Goes on where it was suspended, until it suspends itself again or is done.
    #[inline]
    pub fn resume(self) -> Progress {
        self.0.resume(Order::GoOn)
    }

    /// Comes to its end: its operations are no scheduling points any more, and from some number of them on
    /// they are not ready.
    pub fn give_up(self) -> Progress {
        self.0.resume(Order::GiveUp)
    }
}

impl PollStack {
    #[cold]
    fn new() -> Box<PollStack> {
        overflow::watch();
        let stack = DefaultStack::new(STACK).unwrap_or_else(|error| {
            panic!("no memory for the stack of a task: {error}; do with fewer tasks at a time")
        });
        let lowest = stack.limit().get();
        let coroutine = Coroutine::with_stack(stack, run_polls);
        Box::new(PollStack { coroutine, lowest, idle: true })
    }

    #[inline]
    fn resume(mut self: Box<Self>, order: Order) -> Progress {
        self.idle = false;
        // Whoever resumes may be a poll itself: an execution inside of an execution.
        let (outer, guard) = (SWITCH.get(), overflow::guard(self.lowest));
        let resumed = self.coroutine.resume(order);
        SWITCH.set(outer);
        overflow::guard(guard);
        match resumed {
            CoroutineResult::Yield(None) => Progress::Suspended(SuspendedPoll(self)),
            CoroutineResult::Yield(Some(polled)) => {
                self.idle = true;
                // While the thread ends nobody needs the stack any more.
                let _ = IDLE.try_with(|stacks| stacks.borrow_mut().push(self));
                Progress::Ended(polled)
            }
            CoroutineResult::Return(never) => match never {},
        }
    }
}

impl Drop for PollStack {
    fn drop(&mut self) {
        if self.idle {
            // SAFETY: the coroutine has not begun, or it is suspended in `run_polls` after a poll has come to its
            // end: what it held was handed out, and nothing on the stack has a destructor to run.
            unsafe { self.coroutine.force_reset() };
        }
    }
}

/// What a coroutine does: one poll after another.
fn run_polls(yielder: &Yielder<Order, Option<Polled>>, mut order: Order) -> Infallible {
    let switch = Switch { yielder: NonNull::from(yielder), left: Cell::new(None) };
    loop {
        let ended = match order {
            Order::Poll(mut future, waker) => {
                switch.left.set(None);
                SWITCH.set(Some(NonNull::from(&switch)));
                // What is left of the future after a panic is dropped by whoever ends the execution,
                // and not while this stack unwinds.
                let answer = catch_unwind(AssertUnwindSafe(|| {
                    future.as_mut().poll(&mut Context::from_waker(&waker))
                }));
                Some(Polled { future, waker, answer })
            }
            // There is no poll to go on with.
            Order::GoOn | Order::GiveUp => None,
        };
        order = yielder.suspend(ended);
    }
}

/// Suspends the poll that runs on this thread and comes back when it is resumed; answers whether it
/// may go on. It may not where the execution is over and it has gone on often enough. Where no poll runs it goes on.
#[inline]
pub(crate) fn suspend() -> bool {
    let Some(at) = SWITCH.get() else { return true };
    // SAFETY: `SWITCH` has the switch of the coroutine that runs on this thread: the coroutine
    // puts it there when a poll begins and, below, whenever one goes on, and `resume` takes it
    // back when the coroutine has suspended itself. Switch and yielder live on the stack of the
    // coroutine as long as it does. Coroutines stay on their thread, because they are not `Send`.
    let (switch, yielder) = unsafe { (at.as_ref(), at.as_ref().yielder.as_ref()) };
    if let Some(left) = switch.left.get() {
        switch.left.set(Some(left.saturating_sub(1)));
        return left > 0;
    }
    let order = yielder.suspend(None);
    SWITCH.set(Some(at));
    if matches!(order, Order::GiveUp) {
        switch.left.set(Some(BUDGET - 1));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suspended(progress: Progress) -> SuspendedPoll {
        match progress {
            Progress::Suspended(poll) => poll,
            Progress::Ended(_) => panic!("it has ended"),
        }
    }

    fn ended(progress: Progress) -> Polled {
        match progress {
            Progress::Suspended(_) => panic!("it is suspended"),
            Progress::Ended(polled) => polled,
        }
    }

    fn begin(code: impl FnOnce() + 'static) -> Progress {
        poll(Box::pin(async move { code() }), Waker::noop().clone())
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
        let (mut one, mut other) = (suspended(begin(turns)), suspended(begin(turns)));
        for _ in 0..2 {
            one = suspended(one.resume());
            other = suspended(other.resume());
        }
        assert!(matches!(ended(one.resume()).answer, Ok(Poll::Ready(()))));
        assert!(matches!(ended(other.resume()).answer, Ok(Poll::Ready(()))));
    }

    #[test]
    fn a_poll_inside_of_a_poll_suspends_only_itself() {
        let outer = begin(|| {
            let inner = suspended(begin(|| assert!(suspend())));
            suspend();
            ended(inner.resume());
            suspend();
        });
        let outer = suspended(suspended(outer).resume());
        ended(outer.resume());
    }

    #[test]
    fn a_panic_leaves_the_future_to_the_caller_and_the_stack_to_others() {
        struct Quiet;
        impl Future for Quiet {
            type Output = ();
            fn poll(self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
                std::panic::resume_unwind(Box::new(7))
            }
        }
        impl Drop for Quiet {
            fn drop(&mut self) {
                assert!(!thread::panicking(), "dropped while unwinding");
            }
        }
        let polled = ended(poll(Box::pin(Quiet), Waker::noop().clone()));
        assert!(polled.answer.is_err());
        assert_eq!(IDLE.with_borrow(Vec::len), 1);
        drop(polled.future);
    }

    #[test]
    fn nothing_happens_where_no_poll_runs() {
        assert!(suspend());
    }

    #[test]
    fn a_poll_that_gives_up_is_not_suspended_again_and_the_next_on_its_stack_is() {
        let poll = suspended(begin(|| {
            assert!((0..BUDGET).all(|_| suspend()));
            assert!(!suspend() && !suspend());
        }));
        assert!(matches!(ended(poll.give_up()).answer, Ok(Poll::Ready(()))));
        let next = suspended(begin(|| assert!(suspend())));
        assert!(matches!(ended(next.resume()).answer, Ok(Poll::Ready(()))));
        assert_eq!(IDLE.with_borrow(Vec::len), 1);
    }
}
