//! What a search of states covered.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::seconds;

/// What a search of states came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct States {
    /// How the states were gone through, by the name of the search.
    pub search: String,
    /// The explorer, or the order of a search without one.
    pub explorer: String,
    /// What the bounds of strata count, one of them, such as `delay`.
    pub unit: String,
    /// Distinct states. With a cache that forgets, states that were come to again count again. 0
    /// where schedules were sampled.
    pub states: u64,
    /// Steps that were taken, each with the values chosen in it.
    pub transitions: u64,
    /// Executions that were followed to their end.
    pub executions: u64,
    /// Stratum by stratum.
    pub strata: Vec<Stratum>,
    /// What was remembered of visited states.
    pub cache: CachePolicy,
    /// Whether states were stored whole.
    pub exact: bool,
    /// Whether explorer states were stored beside program states.
    pub with_explorer: bool,
    /// The bytes of the visited states at the end.
    pub cache_bytes: u64,
    /// States that a bounded cache refused or replaced.
    pub forgotten: u64,
    /// How many states are expected to have been missed because their fingerprints are those of
    /// others.
    pub expected_omissions: f64,
    /// States from which the step bound kept the search from going on.
    pub cut: u64,
    /// States that the program had sealed.
    pub sealed: u64,
    /// The most steps that led to a state; every value chosen counts as one.
    pub deepest: usize,
    /// Whether an execution can come back to a state that it has been in, as far as that was
    /// looked for: only where a cache forgets.
    pub cyclic: bool,
    /// Whether states were reconstructed by running their prefixes again and told apart by what
    /// happened before what, on the assumption that workers share nothing that Dally does not see.
    pub replayed: bool,
    /// What stratified sampling did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    /// What a search for cycles did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
}

/// What is remembered of the states that were visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// All of them; the search ends when they no longer fit.
    #[default]
    All,
    /// None.
    None,
    /// As many as fit; later ones are not remembered.
    Stop,
    /// As many as fit; later ones take the place of earlier ones.
    Replace,
}

/// What stratified sampling did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Samples {
    /// Samples drawn.
    pub samples: u64,
    /// Executions run for them, each to its end.
    pub executions: u64,
    /// The last number of delays of which all samples were drawn.
    pub delays: u32,
    /// Steps of the longest execution: L of the bound.
    pub longest: usize,
    /// How many states of the frontier the samples started from; 0 for the first state.
    pub from_frontier: u64,
    /// Whether the explorer drew another order for each sample.
    pub random_order: bool,
}

/// What a search for cycles came to, besides its states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Cycles {
    /// Which cycles count, by the name of the fairness.
    pub fairness: String,
    /// Transitions that are stored; of a search that starts again for every bound, those of its
    /// last time.
    pub edges: u64,
    /// The bytes of each.
    pub edge_bytes: usize,
    /// The seconds of `CalculateMap` in Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle Detection
    /// via Delaying Explorers", Table 3: to visit states and pass on what follows from transitions.
    #[serde(with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub calculating: Duration,
    /// The seconds of `RefineMap`: to refine partitions.
    #[serde(with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub refining: Duration,
}

/// One stratum of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Stratum {
    /// Its bound, in delays (preemptions, steps); `None` where there is none.
    pub bound: Option<u32>,
    /// States that were new in it.
    pub states: u64,
    /// Steps taken in it.
    pub transitions: u64,
    /// States left with transitions that cost more.
    pub frontier: u64,
    /// The bytes of the visited states after it.
    pub cache_bytes: u64,
    /// How long it took, in seconds.
    #[serde(with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub elapsed: Duration,
    /// Whether it was gone through to its end.
    pub complete: bool,
}

impl States {
    /// The last bound whose stratum was completed.
    pub fn completed(&self) -> Option<u32> {
        self.strata.iter().rev().find(|stratum| stratum.complete)?.bound
    }

    /// Whether all states that can be reached were visited, if the search ended of itself.
    pub fn is_exhausted(&self) -> bool {
        self.cut == 0 && self.sealed == 0 && !(self.cyclic && self.forgets())
    }

    /// Whether visited states were not all remembered.
    pub fn forgets(&self) -> bool {
        match self.cache {
            // A state that does not fit ends the search.
            CachePolicy::All => false,
            CachePolicy::None => true,
            CachePolicy::Stop | CachePolicy::Replace => self.forgotten > 0,
        }
    }
}

impl CachePolicy {
    /// All of them, in the order in which the table of settings names them.
    pub const ALL: [CachePolicy; 4] =
        [CachePolicy::All, CachePolicy::None, CachePolicy::Stop, CachePolicy::Replace];
}
