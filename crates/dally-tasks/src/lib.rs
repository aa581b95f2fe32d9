//! dally-tasks
