//! What a search of strata is asked to do.

use std::fmt;
use std::str::FromStr;

use dally_core::report::CachePolicy;

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
        }
    }
}

impl Plan {
    /// Why the search cannot be done with what the plan says of it, if so.
    pub fn check(&self) -> Result<(), String> {
        let search = self.search;
        if !search.finds_cycles() {
            return Ok(());
        }
        if self.with_explorer {
            return Err(format!(
                "with-explorer is not for {search}: a cycle of the program need not be one of the \
                 explorer"
            ));
        }
        if self.cache != CachePolicy::All {
            return Err(format!(
                "{search} finds a cycle only if it remembers all of its states: leave the cache \
                 at all"
            ));
        }
        Ok(())
    }
}

impl SearchKind {
    /// The names that can be given.
    pub const NAMES: [&'static str; 10] =
        ["ses", "ss", "hybrid", "pb", "depth", "dfs", "bfs", "ndfs", "iterative-ndfs", "map"];

    const ALL: [SearchKind; 10] = [
        SearchKind::Ses,
        SearchKind::Ss,
        SearchKind::Hybrid,
        SearchKind::Preemptions,
        SearchKind::Depth,
        SearchKind::Dfs,
        SearchKind::Bfs,
        SearchKind::Ndfs,
        SearchKind::IterativeNdfs,
        SearchKind::Map,
    ];

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

impl fmt::Display for SearchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(SearchKind::NAMES[*self as usize])
    }
}

impl FromStr for SearchKind {
    type Err = String;

    fn from_str(text: &str) -> Result<SearchKind, String> {
        let place = SearchKind::NAMES.iter().position(|&name| name == text);
        place.map(|place| SearchKind::ALL[place]).ok_or_else(|| {
            format!("no search `{text}`. There are {}", SearchKind::NAMES.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_back() {
        for name in SearchKind::NAMES {
            assert_eq!(name.parse::<SearchKind>().unwrap().to_string(), name);
        }
        assert_eq!(
            "sse".parse::<SearchKind>().unwrap_err(),
            "no search `sse`. There are ses, ss, hybrid, pb, depth, dfs, bfs, ndfs, iterative-ndfs, map",
        );
    }
}
