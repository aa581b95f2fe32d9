//! The virtual machine: a test of a P project as a system under Dally's control.
//!
//! ```text
//!  program.rs   a test that can be started: lowered code, first state, coverage
//!    system.rs    one execution: machines shared with its forks, who can step, fingerprints
//!      step.rs      a step: what the machine was about to do, then on to its next scheduling point
//!        run.rs       reactions to events: exit, transition and entry functions, raise, goto, specs
//!          execute.rs   the instructions of one function and those it calls; access.rs, operations.rs,
//!                       blame.rs; followed.rs where chosen numbers are followed
//!    machine.rs   variables, frames and queue of one machine: the unit of copying and hashing; identity.rs,
//!                observation.rs
//!      value.rs     values; head.rs, copy.rs, collections.rs, places.rs, casts.rs, print.rs, foreign.rs
//! ```
//!
//! A machine can be suspended at any instruction, because its frames are data and not on a native
//! stack.

mod access;
mod atomic;
mod blame;
mod casts;
mod collections;
mod copy;
mod coverage;
mod data;
mod digest;
mod execute;
mod followed;
mod foreign;
mod head;
mod identity;
mod inbox;
mod machine;
mod observation;
mod operations;
mod past;
mod places;
mod pool;
mod print;
mod program;
mod run;
mod step;
mod system;
mod transition_cache;
mod tuple;
mod value;

pub use collections::{Map, Seq, Set};
pub use coverage::{CoverageReport, ExitCoverage, MachineCoverage, Reached, StateCoverage, Target};
pub use foreign::{Answer, Foreign, ForeignFun, ForeignValue};
pub use program::PProgram;
pub use system::PSystem;
pub use tuple::Tuple;
pub use value::{Text, Value};
