//! Steps that do not come back, and threads that run schedules.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use dally_core::{Bug, BugKind, Choice};

use crate::choice_log::{Activity, ChoiceLog, ChoiceWriter};
use crate::deadline::Stopwatch;

/// Programs under test recurse as they do in production, and panics unwind on top of that.
const STACK: usize = 16 << 20;

/// Starts a thread that runs schedules of `program`.
pub(crate) fn spawn(program: &str, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
    // An interior NUL is the one thing a thread's name cannot have.
    let name = format!("dally {}", program.replace('\0', ""));
    thread::Builder::new().name(name).stack_size(STACK).spawn(job).map(drop)
}

/// Looks at a choice_log from time to time.
pub(crate) struct Watch {
    choice_log: Arc<ChoiceLog>,
    seen: (u64, usize, Activity),
    since: Stopwatch,
}

impl Watch {
    pub(crate) fn new(choice_log: Arc<ChoiceLog>) -> Watch {
        Watch { seen: choice_log.pulse(), choice_log, since: Stopwatch::start() }
    }

    pub(crate) fn choice_log(&self) -> &ChoiceLog {
        &self.choice_log
    }

    /// Whether the thread has been inside the program's code for this long without a move.
    pub(crate) fn is_stuck(&mut self, limit: Duration) -> bool {
        let now = self.choice_log.pulse();
        if now != self.seen || now.2 == Activity::Nothing {
            self.seen = now;
            self.since = Stopwatch::start();
            return false;
        }
        self.since.is_past(limit)
    }
}

/// How often to look, if `limit` is how long a step may take.
pub(crate) fn tick(limit: Duration) -> Duration {
    (limit / 4).clamp(Duration::from_millis(1), Duration::from_millis(50))
}

/// The bug of a step that did not come back within `limit`.
pub(crate) fn stuck(doing: Activity, choices: &[Choice], limit: Duration) -> Bug {
    let what = match (doing, last_step(choices)) {
        (Activity::Stepping, Some((step, worker))) => format!("step {step}, of worker {worker},"),
        (Activity::Ending, _) => "the end of the execution, where values are dropped,".to_owned(),
        _ => "the start of the program".to_owned(),
    };
    let message = format!(
        "{what} has not come back after {limit:?}: it blocks its thread or loops, and code under \
         test must wait through Dally's own operations"
    );
    Bug::new(BugKind::EndlessStep, message)
}

fn last_step(choices: &[Choice]) -> Option<(usize, dally_core::WorkerId)> {
    let workers = choices.iter().filter_map(|choice| match choice {
        Choice::Worker(worker) => Some(*worker),
        _ => None,
    });
    workers.enumerate().last().map(|(index, worker)| (index + 1, worker))
}

/// Why a job gave no result.
pub(crate) enum Lost {
    /// It is stuck in the program's code; its thread was left behind.
    Stuck(Activity, Vec<Choice>),
    /// It never ran, or its thread died.
    Failed(String),
}

/// Runs a job that executes code of the program on a thread of its own, under watch.
pub(crate) fn watched<T: Send + 'static>(
    program: &str,
    step_time: Duration,
    job: impl FnOnce(&mut ChoiceWriter) -> T + Send + 'static,
) -> Result<T, Lost> {
    let mut writer = ChoiceWriter::new();
    let mut watch = Watch::new(writer.choice_log().clone());
    let (sender, receiver) = mpsc::sync_channel(1);
    let started = spawn(program, move || {
        let result = job(&mut writer);
        // Nobody listens any more if the watchdog has given up.
        let _ = sender.send(result);
    });
    if let Err(error) = started {
        return Err(Lost::Failed(format!("no thread could be started to run it: {error}")));
    }
    loop {
        match receiver.recv_timeout(tick(step_time)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Lost::Failed("the thread that ran it died".into()));
            }
            Err(RecvTimeoutError::Timeout) if watch.is_stuck(step_time) => {
                return Err(Lost::Stuck(watch.choice_log().doing(), watch.choice_log().choices()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
