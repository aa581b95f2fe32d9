//! Runs: batches of schedules over threads, under supervision.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use dally_core::report::{Batch, Ended, Part, Report, Sightings};
use dally_core::{Cause, Program};

use crate::batch::Shared;
use crate::deadline::Stopwatch;
use crate::executor::Limits;
use crate::learning::file;
use crate::options::{Expected, Options, Phase, Progress, Reached, Sink};
use crate::record::RunDescription;

mod findings;
mod schedules;
mod threads;

use findings::Group;
pub use findings::{confirmed, shrunk};
pub(crate) use findings::{count_bug, count_bugs};

/// Runs schedules of `program` as the options say, and tells the sink of findings the moment they
/// are found. The calling thread supervises the others, and returns even if a step never does.
///
/// The same program, seed and options give the same report, but for the time elapsed, with any
/// number of threads: schedules are numbered, batches have fixed sizes, and what comes after
/// the first failing schedule does not count.
pub fn run<P: Program + 'static>(program: Arc<P>, options: Options, sink: Arc<dyn Sink>) -> Report {
    run_from(None, program, options, sink).report
}

/// Runs the schedules of this batch, and puts into [`Report::part`] what is needed to
/// [merge](Report::merge) the report with those of other batches of the run. The batch replaces the
/// seed and the number of schedules of the options.
///
/// Only strategies whose schedules depend on the seed and their number alone can run a batch.
pub fn run_batch<P: Program + 'static>(
    program: Arc<P>,
    batch: Batch,
    mut options: Options,
    sink: Arc<dyn Sink>,
) -> Result<Report, NotIndependent> {
    if options.strategy.learner().is_some() {
        return Err(NotIndependent { strategy: options.strategy.name() });
    }
    run_in_turn(program, batch, None, options, sink).map(|in_turn| in_turn.report)
}

/// Runs the schedules of this batch after those of the batches before it, as [`run_batch`] does for strategies
/// whose schedules do not depend on those before: a strategy that learns goes on from what the batch before it
/// has `learned`.
///
/// Cut into the same batches, a run comes to the same report; other batches are other times to learn. A
/// strategy that tells nothing of what it has learnt cannot go on, and neither can one that goes from schedule
/// to schedule by itself.
pub fn run_in_turn<P: Program + 'static>(
    program: Arc<P>,
    batch: Batch,
    learned: Option<&[u8]>,
    mut options: Options,
    sink: Arc<dyn Sink>,
) -> Result<BatchOutcome, NotIndependent> {
    let refused = |options: &Options| Err(NotIndependent { strategy: options.strategy.name() });
    if options.strategy.properties().sequential {
        return refused(&options);
    }
    let learns = options.strategy.learner().map(|learner| learner.learned().is_some());
    if learns == Some(false) || (learns.is_some() && learned.is_none() && batch.first > 0) {
        return refused(&options);
    }
    (options.seed, options.schedules, options.learned) = (batch.seed, batch.count, None);
    let keeps = learns.is_some();
    let before = Before { first: batch.first, learned: learned.unwrap_or_default(), keeps };
    let Ran { mut report, sightings, learned } = run_from(Some(before), program, options, sink);
    report.part = Some(Part { batch, sightings });
    Ok(BatchOutcome { report, learned })
}

/// What came of a batch.
#[derive(Debug)]
pub struct BatchOutcome {
    /// Its report, which can be [merged](Report::merge) with those of the batches before.
    pub report: Report,
    /// What the next batch goes on from, if the strategy learns.
    pub learned: Option<Vec<u8>>,
}

/// What a run goes on from.
#[derive(Clone, Copy)]
struct Before<'a> {
    /// The number of its first schedule.
    first: u64,
    /// What was learnt before; nothing if it is empty.
    learned: &'a [u8],
    /// Whether what is learnt is wanted.
    keeps: bool,
}

struct Ran {
    report: Report,
    sightings: Sightings,
    learned: Option<Vec<u8>>,
}

/// A batch of schedules cannot be run alone.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the schedules of {strategy} depend on those before them, so a batch of them cannot be run \
     alone: take a strategy that neither learns nor goes on from the schedule before, such as \
     random or pos"
)]
pub struct NotIndependent {
    /// The strategy, by its name.
    pub strategy: String,
}

fn run_from<P: Program + 'static>(
    before: Option<Before<'_>>,
    program: Arc<P>,
    options: Options,
    sink: Arc<dyn Sink>,
) -> Ran {
    let mut options = options.naming(&*program);
    options.strategy.reseed(options.seed);
    options.fairness = options.fairness.under_a_strategy();
    let name = options.strategy.name();
    let key = file::Key::new(&options.program, &options.settings, program.granularity(), &name);
    let strategy = &mut options.strategy;
    let path = options.learned.as_deref();
    let recalled = match before {
        Some(Before { learned: bytes @ [_, ..], .. }) => {
            let recalled = file::recall(bytes, &key, &mut **strategy);
            recalled.map_err(|why| format!("What was learnt {why}"))
        }
        Some(_) => Ok(()),
        None => path.map_or(Ok(()), |path| file::load(path, &key, &mut **strategy)),
    };
    let first = before.map_or(0, |before| before.first);
    strategy.start_at(first);
    let mut run = Run::new(program, options, name, sink);
    run.keeps = before.is_some_and(|before| before.keeps);
    match recalled {
        Ok(()) => run.all_schedules(first),
        Err(why) => {
            run.report.notes.push(why);
            run.end(Ended::Failed);
        }
    }
    let sightings =
        std::mem::take(&mut *run.shared.sightings.write().unwrap_or_else(PoisonError::into_inner));
    let learned = run.learned.take().map(|learned| file::whole(&key, &learned));
    Ran { report: run.finish(), sightings, learned }
}

/// A run: of schedules here, of searches of states in `strata`.
pub(crate) struct Run<P: Program + 'static> {
    pub(crate) program: Arc<P>,
    pub(crate) options: Options,
    pub(crate) shared: Arc<Shared>,
    pub(crate) report: Report,
    pub(crate) clock: Stopwatch,
    /// Measures the time since progress was last shown.
    shown: Stopwatch,
    pub(crate) groups: BTreeMap<Cause, Group>,
    pub(crate) ended: Option<Ended>,
    /// Whether what the strategy has learnt is wanted at the end, and that.
    keeps: bool,
    learned: Option<Vec<u8>>,
    /// The progress of a search of states.
    pub(crate) reached: Option<Reached>,
    /// What a search with partial-order reduction expects.
    pub(crate) expected: Option<Expected>,
}

impl<P: Program + 'static> Run<P> {
    /// A run without results yet. `name` is that of the strategy or search.
    pub(crate) fn new(
        program: Arc<P>,
        options: Options,
        name: String,
        sink: Arc<dyn Sink>,
    ) -> Run<P> {
        let clock = Stopwatch::start();
        let description = RunDescription {
            program: options.program.clone(),
            settings: options.settings.clone(),
            limits: Limits::of(&options, &*program),
            clocks: options.clocks,
        };
        let shared = Arc::new(Shared {
            description,
            sink,
            keep_going: options.keep_going,
            shrink_steps: options.shrink.then_some(options.shrink_steps),
            repeat_check: options.repeat_check,
            observe_every: options.observe_every,
            census_every: options.census_every,
            halt: AtomicBool::new(false),
            stop_shrinking: AtomicBool::new(false),
            full: AtomicBool::new(false),
            schedules: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            first: Mutex::new(BTreeMap::new()),
            sightings: RwLock::default(),
        });
        let mut report = Report::new(options.program.clone(), program.granularity());
        report.strategy = name;
        report.seed = options.seed;
        report.threads = options.threads;
        report.max_steps = options.max_steps;
        let shown = Stopwatch::start();
        Run {
            program,
            options,
            shared,
            report,
            clock,
            shown,
            groups: BTreeMap::new(),
            ended: None,
            keeps: false,
            learned: None,
            reached: None,
            expected: None,
        }
    }

    /// Ends the run for this reason, unless it has ended for another.
    pub(crate) fn end(&mut self, why: Ended) {
        self.ended = self.ended.or(Some(why));
        self.shared.halt.store(true, Ordering::Relaxed);
    }

    /// Ends the run if the time is up or the user has stopped it.
    pub(crate) fn check_limits(&mut self) {
        if self.options.stop.load(Ordering::Relaxed) {
            self.shared.stop_shrinking.store(true, Ordering::Relaxed);
            self.end(Ended::Interrupted);
        } else if self.options.time.is_some_and(|limit| self.clock.is_past(limit)) {
            self.end(Ended::Time);
        }
    }

    /// Shows the progress, at most every 50 milliseconds.
    pub(crate) fn show_progress(&mut self, phase: Phase) {
        if self.shown.is_past(Duration::from_millis(50)) {
            self.shown = Stopwatch::start();
            self.shared.sink.progress(&self.progress(phase));
        }
    }

    fn progress(&self, phase: Phase) -> Progress {
        Progress {
            schedules: self.shared.schedules.load(Ordering::Relaxed),
            of: self.options.schedules,
            steps: self.shared.steps.load(Ordering::Relaxed),
            observations: self.report.observations,
            findings: self.report.findings.len(),
            reached: self.reached,
            expected: self.expected,
            phase,
            elapsed: self.clock.elapsed(),
        }
    }

    pub(crate) fn finish(mut self) -> Report {
        let findings = &mut self.report.findings;
        findings.iter_mut().for_each(|finding| finding.occurrences = 0);
        for (&cause, group) in &self.groups {
            match group.finding {
                Some(place) => findings[place].occurrences += group.occurrences,
                None => self.report.further_causes.push((cause, group.occurrences)),
            }
        }
        findings.sort_by_key(|finding| finding.found_at);
        self.report.ended = self.ended.unwrap_or(Ended::Schedules);
        self.report.elapsed = self.clock.elapsed();
        self.shared.sink.progress(&self.progress(Phase::Searching));
        self.report
    }
}
