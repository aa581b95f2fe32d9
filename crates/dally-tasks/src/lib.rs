//! Async tasks under Dally's control, in the shapes of tokio.
//!
//! A [`TaskProgram`] is a closure that makes the main task. Tasks [`spawn`] others and meet in
//! [`sync`] (channels, locks, notifications) and [`time`]. Which task goes on at each await,
//! which timer fires, and what [`choose`] answers is decided by whoever drives the
//! [`TaskSystem`], so every decision can be explored, recorded and replayed.
//!
//! ```
//! use dally_core::Program;
//! use dally_tasks::{TaskProgram, spawn, sync::mpsc};
//!
//! let program = TaskProgram::new("hello", || async {
//!     let (tx, mut rx) = mpsc::channel(1);
//!     spawn(async move { tx.send("hello").await });
//!     assert_eq!(rx.recv().await, Some("hello"));
//! });
//! assert_eq!(program.granularity(), "await points");
//! ```
//!
//! # What a step is
//!
//! Tasks are plain futures. Each poll of one runs on a stack of its own, so that it can be
//! suspended where it stands; a step goes from one scheduling point of a task to its next:
//!
//! - Every future of this crate has one scheduling point *before* its operation: others may step,
//!   and then it is done. The point is inside of the poll, and the futures around the operation
//!   see nothing of it: a future answers that it is pending only where tokio's would, such as
//!   because a lock is held. A task that has waited for an operation and was woken for it does it
//!   at once.
//! - Operations that are not awaited (`spawn`, an unbounded or oneshot `send`, `notify_one`,
//!   every `try_` method, dropping a guard or a handle) happen at once, inside the step that
//!   calls them. **No other task can step between two of them.** The interleavings are those
//!   of a current-thread runtime that may pick any task that is ready, and that may preempt a
//!   task at each await. A race that needs another thread to cut in between two such operations
//!   of one poll is not explored; put a [`yield_now`] between them to explore it, or have
//!   [`Points::Operations`], with a scheduling point before each of them.
//! - What tasks share without this crate (atomics, `std::sync::Mutex`) is not seen. It works as long as no
//!   guard is held around a poll, and whole steps are still atomic. All tasks run on one thread and share its
//!   thread-locals: what a future puts into one only while it is polled (a span of `tracing`) is there for
//!   another task that steps in between. [`task_local!`] of this crate keeps its values by the task.
//!
//! # Time
//!
//! Time is virtual: it stands still while tasks run, and moves to a timer's deadline when that
//! timer fires. A timer is a worker of its own, and an armed timer *may fire at any point of the
//! schedule, in any order with all others*. That is sound, because the only promise of a sleep
//! is that it does not end early: computation between two awaits may take any time on a real
//! machine, and any timer may be served late. When a timer with a late deadline fires before
//! one with an early deadline, the clock shows the late one, and the early one is overdue:
//! nobody ever sees a clock that contradicts the order. Programs that rely on sleeps being
//! punctual ("after 10 ms the other must have answered") have a race, and it is found. A program may have another
//! model of time: see [`Clock`].
//!
//! # The end of an execution
//!
//! An execution is over when the main task is, like `block_on`; it is stuck when nothing can
//! step before that. Then, and also when it is given up half-way, it is torn down: the futures
//! of all tasks are dropped in the order of their ids, parents before children, so every
//! destructor of the program runs once. A task that stands before an operation is told that it is
//! pending, as tokio does when a task has used up its budget, and is dropped when its poll ends.
//! Destructors may use everything in this crate: nothing is scheduled any more, wake-ups do
//! nothing, a spawned future is dropped at once. A panic in a destructor is reported and does not
//! keep the others from running.

mod choice;
mod control;
mod coroutine;
mod current;
mod exec;
pub mod faults;
pub mod hosts;
mod join;
mod model;
mod observe;
mod once;
mod overflow;
pub mod pipe;
mod platform;
mod program;
mod roster;
mod seal;
mod select;
pub mod sync;
mod system;
pub mod task;
mod text;
pub mod time;
mod waker;

pub use choice::{announce, choose, flip, hint, input, input_in, note, pick};
pub use join::{AbortHandle, JoinError, JoinHandle};
pub use model::{Clock, Points, TaskPanics};
pub use observe::{observe, observe_only_shown, observe_shared, rare};
pub use once::{Failed, run_once};
pub use program::TaskProgram;
pub use seal::{Sealed, seal};
#[doc(hidden)]
pub use select::__start_of_select;
pub use system::TaskSystem;
pub use task::{spawn, yield_now};
