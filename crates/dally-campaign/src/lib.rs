//! Campaigns: many programs under many strategies within a budget, in a database that remembers.
//!
//! A campaign is a directory with one SQLite file and the schedules of its findings beside it. Its unit of work
//! is a [`Cell`], a program under a strategy, of which batches of schedules are run one after another. What came
//! of a batch is written in one transaction, so that whoever kills the process loses the batch under way and
//! nothing else, and since the schedules of a batch follow from the seed and their numbers, it is run again as
//! it would have been.
//!
//! - [`Plan`]: what is to be run, as a TOML file says it;
//! - [`Store`]: the database;
//! - [`conduct`]: the loop that shares the budget;
//! - [`report`]: one HTML page; [`live`]: one that shows how far a run is.

mod conduct;
pub mod live;
mod plan;
pub mod report;
mod share;
mod store;

pub use conduct::{Conducted, Laboratory, Progress, Ran, conduct};
pub use plan::{Plan, PlanError, PlannedProgram};
pub use share::Account;
pub use store::{BatchFigures, Cell, CellFigures, KnownFinding, Seen, State, Store, StoreError};
