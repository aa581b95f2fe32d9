//! The surface of tokio over Dally's tasks.
//!
//! `cargo dally test` compiles these sources as a package called `tokio`, of the version that the lock
//! file wants and with all of its features, and has cargo use it wherever tokio is asked for. So code
//! is written and documented as for tokio; what is here has its names, its signatures and its meaning.
//! The guide page `docs/tokio.md` lists what is absent: using it is an error of the compiler.
//!
//! - [`task`], [`sync`] and [`time`] are those of `dally_tasks`.
//! - [`runtime`]: every runtime is the execution that runs.
//! - [`io`] has the traits and adapters of tokio itself, and pipes of our own.
//! - [`net`] is in memory: sockets of one execution reach each other and nothing else.
//! - [`process`] refuses to start any.
//! - [`fs`] is a simulated disk on simulated hosts, and the system's elsewhere.
//! - The macros are here; `#[tokio::test]` makes a Dally test.

pub mod fs;
pub mod io;
mod macros;
pub mod net;
pub mod process;
pub mod runtime;
pub mod signal;
pub mod task;

/// Attributes for entry points and tests.
pub use dally_macros::{tokio_main as main, tokio_test as test};
pub use dally_tasks::{select, spawn, sync, task_local, time};

/// What the macros expand to.
#[doc(hidden)]
pub mod __private;
