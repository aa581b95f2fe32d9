//! What a run is asked to do, and whom it tells.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dally_core::{Choice, Finding, Program};
use dally_settings::CLOCKS;

use crate::kind::StrategyKind;
use crate::liveness::Fairness;
use crate::named::named;
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
    /// The name of the program in schedules and messages; if empty, the program's own name.
    pub program: String,
    /// Settings of the program to be written into schedules, as (name, value).
    pub settings: Vec<(String, String)>,
    /// Picks the choices.
    pub strategy: Box<dyn Strategy>,
    /// The seed of all randomness.
    pub seed: u64,
    /// How many schedules to run.
    pub schedules: u64,
    /// After how many executions a search with partial-order reduction ends; `None` for as many as there are.
    /// Other threads finish those that they have begun.
    pub executions: Option<u64>,
    /// How long to go on; `None` for as long as the schedules take.
    pub time: Option<Duration>,
    /// How many steps a schedule may have; a value chosen counts as one. The bound is checked
    /// between steps of workers, so no step is cut in two.
    pub max_steps: usize,
    /// How many steps a fair schedule may have while a monitor that was hot at the step bound stays
    /// hot; `None`: no more than others.
    pub max_fair_steps: Option<usize>,
    /// Whether a schedule that reaches the step bound is a bug.
    pub fail_on_max_steps: bool,
    /// The fair steps in a row that a monitor may stay hot; `None`: half of the bound of fair steps,
    /// and more where the [backlog](dally_core::System::backlog) is large.
    pub temperature: Option<usize>,
    /// How many times as long a monitor that is too hot has to go on being hot before that is a bug:
    /// the execution goes on by chance, and every other time with some workers slow and some values
    /// likely. If the monitor cools down, the schedule counts as cut.
    pub confirm_temperature: u32,
    /// Which cycles of states count as executions without end. Under a strategy, which chooses at
    /// random, weak means strong: a loop is found only when chance cannot leave it.
    pub fairness: Fairness,
    /// How many values and events one step may have. More of them are a bug, or end the schedule if
    /// the program [says so](dally_core::Program::long_steps_end_schedules).
    pub step_items: u32,
    /// How long one step may take before it counts as blocking its thread.
    pub step_time: Duration,
    /// How many threads run schedules. The report does not depend on it.
    pub threads: usize,
    /// Whether to go on after a bug, and group findings by their cause.
    pub keep_going: bool,
    /// Whether to repeat findings before they are reported. Without it they have no trace, and are not shrunk either.
    pub confirm: bool,
    /// Whether to shrink findings.
    pub shrink: bool,
    /// How many steps the shrinking of one finding may replay in total.
    pub shrink_steps: u64,
    /// What traces of findings tell of the order of their steps.
    pub clocks: Clocks,
    /// Whether to run some schedules (numbers 1, 2, 4, 8, ...) twice and compare, to catch
    /// programs with nondeterminism that is not under control.
    pub repeat_check: bool,
    /// Of one schedule in this many every state is observed, for
    /// [`Report::observations`](crate::Report) and [`Novelty`](crate::Novelty), and of the others
    /// the last state; with 0, last states only. Observing a state costs more than a step.
    pub observe_every: u64,
    /// Of one schedule in this many, of more at the beginning and of the first, [`Report::census`](crate::Report)
    /// tells what machines did; with 0 of none. Recording a schedule takes several times as long as running it.
    pub census_every: u64,
    /// A file with what the strategy has learnt: read before the run if it exists, written after
    /// it. A file of another program or strategy, or a damaged one, fails the run before it begins.
    pub learned: Option<PathBuf>,
    /// Set it to end the run; findings are kept.
    pub stop: Arc<AtomicBool>,
}

/// What the trace of a finding tells of the order of its steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Clocks {
    /// Each step names the steps that it comes after at once: see
    /// [`TraceStep::after`](dally_core::TraceStep::after).
    #[default]
    Shared,
    /// Each step has its vector clock too.
    Full,
}

named!(Clocks, CLOCKS, Shared, Full);

const MAX_STEPS: usize = 10_000;

impl Default for Options {
    fn default() -> Options {
        Options {
            program: String::new(),
            settings: Vec::new(),
            strategy: StrategyKind::default().build(0, MAX_STEPS),
            seed: 0,
            schedules: 10_000,
            executions: None,
            time: None,
            max_steps: MAX_STEPS,
            fail_on_max_steps: false,
            max_fair_steps: None,
            temperature: None,
            confirm_temperature: 0,
            fairness: Fairness::Weak,
            step_items: 10_000,
            step_time: Duration::from_secs(10),
            threads: 1,
            keep_going: false,
            confirm: true,
            shrink: true,
            shrink_steps: 1_000_000,
            clocks: Clocks::Shared,
            repeat_check: true,
            observe_every: 0,
            census_every: 0,
            learned: None,
            stop: Arc::default(),
        }
    }
}

impl Options {
    /// The same options, with the program's own name if they have none.
    pub(crate) fn naming(mut self, program: &impl Program) -> Options {
        if self.program.is_empty() {
            program.name().clone_into(&mut self.program);
        }
        self
    }
}

/// Receives what a run finds, the moment it finds it.
pub trait Sink: Send + Sync {
    /// A finding: raw and without a trace when a schedule fails, and again when it has been
    /// confirmed and shrunk. The later one with the same [cause](dally_core::Bug::cause) replaces
    /// the earlier. A raw finding that cannot be repeated is replaced by one of another cause with
    /// the same [`found_at`](Finding::found_at). Called from any thread.
    fn found(&self, finding: &Finding) {
        let _ = finding;
    }

    /// The finding of a process that is about to end: the program aborts or exits, or panicked in a
    /// destructor while it unwound. Nothing can be done after this call.
    fn aborting(&self, finding: &Finding) {
        self.found(finding);
    }

    /// An entry that a search of states has left undone at its end, if its plan says
    /// [`keep_frontier`](crate::strata::Plan::keep_frontier).
    fn left(&self, entry: WrittenEntry) {
        let _ = entry;
    }

    /// Whether [`Sink::executed`] is to be called.
    fn wants_executions(&self) -> bool {
        false
    }

    /// A reduced search has come to the end of an execution with these choices: the one of its class.
    fn executed(&self, choices: &[Choice]) {
        let _ = choices;
    }

    /// The progress: several times a second, from the thread that called [`run`](crate::run).
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }
}

/// Ignores everything.
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
    /// How many classes of schedules a search with partial-order reduction is expected to find.
    pub expected: Option<Expected>,
    /// What the run does at the moment.
    pub phase: Phase,
    /// How long the run has taken.
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

/// How many classes of schedules there are, by what was seen so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Expected {
    /// The estimate.
    pub classes: u64,
    /// Its standard deviation.
    pub spread: u64,
}

/// What a run does at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Phase {
    /// Running schedules.
    Searching,
    /// Repeating a finding with a full record, and making it small.
    Shrinking,
}
