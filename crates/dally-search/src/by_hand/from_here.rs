//! A program that begins where choices lead.

use std::sync::Arc;

use dally_core::bug::Uncontrolled;
use dally_core::{
    Bug, Captured, Choice, PlayedStep, Player, Problem, Program, StateVisitor, Stop, System,
    WorkerId,
};

/// A program whose executions begin with the same choices. A schedule of it is one of the program
/// itself without these.
#[derive(Debug)]
pub struct AfterPrefix<P> {
    program: Arc<P>,
    choices: Arc<[Choice]>,
}

impl<P: Program> AfterPrefix<P> {
    /// The program after these choices, which are whole steps that it can take.
    pub fn new(program: Arc<P>, choices: &[Choice]) -> AfterPrefix<P> {
        AfterPrefix { program, choices: choices.into() }
    }

    fn advance(&self, system: &mut P::System) -> Result<(), Bug> {
        let mut player = Player::new(Arc::clone(&self.choices));
        while let Ok(worker) = player.worker() {
            if !system.is_enabled(worker) {
                return Err(differs(worker, "cannot step any more"));
            }
            let mut step = PlayedStep::new(&mut player);
            match system.step(worker, &mut step) {
                Ok(()) => {}
                Err(Stop::Bug(bug)) => return Err(*bug),
                Err(Stop::Cut) => return Err(differs(worker, "asks for something else")),
            }
        }
        match player.rest() {
            [] => Ok(()),
            [_, ..] => Err(differs(WorkerId::OUTSIDE, "makes fewer choices")),
        }
    }
}

fn differs(worker: WorkerId, how: &str) -> Bug {
    let difference = format!("on the way to the state that was chosen, worker {worker} {how}");
    Bug::new(Problem::Uncontrolled(Uncontrolled::Prefix { difference }))
}

impl<P: Program> Program for AfterPrefix<P> {
    type System = P::System;

    fn start(&self) -> Result<P::System, Bug> {
        let mut system = self.program.start()?;
        self.advance(&mut system)?;
        Ok(system)
    }

    fn restart(&self, system: &mut P::System) -> Result<(), Bug> {
        self.program.restart(system)?;
        self.advance(system)
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
        let choices = Arc::clone(&self.choices);
        Arc::clone(&self.program).states(AfterPrefixVisitor { choices, visitor })
    }
}

/// Shows a visitor what the program itself says, after the choices.
struct AfterPrefixVisitor<V> {
    choices: Arc<[Choice]>,
    visitor: V,
}

impl<P: Program, V: StateVisitor<AfterPrefix<P>>> StateVisitor<P> for AfterPrefixVisitor<V> {
    type Output = V::Output;

    fn copied(self, program: Arc<P>) -> V::Output
    where
        P::System: Captured + Send + 'static,
    {
        self.visitor.copied(Arc::new(AfterPrefix { program, choices: self.choices }))
    }

    fn replayed(self, program: Arc<P>, why: Option<String>) -> V::Output {
        self.visitor.replayed(Arc::new(AfterPrefix { program, choices: self.choices }), why)
    }
}
