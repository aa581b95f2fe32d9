//! What a search of strata is asked to do.

use dally_core::report::CachePolicy;
use dally_settings::SEARCHES;
use thiserror::Error;

use crate::named::named;

use super::written_entry::WrittenEntry;

/// How the states of a program are gone through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchKind {
    /// Stratified exhaustive search: stratum by stratum of delays (Desai, Qadeer and Seshia,
    /// "Systematic Testing of Asynchronous Reactive Systems", Fig. 5).
    #[default]
    Ses,
    /// Stratified sampling: schedules with exactly so many delays (Desai, Qadeer and Seshia,
    /// "Systematic Testing of Asynchronous Reactive Systems", Fig. 7).
    Ss,
    /// SES until its budget is nearly used, then SS from the states on its frontier.
    Hybrid,
    /// Strata of preemptions: switches away from a worker that could have gone on.
    Preemptions,
    /// Strata of depth, each searched depth first in random order.
    Depth,
    /// Depth first.
    Dfs,
    /// Breadth first.
    Bfs,
    /// For cycles: nested depth-first search (Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle
    /// Detection via Delaying Explorers", section 4.2).
    Ndfs,
    /// For cycles: nested depth-first search, started again for every bound on delays.
    IterativeNdfs,
    /// For cycles: stratum by stratum of delays, by maximal accepting predecessors (Desai, Qadeer,
    /// Rajamani and Seshia, "Iterative Cycle Detection via Delaying Explorers", Figs. 3 to 5).
    Map,
}

/// What a search of strata is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How to go through the states.
    pub search: SearchKind,
    /// The last stratum: so many delays (preemptions, levels of depth); `None` for all there are.
    pub delays: Option<u32>,
    /// By how much the bound rises from stratum to stratum, at least 1; for depth the size of a
    /// stratum. `None` for what suits the search.
    pub delta: Option<u32>,
    /// How many bytes visited states and frontier may take; of a cache that forgets, the states
    /// get half of them.
    pub memory: u64,
    /// What is remembered of visited states.
    pub cache: CachePolicy,
    /// Whether states are stored whole instead of by their fingerprints.
    pub exact: bool,
    /// Whether a state counts as visited only together with the explorer's state: costs more, and
    /// then a stratum is every execution with so many delays, if the bound rises by 1.
    pub with_explorer: bool,
    /// How many samples a stratum gets: `c1 + c2^delays`, as `(c1, c2)`.
    pub samples: (u64, u64),
    /// Whether what the search leaves undone, because it ends before it is exhausted, is handed to
    /// [`Sink::left`](crate::Sink::left).
    pub keep_frontier: bool,
    /// What another search has left undone, to go on from; if there is nothing, the search starts
    /// at the first state.
    pub resume: Vec<WrittenEntry>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            search: SearchKind::Ses,
            delays: None,
            delta: None,
            memory: 2 << 30,
            cache: CachePolicy::All,
            exact: false,
            with_explorer: false,
            samples: (100, 3),
            keep_frontier: false,
            resume: Vec::new(),
        }
    }
}

impl Plan {
    /// How many bytes the visited states may take. A cache that forgets takes all it gets, sooner
    /// or later: the frontier needs some too.
    pub(super) fn visited_memory(&self) -> u64 {
        match self.cache {
            CachePolicy::All | CachePolicy::None => self.memory,
            CachePolicy::Stop | CachePolicy::Replace => self.memory / 2,
        }
    }

    /// Why the search cannot be done with what the plan says of it, if so.
    pub fn check(&self) -> Result<(), PlanError> {
        let search = self.search;
        let has_frontier =
            !search.finds_cycles() && !matches!(search, SearchKind::Ss | SearchKind::Hybrid);
        if (self.keep_frontier || !self.resume.is_empty()) && !has_frontier {
            return Err(PlanError::NoFrontier { search });
        }
        if !search.finds_cycles() {
            Ok(())
        } else if self.with_explorer {
            Err(PlanError::CyclesWithExplorer { search })
        } else if self.cache != CachePolicy::All {
            Err(PlanError::CyclesForgotten { search })
        } else {
            Ok(())
        }
    }
}

/// Why a search cannot be done as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A search for cycles is asked to store the explorer beside each state.
    #[error(
        "with_explorer is not for {search}: a cycle of the program need not be one of the explorer"
    )]
    CyclesWithExplorer {
        /// The search.
        search: SearchKind,
    },
    /// A search for cycles is asked to forget states.
    #[error(
        "{search} finds a cycle only if it remembers all of its states: leave the cache at all"
    )]
    CyclesForgotten {
        /// The search.
        search: SearchKind,
    },
    /// A search whose frontier is not all that it leaves undone is asked to keep or to resume one.
    #[error(
        "{search} is not resumed from a frontier: leave out keep_frontier and resume, or search by \
         ses, pb, depth, dfs or bfs"
    )]
    NoFrontier {
        /// The search.
        search: SearchKind,
    },
}

impl SearchKind {
    /// Whether it looks for cycles.
    pub fn finds_cycles(self) -> bool {
        matches!(self, SearchKind::Ndfs | SearchKind::IterativeNdfs | SearchKind::Map)
    }

    /// How many threads it has where so many are asked for. Nested depth-first search has one: the
    /// order in which it leaves states is that of one search.
    pub fn threads(self, asked: usize) -> usize {
        match self {
            SearchKind::Ndfs | SearchKind::IterativeNdfs => 1,
            _ => asked.clamp(1, 1024),
        }
    }
}

named!(
    SearchKind,
    SEARCHES,
    Ses,
    Ss,
    Hybrid,
    Preemptions,
    Depth,
    Dfs,
    Bfs,
    Ndfs,
    IterativeNdfs,
    Map,
);
