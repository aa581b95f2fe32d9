//! Tasks.

pub use dally_tasks::task::*;
