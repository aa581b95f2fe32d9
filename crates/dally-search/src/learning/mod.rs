//! Strategies that learn from one schedule what the next should try.
//!
//! They look at observations, hashes of part of the state, and remember where choices led. A
//! [`Lesson`](crate::Lesson) is the observations of a schedule with the action taken at each.

pub(crate) mod file;
mod ql;
mod rule;
mod softmax;
pub(crate) mod table;
pub(crate) mod walk;
pub(crate) mod words;

pub use ql::{Ql, Reward};
pub use rule::Learning;
pub(crate) use rule::Rule;
