//! Running a recorded schedule again.

use std::sync::Arc;
use std::time::Duration;

use dally_core::words::count;
use dally_core::{Bug, BugKind, Choice, Lasso, Program, Schedule, Trace};

use crate::executor::{End, Executor, Instruments, Limits, Recorder};
use crate::liveness::Loops;
use crate::options::Options;
use crate::record::{Followed, ended_by, limits_of};
use crate::replay_strategy::{ReplayStrategy, Strictness};
use crate::supervisor::{Lost, watched};

/// How closely a replay follows the recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Stops at the first difference.
    #[default]
    Exact,
    /// Skips impossible choices up to the end of the recording, and reports the first difference.
    BestEffort,
}

/// What came of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The bug that showed, if one did.
    pub bug: Option<Bug>,
    /// What happened.
    pub trace: Trace,
    /// The choices that were really made, with the program and settings of the recording.
    pub schedule: Schedule,
    /// Where the execution first left the recording: after its end, if its loop does not repeat.
    pub left_at: Option<Divergence>,
    /// The loop at the end of the recording, and how often it was gone round, if it is one.
    pub lasso: Option<Lasso>,
    /// What else a reader should know, a sentence each.
    pub notes: Vec<String>,
    /// What a step is in the program.
    pub granularity: &'static str,
}

/// Where an execution left a recording, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The step of a worker, from 1; 0 is the start.
    pub step: usize,
    /// What differs, for people.
    pub message: String,
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "step {}: {}", self.step, self.message)
    }
}

/// The items of a step in a replay, where more of them are no bug.
pub(crate) const LONG_STEP: u32 = 2_000_000;

/// Runs a recorded schedule on `program`, on a thread of its own. A step that does not come back
/// within `step_time` is the bug then, and its thread is left behind.
///
/// If the schedule ends with a loop, the loop is gone round `rounds` times more, and at least once.
pub fn replay<P: Program + 'static>(
    program: Arc<P>,
    schedule: &Schedule,
    mode: Mode,
    rounds: u32,
    step_time: Duration,
) -> Replayed {
    let strictness = match mode {
        Mode::Exact => Strictness::Exact,
        Mode::BestEffort => Strictness::BestEffort,
    };
    let granularity = program.granularity();
    // The bound of a run that cuts long steps is not known here, and the schedule is below it.
    let long_steps_end = program.long_steps_end_schedules();
    let step_items = if long_steps_end { LONG_STEP } else { Options::default().step_items };
    let (mut limits, fair_from) = limits_of(schedule, rounds, step_items);
    limits.long_steps_end = long_steps_end;
    if let (Loops::AtEnd { stem, .. }, Mode::BestEffort) = (&mut limits.loops, mode) {
        // Steps may be skipped, so the loop may begin elsewhere.
        *stem = None;
    }
    let attempt = |choices: &[Choice]| {
        let replay = ReplayStrategy::new(choices, strictness, fair_from);
        let (program, replay) = (program.clone(), replay.comparing(&schedule.enabled));
        watched(&schedule.program, step_time, move |writer| {
            let mut executor = Executor::new(&*program, writer);
            let instruments = Instruments::uninterrupted();
            executor.follow(Recorder::full(), 0, replay, &limits, instruments)
        })
    };
    // The result of a replay that did not come to its end.
    let replayed = |bug: Option<Bug>, trace, choices, left_at| {
        let recorded = bug.as_ref().map(Bug::record).or_else(|| schedule.bug.clone());
        let schedule = Schedule { bug: recorded, choices, enabled: Vec::new(), ..schedule.clone() };
        Replayed { bug, trace, schedule, left_at, lasso: None, notes: Vec::new(), granularity }
    };
    match attempt(&schedule.choices) {
        Ok(followed) => judged(followed, schedule, granularity),
        Err(Lost::Stuck(bug, made)) => {
            // What led to the step that blocks is replayed without that step.
            let before = attempt(before_last_step(&made));
            let (trace, left_at) = match before {
                Ok(followed) => (followed.recording.trace, followed.left_at),
                Err(_) => (Trace::default(), None),
            };
            replayed(Some(*bug), trace, made, left_at)
        }
        Err(Lost::Failed(why)) => {
            let left_at = Divergence { step: 0, message: format!("nothing was run: {why}") };
            replayed(None, Trace::default(), Vec::new(), Some(left_at))
        }
    }
}

/// Runs the first schedule of the options' strategy with a full record, whether it fails or not.
pub fn first_schedule<P: Program + 'static>(program: Arc<P>, options: Options) -> Replayed {
    let granularity = program.granularity();
    let limits = Limits::of(&options, &*program);
    let (name, step_time, settings) = (options.program, options.step_time, options.settings);
    let (mut strategy, seed) = (options.strategy, options.seed);
    let recorded = watched(&name, step_time, move |writer| {
        strategy.reseed(seed);
        strategy.begin(0);
        let instruments = Instruments::uninterrupted();
        let mut executor = Executor::new(&*program, writer);
        executor.record(Recorder::full(), 0, &mut *strategy, &limits, instruments)
    });
    let description = Schedule { program: name, settings, ..Schedule::default() };
    match recorded {
        Ok(recording) => {
            let left_at = None;
            judged(
                Followed { recording, left_at, ran_out: false, unused: 0 },
                &description,
                granularity,
            )
        }
        Err(lost) => {
            let (bug, choices, notes) = match lost {
                Lost::Stuck(bug, made) => (Some(*bug), made, Vec::new()),
                Lost::Failed(why) => (None, Vec::new(), vec![format!("nothing was run: {why}")]),
            };
            let schedule = Schedule { choices, bug: bug.as_ref().map(Bug::record), ..description };
            let trace = Trace::default();
            Replayed { bug, trace, schedule, left_at: None, lasso: None, notes, granularity }
        }
    }
}

/// Whether a schedule was recorded as one that ends in a loop.
pub fn ends_in_loop(schedule: &Schedule) -> bool {
    ended_by(schedule, BugKind::Livelock)
}

/// The choices without the last step of a worker and what was chosen inside it.
pub(crate) fn before_last_step(choices: &[Choice]) -> &[Choice] {
    let last = choices.iter().rposition(|choice| matches!(choice, Choice::Worker(_)));
    &choices[..last.unwrap_or(0)]
}

fn judged(followed: Followed, recorded: &Schedule, granularity: &'static str) -> Replayed {
    let Followed { recording, mut left_at, ran_out, unused } = followed;
    let execution = recording.execution;
    let steps = recording.trace.steps.len();
    if left_at.is_none() {
        let happened = match &execution.bug {
            Some(bug) => format!("it ends in {bug}"),
            None => "it ends without a bug".into(),
        };
        let how = match &recorded.bug {
            _ if unused > 0 => {
                let rest = count(recorded.steps().saturating_sub(steps) as u64, "step");
                Some(format!(
                    "the program ends before the recording, which goes on for {rest}: {happened}"
                ))
            }
            // The execution made the same choices to the same end; the caller compares the bugs.
            None => None,
            Some(_) if execution.bug.is_some() => None,
            Some(bug) => Some(if let Some(how) = &execution.loop_divergence {
                format!("the loop does not repeat: {how}")
            } else if ran_out && execution.end == End::Strategy {
                format!("the recording ends here with `{bug}`, and the program goes on without it")
            } else {
                format!("the recording ended in `{bug}`, now {happened}")
            }),
        };
        left_at = how.map(|message| Divergence { step: steps, message });
    }
    let schedule = Schedule {
        program: recorded.program.clone(),
        settings: recorded.settings.clone(),
        bug: execution.bug.as_ref().map(Bug::record),
        choices: recording.choices,
        enabled: recording.enabled,
        edited: false,
    };
    Replayed {
        bug: execution.bug,
        trace: recording.trace,
        schedule,
        left_at,
        lasso: execution.lasso,
        notes: execution.notes,
        granularity,
    }
}
