//! One schedule: a system, a strategy and the checks.

mod bugs;
mod env;
mod limits;
mod live;
mod recorder;
mod rounds;

use std::sync::atomic::{AtomicBool, Ordering};

use dally_core::{Bug, EventBudget, Lasso, Observe, Program, Stop, System, WorkerId, panics};

pub(crate) use self::bugs::{bug_at_end, endless, livelock, too_long};
use self::env::StepEnv;
pub(crate) use self::limits::{Limits, blame};
use self::live::{Conclusion, Failure, LiveExecution, Temperatures};
pub(crate) use self::recorder::Recorder;
use self::rounds::LoopCheck;
use crate::choice_log::{Activity, ChoiceWriter};
use crate::liveness::{LoopDetector, Loops};
use crate::strategy::{EndSchedule, Lesson, Point, Strategy};

/// What came of one execution.
#[derive(Debug)]
pub(crate) struct Execution {
    /// How many choices were made: values count as steps. The rounds after a loop are left out, as
    /// the choice log leaves them out.
    pub(crate) steps: usize,
    pub(crate) values: usize,
    /// Why it ended.
    pub(crate) end: End,
    pub(crate) bug: Option<Bug>,
    pub(crate) notes: Vec<String>,
    /// The observation of the last state.
    pub(crate) observation: u64,
    /// The first step, counted as bounds count, from which on the strategy was fair.
    pub(crate) fair_from: usize,
    /// The loop that it went round, if that is the bug.
    pub(crate) lasso: Option<Lasso>,
    /// Why what looked like a loop is none: in which round it differs, and how.
    pub(crate) loop_divergence: Option<String>,
    /// The steps of the rounds after a loop, which the choice log does not have.
    pub(crate) round_steps: usize,
    /// Whether it asked for inputs under a strategy that answers with the given ones.
    pub(crate) given_inputs: bool,
    /// What the strategy has learnt.
    pub(crate) lesson: Option<Lesson>,
}

/// Why an execution ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Nothing was left to do, or a bug ended it.
    Complete,
    /// The step bound.
    StepBound,
    /// The strategy wanted no more.
    Strategy,
    /// The strategy knows that what follows is covered by other schedules.
    Redundant,
    /// The run is to stop: the execution counts for nothing.
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

/// What an execution is watched by, and what may stop it.
pub(crate) struct Instruments<'a> {
    pub(crate) writer: &'a mut ChoiceWriter,
    /// Ends the execution when it is set.
    pub(crate) halt: &'a AtomicBool,
    pub(crate) recorder: Option<&'a mut Recorder>,
    /// The observations of all states, if they are wanted.
    pub(crate) observations: Option<&'a mut Vec<u64>>,
}

impl<'a> Instruments<'a> {
    /// For the repetition of a finding, which nobody stops: it is short, and the supervisor looks
    /// after its thread.
    pub(crate) fn uninterrupted(writer: &'a mut ChoiceWriter) -> Instruments<'a> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Instruments { writer, halt: &NEVER, recorder: None, observations: None }
    }
}

/// Runs one schedule of a program after another, each in the memory of the one before.
pub(crate) struct Executor<'p, P: Program> {
    program: &'p P,
    system: Option<P::System>,
    loop_detector: LoopDetector,
}

impl<'p, P: Program> Executor<'p, P> {
    pub(crate) fn new(program: &'p P) -> Executor<'p, P> {
        Executor { program, system: None, loop_detector: LoopDetector::default() }
    }

    /// Runs the program from its start to the end of one schedule. The strategy has begun it.
    pub(crate) fn execute(
        &mut self,
        schedule: u64,
        strategy: &mut dyn Strategy,
        limits: &Limits,
        mut instruments: Instruments<'_>,
    ) -> Execution {
        let mut execution = Execution {
            steps: 0,
            values: 0,
            end: End::Complete,
            bug: None,
            notes: Vec::new(),
            observation: 0,
            fair_from: usize::MAX,
            lasso: None,
            loop_divergence: None,
            round_steps: 0,
            given_inputs: false,
            lesson: None,
        };
        let mut ended = false;
        instruments.writer.rewind(schedule);
        panics::forget();
        // Front ends catch the panics of the program. A panic that reaches this point is one of
        // the front end itself, and still a finding rather than a dead thread.
        let caught = panics::catch(|| {
            instruments.writer.now(Activity::Starting);
            let started = match &mut self.system {
                Some(system) => self.program.restart(system),
                None => self.program.start().map(|system| self.system = Some(system)),
            };
            if let Err(bug) = started {
                execution.bug = Some(bug);
                // What a failed restart leaves behind is not to be built upon.
                self.system = None;
                return;
            }
            let Some(system) = &mut self.system else { return };
            instruments.writer.now(Activity::Stepping);
            run(
                system,
                strategy,
                limits,
                &mut self.loop_detector,
                &mut instruments,
                &mut execution,
            );
            ended = true;
            execution.lesson = lesson(strategy, Some(system));
            instruments.writer.now(Activity::Ending);
            if let Err(bug) = system.end() {
                match &execution.bug {
                    None => execution.bug = Some(bug),
                    Some(_) => execution.notes.push(format!("Then, at the end: {bug}")),
                }
            }
        });
        if let Err(Stop::Bug(bug)) = caught {
            let system = self.system.take();
            // Its values are in an unknown state: destructors may panic once more.
            let _ = panics::catch(|| drop(system));
            match &execution.bug {
                None => execution.bug = Some(*bug),
                Some(_) => execution.notes.push(format!("Then, at the end: {bug}")),
            }
        }
        instruments.writer.now(Activity::Nothing);
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
        // The execution has ended, so nothing of the program should be left to panic here. If
        // it does all the same, no schedule is to blame.
        let _ = panics::catch(|| drop(system));
    }
}

/// Steps until the execution ends. The loop is a function of its own so that the compiler keeps
/// what it needs in registers.
#[inline(never)]
fn run<S: System>(
    system: &mut S,
    strategy: &mut dyn Strategy,
    limits: &Limits,
    loop_detector: &mut LoopDetector,
    instruments: &mut Instruments<'_>,
    execution: &mut Execution,
) {
    let mut last = None;
    let properties = strategy.properties();
    // A loop whose states are known by observations may turn out to be none. The rounds that have
    // shown it were then taken without the strategy, and one that goes through all schedules
    // would miss some: it has only loops of whole states looked at.
    let only_whole = limits.loops == Loops::Sampled && properties.sequential;
    let follows = matches!(limits.loops, Loops::All | Loops::AtEnd { .. });
    loop_detector.restart(only_whole, follows, limits.log_after(&properties));
    let looks = limits.loops != Loops::Ignored;
    // Most steps need no more than to be taken. `attends` says that this one does: states are
    // observed, a monitor says something, or the loop detector still watches.
    let always = instruments.observations.is_some() || follows;
    let mut attends = always || system.acceptance().says_something();
    let mut live = LiveExecution {
        env: StepEnv {
            listens: properties.listens,
            heard: properties.listens || instruments.recorder.is_some(),
            strategy,
            writer: instruments.writer,
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
        if steps >= limits.max_steps {
            if limits.fail_on_max_steps {
                execution.bug = Some(too_long(limits.max_steps));
            }
            break Conclusion::Ended(End::StepBound);
        }
        if instruments.halt.load(Ordering::Relaxed) {
            break Conclusion::Ended(End::Halted);
        }
        let point = Point::new(enabled, last, steps, system);
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
        let is_fair = properties.fair || point.is_fair();
        if !system.is_enabled(worker) {
            let name = live.env.strategy.name();
            execution.notes.push(format!(
                "The strategy {name} chose worker {worker}, which cannot step: schedules end there."
            ));
            break Conclusion::Ended(End::Strategy);
        }
        if !live.fair && is_fair {
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
            if let Some(bug) = live.heat(acceptance, steps, system) {
                break Conclusion::failed(bug);
            }
            attends = always || acceptance.says_something() || live.env.loop_detector.is_watching();
        }
        last = Some(worker);
    };
    let mut env = live.env;
    if let Some(recorder) = env.recorder.take() {
        recorder.tracer.name_mentioned(|worker| system.name(worker));
    }
    (execution.steps, execution.values) = (env.steps, env.values);
    execution.given_inputs = env.inputs && !properties.varies_inputs;
    match conclusion {
        Conclusion::Ended(end) => execution.end = end,
        Conclusion::Failed(failure) => {
            let Failure { bug, at, lasso } = *failure;
            if let Some((steps, values)) = at {
                // The rounds after it are not part of the schedule.
                execution.round_steps = env.steps - steps;
                (execution.steps, execution.values) = (steps, values);
                env.writer.truncate(steps);
            }
            (execution.bug, execution.lasso) = (Some(bug), lasso);
        }
    }
    execution.observation = system.observe(Observe::Control).unwrap_or_default();
}
