//! What can go wrong, and when two bugs are the same.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fingerprint;

/// Something that went wrong in an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bug {
    /// What kind of thing.
    pub kind: BugKind,
    /// What happened, in a sentence for people; may have several lines.
    pub message: String,
    /// Where in the user's source, if that is known.
    pub location: Option<Location>,
    /// The name of the worker or monitor at fault, such as `Participant`, without its id.
    pub culprit: Option<String>,
}

/// The kinds of bug.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BugKind {
    /// A panic or a failed assertion of the program.
    Panic,
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
    /// The program behaved differently when the same choices were made again.
    #[serde(rename = "uncontrolled-nondeterminism")]
    Uncontrolled,
    /// The test expects a failure, and no schedule failed.
    NoFailure,
}

impl BugKind {
    /// All kinds, in the order in which documents list them.
    pub const ALL: [BugKind; 11] = [
        BugKind::Panic,
        BugKind::UnhandledEvent,
        BugKind::Deadlock,
        BugKind::Monitor,
        BugKind::HotAtEnd,
        BugKind::Livelock,
        BugKind::Temperature,
        BugKind::StepBound,
        BugKind::EndlessStep,
        BugKind::Uncontrolled,
        BugKind::NoFailure,
    ];

    /// The stable name used in files, JSON and options.
    pub fn name(self) -> &'static str {
        match self {
            BugKind::Panic => "panic",
            BugKind::UnhandledEvent => "unhandled-event",
            BugKind::Deadlock => "deadlock",
            BugKind::Monitor => "monitor",
            BugKind::HotAtEnd => "hot-at-end",
            BugKind::Livelock => "livelock",
            BugKind::Temperature => "temperature",
            BugKind::StepBound => "step-bound",
            BugKind::EndlessStep => "endless-step",
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

/// What makes two bugs the same: equal causes are one group of findings, and shrinking keeps the
/// cause.
///
/// A bug with a location is identified by kind and location, since its message may quote values
/// that differ from schedule to schedule. Without one, kind, culprit and the message with its
/// digits left out stand for it; of a deadlock it is who waits to do what, whichever of several
/// workers of one name that is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause(pub u64);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0 as u32)
    }
}

impl Bug {
    /// A bug of this kind with this message, no location and no culprit.
    pub fn new(kind: BugKind, message: impl Into<String>) -> Bug {
        Bug { kind, message: message.into(), location: None, culprit: None }
    }

    /// The same bug at this place.
    #[must_use]
    pub fn at(mut self, location: Option<Location>) -> Bug {
        self.location = location;
        self
    }

    /// The same bug, the fault of this worker or monitor.
    #[must_use]
    pub fn by(mut self, culprit: impl Into<String>) -> Bug {
        self.culprit = Some(culprit.into());
        self
    }

    /// What identifies this bug among others.
    pub fn cause(&self) -> Cause {
        let mut text = self.kind.name().as_bytes().to_vec();
        text.push(0);
        match &self.location {
            Some(location) => text.extend_from_slice(location.to_string().as_bytes()),
            None if self.kind == BugKind::Deadlock => {
                // A line a waiter, `name (id) waits to ...`, after the first.
                let mut waiting: Vec<String> = self.message.lines().skip(1).map(waiter).collect();
                waiting.sort_unstable();
                waiting.dedup();
                text.extend_from_slice(waiting.join("\n").as_bytes());
            }
            None => {
                text.extend_from_slice(self.culprit.as_deref().unwrap_or("").as_bytes());
                text.push(0);
                text.extend(self.message.bytes().filter(|byte| !byte.is_ascii_digit()));
            }
        }
        Cause(fingerprint::of_bytes(&text))
    }
}

/// The line of a waiter without ids and other numbers.
fn waiter(line: &str) -> String {
    let without_id = match (line.find(" ("), line.find(')')) {
        (Some(from), Some(to)) if from < to => [&line[..from], &line[to + 1..]].concat(),
        _ => line.to_owned(),
    };
    without_id.chars().filter(|char| !char.is_ascii_digit()).collect()
}

/// One line: kind, first line of the message, culprit and location.
impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A colon there introduces the lines that follow.
        let first = self.message.lines().next().unwrap_or("").trim_end_matches(':');
        write!(f, "{}: {first}", self.kind)?;
        if let Some(culprit) = &self.culprit {
            write!(f, " ({culprit})")?;
        }
        if let Some(location) = &self.location {
            write!(f, " at {location}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32) -> Option<Location> {
        Some(Location { file: "src/raft.rs".into(), line, column: 9 })
    }

    #[test]
    fn bugs_at_one_place_are_the_same_whatever_values_they_quote() {
        let term = |n| Bug::new(BugKind::Panic, format!("two leaders in term {n}")).at(at(7));
        assert_eq!(term(1).cause(), term(2).cause());
        assert_ne!(term(1).cause(), term(1).at(at(8)).cause());
    }

    #[test]
    fn bugs_without_a_place_differ_by_message_culprit_and_kind() {
        let hot = |message: &str| Bug::new(BugKind::HotAtEnd, message);
        assert_eq!(hot("hot for 2 steps").cause(), hot("hot for 3 steps").cause());
        assert_ne!(hot("hot for 2 steps").cause(), hot("hot at the end").cause());
        assert_ne!(hot("hot").cause(), hot("hot").by("Progress").cause());
    }

    #[test]
    fn a_deadlock_is_the_same_whichever_of_two_alike_workers_waits_where() {
        let stuck = |lines: &str| Bug::new(BugKind::Deadlock, format!("2 wait:\n{lines}")).cause();
        let one = stuck("  get (0.0) waits to lock `a`\n  get (0.1) waits to receive");
        let other = stuck("  get (0.0) waits to receive\n  get (0.1) waits to lock `a`");
        assert_eq!(one, other);
        assert_ne!(one, stuck("  get (0.0) waits to lock `b`\n  get (0.1) waits to receive"));
    }

    #[test]
    fn names_of_kinds_round_trip() {
        for kind in BugKind::ALL {
            assert_eq!(BugKind::from_name(kind.name()), Some(kind));
        }
    }
}
