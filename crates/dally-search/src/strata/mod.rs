//! Search by strata: delaying explorers, stratified exhaustive search and stratified sampling.

#[allow(dead_code)] // until the engine explores uncaptured systems
mod causality;
mod common;
mod companion;
mod crew;
mod delaying;
mod delays;
mod diver;
mod entry;
mod explorer;
mod explorers;
mod order;
mod plan;
mod pool;
#[allow(dead_code)] // until the engine explores uncaptured systems
mod replaying;
mod search;
mod space;
mod states;
mod step;
mod visited;

pub use explorer::{Explorer, Stepped};
pub use explorers::{
    Bundled, ExplorerKind, ProbabilisticRoundRobin, RandomOrder, RoundRobin, RunToCompletion,
    UnknownExplorer,
};
pub use plan::{CachePolicy, Plan, SearchKind};
pub use search::explore;
pub use states::{Samples, States, Stratum};
