//! Dynamic partial-order reduction: one execution for each class of schedules that differ only in the
//! order of independent steps (Abdulla, Aronis, Jonsson and Sagonas, "Optimal Dynamic Partial Order
//! Reduction").
//!
//! [`SearchKind::Dpor`](crate::strata::SearchKind) of [`explore`](crate::strata::explore) runs it;
//! [`explore_inputs`] runs it with a driver of inputs, for concolic execution.

mod backtrack;
mod engine;
mod env;
mod estimate;
mod inputs;
mod node;
mod outcome;
mod races;
mod returning;
mod rule;
mod search;
mod sharing;
mod step;
mod taking;
mod wakeup;

pub use inputs::{GivenInputs, InputDriver, Inputs};
pub use rule::Reduction;
pub use search::explore_inputs;
pub(crate) use search::{ReductionRule, reduced};
