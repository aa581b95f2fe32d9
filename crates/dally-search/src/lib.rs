//! Strategies, runner, replay and shrinking, over any program of `dally-core`.
//!
//! A [`Strategy`] picks the choices of one schedule after another. [`run`] executes a program under
//! it on several threads and gives a [`Report`] that does not depend on their number; findings
//! reach the [`Sink`] at once, and again when they are confirmed and shrunk. [`replay`] runs a
//! recorded schedule again and says where a changed program leaves it.

mod batch;
pub mod by_hand;
mod causes;
mod choice_log;
mod confirm;
mod deadline;
mod executor;
mod kind;
mod known_inputs;
pub mod learning;
pub mod liveness;
mod minimise;
mod named;
mod nearest;
mod options;
mod prefetch;
mod prefix;
mod process_end;
mod record;
pub mod reduction;
mod replay;
mod replay_strategy;
pub mod research;
mod runner;
pub mod sampling;
mod shrink;
pub mod strata;
mod strategy;
mod supervisor;

pub use dally_core::report::{Batch, Ended, Novelty, Report};
pub use dally_settings::UnknownName;
pub use deadline::Stopwatch;
pub use kind::{ChosenStrategy, IntoStrategy, StrategyKind};
pub use known_inputs::KnownInputs;
pub use options::{Clocks, Expected, Options, Phase, Progress, Reached, Sink};
pub use process_end::exit;
pub use replay::{Divergence, Mode, Replayed, ends_in_loop, first_schedule, replay};
pub use runner::{BatchOutcome, NotIndependent, confirmed, run, run_batch, run_in_turn, shrunk};
pub use strategy::{EndSchedule, Fork, Learner, Lesson, Outcome, Point, Properties, Strategy};
