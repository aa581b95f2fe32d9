//! Compares strategies on the same programs: how often, how soon and at what cost each finds a
//! bug, and how much it sees on the way.
//!
//! A [`Plan`] is a set of [`Case`]s (a program with a bug in it) and of [`Contestant`]s
//! (strategies), a number of runs and a budget of schedules for each. [`compare`] does all the
//! runs, each up to its first bug, and answers one [`Trial`] for each; [`summarise`] makes of
//! them what may be claimed: how many runs found the bug, with the interval that this allows for,
//! and medians that do not forget the runs that found nothing.
//!
//! ```
//! use dally_compare::{Case, Contestant, Plan, compare, summarise, table};
//! use dally::search::StrategyKind;
//!
//! let cache = dally_protocols::find("stale-cache").unwrap();
//! let strategies = ["random", "pct:3"].map(|name| name.parse::<StrategyKind>().unwrap());
//! let plan = Plan {
//!     cases: vec![Case::bundled(cache, Some("stale-read"))],
//!     contestants: strategies.map(Contestant::from).into(),
//!     runs: 5,
//!     schedules: 1_000,
//!     ..Plan::default()
//! };
//! let compared = compare(&plan, None, &|_| {}, &Default::default())?;
//! assert_eq!(compared.trials.len(), 2 * 5);
//! println!("{}", table::text(&summarise(&plan, &compared.trials), table::Times::Shown));
//! # Ok::<(), dally_compare::Problem>(())
//! ```
//!
//! Invariants:
//!
//! - The seed of a trial derives from the seed of the plan, the names of program, bug and strategy
//!   and the number of the run, so no trial depends on which others there are, on the order in
//!   which they are done or on the number of threads.
//! - Trials are written in the order of the plan, run after run. So what an interrupted comparison
//!   leaves behind is the beginning of what it would have written, and a plan with more runs
//!   begins like one with fewer.
//! - Times are kept apart from all that is reproducible.

pub mod charts;
mod crew;
mod curves;
mod plan;
mod problem;
mod record;
mod running;
mod shares;
pub mod statistics;
mod summary;
pub mod table;

pub use curves::{Curve, curves};
pub use plan::{Case, Contestant, Plan};
pub use problem::Problem;
pub use record::{TIMES, TRIALS, Trial};
pub use running::{Compared, Progress, compare};
pub use shares::shares;
pub use summary::{Summary, summarise};
