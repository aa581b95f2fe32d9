//! What can go wrong, and when two bugs are the same.

mod cause;
mod problem;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::cause::Cause;
pub use self::problem::{
    Endless, Holder, Named, Object, Origin, Phase, Place, PlaceOf, Problem, ProcessEnd,
    Uncontrolled, Unhandled, Unwound, Violation, Wait, Waiting,
};
use crate::words::count;
use crate::worker::WorkerId;

/// Something that went wrong in an execution: data, of which `dally-report` makes sentences.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bug {
    /// What went wrong.
    #[serde(flatten)]
    pub problem: Box<Problem>,
    /// The name of the worker or monitor at fault, such as `Participant`, without its id.
    pub culprit: Option<String>,
    /// The state that it was in, if it has states and that is known.
    pub state: Option<String>,
    /// The worker in whose step it showed.
    pub worker: Option<WorkerId>,
    /// Where in the user's source, if that is known.
    pub location: Option<Location>,
}

/// The kinds of bug.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BugKind {
    /// A panic or a failed assertion of the program.
    Panic,
    /// A failed assertion, or an operation that is an error in the program's own language, such as a
    /// division by zero.
    Assertion,
    /// An event reached a machine in a state that has no handler for it.
    UnhandledEvent,
    /// No worker can step, and some still wait.
    Deadlock,
    /// A monitor's assertion failed.
    Monitor,
    /// The execution ended while a monitor was hot.
    HotAtEnd,
    /// An execution can go round in a fair cycle for ever, and what a monitor waits for does not
    /// happen in it.
    Livelock,
    /// A monitor stayed hot for longer than the temperature bound under a fair strategy.
    Temperature,
    /// The execution reached the step bound, and the user asked for that to be a bug.
    StepBound,
    /// One step went on and on: without end, or blocking its thread.
    EndlessStep,
    /// More tasks stand before an operation at the same time than the system has stacks for.
    OutOfStacks,
    /// The program ended the process.
    ProcessEnd,
    /// The program behaved differently when the same choices were made again.
    #[serde(rename = "uncontrolled-nondeterminism")]
    Uncontrolled,
    /// The test expects a failure, and no schedule failed.
    NoFailure,
}

impl BugKind {
    /// All kinds, in the order in which documents list them.
    pub const ALL: [BugKind; 14] = [
        BugKind::Panic,
        BugKind::Assertion,
        BugKind::UnhandledEvent,
        BugKind::Deadlock,
        BugKind::Monitor,
        BugKind::HotAtEnd,
        BugKind::Livelock,
        BugKind::Temperature,
        BugKind::StepBound,
        BugKind::EndlessStep,
        BugKind::OutOfStacks,
        BugKind::ProcessEnd,
        BugKind::Uncontrolled,
        BugKind::NoFailure,
    ];

    /// The stable name used in files, JSON and options.
    pub fn name(self) -> &'static str {
        match self {
            BugKind::Panic => "panic",
            BugKind::Assertion => "assertion",
            BugKind::UnhandledEvent => "unhandled-event",
            BugKind::Deadlock => "deadlock",
            BugKind::Monitor => "monitor",
            BugKind::HotAtEnd => "hot-at-end",
            BugKind::Livelock => "livelock",
            BugKind::Temperature => "temperature",
            BugKind::StepBound => "step-bound",
            BugKind::EndlessStep => "endless-step",
            BugKind::OutOfStacks => "out-of-stacks",
            BugKind::ProcessEnd => "process-end",
            BugKind::Uncontrolled => "uncontrolled-nondeterminism",
            BugKind::NoFailure => "no-failure",
        }
    }

    /// The kind with this [`name`](BugKind::name).
    pub fn from_name(name: &str) -> Option<BugKind> {
        BugKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for BugKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A place in the user's source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Location {
    /// The file as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl From<&std::panic::Location<'_>> for Location {
    fn from(at: &std::panic::Location<'_>) -> Location {
        Location { file: at.file().to_owned(), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Bug {
    /// A bug of which nothing but this is known.
    pub fn new(problem: Problem) -> Bug {
        let problem = Box::new(problem);
        Bug { problem, culprit: None, state: None, worker: None, location: None }
    }

    /// A panic with this message.
    pub fn panic(message: impl Into<String>) -> Bug {
        Bug::new(Problem::panic(message))
    }

    /// The same bug at this place.
    #[must_use]
    pub fn at(self, location: Option<Location>) -> Bug {
        Bug { location, ..self }
    }

    /// The same bug, the fault of this worker or monitor.
    #[must_use]
    pub fn by(self, culprit: impl Into<String>) -> Bug {
        Bug { culprit: Some(culprit.into()), ..self }
    }

    /// The same bug, the culprit being in this state.
    #[must_use]
    pub fn in_state(self, state: impl Into<String>) -> Bug {
        Bug { state: Some(state.into()), ..self }
    }

    /// The same bug in a step of this worker, unless it is known to be in that of another.
    #[must_use]
    pub fn in_step_of(self, worker: WorkerId) -> Bug {
        Bug { worker: self.worker.or(Some(worker)), ..self }
    }

    /// Its kind.
    pub fn kind(&self) -> BugKind {
        self.problem.kind()
    }

    /// The program's own message, of a panic or an assertion; empty for what Dally has noticed.
    pub fn message(&self) -> &str {
        match &*self.problem {
            Problem::Panic { message, .. }
            | Problem::Assertion { message }
            | Problem::Monitor(Violation::Assertion { message }) => message,
            _ => "",
        }
    }

    /// What a schedule keeps of it.
    pub fn record(&self) -> BugRecord {
        let mut text = self.gist();
        if let Some(culprit) = &self.culprit {
            text += &format!(" ({culprit})");
        }
        if let Some(location) = &self.location {
            text += &format!(" at {location}");
        }
        BugRecord { kind: self.kind(), cause: self.cause(), text }
    }

    /// What happened, in a few words on one line.
    fn gist(&self) -> String {
        let state = self.state.as_ref().map_or(String::new(), |state| format!("in state {state}"));
        match &*self.problem {
            Problem::Panic { .. }
            | Problem::Assertion { .. }
            | Problem::Monitor(Violation::Assertion { .. }) => {
                self.message().lines().next().unwrap_or("").to_owned()
            }
            Problem::UnhandledEvent(Unhandled { event, origin, .. })
            | Problem::Monitor(Violation::UnhandledEvent(Unhandled { event, origin, .. })) => {
                let from = match origin {
                    Origin::Sent(sender) if sender.worker == WorkerId::OUTSIDE => {
                        " from outside".to_owned()
                    }
                    Origin::Sent(sender) => format!(" from {}({})", sender.name, sender.worker),
                    _ => String::new(),
                };
                format!("event {event}{from} {state}")
            }
            Problem::Monitor(Violation::Always { proposition }) => {
                format!("`{proposition}` does not hold")
            }
            Problem::Deadlock { waiting } => count(waiting.len() as u64, "waiting worker"),
            Problem::HotAtEnd => state,
            Problem::Livelock { states, length, .. } => {
                format!("a loop of length {length} in state {}", states.join(", "))
            }
            Problem::Temperature { bound } => {
                format!("more than {} {state}", count(*bound as u64, "step"))
            }
            Problem::StepBound { bound } => count(*bound as u64, "step"),
            Problem::EndlessStep(endless) => match endless {
                Endless::Items { items: n } => count((*n).into(), "value and event"),
                Endless::Time { limit, .. } => format!("more than {limit:?}"),
                Endless::Transitions { transitions: n, .. } => count(*n as u64, "transition"),
                Endless::Effects { effects: n } => count(*n as u64, "effect"),
                Endless::Calls { function, .. } => format!("calls of `{function}`"),
                Endless::Repeats => format!("comes back {state}"),
                Endless::Start => "at the start".to_owned(),
            },
            Problem::OutOfStacks { stacks } => count(*stacks as u64, "stack"),
            Problem::ProcessEnd { by: ProcessEnd::Exit, .. } => "by `exit`".to_owned(),
            Problem::ProcessEnd { by: ProcessEnd::Abort, .. } => "by an abort".to_owned(),
            Problem::Uncontrolled(uncontrolled) => match uncontrolled {
                Uncontrolled::Schedule { difference, .. }
                | Uncontrolled::Prefix { difference }
                | Uncontrolled::Handler { difference } => difference.clone(),
                Uncontrolled::State => "one state, different steps".to_owned(),
                Uncontrolled::Fork => "a step of what cannot be copied".to_owned(),
                Uncontrolled::NotEnabled => "a step of a worker that cannot step".to_owned(),
                Uncontrolled::Woken => "a task woken by another thread".to_owned(),
            },
            Problem::NoFailure { expected } => format!("`{expected}` expected"),
        }
    }
}

/// One line: kind, what happened in a few words, culprit and location.
impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record().fmt(f)
    }
}

/// What a schedule keeps of the bug that it was recorded with: replays are judged by its kind and
/// cause, and its text tells people what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BugRecord {
    /// Its kind.
    pub kind: BugKind,
    /// What identifies it among others.
    pub cause: Cause,
    /// What happened, by whose fault and where, in one line.
    pub text: String,
}

impl fmt::Display for BugRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.text)
    }
}
