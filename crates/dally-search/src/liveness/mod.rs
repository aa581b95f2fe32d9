//! Liveness: fair cycles of states in which what a monitor waits for does not happen.

mod fairness;

pub use fairness::Fairness;
