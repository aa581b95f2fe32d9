//! What a bug consists of, kind by kind: data that texts, JSON and comparisons are made from.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BugKind, Location};
use crate::foreign::Call;
use crate::worker::WorkerId;

/// What went wrong. Only what the program itself says is text here: messages and names.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Problem {
    /// A panic or a failed assertion of the program.
    Panic {
        /// In the words of the code that panicked.
        message: String,
        /// Whether it panicked in a destructor, while the execution was torn down.
        #[serde(default)]
        at_tear_down: bool,
        /// The panics of destructors that ran because of it: Rust aborts the process then.
        #[serde(default)]
        then: Vec<Unwound>,
    },
    /// An assertion failed, or an operation is an error in the program's own language.
    Assertion {
        /// In the words of the program, or of its language.
        message: String,
    },
    /// An event reached a machine in a state that has no handler for it.
    UnhandledEvent(Unhandled),
    /// No worker can step, and these wait.
    Deadlock {
        /// Each of them, sorted by id.
        waiting: Vec<Waiting>,
    },
    /// A monitor is violated.
    Monitor(Violation),
    /// The execution ended while a monitor was hot.
    HotAtEnd,
    /// An execution can go round in a fair cycle for ever.
    Livelock {
        /// The states of the monitor that it must not stay in or come to, sorted, each once.
        states: Vec<String>,
        /// Whether the monitor comes to these states too often; otherwise it waits in them.
        visits: bool,
        /// The steps of the loop.
        length: usize,
    },
    /// A monitor stayed hot for longer than the temperature bound under a fair strategy.
    Temperature {
        /// The bound in steps.
        bound: usize,
    },
    /// The execution reached the step bound.
    StepBound {
        /// The bound.
        bound: usize,
    },
    /// One step went on and on.
    EndlessStep(Endless),
    /// A task could not be suspended: the system gave no more memory for stacks.
    OutOfStacks {
        /// How many tasks had one at the time.
        stacks: usize,
    },
    /// The program ended the process.
    ProcessEnd {
        /// By what.
        by: ProcessEnd,
        /// Where in the execution.
        phase: Phase,
    },
    /// The program behaved differently when the same choices were made again.
    #[serde(rename = "uncontrolled-nondeterminism")]
    Uncontrolled(Uncontrolled),
    /// The test expects a failure, and no schedule failed.
    NoFailure {
        /// The kind of bug that it expects, or a part of its text.
        expected: String,
    },
}

impl Problem {
    /// A panic with this message, in the middle of an execution.
    pub fn panic(message: impl Into<String>) -> Problem {
        Problem::Panic { message: message.into(), at_tear_down: false, then: Vec::new() }
    }

    /// Which kind it is.
    pub fn kind(&self) -> BugKind {
        match self {
            Problem::Panic { .. } => BugKind::Panic,
            Problem::Assertion { .. } => BugKind::Assertion,
            Problem::UnhandledEvent(_) => BugKind::UnhandledEvent,
            Problem::Deadlock { .. } => BugKind::Deadlock,
            Problem::Monitor(_) => BugKind::Monitor,
            Problem::HotAtEnd => BugKind::HotAtEnd,
            Problem::Livelock { .. } => BugKind::Livelock,
            Problem::Temperature { .. } => BugKind::Temperature,
            Problem::StepBound { .. } => BugKind::StepBound,
            Problem::EndlessStep(_) => BugKind::EndlessStep,
            Problem::OutOfStacks { .. } => BugKind::OutOfStacks,
            Problem::ProcessEnd { .. } => BugKind::ProcessEnd,
            Problem::Uncontrolled(_) => BugKind::Uncontrolled,
            Problem::NoFailure { .. } => BugKind::NoFailure,
        }
    }
}

/// A panic of a destructor that ran because of another panic.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unwound {
    /// Its message.
    pub message: String,
    /// Where, if that is known.
    pub location: Option<Location>,
}

/// An event without a handler.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unhandled {
    /// The event by its name.
    pub event: String,
    /// How it came there.
    pub origin: Origin,
    /// Where the state is declared, for languages that have such a place.
    pub declared: Option<Location>,
}

/// Where an event came from.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Origin {
    /// That is not known.
    Unknown,
    /// The machine raised it itself.
    Raised,
    /// The machine sent it to itself.
    Itself,
    /// Another worker sent it.
    Sent(Named),
    /// It was announced, to a monitor.
    Announced,
}

/// A worker with its name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// Its id.
    pub worker: WorkerId,
    /// What it is, such as `Participant`.
    pub name: String,
}

/// How a monitor is violated.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "violation", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Violation {
    /// It panicked, or an assertion of it failed.
    Assertion {
        /// In its own words.
        message: String,
    },
    /// A proposition that should always hold does not.
    Always {
        /// The proposition by its name.
        proposition: String,
    },
    /// It was told of an event that its state has no handler for.
    UnhandledEvent(Unhandled),
}

/// A worker that waits.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waiting {
    /// Who.
    pub worker: WorkerId,
    /// What it is.
    pub name: String,
    /// What it waits to do, any of which lets it go on. Empty where Dally does not know.
    pub on: Vec<Wait>,
    /// Whether a thread that Dally does not control has woken a worker meanwhile.
    #[serde(default)]
    pub woken_outside: bool,
}

/// Something that a worker waits to do.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wait {
    /// What it would do, such as `lock` or `receive`.
    pub operation: String,
    /// What it would move: the types of messages, or the names of events, of which any will do.
    #[serde(default)]
    pub payload: Vec<String>,
    /// With what it would do it, if that is one thing.
    #[serde(default)]
    pub object: Option<Object>,
    /// A place in the source by which people know it.
    #[serde(default)]
    pub place: Option<Place>,
}

/// Something that workers share.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Object {
    /// What it is, such as `mutex`.
    pub kind: String,
    /// Which one of them, such as `0.1#2`; empty if there is only one.
    pub id: String,
}

/// A place in the source, and what is there.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// What is there.
    pub of: PlaceOf,
    /// Where it is.
    pub location: Location,
}

/// What is at a [`Place`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PlaceOf {
    /// The operation itself.
    Operation,
    /// The object was made there.
    Creation,
    /// The task was spawned there.
    Spawn,
}

/// A worker that holds what another waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Holder {
    /// Its id.
    pub worker: WorkerId,
    /// Its name, and where it stands.
    pub standing: String,
}

/// How a step goes on without end.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "endless", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Endless {
    /// It chooses values or does things that count as events.
    Items {
        /// So many of them up to now.
        items: u32,
    },
    /// It has not come back after some time: it blocks its thread or loops.
    Time {
        /// The time that a step may take, in seconds.
        #[serde(with = "crate::report::seconds")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        limit: Duration,
        /// What goes on for so long.
        phase: Phase,
        /// The call that blocks the thread, if one was seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Call>,
        /// Who holds what the call waits for, if that was found out: without this worker it comes back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<Holder>,
    },
    /// A machine raises events or changes its state again and again.
    Transitions {
        /// So many of them on one event.
        transitions: usize,
        /// Whether it is a monitor that does.
        monitor: bool,
    },
    /// A handler sends, creates or sets timers again and again.
    Effects {
        /// So many of them.
        effects: usize,
    },
    /// A function calls itself.
    Calls {
        /// The function.
        function: String,
        /// So many calls deep.
        depth: usize,
    },
    /// It comes back to a state that it was in, and nothing was chosen on the way.
    Repeats,
    /// A monitor goes on and on in its first state.
    Start,
}

/// A part of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Phase {
    /// The program starts.
    Start,
    /// This step is taken, counted from 1.
    Step(usize),
    /// The execution is over and its values are dropped.
    End,
}

/// How a program ends the process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProcessEnd {
    /// It calls `exit`.
    Exit,
    /// It aborts: by itself, or because memory could not be had or the stack was full.
    Abort,
}

/// How it shows that something decides what the program does that is no choice of the schedule.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "seen", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Uncontrolled {
    /// A schedule that was run again with the same choices did something else.
    Schedule {
        /// Its number, from 1.
        schedule: u64,
        /// The step that was the first to differ, from 1; 0 is the start.
        step: usize,
        /// What differs.
        difference: String,
    },
    /// The choices that lead to a state were made again, and the program did something else.
    Prefix {
        /// What differs.
        difference: String,
    },
    /// Two ways to what should be the same state lead to different workers that can step, or to
    /// different operations.
    State,
    /// A handler that ran twice from the same state with the same choices has different results.
    Handler {
        /// What differs.
        difference: String,
    },
    /// A machine that cannot be copied was stepped in a copy of its system.
    Fork,
    /// A worker was asked to step although it cannot.
    NotEnabled,
    /// A thread that Dally does not control has woken a task.
    Woken,
}
