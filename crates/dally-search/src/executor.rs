//! One schedule: a system, a strategy and the checks.

use std::sync::atomic::{AtomicBool, Ordering};

use dally_core::{
    Bug, BugKind, Choice, Cut, Env, Event, MessageId, Observe, Program, Status, Stop, System, Tag,
    Text, Trace, Tracer, Waiting, WorkerId, panics,
};

use crate::liveness::Fairness;
use crate::report::{count, grouped};
use crate::strategy::{Point, Strategy};
use crate::tape::{Doing, Pen};

/// The bounds and checks of one schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) max_steps: usize,
    pub(crate) fail_on_max_steps: bool,
    pub(crate) temperature: usize,
    /// Which loops are bugs.
    pub(crate) fairness: Fairness,
    pub(crate) step_items: u32,
}

/// What came of one execution.
#[derive(Debug)]
pub(crate) struct Execution {
    /// Values count as steps.
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
    pub(crate) pen: &'a mut Pen,
    pub(crate) halt: &'a AtomicBool,
    pub(crate) recorder: Option<&'a mut Recorder>,
    /// The observations of all states, if they are wanted.
    pub(crate) observations: Option<&'a mut Vec<u64>>,
}

impl<'a> Desk<'a> {
    /// For the repetition of a finding, which nobody stops: it is short, and the watchdog looks
    /// after it.
    pub(crate) fn undisturbed(pen: &'a mut Pen) -> Desk<'a> {
        static GO_ON: AtomicBool = AtomicBool::new(false);
        Desk { pen, halt: &GO_ON, recorder: None, observations: None }
    }
}

/// A place for one live execution, whose memory the next one uses again.
pub(crate) struct Stage<'p, P: Program> {
    program: &'p P,
    system: Option<P::System>,
}

impl<'p, P: Program> Stage<'p, P> {
    pub(crate) fn new(program: &'p P) -> Stage<'p, P> {
        Stage { program, system: None }
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
        };
        desk.pen.rewind(schedule);
        // Front ends catch the panics of the program. A panic that reaches this point is one of
        // the front end itself, and still a finding rather than a dead thread.
        let caught = panics::catch(|| {
            desk.pen.now(Doing::Starting);
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
            desk.pen.now(Doing::Stepping);
            run(system, strategy, limits, &mut desk, &mut execution);
            desk.pen.now(Doing::Ending);
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
        desk.pen.now(Doing::Nothing);
        strategy.end();
        execution
    }
}

impl<P: Program> Drop for Stage<'_, P> {
    fn drop(&mut self) {
        let system = self.system.take();
        // The execution has ended, so nothing of the program should be left to panic here. If
        // it does all the same, no schedule is to blame.
        let _ = panics::catch(|| drop(system));
    }
}

fn run<S: System>(
    system: &mut S,
    strategy: &mut dyn Strategy,
    limits: &Limits,
    desk: &mut Desk<'_>,
    execution: &mut Execution,
) {
    let mut temperatures = Temperatures { hot: 0, steps: [0; 64] };
    let mut last = None;
    let mut fair = false;
    let mut env = StepEnv {
        listens: strategy.listens(),
        strategy,
        pen: desk.pen,
        recorder: desk.recorder.as_deref_mut(),
        steps: 0,
        values: 0,
        items: 0,
        step_items: limits.step_items,
        cut: None,
    };
    loop {
        if let Some(seen) = desk.observations.as_deref_mut() {
            seen.push(system.observe(Observe::Control));
        }
        let enabled = system.enabled();
        if enabled.is_empty() {
            execution.bug = bug_at_end(system);
            break;
        }
        if env.steps >= limits.max_steps {
            execution.end = End::StepBound;
            if limits.fail_on_max_steps {
                execution.bug = Some(too_long(limits.max_steps));
            }
            break;
        }
        if desk.halt.load(Ordering::Relaxed) {
            execution.end = End::Halted;
            break;
        }
        let point = Point { enabled, last, step: env.steps, system };
        let Some(worker) = env.strategy.worker(&point) else {
            execution.end = End::Strategy;
            break;
        };
        if worker.place_in(enabled).is_err() {
            let name = env.strategy.name();
            execution.notes.push(format!(
                "The strategy {name} chose worker {worker}, which cannot step: schedules end there."
            ));
            execution.end = End::Strategy;
            break;
        }
        let steps_before = env.steps;
        // Who is fair from some point on is not asked again.
        if !fair && env.strategy.is_fair() {
            fair = true;
            execution.fair_from = steps_before;
        }
        env.step(worker, system, enabled);
        let stepped = system.step(worker, &mut env);
        if stepped.is_err() || env.cut.is_some() {
            match (env.cut, stepped) {
                (Some(Cause::Endless), _) => {
                    execution.bug = Some(endless(system, worker, limits.step_items));
                }
                (_, Err(Stop::Bug(bug))) => execution.bug = Some(*bug),
                (_, Ok(()) | Err(Stop::Cut)) => execution.end = End::Strategy,
            }
            break;
        }
        let hot = system.acceptance().hot;
        if fair && (hot | temperatures.hot) != 0 {
            let passed = env.steps - steps_before;
            if let Some(monitor) = temperatures.rise(hot, passed, limits.temperature) {
                execution.bug = Some(too_hot(system, monitor, limits.temperature));
                break;
            }
        }
        last = Some(worker);
    }
    if let Some(recorder) = env.recorder.take() {
        recorder.tracer.name_mentioned(|worker| system.name(worker));
    }
    (execution.steps, execution.values) = (env.steps, env.values);
    execution.observation = system.observe(Observe::Control);
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

/// What is wrong with a state in which no worker can step, if anything.
pub(crate) fn bug_at_end<S: System>(system: &S) -> Option<Bug> {
    if let Status::Stuck(waiting) = system.status() {
        return Some(deadlock(&waiting));
    }
    let hot = system.acceptance().hot;
    if hot == 0 {
        return None;
    }
    let (monitor, state) = system.monitor(hot.trailing_zeros() as usize);
    let message = format!(
        "the execution ends while monitor {monitor} is hot, in state {state}: what it waits for \
         has not happened"
    );
    Some(Bug::new(BugKind::HotAtEnd, message).by(monitor))
}

fn deadlock(waiting: &[Waiting]) -> Bug {
    let workers = match waiting.len() {
        1 => "one still waits".to_owned(),
        n => format!("{n} still wait"),
    };
    let mut message = format!("no worker can step, and {workers}:");
    for Waiting { worker, name, on } in waiting {
        message += &format!("\n  {name} ({worker}) waits to {on}");
    }
    Bug::new(BugKind::Deadlock, message)
}

/// The bug of an execution that reaches the step bound, where that is one.
pub(crate) fn too_long(max_steps: usize) -> Bug {
    let bound = count(max_steps as u64, "step");
    Bug::new(BugKind::StepBound, format!("the execution does not end within {bound}"))
}

pub(crate) fn endless<S: System>(system: &S, worker: WorkerId, items: u32) -> Bug {
    let message = format!(
        "a step of worker {worker} goes on without end: {} values and events, and still not at \
         its next scheduling point",
        grouped(items.into()),
    );
    Bug::new(BugKind::EndlessStep, message).by(system.name(worker))
}

fn too_hot<S: System>(system: &S, monitor: usize, bound: usize) -> Bug {
    let (monitor, state) = system.monitor(monitor);
    let message = format!(
        "monitor {monitor} is hot for more than {} under a fair strategy, now in state {state}",
        count(bound as u64, "step"),
    );
    Bug::new(BugKind::Temperature, message).by(monitor)
}

/// Why a step was cut.
#[derive(Clone, Copy)]
enum Cause {
    Strategy,
    Endless,
}

/// What steps ask and tell.
struct StepEnv<'a> {
    strategy: &'a mut dyn Strategy,
    /// Whether the strategy hears events.
    listens: bool,
    pen: &'a mut Pen,
    recorder: Option<&'a mut Recorder>,
    steps: usize,
    values: usize,
    /// Values and events of the present step.
    items: u32,
    step_items: u32,
    cut: Option<Cause>,
}

impl StepEnv<'_> {
    #[inline]
    fn step<S: System>(&mut self, worker: WorkerId, system: &S, enabled: &[WorkerId]) {
        self.steps += 1;
        self.items = 0;
        self.pen.write(Choice::Worker(worker));
        if let Some(recorder) = self.recorder.as_deref_mut() {
            recorder.entries += enabled.len();
            if recorder.entries <= MAX_ENABLED_ENTRIES {
                recorder.enabled.push(enabled.to_vec());
            }
            recorder.tracer.step(worker, || system.name(worker));
        }
    }

    #[inline]
    fn item(&mut self) -> Result<(), Cut> {
        self.items(1)
    }

    #[inline]
    fn items(&mut self, more: u32) -> Result<(), Cut> {
        self.items = self.items.saturating_add(more);
        if self.items > self.step_items {
            self.cut = Some(Cause::Endless);
            return Err(Cut);
        }
        if self.cut.is_some() {
            return Err(Cut);
        }
        Ok(())
    }

    fn chose(&mut self, choice: Choice) {
        self.steps += 1;
        self.values += 1;
        self.pen.write(choice);
        if let Some(recorder) = self.recorder.as_deref_mut() {
            recorder.tracer.choice(choice);
        }
    }

    fn by_strategy<T>(&mut self, answer: Option<T>) -> Result<T, Cut> {
        answer.ok_or_else(|| {
            self.cut = Some(Cause::Strategy);
            Cut
        })
    }
}

impl Env for StepEnv<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.item()?;
        let answer = self.strategy.value(of, tag);
        // A strategy that answers out of range gets the last value.
        let index = self.by_strategy(answer)?.min(of.saturating_sub(1));
        self.chose(Choice::Value { index, of, tag });
        Ok(index)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.item()?;
        let answer = self.strategy.delivery(candidates);
        let index = self.by_strategy(answer)?.min(candidates.len().saturating_sub(1));
        // A front end that asks without a candidate is answered, and nothing is written down.
        if let Some(&message) = candidates.get(index) {
            self.chose(Choice::Delivery(message));
        }
        Ok(index)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.item()?;
        if self.listens {
            self.strategy.heard(&event);
        }
        if let Some(recorder) = self.recorder.as_deref_mut() {
            recorder.tracer.event(event);
        }
        Ok(())
    }

    fn leeway(&self) -> u32 {
        if self.listens || self.recorder.is_some() { 0 } else { self.step_items }
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.items(events)
    }
}
