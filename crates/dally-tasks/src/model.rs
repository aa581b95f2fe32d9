//! What a program takes for granted of the runtime that it would run on.

use std::fmt;

/// Which panics of spawned tasks are bugs. A panic of the main task always is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum TaskPanics {
    /// Every one, at the moment it happens.
    ///
    /// The default: in a test that was written for Dally an assertion in a task must not be lost because
    /// somebody joins that task and looks away.
    #[default]
    All,
    /// Those that nobody observes: the task's [`JoinHandle`](crate::JoinHandle) is dropped before it has
    /// given the error. Whoever joins the task gets a [`JoinError`](crate::JoinError), as in tokio, so
    /// that supervisors can be tested.
    Unobserved,
}

/// When virtual time moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Clock {
    /// Any armed timer may fire at any point, in any order with all others; the clock shows the
    /// latest deadline that was passed.
    #[default]
    Any,
    /// Timers fire in the order of their deadlines, at any point: everybody else may be slow, and nobody's
    /// clock runs ahead of another's.
    Ordered,
    /// Timers fire in the order of their deadlines, and only when nobody else can step: computation
    /// takes no time, as on tokio's paused clock.
    Idle,
}

/// Where the steps of tasks end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Points {
    /// Before operations that are awaited: exact for a runtime with one thread.
    #[default]
    Awaits,
    /// Also before operations on shared objects that are not awaited, such as an unbounded send,
    /// `try_lock`, `notify_one` or the drop of a guard: a runtime with several threads can let others in there.
    Operations,
}

/// All of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Model {
    pub task_panics: TaskPanics,
    pub clock: Clock,
    pub points: Points,
    /// How many faults an execution may have.
    pub faults: u32,
    /// It is run once, and not explored.
    pub once: bool,
}

impl Model {
    /// Where steps end and how time moves, in words.
    pub fn granularity(self) -> &'static str {
        match (self.points, self.clock) {
            (Points::Awaits, Clock::Any) => "await points",
            (Points::Awaits, Clock::Ordered) => "await points, timers by deadline",
            (Points::Awaits, Clock::Idle) => "await points, time moves when idle",
            (Points::Operations, Clock::Any) => "operations",
            (Points::Operations, Clock::Ordered) => "operations, timers by deadline",
            (Points::Operations, Clock::Idle) => "operations, time moves when idle",
        }
    }
}

/// The names of the values, as settings have them.
macro_rules! names {
    ($($kind:ident: $($value:ident $name:literal),*;)*) => {$(
        impl $kind {
            /// The value with this name.
            pub fn named(name: &str) -> Option<$kind> {
                match name {
                    $($name => Some($kind::$value),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $($kind::$value => $name,)*
                })
            }
        }
    )*};
}

names! {
    TaskPanics: All "all", Unobserved "unobserved";
    Clock: Any "any", Ordered "ordered", Idle "idle";
    Points: Awaits "awaits", Operations "operations";
}
