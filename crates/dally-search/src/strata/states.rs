//! What a search of states covered.

use std::fmt;
use std::time::Duration;

use dally_core::words::{count, grouped};

use super::cycles::Cycles;
use super::plan::{CachePolicy, Plan, SearchKind};
use super::shared_state::ThreadCounters;
use crate::deadline::Stopwatch;
use crate::report::Ended;

/// What a search of states came to.
#[derive(Clone, Debug, PartialEq)]
pub struct States {
    /// How the states were gone through.
    pub search: SearchKind,
    /// The explorer, or the order of a search without one.
    pub explorer: String,
    /// Distinct states. With a cache that forgets, states that were come to again count again.
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
    /// happened before what. All is then said on the assumption that the workers share nothing
    /// behind Dally's back.
    pub replayed: bool,
    /// What stratified sampling did.
    pub samples: Option<Samples>,
    /// What a search for cycles did.
    pub cycles: Option<Cycles>,
}

/// What stratified sampling did.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// One stratum of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stratum {
    /// Its bound, in delays (preemptions, steps).
    pub bound: u32,
    /// States that were new in it.
    pub states: u64,
    /// Steps taken in it.
    pub transitions: u64,
    /// States left with transitions that cost more.
    pub frontier: u64,
    /// The bytes of the visited states after it.
    pub cache_bytes: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether it was gone through to its end.
    pub complete: bool,
}

impl States {
    pub(super) fn new(plan: &Plan, explorer: String, replayed: bool) -> States {
        States {
            search: plan.search,
            explorer,
            states: 0,
            transitions: 0,
            executions: 0,
            strata: Vec::new(),
            cache: plan.cache,
            exact: plan.exact && plan.cache != CachePolicy::None,
            with_explorer: plan.with_explorer,
            cache_bytes: 0,
            forgotten: 0,
            expected_omissions: 0.0,
            cut: 0,
            sealed: 0,
            deepest: 0,
            cyclic: false,
            replayed,
            samples: None,
            cycles: None,
        }
    }

    /// What was visited before will be visited again.
    pub(super) fn restart(&mut self) {
        (self.states, self.cut, self.sealed) = (0, 0, 0);
    }

    /// Adds what was counted.
    pub(super) fn add(&mut self, counters: &ThreadCounters) {
        self.states += counters.states;
        self.transitions += counters.transitions;
        self.executions += counters.executions;
        self.cut += counters.cut;
        self.sealed += counters.sealed;
        self.deepest = self.deepest.max(counters.deepest);
        self.cyclic |= counters.cyclic;
    }

    /// Adds a stratum.
    pub(super) fn count(
        &mut self,
        bound: u32,
        counters: &ThreadCounters,
        frontier: usize,
        cache_bytes: u64,
        complete: bool,
        clock: &Stopwatch,
    ) {
        self.add(counters);
        self.strata.push(Stratum {
            bound,
            states: counters.states,
            transitions: counters.transitions,
            frontier: frontier as u64,
            cache_bytes,
            elapsed: clock.elapsed(),
            complete,
        });
    }
}

impl States {
    /// The last bound whose stratum was completed.
    pub fn completed(&self) -> Option<u32> {
        self.strata.iter().rev().find(|stratum| stratum.complete).map(|stratum| stratum.bound)
    }

    /// What bounds are counted in, one of them.
    pub fn unit(&self) -> &'static str {
        match self.search {
            SearchKind::Ses
            | SearchKind::Ss
            | SearchKind::Hybrid
            | SearchKind::Ndfs
            | SearchKind::IterativeNdfs
            | SearchKind::Map => "delay",
            SearchKind::Preemptions => "preemption",
            SearchKind::Depth | SearchKind::Bfs | SearchKind::Dfs => "step",
        }
    }

    /// Whether all states that can be reached were visited, if the search ended of itself.
    pub fn is_exhausted(&self) -> bool {
        self.cut == 0 && self.sealed == 0 && !(self.cyclic && self.forgets())
    }

    pub(super) fn forgets(&self) -> bool {
        match self.cache {
            // The one that no longer fitted ended the search.
            CachePolicy::All => false,
            CachePolicy::None => true,
            CachePolicy::Stop | CachePolicy::Replace => self.forgotten > 0,
        }
    }

    /// The words for what was covered by a search that ended like this.
    pub(crate) fn describe(&self, ended: Ended, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(samples) = &self.samples {
            return self.describe_samples(samples, ended, f);
        }
        let states = self.counted();
        match ended {
            Ended::Exhausted if self.is_exhausted() => write!(f, "exhausted: {states}")?,
            Ended::Exhausted => write!(f, "nothing is left to try: {states}")?,
            Ended::Bound => match self.completed() {
                Some(bound) => {
                    write!(f, "{} bound {} completed: {states}", self.unit(), grouped(bound.into()))
                }
                None => write!(f, "{states}"),
            }?,
            _ => {
                write!(f, "visited {states}")?;
                if let Some(bound) = self.completed() {
                    let unit = self.unit();
                    write!(f, ", {unit} bound {} completed", grouped(bound.into()))?;
                }
            }
        }
        self.describe_limits(f)?;
        f.write_str(ended.until())
    }

    fn counted(&self) -> String {
        let what = match (self.forgets(), self.with_explorer) {
            (true, _) => "visit of a state",
            (false, true) => "state with its explorer",
            (false, false) => "state",
        };
        let states = match (self.states, what) {
            (1, _) | (_, "state") => count(self.states, what),
            (n, "visit of a state") => format!("{} visits of states", grouped(n)),
            (n, _) => format!("{} states with their explorers", grouped(n)),
        };
        format!("{states}, {}", count(self.transitions, "transition"))
    }

    /// What the claim depends on, or why it is not made.
    fn describe_limits(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cut > 0 {
            write!(f, ", {} of them cut by the step bound", grouped(self.cut))?;
        }
        if self.sealed > 0 {
            write!(f, ", {} of them sealed and left by one way only", grouped(self.sealed))?;
        }
        if self.cyclic && self.forgets() {
            f.write_str(", with a cache that forgets in a program that goes in circles")?;
        }
        if self.replayed {
            f.write_str(", assuming controlled sharing")?;
        }
        Ok(())
    }

    fn describe_samples(
        &self,
        samples: &Samples,
        ended: Ended,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        if samples.from_frontier > 0 {
            let bound = self.completed().map_or_else(String::new, |bound| {
                format!(", delay bound {} completed", grouped(bound.into()))
            });
            write!(f, "visited {}{bound}, then ", self.counted())?;
        }
        write!(f, "sampled {}", count(samples.executions, "schedule"))?;
        if samples.delays > 0 {
            let (delays, longest) = (samples.delays, samples.longest);
            write!(
                f,
                " with up to {}: each such execution had a chance of at least 1/{}^{delays} in \
                 each of its samples",
                count(delays.into(), "delay"),
                grouped(longest as u64),
            )?;
        }
        f.write_str(ended.until())
    }
}
