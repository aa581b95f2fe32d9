//! Search by strata: delaying explorers, stratified exhaustive search and stratified sampling.

mod cycles;
mod delaying;
mod delays;
mod depth_first;
mod entry;
mod explorer;
mod explorer_on_path;
mod explorers;
mod frame;
mod frontier;
mod happens_before;
mod identity;
mod in_delays;
mod look_ahead;
mod outcome;
mod plan;
mod postpone;
mod replaying;
mod sampler;
mod search;
mod search_failure;
mod search_pool;
mod ses;
mod shared_state;
mod state_space;
mod states;
mod transition;
mod transition_env;
mod transition_log;
mod transition_order;
mod visited;
mod written_entry;

pub use dally_core::report::{CachePolicy, Cycles, Samples, States, Stratum};
pub use entry::{NextTransition, Value};
pub use explorer::{Explorer, Stepped};
pub use explorers::{
    Bundled, ExplorerKind, IntoExplorer, ProbabilisticRoundRobin, RandomOrder, RoundRobin,
    RunToCompletion,
};
pub use frontier::{Frontier, WorkQueue};
pub use happens_before::HappensBefore;
pub use in_delays::all_in_delays;
pub use plan::{Plan, PlanError, SearchKind};
pub(crate) use replaying::Replaying;
pub use search::explore;
pub(crate) use state_space::{ReturnError, StateSpace};
pub(crate) use transition_log::{Arrival, Logged, Source};
pub(crate) use visited::{Lookup, NumberList, Numbered, Table};
pub use visited::{ThreadSlot, Visit, Visited, VisitedStates};
pub use written_entry::{WrittenEntry, WrittenEntryError};
