//! The vocabulary of Dally as types.
//!
//! A [`Program`] can be started any number of times; each start gives a [`System`], one live
//! execution. A search picks one of the workers that the system says are enabled, and
//! [`System::step`] runs it to its next scheduling point. Everything the step asks or tells goes
//! through [`Env`]. Front ends (machines, tasks) and searches know nothing else of each other.
//!
//! The choices made are a [`Schedule`]; what happened is a [`Trace`]; what went wrong is a
//! [`Bug`]; a bug with the schedule that causes it is a [`Finding`].
//!
//! Invariant: this crate knows no front end and no algorithm.

pub mod bug;
pub mod choice;
pub mod clock;
pub mod draft;
pub mod event;
pub mod event_sink;
pub mod finding;
pub mod fingerprint;
pub mod footprint;
pub mod foreign;
pub mod input;
pub mod monitor;
pub mod panics;
mod past;
pub mod player;
pub mod program;
pub mod property;
pub mod report;
pub mod schedule;
pub mod system;
pub mod trace;
pub mod transition_cache;
pub mod words;
pub mod worker;
pub mod written;

pub use bug::{Bug, BugKind, BugRecord, Cause, Location, Problem, Wait, Waiting};
pub use choice::{Choice, MessageId, ObjectId, Tag};
pub use clock::VectorClock;
pub use event::{Data, Discard, Event, Text, Transition};
pub use event_sink::{EventBudget, EventSink};
pub use finding::{DelayAt, Delays, Edit, Finding, Lasso, Nearest, Shrunk};
pub use fingerprint::Fingerprint;
pub use footprint::{Access, Footprint, Mode, Resource};
pub use foreign::{Call, Foreign, ForeignKind, ForeignUse};
pub use input::Input;
pub use monitor::{Announcement, Heat, IntoMonitor, Monitor, Monitors, SharedMonitor};
pub use player::{Answer, PlayedStep, Player, Question, Recorded, RecordedStep};
pub use program::{Program, StateVisitor};
pub use property::{Cue, Moment, Property, Proposition};
pub use report::{Ended, Report};
pub use schedule::{Schedule, ScheduleError};
pub use system::{Acceptance, Captured, Cut, Env, Observe, Status, Stop, System};
pub use trace::{Item, LONGEST_FIELDS, Trace, TraceStep, Tracer};
pub use worker::WorkerId;
pub use written::{Document, ReadError};
