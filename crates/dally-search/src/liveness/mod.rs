//! Liveness: fair cycles of states in which what a monitor waits for does not happen.
//!
//! The searches of states go through a program as always, by any explorer, and keep a log of all
//! transitions. On that graph cycles are looked for by nested depth-first search (`nested.rs`)
//! or by maximal accepting predecessors (`map.rs`, `refinement.rs`). Both find where cycles are; whether one counts
//! is judged on the strongly connected components there (`components.rs`).

mod accepting;
mod chunk;
mod components;
mod cycle_search;
mod fair_loops;
mod fairness;
mod graph;
mod index;
mod interner;
mod labels;
mod lasso;
mod latest;
mod loop_detector;
mod map;
mod maps;
mod nested;
mod nested_search;
mod property;
mod refinement;

pub use accepting::{Accepting, Related};
pub(crate) use cycle_search::{CycleSearch, LogWriter};
pub use fairness::Fairness;
pub(crate) use graph::Node;
pub(crate) use labels::Transition;
pub(crate) use lasso::Cycle;
pub(crate) use loop_detector::{Loop, LoopDetector, Loops};
pub(crate) use property::{Property, bits};
