//! A thread that runs schedules: batches of them, and the repetition of findings.
//!
//! Strategies learn only between batches, so which thread runs a schedule makes no difference.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use dally_core::report::{Census, Sightings};
use dally_core::{Bug, BugKind, Cause, Finding, Program, Trace, fingerprint};

use crate::choice_log::{ChoiceLog, ChoiceWriter};
use crate::confirm::{RawFinding, confirm, smaller, uncontrolled};
use crate::deadline::Deadline;
use crate::executor::{End, Execution, Executor, Instruments, Limits, Recorder};
use crate::liveness::{Fairness, Loops};
use crate::minimise::Budget;
use crate::nearest::nearest;
use crate::options::Sink;
use crate::record::{RunDescription, difference};
use crate::replay_strategy::{ReplayStrategy, Strictness};
use crate::strategy::{Outcome, Strategy};
use crate::supervisor::Supervised;

pub(crate) struct Shared {
    pub(crate) description: RunDescription,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) keep_going: bool,
    pub(crate) shrink_steps: Option<u64>,
    pub(crate) repeat_check: bool,
    pub(crate) observe_every: u64,
    pub(crate) census_every: u64,
    /// Set when schedules are to stop.
    pub(crate) halt: AtomicBool,
    /// Set when the user interrupts the run or its time is up, so that shrinking stops too.
    pub(crate) stop_shrinking: AtomicBool,
    /// Set when there are so many causes that new ones are only counted.
    pub(crate) full: AtomicBool,
    /// For the progress only, like `steps`.
    pub(crate) schedules: AtomicU64,
    pub(crate) steps: AtomicU64,
    /// The lowest schedule known for each cause. A bug seen later is counted, not kept.
    pub(crate) first: Mutex<BTreeMap<Cause, u64>>,
    /// The observations of earlier batches.
    pub(crate) sightings: RwLock<Sightings>,
}

/// The schedules of a batch: `next` is the first that no thread has taken, `end` the first that is
/// not wanted. Bugs and exhaustion lower the end.
///
/// A thread that works alone gets several small batches at once and has its strategy learn between
/// them: a message for each batch would take longer than running it. It runs the schedules of such a batch
/// [group](Strategy::group) by group; as with several threads, what counts is decided by their numbers, and a
/// run that is halted may lack some before the last that it ran.
pub(crate) struct ScheduleQueue {
    pub(crate) next: AtomicU64,
    pub(crate) end: AtomicU64,
    /// The outcomes of the batch before.
    pub(crate) learn: Vec<Outcome>,
    /// How many schedules each batch has, for a thread that works alone.
    pub(crate) alone: Option<u64>,
    /// The first schedule that the strategy has not learnt from.
    pub(crate) unlearnt: AtomicU64,
    /// The results so far of each thread, kept here because a stuck thread cannot answer.
    pub(crate) results: Box<[Results]>,
}

/// The results of one thread, in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Results(Mutex<Vec<Ran>>);

impl Results {
    fn push(&self, ran: Ran) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(ran);
    }

    pub(crate) fn take(&self) -> Vec<Ran> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(crate) enum BatchCommand {
    /// Run schedules of this batch; the number is the place for the results.
    Run(Arc<ScheduleQueue>, usize),
    /// Learn from these outcomes, then say what the strategy has covered, whether there would be a
    /// schedule `next`, and, if `learned`, all that it has learnt.
    Tell { outcomes: Vec<Outcome>, next: Option<u64>, learned: bool },
    /// Repeat this bug and shrink its schedule, until then if the run has a time.
    Confirm(Box<RawFinding>, Option<Deadline>),
}

pub(crate) enum BatchMessage {
    /// The batch is done.
    Ran,
    /// Whether no schedule is left, and what the strategy has covered and learnt.
    Told { exhausted: bool, coverage: Option<String>, learned: Option<Vec<u8>> },
    /// A finding that was repeated, and perhaps shrunk.
    Confirmed(Box<Finding>),
}

/// The result of one schedule.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    /// The bug's cause, and the bug itself if it is the first known of its cause.
    pub(crate) bug: Option<(Cause, Option<Box<RawFinding>>)>,
    /// Its observations, each once, without those that several schedules have shown before.
    pub(crate) shown: Vec<u64>,
    pub(crate) whole: bool,
    pub(crate) notes: Vec<String>,
    /// Whether it asked for inputs and got the given ones.
    pub(crate) given_inputs: bool,
    /// What machines did in it, if it was recorded for that.
    pub(crate) census: Option<Box<Census>>,
}

pub(crate) fn work<P: Program>(
    program: &P,
    mut strategy: Box<dyn Strategy>,
    writer: ChoiceWriter,
    shared: &Shared,
    supervised: &Supervised<BatchCommand, BatchMessage>,
) {
    let mut executor = Executor::new(program, writer);
    while let Some(command) = supervised.command() {
        supervised.answer(match command {
            BatchCommand::Run(batch, place) => {
                learn(&mut *strategy, &batch.learn);
                let results = &batch.results[place];
                run(&mut executor, &mut *strategy, shared, &batch, results);
                BatchMessage::Ran
            }
            BatchCommand::Tell { outcomes, next, learned } => {
                learn(&mut *strategy, &outcomes);
                let exhausted = next.is_some_and(|next| !strategy.begin(next));
                let learner = if learned { strategy.learner() } else { None };
                let learned = learner.and_then(|learner| learner.learned());
                BatchMessage::Told { exhausted, coverage: strategy.coverage(), learned }
            }
            BatchCommand::Confirm(raw, deadline) => {
                let finding = confirm_and_shrink(&mut executor, &raw, deadline, shared, supervised);
                BatchMessage::Confirmed(Box::new(finding))
            }
        });
    }
}

fn learn(strategy: &mut dyn Strategy, batch: &[Outcome]) {
    if let Some(learner) = strategy.learner() {
        learner.learn(batch);
    }
}

impl Shared {
    /// Saves the finding when the program ends the process, from what the choice log has.
    pub(crate) fn save_before_abort(&self, bug: Bug, choice_log: &ChoiceLog) {
        let how = match bug.kind() {
            BugKind::ProcessEnd => "The process ends",
            _ => {
                "The program panicked in a destructor while it unwound from a panic, and Rust then \
                 aborts the process"
            }
        };
        let notes = vec![format!(
            "{how}: the finding was saved right before, and is neither repeated nor shrunk."
        )];
        let raw = RawFinding::new(bug, choice_log.schedule());
        let raw = RawFinding { choices: choice_log.choices(), fair_from: 0, notes, ..raw };
        self.sink.aborting(&raw.finding(&self.description));
    }
}

fn run<P: Program>(
    executor: &mut Executor<'_, P>,
    strategy: &mut dyn Strategy,
    shared: &Shared,
    batch: &ScheduleQueue,
    results: &Results,
) {
    let mut states = Vec::new();
    let mut outcomes = Vec::new();
    // The schedules of a batch that this thread runs alone, the next one last.
    let mut left = Vec::new();
    loop {
        if left.is_empty() {
            let size = batch.alone.unwrap_or(1);
            let first = batch.next.fetch_add(size, Ordering::Relaxed);
            let end = batch.end.load(Ordering::Acquire).min(first.saturating_add(size));
            if first >= end {
                break;
            }
            if !outcomes.is_empty() {
                outcomes.sort_unstable_by_key(|outcome: &Outcome| outcome.schedule);
                learn(strategy, &outcomes);
                outcomes.clear();
                batch.unlearnt.store(first, Ordering::Release);
            }
            left.extend((first..end).rev());
            if size > 1 {
                left.sort_by_cached_key(|&schedule| Reverse(strategy.group(schedule)));
            }
        }
        let Some(schedule) = left.pop() else { break };
        if shared.halt.load(Ordering::Relaxed) {
            break;
        }
        // A schedule before it may have failed.
        if schedule >= batch.end.load(Ordering::Acquire) {
            continue;
        }
        if !strategy.begin(schedule) {
            batch.end.fetch_min(schedule, Ordering::AcqRel);
            continue;
        }
        states.clear();
        let (mut execution, trace, census) =
            execute(executor, strategy, shared, schedule, &mut states);
        if execution.end == End::Halted {
            break;
        }
        shared.schedules.fetch_add(1, Ordering::Relaxed);
        shared.steps.fetch_add(execution.steps as u64, Ordering::Relaxed);
        if execution.bug.is_some() && !shared.keep_going {
            batch.end.fetch_min(schedule + 1, Ordering::AcqRel);
        }
        let outcome = Outcome {
            schedule,
            steps: execution.steps,
            values: execution.values,
            observation: execution.observation,
            complete: execution.end == End::Complete,
            redundant: execution.end == End::Redundant && execution.bug.is_none(),
            bug: execution.bug.is_some(),
            lesson: execution.lesson.take(),
        };
        if batch.alone.is_some() {
            outcomes.push(outcome.clone());
        }
        states.push(execution.observation);
        let bug = execution.bug.take().map(|bug| {
            let cause = bug.cause();
            let raw = RawFinding {
                fair_from: execution.fair_from,
                notes: std::mem::take(&mut execution.notes),
                trace,
                stem: execution.lasso.as_ref().map(|lasso| lasso.stem),
                ..RawFinding::new(bug, schedule)
            };
            (cause, keep(raw, &executor.writer, shared))
        });
        let (shown, whole) = (uncommon(&mut states, shared), is_whole(schedule, shared));
        let given_inputs = execution.given_inputs;
        let notes = execution.notes;
        results.push(Ran { outcome, bug, shown, whole, notes, given_inputs, census });
    }
}

/// Runs one schedule; those numbered 1, 2, 4, 8, ... (from 1) twice, to compare the two executions. The trace is that
/// of an execution that differs from its repetition.
fn execute<P: Program>(
    executor: &mut Executor<'_, P>,
    strategy: &mut dyn Strategy,
    shared: &Shared,
    schedule: u64,
    states: &mut Vec<u64>,
) -> (Execution, Trace, Option<Box<Census>>) {
    let limits = &shared.description.limits;
    let looking = &Limits { loops: Loops::Sampled, ..*limits };
    let observations = is_whole(schedule, shared).then_some(states);
    let halt = &shared.halt;
    let instruments = Instruments { halt, recorder: None, observations };
    let (is_compared, is_counted) = (is_compared(schedule, shared), is_counted(schedule, shared));
    if !is_compared && !is_counted {
        let execution = executor.execute(schedule, strategy, looking, instruments);
        return (execution, Trace::default(), None);
    }
    let recorder = Recorder::to_compare();
    let mut first = executor.record(recorder, schedule, strategy, looking, instruments);
    let census = is_counted.then(|| {
        let mut census = Box::new(executor.anatomy());
        census.add(&Census::of(&first.trace));
        census
    });
    // Confirmation repeats a bug in any case.
    if is_compared && first.execution.bug.is_none() && first.execution.end != End::Halted {
        let fair_from = first.execution.fair_from;
        let replay = ReplayStrategy::new(&first.choices, Strictness::Exact, fair_from);
        let replay = replay.comparing(&first.enabled);
        let instruments = Instruments { halt, recorder: None, observations: None };
        let again = executor.follow(Recorder::to_compare(), schedule, replay, limits, instruments);
        if again.recording.execution.end == End::Halted {
            first.execution.end = End::Halted;
        } else if let Some(left) = difference(&first, &again) {
            first.execution.bug = Some(uncontrolled(schedule, &left));
            // The choice log holds the second execution; the finding is about the first.
            executor.writer.rewind(schedule);
            first.choices.iter().for_each(|&choice| executor.writer.write(choice));
            return (first.execution, first.trace, census);
        }
    }
    (first.execution, Trace::default(), census)
}

/// Whether a schedule is run twice, to compare the two executions.
fn is_compared(schedule: u64, shared: &Shared) -> bool {
    shared.repeat_check && (schedule + 1).is_power_of_two()
}

/// Whether what machines do in a schedule is counted: in the first one, and in others that a hash scatters, of which
/// there are more at the beginning: a short run shows something of a program, too.
fn is_counted(schedule: u64, shared: &Shared) -> bool {
    const OFTEN: u64 = 16;
    let every = match shared.census_every {
        every if schedule < OFTEN.saturating_mul(every) => every.div_ceil(OFTEN),
        every => every,
    };
    every > 0 && (schedule == 0 || fingerprint::mix(schedule, 1).is_multiple_of(every))
}

/// Tells the sink of a bug, unless its cause is known from an earlier schedule.
pub(crate) fn keep(
    mut raw: RawFinding,
    writer: &ChoiceWriter,
    shared: &Shared,
) -> Option<Box<RawFinding>> {
    {
        let mut first = shared.first.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.full.load(Ordering::Relaxed) {
            return None;
        }
        let lowest = first.entry(raw.bug.cause()).or_insert(u64::MAX);
        if *lowest < raw.schedule {
            return None;
        }
        *lowest = raw.schedule;
    }
    raw.choices = writer.choices();
    shared.sink.found(&raw.finding(&shared.description));
    Some(Box::new(raw))
}

/// Whether all states of a schedule are observed. A hash scatters these schedules, so that they are
/// not all alike under a strategy that repeats itself with some period.
fn is_whole(schedule: u64, shared: &Shared) -> bool {
    let every = shared.observe_every;
    every > 0 && fingerprint::mix(schedule, 0).is_multiple_of(every)
}

/// The observations of a schedule, without those that several schedules have shown before.
fn uncommon(states: &mut Vec<u64>, shared: &Shared) -> Vec<u64> {
    states.sort_unstable();
    states.dedup();
    let known = shared.sightings.read().unwrap_or_else(PoisonError::into_inner);
    states.iter().copied().filter(|&observation| !known.is_common(observation)).collect()
}

fn confirm_and_shrink<P: Program>(
    executor: &mut Executor<'_, P>,
    raw: &RawFinding,
    deadline: Option<Deadline>,
    shared: &Shared,
    supervised: &Supervised<BatchCommand, BatchMessage>,
) -> Finding {
    let description = &shared.description;
    if raw.bug.kind() == BugKind::Uncontrolled {
        return raw.finding(description);
    }
    let confirmed = confirm(executor, raw, description);
    shared.sink.found(&confirmed);
    // Whether a loop is strongly fair depends on all transitions of its states. The search that
    // found it knows them; shrinking sees single executions only.
    if raw.searched && description.limits.fairness == Fairness::Strong {
        return confirmed;
    }
    let Some(steps) = shared.shrink_steps else { return confirmed };
    supervised.tell(BatchMessage::Confirmed(Box::new(confirmed.clone())));
    let budget = Budget { steps, deadline, stop: &shared.stop_shrinking };
    let mut shrunk = smaller(executor, &confirmed, description, budget);
    nearest(executor, &mut shrunk, description, budget);
    // A long trace takes long to write, and this one was written already.
    if !(budget.is_over() && shrunk.schedule == confirmed.schedule) {
        shared.sink.found(&shrunk);
    }
    shrunk
}
