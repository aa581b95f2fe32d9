//! Strategies that learn from one schedule what the next should try, each in a file of its own.
//!
//! They look at observations, hashes of part of the state, and remember where choices led. What a
//! schedule taught is a [`Lesson`](crate::Lesson): the observations it went through and what
//! it did at each. All copies of a strategy learn the same lessons in the same order, so a run
//! does not depend on the number of threads.

pub(crate) mod file;
pub(crate) mod knowledge;
mod ql;
mod softmax;
pub(crate) mod table;
pub(crate) mod walk;

pub use ql::{Ql, Reward};
