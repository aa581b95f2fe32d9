//! Running a recorded schedule again.

use std::sync::Arc;
use std::time::Duration;

use dally_core::words::count;
use dally_core::{Bug, BugKind, Choice, Lasso, Program, Schedule, Trace};

use crate::executor::{End, Executor, Instruments, Recorder};
use crate::liveness::Loops;
use crate::options::Options;
use crate::record::{Followed, Script, ended_by, follow, limits_of};
use crate::replay_strategy::Strictness;
use crate::supervisor::{self, Lost, watched};

/// How closely a replay follows the recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Stops at the first difference.
    #[default]
    Exact,
    /// Skips choices that are impossible, goes on to the end of the recording, and says where it
    /// left it first.
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
    /// Where the execution left the recording first, if it did: behind its end, if its loop does
    /// not repeat.
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

/// Runs a recorded schedule on `program`, on a thread of its own. A step that does not come
/// back within `step_time` is the bug then, and its thread is left behind.
///
/// If the schedule ends with a loop that can be gone round for ever, it is gone round `rounds`
/// times more, and at least once.
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
    let (mut limits, fair_from) = limits_of(schedule, rounds, Options::default().step_items);
    if let (Loops::AtEnd { stem, .. }, Mode::BestEffort) = (&mut limits.loops, mode) {
        // Steps may be skipped.
        *stem = None;
    }
    let script = |choices: &[Choice]| Script {
        choices: choices.into(),
        enabled: schedule.enabled.clone().into(),
        fair_from,
    };
    let attempt = |choices: &[Choice]| {
        let (program, script) = (program.clone(), script(choices));
        watched(&schedule.program, step_time, move |writer| {
            let (recorder, instruments) = (Recorder::default(), Instruments::uninterrupted(writer));
            follow(
                recorder,
                &mut Executor::new(&*program),
                0,
                &script,
                strictness,
                &limits,
                instruments,
            )
        })
    };
    match attempt(&schedule.choices) {
        Ok(followed) => judged(followed, schedule, granularity),
        Err(Lost::Stuck(doing, made)) => {
            // The step that blocks is known, and what led to it can be seen by stopping before.
            let before = attempt(before_last_step(&made));
            let (trace, left_at) = match before {
                Ok(followed) => (followed.recording.trace, followed.left_at),
                Err(_) => (Trace::default(), None),
            };
            let bug = supervisor::stuck(doing, &made, step_time);
            let schedule = Schedule {
                bug: Some(bug.record()),
                choices: made,
                enabled: Vec::new(),
                ..schedule.clone()
            };
            Replayed {
                bug: Some(bug),
                trace,
                schedule,
                left_at,
                lasso: None,
                notes: Vec::new(),
                granularity,
            }
        }
        Err(Lost::Failed(why)) => Replayed {
            bug: None,
            trace: Trace::default(),
            schedule: Schedule { choices: Vec::new(), enabled: Vec::new(), ..schedule.clone() },
            left_at: Some(Divergence { step: 0, message: format!("nothing was run: {why}") }),
            lasso: None,
            notes: Vec::new(),
            granularity,
        },
    }
}

/// Whether a schedule was recorded as one that ends in a loop, which a replay goes round.
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
            // The same choices to the same end; the caller compares the bugs.
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
