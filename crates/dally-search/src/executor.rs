//! One schedule: a system, a strategy and the checks.

mod bugs;
mod env;
mod rounds;

use std::sync::atomic::{AtomicBool, Ordering};

use dally_core::{
    Acceptance, Bug, BugKind, EventBudget, Lasso, Observe, Program, Stop, System, Trace, Tracer,
    WorkerId, fingerprint, panics,
};

use self::bugs::too_hot;
pub(crate) use self::bugs::{bug_at_end, endless, livelock, too_long};
use self::env::{Cause, StepEnv};
use self::rounds::Went;
use crate::choice_log::{Activity, ChoiceWriter};
use crate::liveness::{Fairness, LoopDetector, Loops};
use crate::strategy::{Lesson, Point, Properties, Strategy};

/// The bounds and checks of one schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_steps: usize,
    pub(crate) fail_on_max_steps: bool,
    pub(crate) temperature: usize,
    /// Which loops are bugs.
    pub(crate) fairness: Fairness,
    /// Where to look for them.
    pub(crate) loops: Loops,
    /// The monitor that they must violate, by the hash of its name; any if that is not said.
    pub(crate) blamed: Option<u64>,
    pub(crate) step_items: u32,
}

impl Limits {
    /// The same for following a recording that ends in this bug; so many steps lead to the loop, if
    /// it is one and that is known.
    pub(crate) fn to_follow(self, bug: &Bug, stem: Option<usize>) -> Limits {
        if bug.kind != BugKind::Livelock {
            return Limits { loops: Loops::Ignored, ..self };
        }
        // The loop may have been closed at the very bound.
        let loops = Loops::AtEnd { stem, rounds: None };
        let blamed = bug.culprit.as_deref().map(blame);
        Limits { loops, blamed, max_steps: usize::MAX, temperature: usize::MAX, ..self }
    }

    /// For how many choices a monitor has to wait before the states of an execution are logged.
    ///
    /// Where chance chooses, a loop counts only if chance cannot leave it. Who is in such a loop
    /// stays there with a hot monitor to the bounds, be they those of the run or the strategy's
    /// own, so nothing is lost but a small part of what they allow; and most monitors that are hot
    /// at times need no log at all, which costs as much as a step does. Whoever follows a recording
    /// must see the loop where it was.
    fn patience(&self, strategy: &Properties) -> usize {
        let by_chance = self.loops == Loops::Sampled && self.fairness == Fairness::Strong;
        if !by_chance || strategy.sequential {
            return 0;
        }
        self.max_steps.min(self.temperature).min(strategy.longest) / IMPATIENCE
    }
}

/// Which part of the bounds of an execution is spent on waiting for a monitor before the log of
/// loops is begun.
const IMPATIENCE: usize = 50;

/// What [`Limits::blamed`] holds for the monitor of this name.
pub(crate) fn blame(monitor: &str) -> u64 {
    fingerprint::of_bytes(monitor.as_bytes())
}

/// What came of one execution.
#[derive(Debug)]
pub(crate) struct Execution {
    /// Values count as steps. Those of rounds after a loop are left out, as they are from the
    /// choice_log.
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
    /// How a loop that was to be gone round is none: in which round, and what differs.
    pub(crate) astray: Option<String>,
    /// The steps of these rounds, which are on no choice_log.
    pub(crate) lapped: usize,
    /// What the strategy has learnt.
    pub(crate) lesson: Option<Lesson>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Nothing was left to do, or a bug ended it.
    Complete,
    /// The step bound.
    StepBound,
    /// The strategy wanted no more.
    Strategy,
    /// The run is to stop: the execution counts for nothing.
    Halted,
}

/// Keeps all that happens in an execution.
#[derive(Default)]
pub(crate) struct Recorder {
    tracer: Tracer,
    enabled: Vec<Vec<WorkerId>>,
    /// The sizes of these sets together.
    entries: usize,
}

/// The enabled sets of a recording have at most this many entries in all. A program that spawns
/// for ever would need the square of its steps; past this the sets are left out, and a replay
/// compares less.
const MAX_ENABLED_ENTRIES: usize = 1 << 22;

impl Recorder {
    /// For an execution that is only compared with another.
    pub(crate) fn to_compare() -> Recorder {
        Recorder { tracer: Tracer::without_clocks(), ..Recorder::default() }
    }

    /// What happened, and who was enabled at each step.
    pub(crate) fn finish(self) -> (Trace, Vec<Vec<WorkerId>>) {
        (self.tracer.finish(), self.enabled)
    }
}

/// Where an execution writes what it does, besides its result.
pub(crate) struct Desk<'a> {
    pub(crate) writer: &'a mut ChoiceWriter,
    pub(crate) halt: &'a AtomicBool,
    pub(crate) recorder: Option<&'a mut Recorder>,
    /// The observations of all states, if they are wanted.
    pub(crate) observations: Option<&'a mut Vec<u64>>,
}

impl<'a> Desk<'a> {
    /// For the repetition of a finding, which nobody stops: it is short, and the watchdog looks
    /// after it.
    pub(crate) fn undisturbed(writer: &'a mut ChoiceWriter) -> Desk<'a> {
        static GO_ON: AtomicBool = AtomicBool::new(false);
        Desk { writer, halt: &GO_ON, recorder: None, observations: None }
    }
}

/// A place for one live execution, whose memory the next one uses again.
pub(crate) struct Stage<'p, P: Program> {
    program: &'p P,
    system: Option<P::System>,
    loop_detector: LoopDetector,
}

impl<'p, P: Program> Stage<'p, P> {
    pub(crate) fn new(program: &'p P) -> Stage<'p, P> {
        Stage { program, system: None, loop_detector: LoopDetector::default() }
    }

    /// Runs the program from its start to the end of one schedule. The strategy has begun it.
    pub(crate) fn execute(
        &mut self,
        schedule: u64,
        strategy: &mut dyn Strategy,
        limits: &Limits,
        mut desk: Desk<'_>,
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
            astray: None,
            lapped: 0,
            lesson: None,
        };
        let mut ended = false;
        desk.writer.rewind(schedule);
        panics::forget();
        // Front ends catch the panics of the program. A panic that reaches this point is one of
        // the front end itself, and still a finding rather than a dead thread.
        let caught = panics::catch(|| {
            desk.writer.now(Activity::Starting);
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
            desk.writer.now(Activity::Stepping);
            run(system, strategy, limits, &mut self.loop_detector, &mut desk, &mut execution);
            ended = true;
            execution.lesson = lesson(strategy, Some(system));
            desk.writer.now(Activity::Ending);
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
        desk.writer.now(Activity::Nothing);
        if !ended {
            execution.lesson = lesson(strategy, None);
        }
        execution
    }
}

fn lesson(strategy: &mut dyn Strategy, last: Option<&dyn System>) -> Option<Lesson> {
    strategy.learner()?.lesson(last)
}

impl<P: Program> Drop for Stage<'_, P> {
    fn drop(&mut self) {
        let system = self.system.take();
        // The execution has ended, so nothing of the program should be left to panic here. If
        // it does all the same, no schedule is to blame.
        let _ = panics::catch(|| drop(system));
    }
}

/// Steps until the execution is over. The loop is a function of its own, for the sake of registers.
#[inline(never)]
fn run<S: System>(
    system: &mut S,
    strategy: &mut dyn Strategy,
    limits: &Limits,
    loop_detector: &mut LoopDetector,
    desk: &mut Desk<'_>,
    execution: &mut Execution,
) {
    let mut last = None;
    // Where observations look the same, a loop may turn out to be none, and then the execution
    // has gone on by itself: a strategy that goes through all schedules would miss some.
    let properties = strategy.properties();
    let only_whole = limits.loops == Loops::Sampled && properties.sequential;
    let follows = matches!(limits.loops, Loops::All | Loops::AtEnd { .. });
    loop_detector.restart(only_whole, follows, limits.patience(&properties));
    let looks = limits.loops != Loops::Ignored;
    // Most steps of most schedules are nothing but steps. `attends` is whether there is more to this
    // one: somebody observes, a monitor says something, or what one said before is not over.
    let always = desk.observations.is_some() || follows;
    let mut attends = always || system.acceptance().says_something();
    let mut course = Course {
        env: StepEnv {
            listens: properties.listens,
            heard: properties.listens || desk.recorder.is_some(),
            strategy,
            writer: desk.writer,
            recorder: desk.recorder.as_deref_mut(),
            loop_detector,
            worker: WorkerId::FAULTS,
            steps: 0,
            values: 0,
            items: EventBudget::new(limits.step_items),
            cut: None,
        },
        limits,
        halt: desk.halt,
        fair: false,
        temperatures: Temperatures { hot: 0, steps: [0; 64] },
    };
    let over = loop {
        if attends {
            if let Some(seen) = desk.observations.as_deref_mut() {
                seen.extend(system.observe(Observe::Control));
            }
            let acceptance = system.acceptance();
            let speaks = acceptance.says_something() || course.env.loop_detector.is_watching();
            if looks && speaks && !system.enabled().is_empty() {
                match course.look(system, acceptance) {
                    None => {}
                    Some(Went::Over(over)) => break over,
                    Some(Went::Astray(_)) => {
                        last = Some(course.env.worker);
                        continue;
                    }
                }
            }
        }
        if system.enabled().is_empty() {
            break bug_at_end(system).map_or(Over::Ended(End::Complete), Over::failed);
        }
        let (enabled, steps) = (system.enabled(), course.env.steps);
        if steps >= limits.max_steps {
            if limits.fail_on_max_steps {
                execution.bug = Some(too_long(limits.max_steps));
            }
            break Over::Ended(End::StepBound);
        }
        if desk.halt.load(Ordering::Relaxed) {
            break Over::Ended(End::Halted);
        }
        let point = Point::new(enabled, last, steps, system);
        let Ok(worker) = course.env.strategy.worker(&point) else {
            break match course.look_at_end(system) {
                None => Over::Ended(End::Strategy),
                Some(Went::Over(over)) => over,
                Some(Went::Astray(how)) => {
                    execution.astray = Some(how);
                    Over::Ended(End::Strategy)
                }
            };
        };
        let is_fair = properties.fair || point.is_fair();
        if !system.is_enabled(worker) {
            let name = course.env.strategy.name();
            execution.notes.push(format!(
                "The strategy {name} chose worker {worker}, which cannot step: schedules end there."
            ));
            break Over::Ended(End::Strategy);
        }
        if !course.fair && is_fair {
            course.fair = true;
            execution.fair_from = steps;
        }
        if attends && course.env.loop_detector.is_open() {
            course.env.loop_detector.leave(worker);
        }
        let acceptance = match course.step(worker, system) {
            Ok(acceptance) => acceptance,
            Err(over) => break over,
        };
        if attends || acceptance.says_something() {
            if let Some(bug) = course.heat(acceptance, steps, system) {
                break Over::failed(bug);
            }
            attends =
                always || acceptance.says_something() || course.env.loop_detector.is_watching();
        }
        last = Some(worker);
    };
    let mut env = course.env;
    if let Some(recorder) = env.recorder.take() {
        recorder.tracer.name_mentioned(|worker| system.name(worker));
    }
    (execution.steps, execution.values) = (env.steps, env.values);
    match over {
        Over::Ended(end) => execution.end = end,
        Over::Failed(failure) => {
            let Failure { bug, at, lasso } = *failure;
            if let Some((steps, values)) = at {
                // What came after is not part of it.
                execution.lapped = env.steps - steps;
                (execution.steps, execution.values) = (steps, values);
                env.writer.truncate(steps);
            }
            (execution.bug, execution.lasso) = (Some(bug), lasso);
        }
    }
    execution.observation = system.observe(Observe::Control).unwrap_or_default();
}

/// Why an execution is over.
enum Over {
    Ended(End),
    Failed(Box<Failure>),
}

struct Failure {
    bug: Bug,
    /// After how many choices, and values among them, if that is not here.
    at: Option<(usize, usize)>,
    lasso: Option<Lasso>,
}

impl Over {
    fn failed(bug: Bug) -> Over {
        Over::Failed(Box::new(Failure { bug, at: None, lasso: None }))
    }
}

/// An execution under way.
struct Course<'a> {
    env: StepEnv<'a>,
    limits: &'a Limits,
    halt: &'a AtomicBool,
    /// The strategy is fair from here on.
    fair: bool,
    temperatures: Temperatures,
}

impl Course<'_> {
    /// Takes a step.
    #[inline(always)]
    fn step<S: System>(&mut self, worker: WorkerId, system: &mut S) -> Result<Acceptance, Over> {
        self.env.step(worker, system);
        let stepped = system.step(worker, &mut self.env);
        if stepped.is_err() || self.env.cut.is_some() {
            return Err(match (self.env.cut, stepped) {
                (Some(Cause::Endless), _) => {
                    Over::failed(endless(system, worker, self.limits.step_items))
                }
                (_, Err(Stop::Bug(bug))) => Over::failed(*bug),
                (_, Ok(()) | Err(Stop::Cut)) => Over::Ended(End::Strategy),
            });
        }
        Ok(system.acceptance())
    }

    /// Counts for how long monitors are hot, after a step that began after `steps`.
    #[inline]
    fn heat<S: System>(&mut self, now: Acceptance, steps: usize, system: &S) -> Option<Bug> {
        let temperatures = &mut self.temperatures;
        let hot = now.waiting();
        if !self.fair || (hot | temperatures.hot) == 0 {
            return None;
        }
        let bound = self.limits.temperature;
        let monitor = temperatures.rise(hot, self.env.steps - steps, bound)?;
        Some(too_hot(system, monitor, bound))
    }
}

/// For how many steps each monitor has been hot without a break.
struct Temperatures {
    hot: u64,
    steps: [usize; 64],
}

impl Temperatures {
    /// Counts `passed` more steps; answers the first monitor that exceeds the bound.
    fn rise(&mut self, hot: u64, passed: usize, bound: usize) -> Option<usize> {
        let mut exceeded = None;
        let mut touched = hot | self.hot;
        while touched != 0 {
            let monitor = touched.trailing_zeros() as usize;
            touched &= touched - 1;
            let steps = &mut self.steps[monitor];
            *steps = if hot >> monitor & 1 == 1 { *steps + passed } else { 0 };
            if *steps > bound {
                exceeded = exceeded.or(Some(monitor));
            }
        }
        self.hot = hot;
        exceeded
    }
}
