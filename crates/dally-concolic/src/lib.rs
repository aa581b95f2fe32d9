//! Concolic execution: a program runs with concrete inputs, and beside each number that comes of them
//! stands the term that it was computed by. Where the program compares such numbers, the outcome is
//! a constraint on the inputs; the solver answers which inputs would have had another outcome.
//!
//! - [`Int`] is the integer that programs use; [`recorder`] notes what one execution compares.
//! - [`driver`] goes through all paths, with the orders of steps that `dally_search::reduction` goes through;
//!   [`Guided`] is a strategy that takes the paths first that bring most, where there are too many.
//! - [`terms`] are the terms and constraints, [`solver`] finds inputs.
//!
//! The idea is that of Sen and Agha, "Automated Systematic Testing of Open Distributed Programs".
//! Invariant: the solver answers [`Answer::Unknown`] rather than guess.

mod bits;
mod coverage;
pub mod driver;
mod guided;
pub mod int;
mod rational;
pub mod recorder;
mod simplex;
pub mod solver;
pub mod terms;
#[cfg(feature = "z3")]
pub mod z3;

pub use coverage::{Coverage, Drawn};
pub use driver::{ConcolicInputs, explore, search};
pub use guided::Guided;
pub use int::Int;
pub use recorder::{Branch, Place, Recorder};
pub use solver::{Answer, Solver};
pub use terms::{Atom, Relation, Terms, Variable};
