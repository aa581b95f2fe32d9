//! What is tested, and how its states are had.

use std::sync::Arc;

use crate::bug::Bug;
use crate::foreign::Foreign;
use crate::system::{Captured, System};

/// What is tested: it can be started any number of times, from any thread.
pub trait Program: Send + Sync {
    /// One live execution of this program.
    type System: System;

    /// Starts a fresh execution. Starting is deterministic; a bug in it is the program's.
    fn start(&self) -> Result<Self::System, Bug>;

    /// Starts afresh in the memory of an execution that has ended.
    fn restart(&self, system: &mut Self::System) -> Result<(), Bug> {
        *system = self.start()?;
        Ok(())
    }

    /// The name of the program, where a run is not told another.
    fn name(&self) -> &str {
        "program"
    }

    /// What a step is in this program: counts compare only at the same granularity.
    fn granularity(&self) -> &'static str {
        "steps"
    }

    /// A hash of the texts that the program is made from, where it is made when it is run: programs of one name
    /// are the same if this is the same, and the code that runs them.
    fn source(&self) -> u64 {
        0
    }

    /// Takes a setting that is about programs of its kind, by its name and that of its value, and answers the
    /// value that it had. Those of other kinds are not its business.
    fn set(&mut self, setting: &str, value: &str) -> Option<String> {
        let _ = (setting, value);
        None
    }

    /// Whether a step with more values and events than it may have ends the schedule, which then
    /// counts as cut. By default it is a bug: the step is taken for an endless one.
    fn long_steps_end_schedules(&self) -> bool {
        false
    }

    /// What workers have done, in the executions so far, that is not under control: what happens there is not
    /// explored.
    fn foreign(&self) -> Option<Foreign> {
        None
    }

    /// Says how a search comes back to a state of this program, by calling one method of the
    /// visitor. By default the program is run again.
    ///
    /// A program whose systems are [`Captured`] writes
    ///
    /// ```
    /// # use dally_core::*;
    /// # use std::sync::Arc;
    /// # #[derive(Clone)] struct Idle;
    /// # impl System for Idle {
    /// #     fn enabled(&self) -> &[WorkerId] { &[] }
    /// #     fn step(&mut self, _: WorkerId, _: &mut dyn Env) -> Result<(), Stop> { Ok(()) }
    /// #     fn status(&self) -> Status { Status::Done }
    /// # }
    /// # impl Captured for Idle {
    /// #     fn encode(&self, _: &mut Vec<u8>) {}
    /// #     fn fork(&self) -> Idle { Idle }
    /// # }
    /// # struct MyProgram;
    /// # impl Program for MyProgram {
    /// #     type System = Idle;
    /// #     fn start(&self) -> Result<Idle, Bug> { Ok(Idle) }
    /// fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
    ///     visitor.copied(self)
    /// }
    /// # }
    /// ```
    ///
    /// The program may be started to find out. The answer is the same every time.
    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output
    where
        Self: Sized,
    {
        visitor.replayed(self, None)
    }
}

/// What to do with a program, for each of the two ways to come back to a state.
pub trait StateVisitor<P: Program> {
    /// What comes of it.
    type Output;

    /// States are copied.
    fn copied(self, program: Arc<P>) -> Self::Output
    where
        P::System: Captured + Send + 'static;

    /// States are reconstructed by running their prefixes again. `why` is the reason where the
    /// front end copies the states of other programs, a clause for the reader of a report.
    fn replayed(self, program: Arc<P>, why: Option<String>) -> Self::Output;
}
