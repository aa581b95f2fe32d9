//! Search by strata: delaying explorers, stratified exhaustive search and stratified sampling.

mod ahead;
mod causality;
mod companion;
mod crew;
mod cycles;
mod delaying;
mod delays;
mod diver;
mod entry;
mod explorer;
mod explorers;
mod fault;
mod frame;
mod in_delays;
mod joint;
mod leftover;
mod log;
mod order;
mod plan;
mod pool;
mod replaying;
mod sampler;
mod search;
mod space;
mod states;
mod step;
mod transition;
mod verdict;
mod visited;

pub use cycles::Cycles;
pub(crate) use entry::Value;
pub use explorer::{Explorer, Stepped};
pub use explorers::{
    Bundled, ExplorerKind, IntoExplorer, ProbabilisticRoundRobin, RandomOrder, RoundRobin,
    RunToCompletion, UnknownExplorer,
};
pub use in_delays::in_delays;
pub(crate) use log::{Arrival, Log, Logged};
pub use plan::{CachePolicy, Plan, SearchKind};
pub use search::{explore, explore_uncaptured};
pub use states::{Samples, States, Stratum};
pub(crate) use visited::{Found, Numbered, Table};
