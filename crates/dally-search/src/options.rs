//! What a run is asked to do, and whom it tells.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dally_core::{Finding, Program};

use crate::kind::StrategyKind;
use crate::liveness::Fairness;
use crate::strata::WrittenEntry;
use crate::strategy::Strategy;

/// What a run is asked to do.
///
/// ```
/// use dally_search::{Options, StrategyKind};
///
/// let (seed, max_steps) = (7, 2_000);
/// let strategy = "pct:5".parse::<StrategyKind>()?.build(seed, max_steps);
/// let options = Options { strategy, seed, max_steps, schedules: 50_000, ..Options::default() };
/// assert_eq!(options.strategy.name(), "pct(5)");
/// # Ok::<(), dally_search::UnknownName>(())
/// ```
#[derive(Clone)]
pub struct Options {
    /// The name of the program, as schedules and messages give it; empty for the one that the
    /// program has of itself.
    pub program: String,
    /// Settings of the program to be written into schedules, as (name, value).
    pub settings: Vec<(String, String)>,
    /// Who picks the choices.
    pub strategy: Box<dyn Strategy>,
    /// The seed of all randomness.
    pub seed: u64,
    /// How many schedules to run.
    pub schedules: u64,
    /// How long to go on; `None` for as long as the schedules take.
    pub time: Option<Duration>,
    /// How many steps a schedule may have. A value chosen counts as a step. The bound is looked
    /// at between steps of workers, so the last of them is never cut in two.
    pub max_steps: usize,
    /// Whether a schedule that reaches the step bound is a bug.
    pub fail_on_max_steps: bool,
    /// How many steps a monitor may stay hot under a fair strategy; `None` for half of the step
    /// bound.
    pub temperature: Option<usize>,
    /// Which cycles of states count as executions without end. Under a strategy, which chooses at
    /// random, weak means strong, and a loop is found only when chance cannot leave it.
    pub fairness: Fairness,
    /// How many values and events one step may have before it counts as endless.
    pub step_items: u32,
    /// How long one step may take before it counts as blocking its thread.
    pub step_time: Duration,
    /// How many threads run schedules. The report does not depend on it.
    pub threads: usize,
    /// Whether to go on after a bug, and group findings by their cause.
    pub keep_going: bool,
    /// Whether to shrink findings.
    pub shrink: bool,
    /// How many steps the shrinking of one finding may replay in total.
    pub shrink_steps: u64,
    /// Whether to run some schedules (numbers 1, 2, 4, 8, ...) twice and compare, to catch
    /// programs with nondeterminism that is not under control.
    pub repeat_check: bool,
    /// Every state of one schedule in this many is observed, for
    /// [`Report::observations`](crate::Report) and [`Novelty`](crate::Novelty), and of the others the
    /// last state. With 0 it is last states only: to observe a state costs more than a step.
    pub observe_every: u64,
    /// A file that a strategy goes on learning from, if it is there, and that all it has learnt is
    /// written to at the end. A file of another program or strategy, or a damaged one, fails the
    /// run before it begins.
    pub learned: Option<PathBuf>,
    /// Set it to end the run: what was found is kept.
    pub stop: Arc<AtomicBool>,
}

/// How many steps a schedule may have unless told otherwise.
const MAX_STEPS: usize = 10_000;

impl Default for Options {
    fn default() -> Options {
        Options {
            program: String::new(),
            settings: Vec::new(),
            strategy: StrategyKind::default().build(0, MAX_STEPS),
            seed: 0,
            schedules: 10_000,
            time: None,
            max_steps: MAX_STEPS,
            fail_on_max_steps: false,
            temperature: None,
            fairness: Fairness::Weak,
            step_items: 10_000,
            step_time: Duration::from_secs(10),
            threads: 1,
            keep_going: false,
            shrink: true,
            shrink_steps: 1_000_000,
            repeat_check: true,
            observe_every: 0,
            learned: None,
            stop: Arc::default(),
        }
    }
}

impl Options {
    /// The same options, with the program's own name unless there is another.
    pub(crate) fn naming(mut self, program: &impl Program) -> Options {
        if self.program.is_empty() {
            program.name().clone_into(&mut self.program);
        }
        self
    }
}

/// Whom a run tells what it finds, the moment it finds it.
pub trait Sink: Send + Sync {
    /// A finding: at once and raw when a schedule fails (no trace yet), and again, better, when
    /// it has been confirmed and shrunk. The later one with the same [`cause`] replaces the
    /// earlier; a raw finding that cannot be repeated is replaced by one of another cause, whose
    /// [`found_at`] is the same.
    ///
    /// It may be called from any thread, and right before the process aborts.
    ///
    /// [`cause`]: dally_core::Bug::cause
    /// [`found_at`]: Finding::found_at
    fn found(&self, finding: &Finding) {
        let _ = finding;
    }

    /// The last words of a process that is about to abort: the program panicked in a destructor
    /// while it unwound, and nothing can be done after this.
    fn aborting(&self, finding: &Finding) {
        self.found(finding);
    }

    /// Work that a search of states has left undone at its end, one entry after the other, if its
    /// plan says [`keep_frontier`](crate::strata::Plan::keep_frontier).
    fn left(&self, entry: WrittenEntry) {
        let _ = entry;
    }

    /// How far the run is: several times a second, from the thread that called
    /// [`run`](crate::run).
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }
}

/// Nobody.
impl Sink for () {}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Schedules run so far.
    pub schedules: u64,
    /// Schedules asked for.
    pub of: u64,
    /// Steps in all these schedules.
    pub steps: u64,
    /// Distinct observations so far.
    pub observations: u64,
    /// Causes of bugs found so far.
    pub findings: usize,
    /// How far a search of states is.
    pub reached: Option<Reached>,
    /// What it does at the moment.
    pub phase: Phase,
    /// How long it has been at it.
    pub elapsed: Duration,
}

/// How far a search of states is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    /// States visited so far.
    pub states: u64,
    /// Steps taken so far.
    pub transitions: u64,
    /// The bound of the present stratum.
    pub bound: u32,
    /// Entries of the frontier that the present stratum started from.
    pub frontier: u64,
    /// Bytes of visited states, frontier and stacks.
    pub bytes: u64,
}

/// What a run does at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Running schedules.
    Searching,
    /// Repeating a finding with a full record, and making it small.
    Shrinking,
}
