//! Systematic testing of asynchronous and concurrent Rust.
//!
//! Dally takes control of every source of nondeterminism in a program (who runs next, which
//! message arrives, what the environment answers), runs it under one schedule after another, and
//! when one fails hands back a short schedule that reproduces the failure every time.
//!
//! ```
//! use dally::tasks::{spawn, sync::Mutex};
//! use std::sync::Arc;
//!
//! #[dally::test(schedules = 500, should_fail = "lost update")]
//! async fn increments_are_lost_if_the_lock_is_dropped_between_read_and_write() {
//!     let count = Arc::new(Mutex::new(0));
//!     let tasks: Vec<_> = (0..2)
//!         .map(|_| {
//!             let count = Arc::clone(&count);
//!             spawn(async move {
//!                 let read = *count.lock().await;
//!                 *count.lock().await = read + 1;
//!             })
//!         })
//!         .collect();
//!     for task in tasks {
//!         task.await.unwrap();
//!     }
//!     assert_eq!(*count.lock().await, 2, "lost update");
//! }
//! # fn main() {}
//! ```
//!
//! Three kinds of program are under control:
//!
//! - [`tasks`]: `async` code, with channels, locks and time in the shapes of tokio;
//! - [`machines`]: state machines that exchange messages, whose state can be captured, with
//!   timers, lost messages and crashes; the same machines run in production on tokio;
//! - [`p`]: projects in the language P, with foreign functions in Rust.
//!
//! Each is a feature of this crate: `tasks` and `machines` are on by default, `p` is not. The
//! feature `host` runs machines in production. A front end of one's own implements [`contract`].
//!
//! [`monitor`]s state what must always hold and what must happen eventually. The guide is in
//! `docs/` of the repository.

pub mod checking;
pub mod settings;
pub mod testing;
pub mod variables;

pub use dally_core as contract;
pub use dally_core::{Input, Moment, Property, Proposition};
#[cfg(feature = "machines")]
pub use dally_machines as machines;
pub use dally_macros::test;
#[cfg(feature = "machines")]
pub use dally_macros::{machine, monitor};
pub use dally_report as report;
pub use dally_search as search;
#[cfg(feature = "tasks")]
pub use dally_tasks as tasks;

/// Projects in the language P: to open and compile them, and to run their tests.
#[cfg(feature = "p")]
pub mod p {
    pub use dally_p::{Compiled, OpenError, Project, compile, diagnostic, program, project, vm};
}

/// What the macros expand to. It is for nobody else, and changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use dally_core as contract;
    #[cfg(feature = "machines")]
    pub use dally_machines as machines;
    #[cfg(feature = "tasks")]
    pub use dally_tasks as tasks;

    pub use crate::testing::{Test, Verdict};
}
