//! Supervision of threads that run code of the program under test.
//!
//! Each thread answers commands and writes its choices into a log of its own. The supervisor leaves
//! a thread behind that is stuck: inside the program's code for too long without a new choice.
//!
//! Commands and answers are passed in boxes, so that all of this is compiled once and not for each program under
//! test and each kind of answer; `typed.rs` gives them their types.

mod typed;

use std::any::Any;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use dally_core::bug::{Endless, Phase, ProcessEnd};
use dally_core::{Bug, Choice, Problem, Stop, WorkerId, panics};

use crate::choice_log::{Activity, ChoiceLog, ChoiceWriter};
use crate::deadline::Stopwatch;
use crate::process_end;

pub(crate) use self::typed::{Supervised, Supervisor};

/// Programs under test recurse as in production, and panics unwind on top of that.
const STACK: usize = 16 << 20;

/// How long threads may take to stop after they were told to.
const GRACE: Duration = Duration::from_secs(2);

/// A command or an answer.
type Parcel = Box<dyn Any + Send>;

/// What a thread does.
type Work = Box<dyn FnOnce(ChoiceWriter, Wire) + Send>;

/// Threads that take commands and answer, seen by their supervisor.
struct Threads {
    program: String,
    step_time: Duration,
    on_abort: Option<OnAbort>,
    threads: Vec<Thread>,
    started: usize,
    messages: Receiver<(usize, Message)>,
    /// Cloned for threads that are started later.
    sender: Sender<(usize, Message)>,
    _running: process_end::Running,
}

/// Called with a bug after which the process ends, and with the choices that led to it.
pub(crate) type OnAbort = Arc<dyn Fn(Bug, &ChoiceLog) + Send + Sync>;

struct Thread {
    number: usize,
    commands: Sender<Parcel>,
    /// The thread has a command that it has not answered.
    busy: bool,
    choice_log: Arc<ChoiceLog>,
    /// The last heartbeat of the log; `since` says when it changed.
    seen: (u64, usize, Activity),
    since: Stopwatch,
}

impl Thread {
    fn is_stuck(&mut self, limit: Duration) -> bool {
        let now = self.choice_log.heartbeat();
        if now != self.seen || now.2 == Activity::Nothing {
            (self.seen, self.since) = (now, Stopwatch::start());
            return false;
        }
        self.busy && self.since.is_past(limit)
    }
}

/// The side of a supervisor that a thread sees.
struct Wire {
    number: usize,
    commands: Receiver<Parcel>,
    messages: Sender<(usize, Message)>,
}

enum Message {
    Answer(Parcel),
    /// An answer before the command is done.
    Interim(Parcel),
    /// The thread has ended, by a panic if there is one.
    Ended(Option<Box<Bug>>),
}

pub(crate) enum Notice<A> {
    /// The thread of this number has answered.
    Answer(usize, A),
    /// A thread has panicked, or has ended without an answer, and is gone.
    Died(Option<Box<Bug>>),
    /// A thread is stuck in the program's code and was left behind; this is its log.
    Stuck(Arc<ChoiceLog>),
    /// A thread did not stop in time after it was told to, and was left behind.
    LeftBehind,
    Tick,
}

/// Which busy threads are left behind if they do not stop when they are told to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LeaveBehind {
    Busy,
    /// Those inside the program's code: the others calculate and come to an end.
    InsideProgram,
}

impl Threads {
    fn new(program: &str, step_time: Duration, on_abort: Option<OnAbort>) -> Threads {
        // The name of a thread must not have an interior NUL.
        let program = format!("dally {}", program.replace('\0', ""));
        let (sender, messages) = mpsc::channel();
        let (threads, started) = (Vec::new(), 0);
        let _running = process_end::running();
        Threads { program, step_time, on_abort, threads, started, messages, sender, _running }
    }

    /// Starts a thread, which ends when `work` returns.
    fn spawn(&mut self, work: Work) -> io::Result<()> {
        let (commands, receiver) = mpsc::channel();
        let (number, messages) = (self.started, self.sender.clone());
        let wire = Wire { number, commands: receiver, messages: messages.clone() };
        let writer = ChoiceWriter::new();
        let (log, on_abort) = (writer.choice_log().clone(), self.on_abort.clone());
        let (choice_log, seen) = (log.clone(), log.heartbeat());
        let job = move || {
            let _registered = process_end::register(last_words(log.clone(), on_abort.clone()));
            panics::before_abort(on_abort.map(|on_abort| -> panics::Save {
                Box::new(move |bug| {
                    process_end::all_is_said();
                    on_abort(bug, &log);
                })
            }));
            let panic = match panics::catch(|| work(writer, wire)) {
                Err(Stop::Bug(bug)) => Some(bug),
                Ok(()) | Err(Stop::Cut) => None,
            };
            panics::before_abort(None);
            // A supervisor that is gone has left the thread behind.
            let _ = messages.send((number, Message::Ended(panic)));
        };
        let thread = thread::Builder::new().name(self.program.clone()).stack_size(STACK);
        choice_log.is_of(thread.spawn(job)?.thread().id());
        let since = Stopwatch::start();
        self.threads.push(Thread { number, commands, busy: false, choice_log, seen, since });
        self.started += 1;
        Ok(())
    }

    /// Gives the first thread a command; `false` if there is no thread or it is gone.
    fn command_first(&mut self, command: Parcel) -> bool {
        let Some(thread) = self.threads.first_mut() else { return false };
        thread.busy = thread.commands.send(command).is_ok();
        thread.busy
    }

    /// Gives each thread the command for its place among the threads.
    fn command_all(&mut self, command: &mut dyn FnMut(usize) -> Parcel) {
        for (place, thread) in self.threads.iter_mut().enumerate() {
            thread.busy = thread.commands.send(command(place)).is_ok();
        }
    }

    /// Waits until every thread has answered or is gone. Threads are to stop when `halt` is set.
    fn wait(
        &mut self,
        halt: Option<(&AtomicBool, LeaveBehind)>,
        notice: &mut dyn FnMut(Notice<Parcel>),
    ) {
        let mut halted: Option<Stopwatch> = None;
        let step_time = self.step_time;
        while self.threads.iter().any(|thread| thread.busy) {
            if let Ok((number, message)) = self.messages.recv_timeout(tick(step_time)) {
                if let Some(heard) = self.hear(number, message) {
                    notice(heard);
                }
                continue;
            }
            notice(Notice::Tick);
            for thread in self.threads.extract_if(.., |thread| thread.is_stuck(step_time)) {
                notice(Notice::Stuck(thread.choice_log));
            }
            let Some((halt, leave)) = halt else { continue };
            if halt.load(Ordering::Relaxed)
                && halted.get_or_insert_with(Stopwatch::start).is_past(GRACE)
            {
                let is_late = |thread: &mut Thread| {
                    let inside = thread.choice_log.doing() != Activity::Nothing;
                    thread.busy && (inside || leave == LeaveBehind::Busy)
                };
                for _ in self.threads.extract_if(.., is_late) {
                    notice(Notice::LeftBehind);
                }
            }
        }
    }

    /// Has the first thread answer within this time, or leaves it behind.
    fn ask_first(&mut self, command: Parcel, limit: Duration) -> Option<Parcel> {
        if !self.command_first(command) {
            return None;
        }
        let clock = Stopwatch::start();
        while self.threads.first().is_some_and(|thread| thread.busy) {
            let left = limit.saturating_sub(clock.elapsed());
            let Ok((number, message)) = self.messages.recv_timeout(left) else {
                self.threads.remove(0);
                break;
            };
            if let Some(Notice::Answer(_, answer)) = self.hear(number, message) {
                return Some(answer);
            }
        }
        None
    }

    /// Takes a message of a thread that has not been left behind.
    fn hear(&mut self, number: usize, message: Message) -> Option<Notice<Parcel>> {
        let place = self.threads.iter().position(|thread| thread.number == number)?;
        match message {
            Message::Interim(answer) => Some(Notice::Answer(number, answer)),
            Message::Answer(answer) => {
                self.threads[place].busy = false;
                Some(Notice::Answer(number, answer))
            }
            Message::Ended(panic) => {
                let busy = self.threads.remove(place).busy;
                (busy || panic.is_some()).then_some(Notice::Died(panic))
            }
        }
    }

    /// Has the threads end and drop their last executions, and waits for them for a while.
    fn finish(self) {
        let Threads { threads, messages, .. } = self;
        let mut left = threads.len();
        drop(threads);
        while left > 0
            && let Ok((_, message)) = messages.recv_timeout(GRACE)
        {
            left -= usize::from(matches!(message, Message::Ended(_)));
        }
    }
}

/// How often to check on threads whose steps may take `limit`.
fn tick(limit: Duration) -> Duration {
    (limit / 4).clamp(Duration::from_millis(1), Duration::from_millis(50))
}

/// The bug of a step that did not come back within `limit`, and the choices that led to it.
pub(crate) fn stuck(log: &ChoiceLog, limit: Duration) -> (Bug, Vec<Choice>) {
    let choices = log.choices();
    let (phase, worker) = part(log.doing(), &choices);
    let call = log.blocked_in();
    let location = call.as_ref().and_then(|call| call.location.clone());
    let problem = Problem::EndlessStep(Endless::Time { limit, phase, call, holder: None });
    (Bug { worker, location, ..Bug::new(problem) }, choices)
}

/// The part of the execution that a thread is in, and whose step that is.
fn part(doing: Activity, choices: &[Choice]) -> (Phase, Option<WorkerId>) {
    match (doing, last_step(choices)) {
        (Activity::Stepping, Some((step, worker))) => (Phase::Step(step), Some(worker)),
        (Activity::Ending, _) => (Phase::End, None),
        _ => (Phase::Start, None),
    }
}

/// Saves the bug when the thread that writes this log ends the process.
fn last_words(log: Arc<ChoiceLog>, save: Option<OnAbort>) -> process_end::LastWords {
    Arc::new(move |by| {
        let doing = log.doing();
        if doing == Activity::Nothing {
            return false;
        }
        let (phase, worker) = part(doing, &log.choices());
        let bug = Bug { worker, ..Bug::new(Problem::ProcessEnd { by, phase }) };
        match (&save, by) {
            (Some(save), _) => save(bug, &log),
            (None, ProcessEnd::Exit) => {
                // A schedule that is run again was saved before.
                let text = format!("\nerror: the program under test ended the process: {bug}\n");
                let _ = io::stderr().write_all(text.as_bytes());
            }
            (None, _) => {}
        }
        true
    })
}

/// The last step of a worker among these choices, counted from 1.
pub(crate) fn last_step(choices: &[Choice]) -> Option<(usize, WorkerId)> {
    let workers = choices.iter().filter_map(|choice| match choice {
        Choice::Worker(worker) => Some(*worker),
        _ => None,
    });
    workers.enumerate().last().map(|(index, worker)| (index + 1, worker))
}

/// Why a job gave no result.
pub(crate) enum Lost {
    /// It is stuck in the program's code, after these choices; its thread was left behind.
    Stuck(Box<Bug>, Vec<Choice>),
    /// It never ran, or its thread died.
    Failed(String),
}

/// Runs a job, which executes code of the program, on a supervised thread of its own.
pub(crate) fn watched<T: Send + 'static>(
    program: &str,
    step_time: Duration,
    job: impl FnOnce(ChoiceWriter) -> T + Send + 'static,
) -> Result<T, Lost> {
    let mut supervisor: Supervisor<(), T> = Supervisor::new(program, step_time, None);
    let started = supervisor.spawn(|writer, supervised| {
        if supervised.command().is_some() {
            supervised.answer(job(writer));
        }
    });
    if let Err(error) = started {
        return Err(Lost::Failed(format!("no thread could be started to run it: {error}")));
    }
    supervisor.command_first(());
    let mut result = Err(Lost::Failed("the thread that ran it died".into()));
    supervisor.wait(None, |notice| match notice {
        Notice::Answer(_, answer) => result = Ok(answer),
        Notice::Stuck(log) => {
            let (bug, choices) = stuck(&log, step_time);
            result = Err(Lost::Stuck(Box::new(bug), choices));
        }
        Notice::Died(_) | Notice::LeftBehind | Notice::Tick => {}
    });
    result
}

#[cfg(test)]
mod tests;
