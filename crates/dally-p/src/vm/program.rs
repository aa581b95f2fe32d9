//! A test of a P project as a program.

use dally_core::bug::Endless;
use dally_core::{
    Bug, Captured, Cut, Env, Event, EventSink, MessageId, Problem, StateVisitor, Stop, Tag, Text,
    WorkerId, fingerprint,
};
use triomphe::Arc;

use super::coverage::{Coverage, CoverageReport, MachineCoverage, machines, report};
use super::foreign::Foreign;
use super::machine::{Machine, spec_id};
use super::past::Past;
use super::pool::Pooled;
use super::run::{Cx, Specs, state_of};
use super::system::{Machines, PSystem, Shared};
use super::value::Value;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lower;
use crate::program::Program;

/// A test of a project under Dally's control.
pub struct PProgram {
    name: String,
    shared: Arc<Shared>,
    /// The initial state of executions, or the bug of a spec that fails on entering its start state.
    pristine: Result<PSystem, Bug>,
    caveat: Option<String>,
}

impl PProgram {
    /// The test with this index, with the foreign functions that it needs.
    ///
    /// # Errors
    /// If a foreign function is missing, or the program exceeds a limit of the virtual machine.
    pub fn new(program: &Program, test: usize, foreign: Foreign) -> Result<PProgram, Diagnostic> {
        let Some(test) = program.tests.get(test) else {
            return Err(Diagnostic::new(
                Severity::Error,
                format!("there is no test with number {test}"),
            ));
        };
        let code = lower::lower(program, test, &foreign)?;
        let caveat = super::atomic::caveat(program, test);
        let coverage = Coverage::new(code.cover_bits);
        let shared = Arc::new(Shared { code, coverage, atomic: false });
        let pristine = set_up(&shared);
        Ok(PProgram { name: test.name.clone(), shared, pristine, caveat })
    }

    /// The name of the test.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same program with handlers that run without scheduling points at sends and creates: far
    /// fewer schedules. If [`PProgram::caveat`] is `None`, every bug can still be found.
    #[must_use]
    pub fn atomic_handlers(self, atomic: bool) -> PProgram {
        let PProgram { name, mut shared, pristine, caveat } = self;
        // The initial state refers to `shared` too.
        drop(pristine);
        let Some(own) = Arc::get_mut(&mut shared) else {
            unreachable!("no execution has been started yet, or all are over")
        };
        (own.coverage, own.atomic) = (Coverage::new(own.code.cover_bits), atomic);
        let pristine = set_up(&shared);
        PProgram { name, shared, pristine, caveat }
    }

    /// Why [atomic handlers](PProgram::atomic_handlers) would lose behaviour of this test; `None` if
    /// they would not.
    pub fn caveat(&self) -> Option<&str> {
        self.caveat.as_deref()
    }

    /// The coverage of all executions so far.
    pub fn coverage(&self) -> CoverageReport {
        report(&self.shared.code, &self.shared.coverage)
    }

    /// The same coverage machine by machine and state by state.
    pub fn coverage_of_machines(&self) -> Vec<MachineCoverage> {
        machines(&self.shared.code, &self.shared.coverage)
    }
}

impl dally_core::Program for PProgram {
    type System = PSystem;

    fn name(&self) -> &str {
        &self.name
    }

    fn start(&self) -> Result<PSystem, Bug> {
        self.pristine.as_ref().map(PSystem::fork).map_err(Bug::clone)
    }

    fn restart(&self, system: &mut PSystem) -> Result<(), Bug> {
        match &self.pristine {
            Ok(pristine) => system.machines.start_over_from(&pristine.machines),
            Err(bug) => return Err(bug.clone()),
        }
        Ok(())
    }

    fn granularity(&self) -> &'static str {
        if self.shared.atomic { "atomic" } else { "per-send" }
    }

    fn source(&self) -> u64 {
        let files = self.shared.code.sources.files();
        files.fold(0, |hash, (_, file)| {
            fingerprint::mix(hash, fingerprint::of_bytes(file.text.as_bytes()))
        })
    }

    /// As in the reference: what exceeds a bound ends the schedule.
    fn long_steps_end_schedules(&self) -> bool {
        true
    }

    fn states<V: StateVisitor<Self>>(self: std::sync::Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}

/// The initial state: specs have entered their start states, and the main machine exists.
fn set_up(shared: &Arc<Shared>) -> Result<PSystem, Bug> {
    let code = &shared.code;
    let mut machines = Machines { specs: code.specs.len(), ..Machines::default() };
    for (index, spec) in code.specs.iter().enumerate() {
        let mut machine = Machine::blank();
        machine.renew(code, spec_id(index), spec.machine, 0);
        let mut env = Unasked;
        let env = &mut EventSink::new(&mut env);
        let (coverage, specs) = (&shared.coverage, None);
        let mut cx =
            Cx { code, coverage, env, specs, relieved: false, rare: false, past: Past::default() };
        match cx.start(&mut machine, Value::Null) {
            Ok(()) => {}
            Err(Stop::Bug(bug)) => return Err(*bug),
            Err(Stop::Cut) => return Err(endless(&code.machines[usize::from(spec.machine)].name)),
        }
        let heat = state_of(code, &machine).heat;
        let (hot, relieved) = (&mut machines.hot, &mut machines.relieved);
        cx.specs = Some(Specs { all: &mut [], hot, relieved });
        cx.judge(index, heat);
        machines.slots.push(Arc::new(machine));
    }
    let main = code.main;
    if let Some(kind) = code.interfaces[usize::from(main)].machine {
        let mut machine = Machine::blank();
        machine.renew(code, WorkerId::root(0), kind, main);
        machines.add(Arc::new(machine));
    }
    Ok(PSystem { shared: shared.clone(), machines, known_steps: None })
}

fn endless(spec: &str) -> Bug {
    Bug::new(Problem::EndlessStep(Endless::Start)).by(spec)
}

/// The environment of the set-up: ignores events up to a bound and answers no choice.
struct Unasked;

impl Env for Unasked {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        Err(Cut)
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        Err(Cut)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }

    fn leeway(&self) -> u32 {
        200_000
    }

    fn unheard(&mut self, _: u32) -> Result<(), Cut> {
        Err(Cut)
    }
}
