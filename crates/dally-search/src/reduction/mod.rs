//! Dynamic partial-order reduction: one execution for each class of schedules that differ only in the
//! order of independent steps.

mod engine;
mod env;
mod estimate;
mod inputs;
mod node;
mod races;
mod search;
mod shared;
mod step;
mod wakeup;

pub use inputs::{GivenInputs, InputDriver};
pub use search::explore_inputs;
pub(crate) use search::reduced;
