//! Choosing by hand: an execution is made again along choices that somebody made, and stops where there
//! are no more, to say what can be chosen next.
//!
//! So every program can be explored, whether its states can be copied or not, and to go back is to leave
//! choices out. [`AfterPrefix`] is the program that begins where the choices lead: every strategy and every
//! search works on it.

mod from_here;
mod neighbourhood;

use std::sync::Arc;
use std::time::Duration;

use dally_core::{
    Bug, Choice, Fingerprint, Input, MessageId, Program, Status, System, Tag, Trace, WorkerId,
};

pub use self::from_here::AfterPrefix;
pub use self::neighbourhood::{Between, Neighbour, Neighbourhood, NoNeighbourhood, neighbourhood};
use crate::executor::{End, Executor, Instruments, Limits, Recorder};
use crate::record::Recording;
use crate::replay::{Divergence, LONG_STEP, before_last_step};
use crate::replay_strategy::{ReplayStrategy, Strictness};
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Strategy};
use crate::supervisor::{Lost, watched};

/// An execution along chosen choices, and what can be chosen where they end.
#[derive(Clone, Debug)]
pub struct Walk {
    /// What happened.
    pub trace: Trace,
    /// The choices that could be made: all of them, unless the walk [was left](Walk::left_at).
    pub choices: Vec<Choice>,
    /// The workers that could step, at each step that was taken.
    pub enabled: Vec<Vec<WorkerId>>,
    /// The fingerprint of the state before each step, and last of the state where the walk ends.
    /// `None` where a system has none.
    pub states: Vec<Option<Fingerprint>>,
    /// Where the choices lead.
    pub here: Position,
    /// Where the program does not fit the choices, if it does not.
    pub left_at: Option<Divergence>,
}

/// Where choices lead.
#[derive(Clone, Debug)]
pub enum Position {
    /// These workers can step: the id of each, sorted, and what it is.
    Between(Vec<(WorkerId, String)>),
    /// The last step asks for something.
    Inside(WorkerId, Asked),
    /// Nothing is left to do.
    Done,
    /// The program fails.
    Failed(Box<Bug>),
    /// The last step is longer than a schedule of this program may have them.
    TooLong,
    /// Nothing could be run, and why.
    Lost(String),
}

/// What a step asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// One of so many values.
    Value {
        /// How many.
        of: u32,
        /// Who asks.
        tag: Tag,
    },
    /// Which of these messages is handed out.
    Delivery(Vec<MessageId>),
    /// A number from outside.
    Input {
        /// What the program calls it.
        name: String,
        /// The smallest that it can be.
        least: i64,
        /// The greatest that it can be.
        most: i64,
        /// The one that is given unless another is chosen.
        given: i64,
    },
}

/// Makes these choices, as far as the program fits them, on a thread of its own. A step that does not come
/// back within `step_time` is the bug where the walk ends.
pub fn walk<P: Program + 'static>(
    program: &Arc<P>,
    choices: &[Choice],
    step_time: Duration,
) -> Walk {
    match attempt(program, choices, step_time) {
        Ok(walk) => walk,
        Err(Lost::Stuck(bug, made)) => {
            // What led to the step that blocks is walked without that step.
            match attempt(program, before_last_step(&made), step_time) {
                Ok(walk) => Walk { choices: made, here: Position::Failed(bug), ..walk },
                Err(_) => nowhere(Position::Failed(bug)),
            }
        }
        Err(Lost::Failed(why)) => nowhere(Position::Lost(why)),
    }
}

fn nowhere(here: Position) -> Walk {
    let (trace, choices, enabled, states) = Default::default();
    Walk { trace, choices, enabled, states, here, left_at: None }
}

fn attempt<P: Program + 'static>(
    program: &Arc<P>,
    choices: &[Choice],
    step_time: Duration,
) -> Result<Walk, Lost> {
    let limits = Limits {
        step_items: match program.long_steps_end_schedules() {
            true => LONG_STEP,
            false => crate::Options::default().step_items,
        },
        long_steps_end: program.long_steps_end_schedules(),
        ..Limits::NONE
    };
    let replay = ReplayStrategy::new(choices, Strictness::Exact, 0);
    let (program, name) = (program.clone(), program.name().to_owned());
    watched(&name, step_time, move |writer| {
        let mut guide = Guide { replay, worker: WorkerId::FAULTS, states: Vec::new(), here: None };
        let mut executor = Executor::new(&*program, writer);
        let instruments = Instruments::uninterrupted();
        let recording = executor.record(Recorder::default(), 0, &mut guide, &limits, instruments);
        let Recording { choices, enabled, trace, execution } = recording;
        let here = match (execution.bug, guide.here, execution.end) {
            (Some(bug), ..) => Position::Failed(Box::new(bug)),
            (None, Some(here), _) => here,
            (None, None, End::StepBound) => Position::TooLong,
            (None, None, _) => Position::Done,
        };
        let (states, left_at) = (guide.states, guide.replay.difference());
        Walk { trace, choices, enabled, states, here, left_at }
    })
}

/// Follows the choices and notes what can be chosen where they end.
#[derive(Clone)]
struct Guide {
    replay: ReplayStrategy,
    /// Who takes the present step.
    worker: WorkerId,
    states: Vec<Option<Fingerprint>>,
    here: Option<Position>,
}

impl Guide {
    /// The answer of the recording, or the end of the walk inside the present step.
    fn answer<T>(
        &mut self,
        recorded: impl FnOnce(&mut ReplayStrategy) -> Result<T, EndSchedule>,
        asked: impl FnOnce() -> Asked,
    ) -> Result<T, EndSchedule> {
        // A recording that is at its end was not left.
        let answer = match self.replay.unused() {
            0 => Err(EndSchedule::Cut),
            _ => recorded(&mut self.replay),
        };
        if answer.is_err() {
            self.here = Some(Position::Inside(self.worker, asked()));
        }
        answer
    }
}

impl Strategy for Guide {
    fn begin(&mut self, _schedule: u64) -> bool {
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.states.push(point.system.fingerprint());
        let next = self.replay.worker(point);
        match next {
            Ok(worker) => self.worker = worker,
            Err(_) => {
                let named = |&worker: &WorkerId| (worker, point.system.name(worker));
                self.here = Some(Position::Between(point.enabled.iter().map(named).collect()));
            }
        }
        next
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        self.answer(|replay| replay.value(of, tag), || Asked::Value { of, tag })
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        let asked = || Asked::Delivery(candidates.to_vec());
        self.answer(|replay| replay.delivery(candidates), asked)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        let Input { name, least, most, given, .. } = asked;
        let question = || Asked::Input { name: name.to_owned(), least, most, given };
        self.answer(|replay| replay.input(asked), question)
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Guide {
    /// An execution asks no strategy in its last state, and shows it only here.
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        if let (Some(system), None) = (last, &self.here)
            && system.status() == Status::Done
        {
            self.states.push(system.fingerprint());
        }
        None
    }

    fn learn(&mut self, _batch: &[Outcome]) {}
}
