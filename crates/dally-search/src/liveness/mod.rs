//! Liveness: fair cycles of states in which what a monitor waits for does not happen.

mod fair_loops;
mod fairness;
mod laps;

pub use fairness::Fairness;
pub(crate) use laps::{Laps, Loop, Loops};
