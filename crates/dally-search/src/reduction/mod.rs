//! Dynamic partial-order reduction: one execution for each class of schedules that differ only in the
//! order of independent steps.

mod inputs;

pub use inputs::{GivenInputs, InputDriver};
