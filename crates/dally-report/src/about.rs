//! What a report says besides the finding itself.

use std::path::PathBuf;
use std::time::Duration;

use crate::text::Style;

/// The circumstances of a finding, filled in by whoever ran the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// The program as people know it: a test's path or a protocol's name.
    pub program: String,
    /// The run that showed the bug, up to now.
    pub statistics: Statistics,
    /// The commands that replay the finding, the best last: the text ends with it.
    pub replay: Vec<String>,
    /// The file in which the schedule was saved.
    pub saved: Option<PathBuf>,
    /// How many steps of a long trace to show, the last ones; `None` shows all.
    pub steps_shown: Option<usize>,
    /// How to see all steps, as the end of a sentence such as `set DALLY_TRACE=all to see all`.
    pub see_all: Option<String>,
    /// The directory from which source files are looked for; `None` is the current one.
    pub source_root: Option<PathBuf>,
    /// Whether to use colours.
    pub style: Style,
}

impl About {
    /// How many steps a text shows unless told otherwise: about two screens.
    pub const STEPS_SHOWN: usize = 60;

    /// Nothing known but the name; long traces are cut to [`About::STEPS_SHOWN`] steps.
    pub fn new(program: impl Into<String>) -> About {
        About { program: program.into(), steps_shown: Some(About::STEPS_SHOWN), ..About::default() }
    }
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Schedules run to their end.
    pub schedules: u64,
    /// Steps of all schedules together.
    pub steps: u64,
    /// Different observations of states; `None` where they were not counted.
    pub distinct_observations: Option<u64>,
    /// How likely something new is; `None` where schedules were not sampled.
    pub seen: Option<Seen>,
    /// How long it took; `None` leaves times out, so that output can be compared byte for byte.
    pub elapsed: Option<Duration>,
    /// The name of the strategy, such as `pct(3)`.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// What a step is, such as `per-send`.
    pub granularity: String,
    /// How many threads ran schedules.
    pub threads: usize,
    /// What the run covered, in a sentence; empty where there is nothing to say.
    pub coverage: String,
    /// Why the run stopped, in a sentence.
    pub stopped: String,
    /// What a search of states did; `None` where schedules were run.
    pub searched: Option<Searched>,
}

/// How much was seen of what schedules can show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The last schedule, counted from 1, that showed something new.
    pub last_new: Option<u64>,
    /// Whether the strategy draws all schedules alike: only then is there an estimate.
    pub alike: bool,
    /// Schedules that are compared with each other.
    pub judged: u64,
    /// Those among them that showed something that no other schedule did.
    pub alone: u64,
    /// How many distinct observations there were after so many schedules.
    pub growth: Vec<(u64, u64)>,
}

impl Seen {
    /// The estimated chance that the next schedule shows something new, if there is an estimate.
    pub fn chance_of_new(&self) -> Option<f64> {
        (self.alike && self.judged > 0).then(|| self.alone as f64 / self.judged as f64)
    }
}

/// What a search of states did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Searched {
    /// Distinct states; visits of states where not all were remembered.
    pub states: u64,
    /// Steps taken, each with the values chosen in it.
    pub transitions: u64,
    /// The most steps that led to a state.
    pub deepest: u64,
    /// What the bounds of strata count, in the plural, such as `delays`.
    pub unit: String,
    /// Stratum by stratum.
    pub strata: Vec<Stratum>,
    /// What was remembered of visited states, such as `all states by fingerprint`.
    pub cache: String,
    /// The bytes of that.
    pub cache_bytes: u64,
    /// How many states are expected to have been taken for others that have the same fingerprint.
    pub expected_omissions: f64,
    /// How cycles were looked for, if they were.
    pub cycles: Option<Cycles>,
}

/// The figures of a search for cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cycles {
    /// Which cycles count, such as `weak`.
    pub fairness: String,
    /// Transitions stored.
    pub edges: u64,
    /// The bytes of each.
    pub edge_bytes: u64,
    /// How long states were visited and what follows from their transitions calculated.
    pub calculating: Duration,
    /// How long the result was refined.
    pub refining: Duration,
}

/// One stratum of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stratum {
    /// Its bound; `None` where there is none.
    pub bound: Option<u32>,
    /// States that were new in it.
    pub states: u64,
    /// Steps taken in it.
    pub transitions: u64,
    /// States left with transitions beyond the bound.
    pub frontier: u64,
    /// The bytes of the visited states after it.
    pub cache_bytes: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether it was gone through to its end.
    pub complete: bool,
}
