//! What a search of strata is asked to do.

use dally_core::report::CachePolicy;
use dally_settings::SEARCHES;
use thiserror::Error;

use crate::named::named;
use crate::reduction::{Inputs, Reduction};

use super::written_entry::WrittenEntry;

/// How the states of a program are gone through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum SearchKind {
    /// Stratified exhaustive search: stratum by stratum of delays (Desai, Qadeer and Seshia,
    /// "Systematic Testing of Asynchronous Reactive Systems", Fig. 5).
    #[default]
    Ses,
    /// Stratified sampling: schedules with so many delays (Desai, Qadeer and Seshia, Fig. 7).
    Ss,
    /// SES until its budget is nearly used, then SS from the states on its frontier.
    Hybrid,
    /// Strata of preemptions: switches away from a worker that could have gone on. The `k`-th value
    /// of a choice, from 0, costs as much as `k` of them, as it costs `k` delays under an explorer.
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
    /// Rajamani and Seshia, Figs. 3 to 5).
    Map,
    /// For cycles: the strata of `Map`, and strongly connected components of what is new after each.
    Components,
    /// One execution for each class of schedules: optimal dynamic partial-order reduction
    /// ([`reduction`](crate::reduction)).
    Dpor,
    /// Like `Dpor`, and for each class every path that inputs can take the program on (Sen and Agha,
    /// "Automated Systematic Testing of Open Distributed Programs"). It needs `dally-concolic`.
    Concolic,
}

/// What a search of strata is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How to go through the states.
    pub search: SearchKind,
    /// The last stratum, in delays (preemptions, levels of depth); `None` for all there are.
    pub delays: Option<u32>,
    /// By which rule `Dpor` leaves out schedules.
    pub reduction: Reduction,
    /// How `Concolic` comes to inputs.
    pub inputs: Inputs,
    /// By how much the bound rises with each stratum, at least 1; `None` for what suits the search.
    pub delta: Option<u32>,
    /// The bytes of visited states and frontier together; a cache that forgets states gets half.
    pub memory: u64,
    /// What is remembered of visited states.
    pub cache: CachePolicy,
    /// Whether states are stored whole instead of by their fingerprints.
    pub exact: bool,
    /// Whether a state counts as visited only together with the explorer's state. That costs more;
    /// if the bound rises by 1, a stratum is then every execution with so many delays.
    pub with_explorer: bool,
    /// Whether values cost nothing where strata are of preemptions.
    pub free_values: bool,
    /// How many samples a stratum gets: `c1 + c2^delays`, as `(c1, c2)`.
    pub samples: (u64, u64),
    /// Whether entries that are left undone are given to [`Sink::left`](crate::Sink::left).
    pub keep_frontier: bool,
    /// The entries that another search has left undone; if empty, the first state is the start.
    pub resume: Vec<WrittenEntry>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            search: SearchKind::Ses,
            delays: None,
            reduction: Reduction::Optimal,
            inputs: Inputs::DepthFirst,
            delta: None,
            memory: 2 << 30,
            cache: CachePolicy::All,
            exact: false,
            with_explorer: false,
            free_values: false,
            samples: (100, 3),
            keep_frontier: false,
            resume: Vec::new(),
        }
    }
}

impl Plan {
    /// The bytes of visited states. A cache that forgets fills them all, so the frontier gets some.
    pub(super) fn visited_memory(&self) -> u64 {
        match self.cache {
            CachePolicy::All | CachePolicy::None => self.memory,
            CachePolicy::Stop | CachePolicy::Replace => self.memory / 2,
        }
    }

    /// Whether the parts of the plan fit together.
    pub fn check(&self) -> Result<(), PlanError> {
        let search = self.search;
        let has_frontier = !search.finds_cycles()
            && !matches!(
                search,
                SearchKind::Ss | SearchKind::Hybrid | SearchKind::Dpor | SearchKind::Concolic
            );
        if (self.keep_frontier || !self.resume.is_empty()) && !has_frontier {
            return Err(PlanError::NoFrontier { search });
        }
        if self.reduction != Reduction::Optimal && search != SearchKind::Dpor {
            return Err(PlanError::NotReduced { search, reduction: self.reduction });
        }
        if self.inputs != Inputs::DepthFirst && search != SearchKind::Concolic {
            return Err(PlanError::NotConcolic { search, inputs: self.inputs });
        }
        if search == SearchKind::Dpor && self.delays.is_some() && !self.reduction.is_bounded() {
            return Err(PlanError::NotBounded { reduction: self.reduction });
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
    /// A search is asked to keep or to resume a frontier, which is not all that it leaves undone.
    #[error(
        "{search} is not resumed from a frontier: leave out keep_frontier and resume, or search by \
         ses, pb, depth, dfs or bfs"
    )]
    NoFrontier {
        /// The search.
        search: SearchKind,
    },
    /// A search that does not leave out schedules is told by which rule to do so.
    #[error(
        "{search} does not leave out schedules by {reduction}: leave out the reduction, or search by \
         dpor, which looks at every order and not for cycles"
    )]
    NotReduced {
        /// The search.
        search: SearchKind,
        /// The rule.
        reduction: Reduction,
    },
    /// A search that takes inputs as given is told how to come to them.
    #[error(
        "{search} does not solve for inputs: leave out the inputs {inputs}, or search by concolic"
    )]
    NotConcolic {
        /// The search.
        search: SearchKind,
        /// The way to inputs.
        inputs: Inputs,
    },
    /// Partial-order reduction with a bound by a rule that knows none.
    #[error(
        "the search dpor has no bound with the reduction {reduction}: leave out the delays, or name \
         what they bound, with the reduction preemptions or delays"
    )]
    NotBounded {
        /// The rule.
        reduction: Reduction,
    },
}

impl Plan {
    /// Whether it runs a number of schedules, and not as many as there are.
    pub fn counts_schedules(&self) -> bool {
        match self.search {
            SearchKind::Ss | SearchKind::Hybrid => true,
            SearchKind::Concolic => self.inputs != Inputs::DepthFirst,
            _ => false,
        }
    }
}

impl SearchKind {
    /// Whether it looks for cycles.
    pub fn finds_cycles(self) -> bool {
        matches!(
            self,
            SearchKind::Ndfs | SearchKind::IterativeNdfs | SearchKind::Map | SearchKind::Components
        )
    }

    /// How many threads it uses of those asked for. Nested depth-first search uses one, since it
    /// depends on the order in which one search leaves states. So does a search of one schedule for each
    /// class, where a beginning must be noted before it is covered, and concolic execution, where what
    /// was explored says which branches there are.
    pub fn threads(self, asked: usize) -> usize {
        match self {
            SearchKind::Ndfs
            | SearchKind::IterativeNdfs
            | SearchKind::Concolic
            | SearchKind::Dpor => 1,
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
    Components,
    Dpor,
    Concolic,
);
