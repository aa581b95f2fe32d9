//! A program that fails where a condition holds, so that every strategy and every search looks for it.
//!
//! Without a condition it is the program itself: so the code of the searches is compiled for one type and not
//! for two.

use std::sync::Arc;

use dally_core::{
    Acceptance, Bug, Captured, Cut, Env, Event, Fingerprint, Footprint, Input, MessageId, Observe,
    Problem, Program, StateVisitor, Status, Stop, System, Tag, Text, WorkerId,
};

use crate::condition::Condition;
use crate::picture::Picture;

/// A program that fails in the first state in which a condition holds, if there is one.
#[derive(Debug)]
pub(crate) struct Until<P> {
    program: Arc<P>,
    goal: Option<Goal>,
}

/// What is looked for, and what the state shows where executions begin.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    pub(crate) condition: Arc<Condition>,
    pub(crate) picture: Picture,
}

impl Goal {
    /// The bug of a state in which the condition holds.
    pub(crate) fn reached(&self) -> Bug {
        let message = format!("here it holds that {}", self.condition);
        Bug::new(Problem::Assertion { message }).by("dally explore")
    }
}

/// The fingerprint of all states in which the program has failed.
const FAILED: Fingerprint = Fingerprint(0x6661_696c_6564);

impl<P: Program> Until<P> {
    pub(crate) fn new(program: Arc<P>, goal: Option<Goal>) -> Until<P> {
        Until { program, goal }
    }
}

impl<P: Program> Program for Until<P> {
    type System = UntilSystem<P::System>;

    fn start(&self) -> Result<UntilSystem<P::System>, Bug> {
        let goal = self.goal.clone();
        Ok(UntilSystem { system: self.program.start()?, goal, failed: false })
    }

    fn restart(&self, system: &mut UntilSystem<P::System>) -> Result<(), Bug> {
        system.goal.clone_from(&self.goal);
        system.failed = false;
        self.program.restart(&mut system.system)
    }

    fn name(&self) -> &str {
        self.program.name()
    }

    fn granularity(&self) -> &'static str {
        self.program.granularity()
    }

    fn long_steps_end_schedules(&self) -> bool {
        self.program.long_steps_end_schedules()
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        let goal = self.goal.clone();
        Arc::clone(&self.program).states(With { goal, visitor })
    }
}

/// Shows a visitor what the program itself says, with the goal.
struct With<V> {
    goal: Option<Goal>,
    visitor: V,
}

impl<P: Program, V: StateVisitor<Until<P>>> StateVisitor<P> for With<V> {
    type Output = V::Output;

    fn copied(self, program: Arc<P>) -> V::Output
    where
        P::System: Captured + Send + 'static,
    {
        self.visitor.copied(Arc::new(Until { program, goal: self.goal }))
    }

    fn replayed(self, program: Arc<P>, why: Option<String>) -> V::Output {
        self.visitor.replayed(Arc::new(Until { program, goal: self.goal }), why)
    }
}

pub(crate) struct UntilSystem<S> {
    system: S,
    /// The picture is that of the present state. It follows from the state, so it is no part of it.
    goal: Option<Goal>,
    /// Whether the program failed. If it is not its bugs that are looked for, the execution just ends.
    failed: bool,
}

impl<S: System> System for UntilSystem<S> {
    fn enabled(&self) -> &[WorkerId] {
        if self.failed { &[] } else { self.system.enabled() }
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let Some(goal) = &mut self.goal else { return self.system.step(worker, env) };
        let picture = &mut goal.picture;
        picture.step(worker);
        match self.system.step(worker, &mut Telling { env, picture, worker }) {
            Ok(()) => {}
            Err(Stop::Cut) => return Err(Stop::Cut),
            Err(Stop::Bug(_)) => {
                self.failed = true;
                return Ok(());
            }
        }
        let unnamed: Vec<WorkerId> = picture.unnamed().collect();
        for worker in unnamed {
            picture.name(worker, &self.system.name(worker));
        }
        match goal.condition.holds(&goal.picture, self.system.enabled()) {
            true => Err(goal.reached().into()),
            false => Ok(()),
        }
    }

    fn status(&self) -> Status {
        if self.goal.is_none() {
            return self.system.status();
        }
        if self.enabled().is_empty() { Status::Done } else { Status::Running }
    }

    fn is_enabled(&self, worker: WorkerId) -> bool {
        !self.failed && self.system.is_enabled(worker)
    }

    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        self.system.pending(worker, out);
    }

    fn pending_lasts(&self) -> bool {
        self.system.pending_lasts()
    }

    fn acceptance(&self) -> Acceptance {
        if self.goal.is_none() { self.system.acceptance() } else { Acceptance::default() }
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        if self.failed { Some(FAILED) } else { self.system.fingerprint() }
    }

    fn observe(&self, how: Observe) -> Option<u64> {
        if self.failed { None } else { self.system.observe(how) }
    }

    fn sealed(&self) -> bool {
        self.system.sealed()
    }

    fn rare(&self) -> bool {
        self.system.rare()
    }

    fn name(&self, worker: WorkerId) -> String {
        self.system.name(worker)
    }

    fn monitor(&self, index: usize) -> (String, String) {
        self.system.monitor(index)
    }

    fn backlog(&self) -> usize {
        self.system.backlog()
    }

    fn end(&mut self) -> Result<(), Bug> {
        let ended = self.system.end();
        // A panic of a destructor is a bug of the program too.
        if self.goal.is_none() { ended } else { Ok(()) }
    }
}

impl<S: Captured> Captured for UntilSystem<S> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.failed.into());
        if !self.failed {
            self.system.encode(out);
        }
    }

    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        part(&[self.failed.into()]);
        if !self.failed {
            self.system.parts(part);
        }
    }

    fn fork(&self) -> UntilSystem<S> {
        let (system, goal) = (self.system.fork(), self.goal.clone());
        UntilSystem { system, goal, failed: self.failed }
    }

    fn footprint(&self) -> usize {
        /// About what a picture takes for a worker.
        const WORKER: usize = 200;
        let workers = self.goal.as_ref().map_or(0, |goal| goal.picture.workers.len());
        self.system.footprint() + workers * WORKER
    }

    fn restore_from(&mut self, saved: &UntilSystem<S>) {
        self.system.restore_from(&saved.system);
        self.goal.clone_from(&saved.goal);
        self.failed = saved.failed;
    }

    fn condense(&mut self) {
        self.system.condense();
    }
}

/// The [`Env`] of a step whose events a picture hears too.
struct Telling<'a> {
    env: &'a mut dyn Env,
    picture: &'a mut Picture,
    worker: WorkerId,
}

impl Env for Telling<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.env.value(of, tag)
    }

    fn place(&mut self, place: u64) {
        self.env.place(place);
    }

    fn came_back(&mut self) -> Result<(), Cut> {
        self.env.came_back()
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.env.delivery(candidates)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.env.input(asked)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.picture.event(self.worker, event.map(|text| text.written()));
        self.env.event(event)
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.env.unheard(events)
    }
}
