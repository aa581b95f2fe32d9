//! Liveness: fair cycles of states in which what a monitor waits for does not happen.
//!
//! The searches of states go through a program as always, by any explorer, and keep a log of all
//! transitions. On that graph cycles are looked for by nested depth-first search (`nested.rs`)
//! or by maximal accepting predecessors (`map.rs`). Both find where cycles are; whether one counts
//! is judged on the strongly connected components there (`components.rs`).

mod accepting;
mod components;
mod fair_loops;
mod fairness;
mod graph;
mod laps;
mod lasso;
mod latest;
mod map;
mod nested;
mod pieces;
mod property;
mod survey;

pub use accepting::{Accepting, Related};
pub use fairness::Fairness;
pub(crate) use graph::Node;
pub(crate) use laps::{Laps, Loop, Loops};
pub(crate) use lasso::Cycle;
pub(crate) use property::Property;
pub(crate) use survey::Survey;
