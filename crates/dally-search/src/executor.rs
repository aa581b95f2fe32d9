//! One schedule: a system, a strategy and the checks.

mod bugs;
mod confirmation;
mod env;
mod limits;
mod live;
mod recorder;
mod rounds;
#[cfg(feature = "tracing")]
mod spans;

use std::sync::atomic::{AtomicBool, Ordering};

use dally_core::report::Census;
use dally_core::{
    Bug, BugKind, EventBudget, Lasso, Observe, Program, Stop, System, WorkerId, panics,
};

pub(crate) use self::bugs::{bug_at_end, endless, livelock, too_long};
use self::env::StepEnv;
pub(crate) use self::limits::{Limits, blame};
use self::live::{Conclusion, Failure, LiveExecution, Temperatures};
pub(crate) use self::recorder::Recorder;
use self::rounds::LoopCheck;
use crate::choice_log::{Activity, ChoiceWriter};
use crate::liveness::{LoopDetector, Loops};
use crate::strategy::{EndSchedule, Lesson, Point, Strategy};

#[derive(Debug, Default)]
pub(crate) struct Execution {
    /// The choices made, of workers and values, without the rounds after a loop.
    pub(crate) steps: usize,
    pub(crate) values: usize,
    pub(crate) end: End,
    pub(crate) bug: Option<Bug>,
    pub(crate) notes: Vec<String>,
    /// The observation of the last state.
    pub(crate) observation: u64,
    /// The step from which on the strategy was fair; every choice counts as a step.
    pub(crate) fair_from: usize,
    /// The loop that it went round, if that is the bug.
    pub(crate) lasso: Option<Lasso>,
    /// Why a supposed loop is none: in which round it differs, and how.
    pub(crate) loop_divergence: Option<String>,
    /// The steps of the rounds after a loop.
    pub(crate) round_steps: usize,
    /// Whether it asked for inputs under a strategy that does not vary them.
    pub(crate) given_inputs: bool,
    pub(crate) lesson: Option<Lesson>,
    /// Where each worker stood at the end, in words, if it was recorded.
    pub(crate) standing: Vec<(WorkerId, String)>,
}

impl Execution {
    /// Takes note of a bug, which may come after another.
    fn fail(&mut self, bug: Bug) {
        match &self.bug {
            None => self.bug = Some(bug),
            Some(_) => self.notes.push(format!("Then, at the end: {bug}")),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum End {
    /// Nothing was left to do, or a bug ended it.
    #[default]
    Complete,
    StepBound,
    Strategy,
    Redundant,
    /// The run is to stop: the execution does not count.
    Halted,
}

impl From<EndSchedule> for End {
    fn from(why: EndSchedule) -> End {
        match why {
            EndSchedule::Cut => End::Strategy,
            EndSchedule::Redundant => End::Redundant,
        }
    }
}

/// What watches an execution, and what may stop it.
pub(crate) struct Instruments<'a> {
    pub(crate) halt: &'a AtomicBool,
    pub(crate) recorder: Option<&'a mut Recorder>,
    pub(crate) observations: Option<&'a mut Vec<u64>>,
}

impl<'a> Instruments<'a> {
    /// For the repetition of a finding: it is short, and the supervisor watches its thread.
    pub(crate) fn uninterrupted() -> Instruments<'a> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Instruments { halt: &NEVER, recorder: None, observations: None }
    }
}

/// Runs schedules of a program one after the other, each in the memory of the one before.
pub(crate) struct Executor<'p, P: Program> {
    program: &'p P,
    system: Option<P::System>,
    loop_detector: LoopDetector,
    /// The choices of the latest execution.
    pub(crate) writer: ChoiceWriter,
}

impl<'p, P: Program> Executor<'p, P> {
    pub(crate) fn new(program: &'p P, writer: ChoiceWriter) -> Executor<'p, P> {
        Executor { program, system: None, loop_detector: LoopDetector::default(), writer }
    }

    /// What machines there can be, as far as the latest execution tells.
    pub(crate) fn anatomy(&self) -> Census {
        self.system.as_ref().map(System::anatomy).unwrap_or_default()
    }

    /// Runs the program from its start to the end of one schedule, which the strategy has begun.
    pub(crate) fn execute(
        &mut self,
        schedule: u64,
        strategy: &mut dyn Strategy,
        limits: &Limits,
        mut instruments: Instruments<'_>,
    ) -> Execution {
        let Executor { program, system: kept, loop_detector, writer } = self;
        let mut execution = Execution { fair_from: usize::MAX, ..Execution::default() };
        let mut ended = false;
        writer.rewind(schedule);
        panics::forget();
        // Front ends catch the panics of the program. A panic that reaches this point is one of the
        // front end itself, and becomes a finding instead of ending the thread.
        let caught = panics::catch(|| {
            writer.now(Activity::Starting);
            let started = match kept {
                Some(system) => program.restart(system),
                None => program.start().map(|system| *kept = Some(system)),
            };
            if let Err(bug) = started {
                execution.bug = Some(bug);
                // A failed restart may leave a broken system behind.
                *kept = None;
                return;
            }
            let Some(system) = kept else { return };
            writer.now(Activity::Stepping);
            run(system, strategy, limits, loop_detector, writer, &mut instruments, &mut execution);
            ended = true;
            execution.lesson = lesson(strategy, Some(system));
            writer.now(Activity::Ending);
            // A panic of a destructor is no bug where the execution was given up half-way.
            let failed = execution.bug.as_ref().is_some_and(|bug| bug.kind() != BugKind::StepBound);
            let by_itself = system.enabled().is_empty();
            if let Err(bug) = system.end()
                && (by_itself || failed)
            {
                execution.fail(bug);
            }
        });
        if let Err(Stop::Bug(bug)) = caught {
            let system = kept.take();
            // The system may be broken, so its destructors may panic once more.
            let _ = panics::catch(|| drop(system));
            execution.fail(*bug);
        }
        writer.now(Activity::Nothing);
        if !ended {
            execution.lesson = lesson(strategy, None);
        }
        execution
    }
}

fn lesson(strategy: &mut dyn Strategy, last: Option<&dyn System>) -> Option<Lesson> {
    strategy.learner()?.lesson(last)
}

impl<P: Program> Drop for Executor<'_, P> {
    fn drop(&mut self) {
        let system = self.system.take();
        // The execution has ended, so a panic here belongs to no schedule.
        let _ = panics::catch(|| drop(system));
    }
}

/// Steps until the execution ends. A separate function keeps what the loop needs in registers.
#[inline(never)]
fn run<S: System>(
    system: &mut S,
    strategy: &mut dyn Strategy,
    limits: &Limits,
    loop_detector: &mut LoopDetector,
    writer: &mut ChoiceWriter,
    instruments: &mut Instruments<'_>,
    execution: &mut Execution,
) {
    let mut last = None;
    let properties = strategy.properties();
    // A loop that shows by observations may be none, and the strategy does not choose in the rounds
    // that find this out: a sequential strategy would miss schedules.
    let only_whole = limits.loops == Loops::Sampled && properties.sequential;
    let follows = matches!(limits.loops, Loops::All | Loops::AtEnd { .. });
    loop_detector.restart(only_whole, follows, limits.log_after(&properties));
    let looks = limits.loops != Loops::Ignored;
    // Most steps need no attention. `attends` says that this one does: states are observed, a
    // monitor is hot or visited, or the loop detector watches.
    let always = instruments.observations.is_some() || follows;
    let mut attends = always || system.acceptance().says_something();
    let mut live = LiveExecution {
        env: StepEnv {
            listens: properties.listens,
            heard: properties.listens || instruments.recorder.is_some(),
            strategy,
            writer,
            recorder: instruments.recorder.as_deref_mut(),
            loop_detector,
            worker: WorkerId::FAULTS,
            steps: 0,
            values: 0,
            inputs: false,
            items: EventBudget::new(limits.step_items),
            cut: None,
        },
        limits,
        halt: instruments.halt,
        fair: false,
        temperatures: Temperatures::new(),
        too_hot_after: limits.least_hot(0),
        overdue: None,
    };
    let conclusion = loop {
        if attends {
            if let Some(seen) = instruments.observations.as_deref_mut() {
                seen.extend(system.observe(Observe::Control));
            }
            let acceptance = system.acceptance();
            let speaks = acceptance.says_something() || live.env.loop_detector.is_watching();
            if looks && speaks && !system.enabled().is_empty() {
                match live.look(system, acceptance) {
                    None => {}
                    Some(LoopCheck::Concluded(conclusion)) => break conclusion,
                    Some(LoopCheck::Diverged(_)) => {
                        last = Some(live.env.worker);
                        continue;
                    }
                }
            }
        }
        if system.enabled().is_empty() {
            break bug_at_end(system).map_or(Conclusion::Ended(End::Complete), Conclusion::failed);
        }
        let (enabled, steps) = (system.enabled(), live.env.steps);
        if steps >= limits.max_steps && !live.goes_on(system.acceptance()) {
            if limits.fail_on_max_steps {
                execution.bug = Some(too_long(limits.max_steps));
            }
            break Conclusion::Ended(End::StepBound);
        }
        if instruments.halt.load(Ordering::Relaxed) {
            break Conclusion::Ended(End::Halted);
        }
        let point = Point::new(enabled, last, [steps, steps - live.env.values], system);
        let worker = match live.env.strategy.worker(&point) {
            Ok(worker) => worker,
            Err(why) => {
                break match live.look_at_end(system) {
                    None => Conclusion::Ended(why.into()),
                    Some(LoopCheck::Concluded(conclusion)) => conclusion,
                    Some(LoopCheck::Diverged(how)) => {
                        execution.loop_divergence = Some(how);
                        Conclusion::Ended(why.into())
                    }
                };
            }
        };
        if !system.is_enabled(worker) {
            let name = live.env.strategy.name();
            execution.notes.push(format!(
                "The strategy {name} chose worker {worker}, which cannot step: schedules end there."
            ));
            break Conclusion::Ended(End::Strategy);
        }
        if !live.fair && (properties.fair || point.is_fair()) {
            live.fair = true;
            execution.fair_from = steps;
        }
        if attends && live.env.loop_detector.is_open() {
            live.env.loop_detector.leave(worker);
        }
        let acceptance = match live.step(worker, system) {
            Ok(acceptance) => acceptance,
            Err(conclusion) => break conclusion,
        };
        if attends || acceptance.says_something() {
            if let Some(suspicion) = live.heat(acceptance, steps, system) {
                break live.concluded(suspicion, system);
            }
            attends = always || acceptance.says_something() || live.env.loop_detector.is_watching();
        }
        last = Some(worker);
    };
    let mut env = live.env;
    if let Some(recorder) = env.recorder.take() {
        recorder.tracer.name_mentioned(|worker| system.name(worker));
        execution.standing = system.standing();
    }
    (execution.steps, execution.values) = (env.steps, env.values);
    execution.given_inputs = env.inputs && !properties.varies_inputs;
    match conclusion {
        Conclusion::Ended(end) => execution.end = end,
        Conclusion::Failed(failure) => {
            let Failure { bug, at, lasso } = *failure;
            if let Some((steps, values)) = at {
                execution.round_steps = env.steps - steps;
                (execution.steps, execution.values) = (steps, values);
                env.writer.truncate(steps);
            }
            (execution.bug, execution.lasso) = (Some(bug), lasso);
        }
    }
    execution.observation = system.observe(Observe::Control).unwrap_or_default();
}
